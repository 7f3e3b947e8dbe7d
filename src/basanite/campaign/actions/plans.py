"""The campaign's file in its versions: what holds now, what a window froze when it opened, and what departed from it.

The file is kept as it was given. What holds for a window that has opened is frozen under a hash (P-28); a later change
that touches it is a deviation, with who, why, and whether results were known by then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.freeze import Change, changes, departures, frozen_digest
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError, no_reason, refused
from basanite.campaign.model.zones import spelt
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.plans import InForce, find_campaign, parse_plan
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


def add_campaign(session: Session, office: Office, actor: Actor, text: str, *, draft: bool = False) -> CampaignRow:
    """Begin a campaign from its file; a draft is seen by organizers alone until it is published (P-35)."""
    campaign = parse_plan(text)
    if session.scalar(select(CampaignRow).where(CampaignRow.slug == campaign.slug)) is not None:
        raise refused(
            "P-28",
            f"there is already a campaign {campaign.slug!r}",
            "change that campaign, or choose another slug",
            status=409,
        ).with_hint("basanite admin campaign change")
    now = office.clock()
    row = CampaignRow(slug=campaign.slug, made=now, clock_offset=0.0, published=None if draft else now)
    session.add(row)
    session.flush()
    _keep(session, office, actor, PlanVersion(campaign_id=row.id, version=1, text=text, reason=""))
    return row


def current(session: Session, slug_or_id: str) -> Plan:
    """The campaign of this slug or id, in its newest version."""
    plan = find_campaign(session, slug_or_id)
    if plan is None:
        raise no_campaign(slug_or_id)
    return plan


def no_campaign(slug_or_id: str) -> RefusedError:
    """The refusal of an address that names no campaign, or one that does not exist for who asks."""
    return refused("P-7", f"there is no campaign {slug_or_id!r}", "list the campaigns", status=404)


def newest_version(session: Session, campaign_id: str) -> PlanVersion:
    """The newest version of a campaign's file."""
    question = select(PlanVersion).where(PlanVersion.campaign_id == campaign_id)
    return session.scalars(question.order_by(PlanVersion.version.desc()).limit(1)).one()


def change_plan(session: Session, office: Office, actor: Actor, campaign: str, text: str, *, reason: str) -> Plan:
    """Store a new version of the file; changes to open windows are recorded as deviations, permanently (P-28)."""
    plan = lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    new = parse_plan(text)
    if new.slug != plan.campaign.slug:
        raise refused(
            "P-28", f"the file belongs to another campaign, {new.slug!r}", "do not change the slug", status=422
        )
    freeze_opened(session, office, plan.row.id)
    touched = _frozen_changes(session, plan, new)
    if touched and not reason.strip():
        names = ", ".join(touched)
        raise no_reason("P-28", f"this changes the frozen plan ({names})")
    here, version = plan.row.id, plan.version + 1
    _keep(session, office, actor, PlanVersion(campaign_id=here, version=version, text=text, reason=reason))
    for window, gone in touched.items():
        facts = {"from_version": plan.version, "to_version": version, "changes": gone, "reason": reason}
        _deviate(session, office, actor, Deviation(campaign_id=here, window=window, **facts))
    return Plan(plan.row, new, version)


@dataclass(frozen=True, slots=True)
class Extension:
    """A later end of a window, and why."""

    window: str
    closes: str
    reason: str


def extend_window(session: Session, office: Office, actor: Actor, campaign: str, extension: Extension) -> Plan:
    """Let a window close later: a change of its one line, with a reason that everybody is told (P-27)."""
    window, closes, reason = extension.window, extension.closes, extension.reason
    plan = current(session, campaign)
    old = find_window(plan.campaign, window)
    if not reason.strip():
        raise no_reason("P-27", "an extension needs a reason")
    text = with_closing(newest_version(session, plan.row.id).text, window, closes)
    new = find_window(parse_plan(text), window)
    if new.closes.utc <= old.closes.utc:
        raise refused("P-27", "the new deadline is not later than the old one", "give a later time", status=422)
    changed = change_plan(session, office, actor, plan.row.id, text, reason=reason)
    _log(session, office, actor, plan.row.id, "window.extended", window, closes=closes, reason=reason)
    data = {"window": window, "closes": spelt(new.closes.utc, plan.campaign.zone), "reason": reason}
    question = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    found = question.where(Team.campaign_id == plan.row.id, Team.state == "active", Membership.state == "active")
    everybody = tuple(session.scalars(found.distinct().order_by(Membership.person_id)))
    once = f"{window}:{changed.version}"
    tell(session, office, "window_extended", persons=everybody, campaign_id=plan.row.id, data=data, once=once)
    return changed


def freeze_opened(session: Session, office: Office, campaign_id: str | None = None) -> int:
    """Freeze the plan of every window that has opened and is not frozen yet; says how many (P-28)."""
    question = select(CampaignRow).where(CampaignRow.published.is_not(None)).order_by(CampaignRow.slug)
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


def lock_plan(session: Session, campaign: str) -> Plan:
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
    fix, hint = (
        "write the new deadline into the file and upload it as a campaign change",
        "basanite admin campaign change",
    )
    message = f"cannot find the line that closes {window!r} in the file"
    raise refused("P-27", message, fix, status=409).with_hint(hint)


def _line(name: str, value: str) -> str:
    return rf"(?m)^\s*{name}\s*=\s*[\"']{re.escape(value)}[\"']\s*(#.*)?$"


def _closing(closes: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{match[1]}{json.dumps(closes)}{match[2]}"


def _keep(session: Session, office: Office, actor: Actor, new: PlanVersion) -> None:
    """Keep a new version of a plan: its digest, moment and maker are filled in here."""
    new.digest = hashlib.sha256(new.text.encode()).hexdigest()
    new.made, new.made_by = office.clock(), actor.id
    session.add(new)
    session.flush()
    what = "campaign.added" if new.version == 1 else "campaign.changed"
    facts = {"version": new.version, "digest": new.digest, "reason": new.reason}
    _log(session, office, actor, new.campaign_id, what, new.campaign_id, **facts)


def _freeze(session: Session, office: Office, row: CampaignRow) -> int:
    plan = current(session, row.id)
    known = {one.window for one in freezes(session, row.id)}
    opened = [one for one in plan.campaign.windows if one.opens.utc <= now(office, row) and one.id not in known]
    if not opened:
        return 0
    lock_plan(session, row.id)
    known = {one.window for one in freezes(session, row.id)}  # somebody else may have been at it meanwhile
    for window in (one for one in opened if one.id not in known):
        digest = frozen_digest(plan.campaign, window)
        session.add(
            Freeze(campaign_id=row.id, window=window.id, plan_version=plan.version, digest=digest, at=office.clock())
        )
        _log(session, office, SYSTEM, row.id, "window.frozen", window.id, version=plan.version, digest=digest)
    return len(opened)


def _frozen_changes(session: Session, plan: Plan, new: Campaign) -> dict[str, list[dict[str, Any]]]:
    """What of the frozen windows would change, by window."""
    there = {one.id for one in plan.campaign.windows}
    names = [one.window for one in freezes(session, plan.row.id) if one.window in there]
    found = {name: [_plain(one) for one in departures(plan.campaign, new, name)] for name in names}
    return {name: changes for name, changes in found.items() if changes}


def _plain(change: Change) -> dict[str, Any]:
    return {"what": change.what, "from": change.before, "to": change.after}


def _deviate(session: Session, office: Office, actor: Actor, new: Deviation) -> None:
    """Keep what a change of the plan does to a frozen window, and whether its results were known (P-28)."""
    new.results_known = results_known(session, new.campaign_id, new.window)
    new.by, new.at = actor.id, office.clock()
    session.add(new)
    what = [change["what"] for change in new.changes]
    facts = {"changed": what, "version": new.to_version, "reason": new.reason, "results_known": new.results_known}
    _log(session, office, actor, new.campaign_id, "plan.deviated", new.window, **facts)


def results_known(session: Session, campaign_id: str, window: str) -> bool:
    """Whether any result of a window had been computed."""
    question = select(Result.key).join(Submission, Submission.id == Result.submission_id)
    found = question.where(Submission.campaign_id == campaign_id, Submission.window == window).limit(1)
    return session.scalar(found) is not None


def _log(
    session: Session, office: Office, actor: Actor, campaign_id: str, kind: str, subject: str, **data: Any
) -> None:
    events.record(session, kind, at=office.clock(), actor=actor.id, subject=subject, campaign_id=campaign_id, data=data)


@dataclass(frozen=True)
class Departing:
    """A window that has opened and would hold differently."""

    window: str
    title: str
    changes: tuple[Change, ...]
    results_known: bool


@dataclass(frozen=True)
class PlanPreview:
    """What a file would change; `digest` stands for exactly this file."""

    digest: str
    changes: tuple[Change, ...]
    deviations: tuple[Departing, ...]
    campaign: Campaign
    """The plan of the file."""


def preview_plan(session: Session, office: Office, campaign_id: str, text: str) -> PlanPreview:
    """Read a file and compare it with the plan that holds; nothing is kept. Its problems are a refusal."""
    plan, new = current(session, campaign_id), parse_plan(text)
    if new.slug != plan.campaign.slug:
        raise refused(
            "P-28", f"the file belongs to another campaign, {new.slug!r}", "do not change the slug", status=422
        )
    moment = now(office, plan.row)
    opened = [window for window in plan.campaign.windows if window.opens.utc <= moment]
    found = [
        Departing(window.id, window.title, gone, results_known(session, plan.row.id, window.id))
        for window, gone in ((window, departures(plan.campaign, new, window.id)) for window in opened)
        if gone
    ]
    digest = hashlib.sha256(text.encode()).hexdigest()
    return PlanPreview(digest, changes(plan.campaign, new), tuple(found), new)


def plan_versions(session: Session, campaign_id: str) -> tuple[PlanVersion, ...]:
    """All versions of a campaign's file, newest first."""
    query = select(PlanVersion).where(PlanVersion.campaign_id == campaign_id)
    return tuple(session.scalars(query.order_by(PlanVersion.version.desc())))
