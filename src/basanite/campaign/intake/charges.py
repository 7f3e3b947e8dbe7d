"""What attempts cost: reserved when an upload starts, charged when valid, freed when not, refunded by our fault.

Every count is made with the team's row locked, so that of two members who submit at the same instant with one attempt
left exactly one gets it. Invalid attempts cost nothing, but have a cap of their own (M65, X-7).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, false, func, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model import calendar, quotas
from basanite.campaign.model.calendar import Allowance
from basanite.campaign.model.plan import Campaign, Declared, Window
from basanite.campaign.model.quotas import Account, Extras, Use, account, balance
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.model.zones import spelt
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.teams import team_members
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Charge, Extra, Submission, Team

COUNTED = ("reserved", "charged")
INVALID, LAPSED = "invalid", "lapsed"
"""Why an attempt was freed; only the first counts against the cap on invalid ones."""
SMALL = 3
"""Quotas below this are no news when one attempt is left."""
PAUSE = timedelta(hours=1)
"""Beyond the cap one attempt is possible after this time."""
SHORT_PAUSE = timedelta(minutes=1)
"""When it is worth looking again for the verdicts of what is on its way."""


def lock_team(session: Session, team_id: str) -> Team:
    """A team whose attempts nobody else counts or changes before this transaction ends."""
    team = session.get(Team, team_id, with_for_update=True, populate_existing=True)
    if team is None:
        raise missing("team")
    return team


def uses(session: Session, team_id: str, accounts: Iterable[Account]) -> list[Use]:
    """The attempts that count in these accounts."""
    query = select(Charge.key, Charge.period, Charge.task, Charge.type).where(
        Charge.team_id == team_id,
        _at(Charge, accounts),
        Charge.state.in_(COUNTED),
    )
    return [Use(*row) for row in session.execute(query)]


def extras(session: Session, team_id: str, accounts: Iterable[Account]) -> Extras:
    """Attempts given beyond the quota, in these accounts."""
    query = select(Extra.key, Extra.period, func.sum(Extra.count)).where(Extra.team_id == team_id, _at(Extra, accounts))
    return {
        (key, period): int(count) for key, period, count in session.execute(query.group_by(Extra.key, Extra.period))
    }


def _at(table: type[Charge | Extra], accounts: Iterable[Account]) -> ColumnElement[bool]:
    """That a row is of one of these accounts; spelt out, for SQLite finds no index for pairs."""
    places = sorted({(one.key, one.period) for one in accounts})
    return or_(false(), *(and_(table.key == key, table.period == period) for key, period in places))


def allowances(session: Session, office: Office, campaign: Campaign, team_id: str) -> tuple[Allowance, ...]:
    """What a team may submit now, and how often."""
    team = session.get(Team, team_id)
    if team is None:
        raise missing("team")
    now = in_force(session, team.campaign_id).now(office.clock())
    track = team.track or None
    accounts = [one.account for one in calendar.allowances(campaign, now, track=track)]
    used, more = uses(session, team_id, accounts), extras(session, team_id, accounts)
    return calendar.allowances(campaign, now, used, more, track)


def reserve(
    session: Session, campaign: Campaign, window: Window, team_id: str, declared: Declared, now: datetime
) -> Charge:
    """Take one attempt of a team, whose row the caller has locked; refused if none is left (M64, M66, M67)."""
    check_invalid(session, campaign, team_id, now)
    place = account(campaign, window, declared.task, declared.language, declared.track, now)
    used, more = uses(session, team_id, [place]), extras(session, team_id, [place])
    calendar.check_quota(campaign, window, declared, now, used, extras=more)
    charge = Charge(
        team_id=team_id,
        key=place.key,
        period=place.period,
        type=declared.type,
        task=declared.task,
        state="reserved",
        at=now,
    )
    session.add(charge)
    session.flush()
    return charge


def check_invalid(session: Session, campaign: Campaign, team_id: str, now: datetime) -> None:
    """Refuse a team that has used up its invalid attempts of today and made one within the last hour (X-7).

    What has no verdict yet may turn out invalid, so it counts too: attempts side by side get no team past its cap.
    """
    today, cap = quotas.day(now, campaign.zone), max(campaign.invalid_per_day, 1)
    query = select(func.count(), func.max(Charge.at)).where(
        Charge.team_id == team_id, Charge.state == "freed", Charge.reason == INVALID, Charge.at >= today.begins
    )
    count, last = session.execute(query).one()
    unsettled = select(func.count(), func.count(Charge.submission_id)).where(
        Charge.team_id == team_id, Charge.state == "reserved"
    )
    pending, checked = session.execute(unsettled).one()
    if pending and count + pending >= cap:
        message = (
            f"{count} invalid submissions today, and {pending} more being validated: at most "
            f"{cap} may be invalid per day"
        )
        fix = "wait until those have been validated, then try again"
        if not checked:  # they are uploads that nobody checks before they are whole
            fix = "finish or cancel the open uploads, then try again"
        raise refused("X-7", message, fix, status=429, retry_at=now + SHORT_PAUSE if checked else None)
    if count < cap or now >= last + PAUSE:
        return
    again = min(last + PAUSE, today.ends)
    message = f"{count} invalid submissions today, the last less than an hour ago"
    fix = f"validate the file offline, and try again after {spelt(again, campaign.zone)}"
    raise refused("X-7", message, fix, status=429, retry_at=again)


def charge(session: Session, office: Office, submission: Submission) -> Charge | None:
    """A submission was found valid: its attempt is spent, and its team is told if only one is left."""
    spent = _settle(session, office, Charge.submission_id == submission.id, "charged", "", of=("reserved",))
    if spent is not None:
        _tell_low(session, office, submission, spent)
    return spent


def charge_as(session: Session, submission: Submission) -> None:
    """Count an attempt as what its submission is now, with its team locked by the caller: a type has its own bound."""
    row = session.scalars(select(Charge).where(Charge.submission_id == submission.id)).one_or_none()
    if row is not None:
        row.type = submission.type
        session.flush()


def _tell_low(session: Session, office: Office, submission: Submission, spent: Charge) -> None:
    """Write to a team that has one attempt left, unless its quota is so small that it knows (P-10)."""
    plan = in_force(session, submission.campaign_id)
    window = plan.campaign.window(submission.window)
    where = (submission.task, submission.language, submission.track)
    place = account(plan.campaign, window, *where, submission.started)
    state = balance(window, place, uses(session, spent.team_id, [place]), extras(session, spent.team_id, [place]))
    if state.left != 1 or state.count < SMALL:
        return
    ends = place.span.ends
    data = {
        "team": spent.team_id,
        "window": window.id,
        "what": " ".join(filter(None, where)),
        "reset": spelt(ends, plan.campaign.zone) if ends < window.closes.utc else "not before the window closes",
    }
    persons, once = team_members(session, spent.team_id), f"{spent.team_id}:{place.key}:{place.period}:{state.count}"
    tell(session, office, "quota_low", persons=persons, campaign_id=plan.row.id, data=data, once=once)


def free(session: Session, office: Office, submission: Submission, reason: str = INVALID) -> Charge | None:
    """A submission was found invalid: it costs nothing, and counts against the cap on invalid ones (M65)."""
    return _settle(session, office, Charge.submission_id == submission.id, "freed", reason, of=("reserved",))


def free_upload(session: Session, office: Office, upload_id: str, reason: str = LAPSED) -> Charge | None:
    """An upload came to nothing: its attempt is free again (X-2)."""
    return _settle(session, office, Charge.upload_id == upload_id, "freed", reason, of=("reserved",))


def refund(
    session: Session, office: Office, submission: Submission, *, reason: str, actor: Actor = SYSTEM
) -> Charge | None:
    """Give an attempt back: by our fault, or because an organiser says so; giving it back twice changes nothing."""
    if actor != SYSTEM:
        require_organiser(session, actor, submission.campaign_id)
    given = _settle(session, office, Charge.submission_id == submission.id, "refunded", reason, of=COUNTED)
    if given is not None:
        data = {"charge": given.id, "reason": reason}
        _log(session, office, actor, "quota.refunded", submission.id, submission.campaign_id, **data)
    return given


def _settle(
    session: Session, office: Office, which: ColumnElement[bool], state: str, reason: str, *, of: tuple[str, ...]
) -> Charge | None:
    """Change the state of an attempt with its team locked; None if it is not in one of the states any more."""
    team_id = session.scalar(select(Charge.team_id).where(which))
    if team_id is None:
        return None
    team = lock_team(session, team_id)
    row = session.scalars(select(Charge).where(which).execution_options(populate_existing=True)).one()
    if row.state not in of:
        return None
    row.state, row.reason = state, reason
    row.at = in_force(session, team.campaign_id).now(office.clock())
    session.flush()
    return row


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts beyond the quota; task and language may be left out where the window has only one."""

    window: str
    count: int
    reason: str
    task: str = ""
    language: str = ""


def give_extra(session: Session, office: Office, actor: Actor, team_id: str, more: Attempts) -> Extra:
    """Give a team attempts beyond the quota in the current period of a window, with a reason that it sees."""
    count, reason = more.count, more.reason
    team = lock_team(session, team_id)
    require_organiser(session, actor, team.campaign_id)
    plan = in_force(session, team.campaign_id)
    if not 1 <= count <= 1000 or not reason.strip():
        raise refused(
            "M64", "extra attempts need a number and a reason", "give a number from 1 to 1000, and a reason", status=422
        )
    place = _place(plan.campaign, team, more, plan.now(office.clock()))
    row = Extra(
        team_id=team_id,
        key=place.key,
        period=place.period,
        count=count,
        reason=reason,
        by=actor.id,
        at=office.clock(),
    )
    session.add(row)
    session.flush()
    data = {"team": team_id, "window": more.window, "count": count, "reason": reason, "period": place.period}
    _log(session, office, actor, "quota.extra", row.id, team.campaign_id, **data)
    words = {name: data[name] for name in ("team", "window", "count", "reason")}
    persons = team_members(session, team_id)
    tell(session, office, "quota_extra", persons=persons, campaign_id=team.campaign_id, data=words, once=row.id)
    return row


def _place(campaign: Campaign, team: Team, more: Attempts, now: datetime) -> Account:
    """The account of a window that is meant."""
    task, language = more.task, more.language
    window = next((one for one in campaign.windows if one.id == more.window), None)
    if window is None:
        known = ", ".join(one.id for one in campaign.windows)
        raise refused("M62", f"the plan has no window {more.window!r}", f"one of: {known}", status=404)
    done = calendar.complete_declaration(campaign, window, Declared(task or window.tasks[0], "x", language=language))
    languages = window.languages or campaign.languages
    if (not task and len(window.tasks) > 1) or (not done.language and len(languages) > 1):
        words = f"tasks {', '.join(window.tasks)}; languages {', '.join(languages)}"
        raise refused(
            "M62", "the window counts several things separately", f"give task and language: {words}", status=422
        )
    moment = min(max(now, window.opens.utc), window.closes.utc - timedelta(microseconds=1))
    return account(campaign, window, done.task, done.language, team.track or done.track, moment)


def _log(
    session: Session, office: Office, actor: Actor, kind: str, subject: str, campaign_id: str, **data: object
) -> None:
    events.record(session, kind, at=office.clock(), actor=actor.id, subject=subject, campaign_id=campaign_id, data=data)
