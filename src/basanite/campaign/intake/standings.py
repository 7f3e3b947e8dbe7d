"""What becomes of a submission's standing: withdrawn, disqualified, admitted, made primary; always with a reason.

Nothing is deleted and no attempt comes back: the row stays, with who changed its standing and why (P-23).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.intake import charges
from basanite.campaign.intake.acceptance import get
from basanite.campaign.model.plan import Window
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.model.windows import open_windows, shown_language
from basanite.campaign.model.zones import spelt
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import check_second, require_organiser, viewer
from basanite.campaign.people.teams import team_members
from basanite.campaign.store import events
from basanite.campaign.store.plans import InForce, in_force
from basanite.campaign.store.tables import Submission
from basanite.problems import Problem

COUNTING = ("on time", "late", "baseline")
"""Standings of submissions that have neither been withdrawn nor disqualified."""
REMINDED_BEFORE = timedelta(days=1)
"""How long before a window closes a team without a primary run gets a mail."""


def withdraw(session: Session, office: Office, actor: Actor, submission_id: str, *, reason: str) -> Submission:
    """Take a submission out of all comparisons, by its own team or an organiser; its attempt stays spent."""
    row = _counting(session, actor, submission_id, reason)
    return _set(session, office, actor, row, "withdrawn", reason)


def disqualify(
    session: Session,
    office: Office,
    actor: Actor,
    submission_id: str,
    *,
    reason: str,
    seconded_by: str | None = None,
) -> Submission:
    """Void a submission; where the campaign says so, two organizers approve it (X-4)."""
    row = _counting(session, actor, submission_id, reason)
    require_organiser(session, actor, row.campaign_id)
    _check_second(session, actor, row, seconded_by)
    return _set(session, office, actor, row, "disqualified", reason, seconded_by=seconded_by)


def mark_baseline(session: Session, office: Office, actor: Actor, submission_id: str, *, reason: str) -> Submission:
    """Show a submission as a baseline: on boards, and outside of ranks."""
    row = _counting(session, actor, submission_id, reason)
    require_organiser(session, actor, row.campaign_id)
    return _set(session, office, actor, row, "baseline", reason)


def admit_late(session: Session, office: Office, actor: Actor, submission_id: str, *, reason: str) -> Submission:
    """Let a late submission into ranks, groups and tests, with a reason that is kept (P-23)."""
    row = _counting(session, actor, submission_id, reason)
    require_organiser(session, actor, row.campaign_id)
    if row.standing != "late":
        raise refused("P-23", f"the submission is not late but {row.standing}", "there is nothing to do", status=409)
    row.admitted, row.standing_reason, row.standing_by = office.clock(), reason, actor.id
    _log(session, office, actor, row, "submission.admitted", reason=reason)
    _tell(session, office, actor, row, "admitted", reason)
    return row


def designate_primary(session: Session, office: Office, actor: Actor, submission_id: str, *, reason: str) -> Submission:
    """Make a submission its team's primary one after a window closed without any (C46)."""
    row = _counting(session, actor, submission_id, reason)
    require_organiser(session, actor, row.campaign_id)
    plan = in_force(session, row.campaign_id)
    closes = plan.campaign.window(row.window).closes.utc
    if plan.now(office.clock()) < closes:
        raise refused("C46", "the window is open: the team can still submit a primary run", "wait until it closes")
    if row.state not in ("scoring", "scored"):
        raise refused("C46", f"the submission is {row.state}", "choose one that is valid", status=409)
    if primaries(session, row):
        raise refused(
            "C46", "the team already has a primary submission here", "withdraw or void that one first", status=409
        )
    row.type, row.designated = "primary", office.clock()
    _log(session, office, actor, row, "submission.designated", reason=reason)
    _tell(session, office, actor, row, "primary", reason)
    return row


def choose_primary(session: Session, office: Office, actor: Actor, submission_id: str) -> Submission:
    """A member makes a run the team's primary one while its window is open; there is one at a time (C46, M66)."""
    row = get(session, actor, submission_id)
    charges.lock_team(session, row.team_id)
    session.refresh(row)
    if viewer(session, row.campaign_id, actor.id).team != row.team_id:
        raise refused("C46", "only its own team can choose a primary run", "ask a member of the team", status=403)
    plan = in_force(session, row.campaign_id)
    found = _why_not_primary(session, plan, row, plan.now(office.clock()))
    if found is not None:
        raise RefusedError([found], status=409)
    row.type = "primary"
    charges.charge_as(session, row)
    _log(session, office, actor, row, "submission.chosen")
    return row


def can_choose(session: Session, plan: InForce, row: Submission, now: datetime) -> bool:
    """Whether a team may make a run of its own the primary one now."""
    return _why_not_primary(session, plan, row, now) is None


def _why_not_primary(session: Session, plan: InForce, row: Submission, now: datetime) -> Problem | None:
    window = plan.campaign.window(row.window)
    if now >= window.closes.utc:
        return problem("C46", "the window is closed", "ask the organizers to designate your primary run")
    if row.state in ("invalid", "failed") or row.standing not in COUNTING:
        found = row.state if row.standing in COUNTING else row.standing
        return problem("C46", f"the submission is {found}", "choose one that is valid")
    if not takes_primary(window, row.task):
        return problem("M67", f"this window takes no primary run for {row.task}", "leave it unchanged")
    if row.id in primaries(session, row):
        return problem("C46", "this is already your team's primary run", "leave it unchanged")
    if primaries(session, row):
        return problem(
            "M66", "your team already has a primary run here", "withdraw that one first, then choose this one"
        )
    return None


def primaries(session: Session, like: Submission) -> list[str]:
    """The valid primary submissions of the same team, window, task, language and track."""
    query = select(Submission.id).where(
        Submission.campaign_id == like.campaign_id,
        Submission.window == like.window,
        Submission.team_id == like.team_id,
        Submission.task == like.task,
        Submission.language == like.language,
        Submission.track == like.track,
        Submission.type == "primary",
        Submission.standing.in_(COUNTING),
        Submission.state.not_in(("invalid", "failed")),
    )
    return list(session.scalars(query))


def takes_primary(window: Window, task: str) -> bool:
    """Whether a team may have a primary run for a task of a window (M67)."""
    bounds = (window.quota.types.get(name, 1) for name in ("primary", f"{task}/primary"))
    return window.kind != "sanity" and all(bounds)


@dataclass(frozen=True)
class MissingPrimary:
    """What a team has submitted to an open window without a primary run among it (C46)."""

    window: Window
    what: tuple[str, ...]
    """Task, language and track of each."""


def missing_primaries(session: Session, campaign_id: str, team_id: str, now: datetime) -> tuple[MissingPrimary, ...]:
    """What a team should know before its windows close; `now` in the campaign's time."""
    found = []
    for window in open_windows(in_force(session, campaign_id).campaign, now):
        what = teams_without_primary(session, campaign_id, window, team_id).get(team_id)
        found += [MissingPrimary(window, tuple(what))] if what else []
    return tuple(found)


def remind_of_primaries(session: Session, office: Office, campaign_id: str) -> int:
    """The duty: a day before a window closes, tell each team once that it has no primary run (C46)."""
    plan = in_force(session, campaign_id)
    now, told = plan.now(office.clock()), 0
    closing = [one for one in open_windows(plan.campaign, now) if one.closes.utc - now <= REMINDED_BEFORE]
    for window in closing:
        for team, what in teams_without_primary(session, campaign_id, window).items():
            closes = spelt(window.closes.utc, plan.campaign.zone)
            data = {"team": team, "window": window.id, "closes": closes, "what": ", ".join(what)}
            persons, once = team_members(session, team), f"{window.id}:{closes}:{team}"
            told += tell(
                session, office, "primary_missing", persons=persons, campaign_id=campaign_id, data=data, once=once
            )
    return told


def teams_without_primary(
    session: Session, campaign_id: str, window: Window, team_id: str | None = None
) -> dict[str, list[str]]:
    """By team, or for one, what of a window has submissions but no primary one: a warning while it is open (C46)."""
    if window.board != "primary":
        return {}
    query = select(Submission.team_id, Submission.task, Submission.language, Submission.track, Submission.type).where(
        Submission.campaign_id == campaign_id,
        Submission.window == window.id,
        Submission.standing.in_(COUNTING),
        Submission.state.not_in(("invalid", "failed")),
    )
    query = query if team_id is None else query.where(Submission.team_id == team_id)
    campaign, seen = in_force(session, campaign_id).campaign, dict[tuple[str, str], bool]()
    for team, task, language, track, kind in session.execute(query.distinct()):
        if not takes_primary(window, task):
            continue
        place = (team, " ".join(part for part in (task, shown_language(campaign, language), track) if part))
        seen[place] = seen.get(place, False) or kind == "primary"
    found: dict[str, list[str]] = {}
    for team, what in sorted(place for place, has in seen.items() if not has):
        found.setdefault(team, []).append(what)
    return found


def _counting(session: Session, actor: Actor, submission_id: str, reason: str) -> Submission:
    """A submission that still counts, with its team locked; a standing is never changed without a reason."""
    row = get(session, actor, submission_id)
    charges.lock_team(session, row.team_id)
    session.refresh(row)
    if not reason.strip():
        raise refused("P-23", "a reason is required", "give a reason; it is recorded and shown to the team", status=422)
    if row.standing not in COUNTING:
        raise refused("P-23", f"the submission is already {row.standing}", "there is nothing to do", status=409)
    return row


def _check_second(session: Session, actor: Actor, row: Submission, seconded_by: str | None) -> None:
    if "void" not in in_force(session, row.campaign_id).campaign.two_people:
        return
    if seconded_by is None:
        message = "voiding a run needs two people in this campaign"
        raise refused("X-4", message, "request two-person approval", status=409)
    check_second(session, actor, row.campaign_id, seconded_by)


def _set(
    session: Session, office: Office, actor: Actor, row: Submission, standing: str, reason: str, **data: Any
) -> Submission:
    before = row.standing
    row.standing, row.standing_reason, row.standing_by = standing, reason, actor.id
    _log(session, office, actor, row, f"submission.{standing}", reason=reason, before=before, **data)
    _tell(session, office, actor, row, standing, reason)
    return row


def _tell(session: Session, office: Office, actor: Actor, row: Submission, standing: str, reason: str) -> None:
    """Write to the team what somebody else decided about its run; what a member did, its team sees on the page."""
    persons = team_members(session, row.team_id)
    if actor.id not in persons:
        facts = {"submission": row.id, "number": row.number, "window": row.window}
        data = facts | {"standing": standing, "reason": reason}
        tell(session, office, "standing_changed", persons=persons, campaign_id=row.campaign_id, data=data)


def _log(session: Session, office: Office, actor: Actor, row: Submission, kind: str, **data: Any) -> None:
    facts = {"team": row.team_id, "number": row.number, **data}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=facts
    )
