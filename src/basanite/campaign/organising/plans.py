"""The campaign's file in its versions: what holds now, what a window froze when it opened, and what departed from it.

The file is kept as it was given. What holds for a window that has opened is frozen under a hash (P-28); a later change
that touches it is a deviation, with who, why, and whether results were known by then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.freezing import Change, departures, frozen_digest
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.model.time.zones import spelt
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.plans import InForce, named, parsed
from basanite.campaign.store.tables import (
    CampaignRow,
    Deviation,
    Freeze,
    Membership,
    PlanVersion,
    Result,
    Submission,
    Team,
)

Plan: TypeAlias = InForce
"""A campaign as it stands: its row, what its file says, and the number of that version."""


def add_campaign(session: Session, office: Office, actor: Actor, text: str) -> CampaignRow:
    """Begin a campaign from its file."""
    campaign = parsed(text)
    if session.scalar(select(CampaignRow).where(CampaignRow.slug == campaign.slug)) is not None:
        raise refused(
            "P-28",
            f"there is a campaign {campaign.slug!r} already",
            "change that one, or choose another slug",
            status=409,
        ).with_hint("basanite admin campaign change")
    row = CampaignRow(slug=campaign.slug, made=office.clock(), clock_offset=0.0)
    session.add(row)
    session.flush()
    _keep(session, office, actor, row, text, version=1, reason="")
    return row


def current(session: Session, slug_or_id: str) -> Plan:
    """The campaign of this slug or id, in its newest version."""
    plan = named(session, slug_or_id)
    if plan is None:
        raise refused("P-7", f"there is no campaign {slug_or_id!r}", "see which there are", status=404)
    return plan


def newest_version(session: Session, campaign_id: str) -> PlanVersion:
    """The newest version of a campaign's file."""
    question = select(PlanVersion).where(PlanVersion.campaign_id == campaign_id)
    return session.scalars(question.order_by(PlanVersion.version.desc()).limit(1)).one()


def change(session: Session, office: Office, actor: Actor, campaign: str, text: str, *, reason: str) -> Plan:
    """Take a new version of the file; where it touches what has opened, that is a deviation, kept for ever (P-28)."""
    plan = locked(session, campaign)
    require_organiser(session, actor, plan.row.id)
    new = parsed(text)
    if new.slug != plan.campaign.slug:
        raise refused("P-28", f"the file is of another campaign, {new.slug!r}", "leave the slug as it is", status=422)
    freeze_opened(session, office, plan.row.id)
    touched = _touched(session, plan, new)
    if touched and not reason.strip():
        names = ", ".join(touched)
        raise no_reason("P-28", f"this changes what is frozen ({names})")
    version = _keep(session, office, actor, plan.row, text, version=plan.version + 1, reason=reason)
    for window, changes in touched.items():
        _deviate(session, office, actor, plan, version, window, changes, reason)
    return Plan(plan.row, new, version)


def extend_window(
    session: Session, office: Office, actor: Actor, campaign: str, window: str, closes: str, *, reason: str
) -> Plan:
    """Let a window close later: a change of its one line, with a reason that everybody is told (P-27)."""
    plan = current(session, campaign)
    old = find_window(plan.campaign, window)
    if not reason.strip():
        raise no_reason("P-27", "an extension without a reason")
    text = with_closing(newest_version(session, plan.row.id).text, window, closes)
    new = find_window(parsed(text), window)
    if new.closes.utc <= old.closes.utc:
        raise refused("P-27", "the new end is not later than the old one", "give a later moment", status=422)
    changed = change(session, office, actor, plan.row.id, text, reason=reason)
    _log(session, office, actor, plan.row.id, "window.extended", window, closes=closes, reason=reason)
    data = {"window": window, "closes": spelt(new.closes.utc, plan.campaign.zone), "reason": reason}
    everybody = members_of_campaign(session, plan.row.id)
    once = f"{window}:{changed.version}"
    tell(session, office, "window_extended", persons=everybody, campaign_id=plan.row.id, data=data, once=once)
    return changed


def freeze_opened(session: Session, office: Office, campaign_id: str | None = None) -> int:
    """Freeze the plan of every window that has opened and is not frozen yet; says how many (P-28)."""
    question = select(CampaignRow).order_by(CampaignRow.slug)
    rows = session.scalars(question if campaign_id is None else question.where(CampaignRow.id == campaign_id)).all()
    return sum(_freeze(session, office, row) for row in rows)


def freezes(session: Session, campaign_id: str) -> tuple[Freeze, ...]:
    """What was frozen when, in the order of time."""
    question = select(Freeze).where(Freeze.campaign_id == campaign_id)
    return tuple(session.scalars(question.order_by(Freeze.at, Freeze.window)))


def deviations(session: Session, campaign_id: str) -> tuple[Deviation, ...]:
    """Every departure from what was frozen, in the order of time; none is ever deleted."""
    question = select(Deviation).where(Deviation.campaign_id == campaign_id)
    return tuple(session.scalars(question.order_by(Deviation.at, Deviation.to_version, Deviation.window)))


def find_window(campaign: Campaign, window: str) -> Window:
    """The window of this id; a wrong one is answered with those there are."""
    try:
        return campaign.window(window)
    except KeyError:
        known = ", ".join(one.id for one in campaign.windows)
        raise refused("M62", f"the plan has no window {window!r}", f"one of: {known}", status=404) from None


def now(office: Office, row: CampaignRow) -> datetime:
    """The time in a campaign: that of the clock, unless it is played at another time."""
    return office.clock() + timedelta(seconds=row.clock_offset)


def locked(session: Session, campaign: str) -> Plan:
    """The plan that holds, with the campaign's row locked until this transaction ends."""
    plan = current(session, campaign)
    session.get_one(CampaignRow, plan.row.id, with_for_update=True, populate_existing=True)
    return current(session, plan.row.id)


def with_closing(text: str, window: str, closes: str) -> str:
    """The file with another end for one window, and nothing else changed.

    >>> with_closing('[[windows]]\\nid = "a"\\ncloses = "2018-01-01 00:00"\\n', "a", "2018-01-02 00:00")
    '[[windows]]\\nid = "a"\\ncloses = "2018-01-02 00:00"\\n'
    """
    parts = re.split(r"(?m)^(?=\s*\[\[)", text)
    for number, part in enumerate(parts):
        if re.match(r"\s*\[\[\s*windows\s*\]\]", part) and re.search(_line("id", window), part):
            parts[number], count = re.subn(r"(?m)^(\s*closes\s*=\s*)[^#\n]*?(\s*(?:#.*)?)$", _closing(closes), part)
            if count == 1:
                return "".join(parts)
    fix, hint = "write the new end into the file and change the campaign by it", "basanite admin campaign change"
    message = f"the line that closes {window!r} cannot be found in the file"
    raise refused("P-27", message, fix, status=409).with_hint(hint)


def _line(name: str, value: str) -> str:
    return rf"(?m)^\s*{name}\s*=\s*[\"']{re.escape(value)}[\"']\s*(#.*)?$"


def _closing(closes: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{match[1]}{json.dumps(closes)}{match[2]}"


def _keep(
    session: Session, office: Office, actor: Actor, row: CampaignRow, text: str, *, version: int, reason: str
) -> int:
    digest = hashlib.sha256(text.encode()).hexdigest()
    session.add(
        PlanVersion(
            campaign_id=row.id,
            version=version,
            text=text,
            digest=digest,
            made=office.clock(),
            made_by=actor.id,
            reason=reason,
        )
    )
    session.flush()
    what = "campaign.added" if version == 1 else "campaign.changed"
    _log(session, office, actor, row.id, what, row.id, version=version, digest=digest, reason=reason)
    return version


def _freeze(session: Session, office: Office, row: CampaignRow) -> int:
    plan = current(session, row.id)
    known = {one.window for one in freezes(session, row.id)}
    opened = [one for one in plan.campaign.windows if one.opens.utc <= now(office, row) and one.id not in known]
    if not opened:
        return 0
    locked(session, row.id)
    known = {one.window for one in freezes(session, row.id)}  # somebody else may have been at it meanwhile
    for window in (one for one in opened if one.id not in known):
        digest = frozen_digest(plan.campaign, window)
        session.add(
            Freeze(campaign_id=row.id, window=window.id, plan_version=plan.version, digest=digest, at=office.clock())
        )
        _log(session, office, SYSTEM, row.id, "window.frozen", window.id, version=plan.version, digest=digest)
    return len(opened)


def _touched(session: Session, plan: Plan, new: Campaign) -> dict[str, list[dict[str, Any]]]:
    """What of the frozen windows would change, by window."""
    there = {one.id for one in plan.campaign.windows}
    names = [one.window for one in freezes(session, plan.row.id) if one.window in there]
    found = {name: [_plain(one) for one in departures(plan.campaign, new, name)] for name in names}
    return {name: changes for name, changes in found.items() if changes}


def _plain(change: Change) -> dict[str, Any]:
    return {"what": change.what, "from": change.before, "to": change.after}


def _deviate(
    session: Session,
    office: Office,
    actor: Actor,
    plan: Plan,
    version: int,
    window: str,
    changes: list[dict[str, Any]],
    reason: str,
) -> None:
    known = results_known(session, plan.row.id, window)
    session.add(
        Deviation(
            campaign_id=plan.row.id,
            window=window,
            from_version=plan.version,
            to_version=version,
            changes=changes,
            by=actor.id,
            reason=reason,
            results_known=known,
            at=office.clock(),
        )
    )
    what = [change["what"] for change in changes]
    facts = {"changed": what, "version": version, "reason": reason, "results_known": known}
    _log(session, office, actor, plan.row.id, "plan.deviated", window, **facts)


def results_known(session: Session, campaign_id: str, window: str) -> bool:
    """Whether any result of a window had been computed."""
    question = select(Result.key).join(Submission, Submission.id == Result.submission_id)
    found = question.where(Submission.campaign_id == campaign_id, Submission.window == window).limit(1)
    return session.scalar(found) is not None


def members_of_campaign(session: Session, campaign_id: str) -> tuple[str, ...]:
    """Everybody who is an active member of one of its teams."""
    question = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    found = question.where(Team.campaign_id == campaign_id, Team.state == "active", Membership.state == "active")
    return tuple(session.scalars(found.distinct().order_by(Membership.person_id)))


def _log(
    session: Session, office: Office, actor: Actor, campaign_id: str, kind: str, subject: str, **data: Any
) -> None:
    events.record(session, kind, at=office.clock(), actor=actor.id, subject=subject, campaign_id=campaign_id, data=data)
