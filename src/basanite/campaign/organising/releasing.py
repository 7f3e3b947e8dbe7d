"""Letting results out, level by level, each a separate act with its time: certification, top, details, E2E, public.

A release is refused before its window is over and scored, before its earliest moment, and before certification has
run out. It lists the appeals that are still open, and the runs that stay held because their description lacks fields
that their track requires (P-31).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import appeals, approvals, plans, telling
from basanite.campaign.people.roles import check_second, require_organiser
from basanite.campaign.results.descriptions import missing_fields
from basanite.campaign.store import events
from basanite.campaign.store.tables import Approval, Release, Submission
from basanite.problems import Problem

LEVELS: Final = ("certification", "top", "details", "e2e", "public")
AFTER: Final = {"certification": (), "top": (), "details": ("top",), "e2e": ("top",), "public": ("top",)}
"""What must be out before each level (M70)."""
ON_ITS_WAY: Final = ("received", "validating", "scoring")


@dataclass(frozen=True)
class Readiness:
    """What an organiser should know before a release."""

    window: str
    level: str
    obstacles: tuple[Problem, ...]
    open_appeals: tuple[int, ...]
    """Numbers of appeals that are still open."""
    held: tuple[str, ...]
    """Submissions that stay hidden because their description lacks required fields (P-31)."""
    no_primary: tuple[str, ...]
    """Teams that made no primary submission, so that nothing of theirs is compared (C46)."""
    unconfirmed: tuple[str, ...]
    """Teams whose PI has not confirmed the results."""


def readiness(session: Session, office: Office, campaign_id: str, window: str, level: str) -> Readiness:
    """Whether a level could be released now, and what it would leave out."""
    plan = plans.current(session, campaign_id)
    row = plans.find_window(plan.campaign, window)
    runs = _runs(session, campaign_id, window)
    confirmed = appeals.certified(session, campaign_id, window)
    teams = sorted({run.team_id for run in runs if run.state == "scored"})
    return Readiness(
        window,
        level,
        tuple(_obstacles(session, plan, row, level, runs, plans.now(office, plan.row))),
        tuple(one.number for one in appeals.open_appeals(session, campaign_id, window)),
        tuple(run.id for run in runs if missing_fields(plan.campaign, run.track, run.description)),
        tuple(team for team in teams if not _has_primary(runs, team)),
        tuple(team for team in teams if team not in confirmed),
    )


def release(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    window: str,
    level: str,
    *,
    reason: str = "",
    seconded_by: str | None = None,
) -> Release:
    """Release a level of a window's results, at this moment and for good."""
    require_organiser(session, actor, campaign_id)
    plan = plans.locked(session, campaign_id)
    _check_second(session, actor, plan.campaign, campaign_id, seconded_by)
    ready = readiness(session, office, campaign_id, window, level)
    if ready.obstacles:
        raise RefusedError(ready.obstacles, status=409)
    row = Release(
        campaign_id=campaign_id,
        window=window,
        level=level,
        by=actor.id,
        seconded_by=seconded_by,
        reason=reason,
        open_appeals=list(ready.open_appeals),
        at=plans.now(office, plan.row),
    )
    session.add(row)
    session.flush()
    _log(session, office, actor, row, ready)
    _tell(session, office, plan, row)
    return row


def ask(
    session: Session, office: Office, actor: Actor, campaign_id: str, window: str, level: str, *, reason: str = ""
) -> Release | Approval:
    """Release, or where that takes two people ask a second one."""
    require_organiser(session, actor, campaign_id)
    if not approvals.needs_two(plans.current(session, campaign_id).campaign, "release"):
        return release(session, office, actor, campaign_id, window, level, reason=reason)
    ready = readiness(session, office, campaign_id, window, level)
    if ready.obstacles:
        raise RefusedError(ready.obstacles, status=409)
    data = {"window": window, "level": level}
    return approvals.ask(session, office, actor, "release", campaign_id=campaign_id, data=data, reason=reason)


def releases(session: Session, campaign_id: str, window: str | None = None) -> tuple[Release, ...]:
    """What has been released, in the order of time."""
    question = select(Release).where(Release.campaign_id == campaign_id).order_by(Release.at, Release.level)
    return tuple(session.scalars(question if window is None else question.where(Release.window == window)))


def _runs(session: Session, campaign_id: str, window: str) -> tuple[Submission, ...]:
    question = select(Submission).where(Submission.campaign_id == campaign_id, Submission.window == window)
    return tuple(session.scalars(question.order_by(Submission.received, Submission.id)))


def _has_primary(runs: tuple[Submission, ...], team: str) -> bool:
    good = ("on time", "late", "baseline")
    return any(run.team_id == team and run.type == "primary" and run.standing in good for run in runs)


def _check_second(
    session: Session, actor: Actor, campaign: Campaign, campaign_id: str, seconded_by: str | None
) -> None:
    if not approvals.needs_two(campaign, "release"):
        return
    if seconded_by is None:
        raise refused("X-4", "a release takes two people here", "ask for it, and let another agree", status=409)
    check_second(session, actor, campaign_id, seconded_by)


def _obstacles(
    session: Session, plan: plans.Plan, window: Window, level: str, runs: tuple[Submission, ...], now: datetime
) -> Iterator[Problem]:
    if level not in LEVELS:
        yield problem("M70", f"there is no level {level!r}", f"one of: {', '.join(LEVELS)}")
        return
    yield from _out_already(session, plan.row.id, window, level)
    yield from _too_early(window, now)
    waiting = sum(run.state in ON_ITS_WAY for run in runs)
    if waiting:
        yield problem("M70", f"{waiting} submissions are still being scored", "wait until all have ended")
    if level != "certification" and window.certification:
        yield from _uncertified(session, plan.row.id, window, now)


def _out_already(session: Session, campaign_id: str, window: Window, level: str) -> Iterator[Problem]:
    out = {row.level: row.at for row in releases(session, campaign_id, window.id)}
    if level in out:
        yield problem("M70", f"this was released at {out[level]:%Y-%m-%d %H:%M} UTC", "choose another level")
    for before in AFTER[level]:
        if before not in out:
            yield problem("M70", f"{level!r} comes after {before!r}", f"release {before!r} first")
    if level == "certification" and "top" in out:
        yield problem("P-24", "certification comes before any release", "hear the teams another way")


def _too_early(window: Window, now: datetime) -> Iterator[Problem]:
    over = window.closes.utc + max(window.transfer_grace, window.late_grace)
    if now < over:
        yield problem("M70", f"the window and its grace are over at {over:%Y-%m-%d %H:%M} UTC", "wait until then")


def _uncertified(session: Session, campaign_id: str, window: Window, now: datetime) -> Iterator[Problem]:
    ends = appeals.certification_ends(session, campaign_id, window.id)
    if ends is None:
        yield problem("P-24", "no PI has seen these results yet", "release 'certification' first")
    elif now < ends:
        yield problem("P-24", f"certification runs until {ends:%Y-%m-%d %H:%M} UTC", "wait until then")


def _tell(session: Session, office: Office, plan: plans.Plan, row: Release) -> None:
    """Mail goes out when the release takes effect: where the plan fixes moments, at the next of them (X-16)."""
    window = plans.find_window(plan.campaign, row.window)
    if row.level == "certification":
        telling.to_certify(session, office, row, row.at + window.certification)
    else:
        telling.released(session, office, row)
    moment = takes_effect(window, row.at)
    if moment > row.at:
        telling.put_off(session, row, office.clock() + (moment - row.at))


def takes_effect(window: Window, at: datetime) -> datetime:
    """When a release becomes visible: at once, or at the next of the moments that the plan fixes."""
    return min((one.utc for one in window.results_at if one.utc >= at), default=at)


def _log(session: Session, office: Office, actor: Actor, row: Release, ready: Readiness) -> None:
    events.record(
        session,
        "results.released",
        at=office.clock(),
        actor=actor.id,
        subject=row.window,
        campaign_id=row.campaign_id,
        data={
            "level": row.level,
            "reason": row.reason,
            "seconded_by": row.seconded_by,
            "open_appeals": row.open_appeals,
            "held": list(ready.held),
        },
    )
