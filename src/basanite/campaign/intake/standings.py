"""What becomes of a submission's standing: withdrawn, disqualified, admitted, made primary; always with a reason.

Nothing is deleted and no attempt comes back: the row stays, with who changed its standing and why (P-23).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.intake import quotas
from basanite.campaign.intake.submissions import get
from basanite.campaign.model.plan import Window
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import check_second, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Submission

COUNTING = ("on time", "late", "baseline")
"""Standings of submissions that have neither been withdrawn nor disqualified."""


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
    """Void a submission; where the campaign says so, two organisers stand behind it (X-4)."""
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
        raise refused("P-23", f"the submission is not late but {row.standing}", "nothing is to be done", status=409)
    row.admitted, row.standing_reason, row.standing_by = office.clock(), reason, actor.id
    _log(session, office, actor, row, "submission.admitted", reason=reason)
    return row


def designate_primary(session: Session, office: Office, actor: Actor, submission_id: str, *, reason: str) -> Submission:
    """Make a submission its team's primary one after a window closed without any (C46)."""
    row = _counting(session, actor, submission_id, reason)
    require_organiser(session, actor, row.campaign_id)
    plan = in_force(session, row.campaign_id)
    closes = plan.campaign.window(row.window).closes.utc
    if plan.now(office.clock()) < closes:
        raise refused("C46", "the window is open: the team can still submit a primary", "wait until it closes")
    if row.state not in ("scoring", "scored"):
        raise refused("C46", f"the submission is {row.state}", "choose one that is valid", status=409)
    if primaries(session, row):
        raise refused("C46", "the team has a primary submission here", "withdraw or void that one first", status=409)
    row.type, row.designated = "primary", office.clock()
    _log(session, office, actor, row, "submission.designated", reason=reason)
    return row


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


def teams_without_primary(session: Session, campaign_id: str, window: Window) -> dict[str, list[str]]:
    """By team, what of a window has submissions but no primary one: a warning while it is open (C46)."""
    query = select(Submission.team_id, Submission.task, Submission.language, Submission.track, Submission.type).where(
        Submission.campaign_id == campaign_id,
        Submission.window == window.id,
        Submission.standing.in_(COUNTING),
        Submission.state.not_in(("invalid", "failed")),
    )
    seen: dict[tuple[str, str], bool] = {}
    for team, task, language, track, kind in session.execute(query.distinct()):
        place = (team, " ".join(part for part in (task, language, track) if part))
        seen[place] = seen.get(place, False) or kind == "primary"
    found: dict[str, list[str]] = {}
    for team, what in sorted(place for place, has in seen.items() if not has):
        found.setdefault(team, []).append(what)
    return found


def _counting(session: Session, actor: Actor, submission_id: str, reason: str) -> Submission:
    """A submission that still counts, with its team locked; a standing is never changed without a reason."""
    row = get(session, actor, submission_id)
    quotas.lock_team(session, row.team_id)
    session.refresh(row)
    if not reason.strip():
        raise refused("P-23", "no reason is given", "say why; it is kept and shown to the team", status=422)
    if row.standing not in COUNTING:
        raise refused("P-23", f"the submission is {row.standing} already", "nothing is to be done", status=409)
    return row


def _check_second(session: Session, actor: Actor, row: Submission, seconded_by: str | None) -> None:
    if "void" not in in_force(session, row.campaign_id).campaign.two_people:
        return
    if seconded_by is None:
        message = "voiding a run takes two people in this campaign"
        raise refused("X-4", message, "ask for it as an act of two", status=409)
    check_second(session, actor, row.campaign_id, seconded_by)


def _set(
    session: Session, office: Office, actor: Actor, row: Submission, standing: str, reason: str, **data: Any
) -> Submission:
    before = row.standing
    row.standing, row.standing_reason, row.standing_by = standing, reason, actor.id
    _log(session, office, actor, row, f"submission.{standing}", reason=reason, before=before, **data)
    return row


def _log(session: Session, office: Office, actor: Actor, row: Submission, kind: str, **data: Any) -> None:
    facts = {"team": row.team_id, "number": row.number, **data}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=facts
    )
