"""Letting results out, level by level, each a separate act with its time: certification, top, details, E2E, public.

A release is refused before its window is over and scored, before its earliest moment, and before certification has
run out. It lists the appeals that are still open, and the runs that stay held because their description lacks fields
that their track requires (P-31).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from basanite.campaign.actions import announcements, appeals, plans, two_people, upkeep
from basanite.campaign.actions.registry import (
    ORGANIZER,
    Argument,
    Arguments,
    At,
    Listing,
    Option,
    Outcome,
    Reason,
    action,
)
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import check_second, require_organiser
from basanite.campaign.results import boards, facts, visibility
from basanite.campaign.results.facts import missing_fields
from basanite.campaign.store import events
from basanite.campaign.store.tables import Approval, Message, Release, Submission
from basanite.problems import Problem

LEVELS: Final = ("certification", "top", "details", "e2e", "public")
AFTER: Final = {"certification": (), "top": (), "details": ("top",), "e2e": ("top",), "public": ("top",)}
"""What must be out before each level (M70)."""
ON_ITS_WAY: Final = ("received", "running", "validating", "scoring")


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
    confirmed = appeals.certification_times(session, campaign_id, window)
    teams = sorted({run.team_id for run in runs if run.state == "scored"})
    counting = ("on time", "late", "baseline")
    with_primary = {run.team_id for run in runs if run.type == "primary" and run.standing in counting}
    return Readiness(
        window,
        level,
        tuple(_obstacles(session, plan, row, level, runs, plans.now(office, plan.row))),
        tuple(one.number for one in appeals.open_appeals(session, campaign_id, window)),
        tuple(run.id for run in runs if missing_fields(plan.campaign, run.track, run.description)),
        tuple(team for team in teams if team not in with_primary),
        tuple(team for team in teams if team not in confirmed),
    )


@dataclass(frozen=True, slots=True)
class LevelRelease:
    """A level of a window's results that is to be released."""

    window: str
    level: str
    reason: str = ""


def release(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    wanted: LevelRelease,
    *,
    seconded_by: str | None = None,
) -> Release:
    """Release a level of a window's results, at this moment and for good."""
    require_organiser(session, actor, campaign_id)
    plan = plans.lock_plan(session, campaign_id)
    _check_second(session, actor, plan.campaign, campaign_id, seconded_by)
    ready = readiness(session, office, campaign_id, wanted.window, wanted.level)
    if ready.obstacles:
        raise RefusedError(ready.obstacles, status=409)
    row = Release(
        campaign_id=campaign_id,
        window=wanted.window,
        level=wanted.level,
        by=actor.id,
        seconded_by=seconded_by,
        reason=wanted.reason,
        open_appeals=list(ready.open_appeals),
        at=plans.now(office, plan.row),
    )
    session.add(row)
    session.flush()
    _log(session, office, actor, row, ready)
    _tell(session, office, plan, row)
    return row


def ask(session: Session, office: Office, actor: Actor, campaign_id: str, wanted: LevelRelease) -> Release | Approval:
    """Release, or where that takes two people ask a second one."""
    require_organiser(session, actor, campaign_id)
    if not two_people.needs_two(plans.current(session, campaign_id).campaign, "release"):
        return release(session, office, actor, campaign_id, wanted)
    ready = readiness(session, office, campaign_id, wanted.window, wanted.level)
    if ready.obstacles:
        raise RefusedError(ready.obstacles, status=409)
    data = {"window": wanted.window, "level": wanted.level}
    return two_people.ask(session, office, actor, campaign_id, two_people.Request("release", data, wanted.reason))


def releases(session: Session, campaign_id: str, window: str | None = None) -> tuple[Release, ...]:
    """What has been released, in the order of time."""
    question = select(Release).where(Release.campaign_id == campaign_id).order_by(Release.at, Release.level)
    return tuple(session.scalars(question if window is None else question.where(Release.window == window)))


def _runs(session: Session, campaign_id: str, window: str) -> tuple[Submission, ...]:
    question = select(Submission).where(Submission.campaign_id == campaign_id, Submission.window == window)
    return tuple(session.scalars(question.order_by(Submission.received, Submission.id)))


def _check_second(
    session: Session, actor: Actor, campaign: Campaign, campaign_id: str, seconded_by: str | None
) -> None:
    if not two_people.needs_two(campaign, "release"):
        return
    if seconded_by is None:
        raise refused(
            "X-4", "a release needs two people here", "request it, and ask another organizer to approve it", status=409
        )
    check_second(session, actor, campaign_id, seconded_by)


def _obstacles(
    session: Session, plan: plans.Plan, window: Window, level: str, runs: tuple[Submission, ...], now: datetime
) -> Iterator[Problem]:
    if level not in LEVELS:
        yield problem("M70", f"there is no release level {level!r}", f"one of: {', '.join(LEVELS)}")
        return
    yield from _out_already(session, plan.row.id, window, level)
    over = window.closes.utc + max(window.transfer_grace, window.late_grace)
    if now < over:
        yield problem(
            "M70", f"the window, including its grace period, ends at {over:%Y-%m-%d %H:%M} UTC", "wait until then"
        )
    waiting = sum(run.state in ON_ITS_WAY for run in runs)
    if waiting:
        yield problem("M70", f"{waiting} submissions are still being scored", "wait until all are scored")
    if level != "certification" and window.certification:
        yield from _certification_problems(session, plan.row.id, window, now)


def _out_already(session: Session, campaign_id: str, window: Window, level: str) -> Iterator[Problem]:
    out = {row.level: row.at for row in releases(session, campaign_id, window.id)}
    if level in out:
        yield problem("M70", f"already released at {out[level]:%Y-%m-%d %H:%M} UTC", "choose another level")
    for before in AFTER[level]:
        if before not in out:
            yield problem("M70", f"{level!r} comes after {before!r}", f"release {before!r} first")
    if level == "certification" and "top" in out:
        yield problem("P-24", "certification is only possible before a release", "contact the teams in another way")


def _certification_problems(session: Session, campaign_id: str, window: Window, now: datetime) -> Iterator[Problem]:
    ends = appeals.certification_ends(session, campaign_id, window.id)
    if ends is None:
        yield problem("P-24", "no PI has seen these results yet", "release 'certification' first")
    elif now < ends:
        yield problem("P-24", f"certification runs until {ends:%Y-%m-%d %H:%M} UTC", "wait until then")


def _tell(session: Session, office: Office, plan: plans.Plan, row: Release) -> None:
    """Mail goes out when the release takes effect: where the plan fixes moments, at the next of them (X-16)."""
    window = plans.find_window(plan.campaign, row.window)
    certifies = row.level == "certification"
    announcements.mail_release(session, office, row, row.at + window.certification if certifies else None)
    moment = takes_effect(window, row.at)
    if moment > row.at:
        due = office.clock() + (moment - row.at)
        session.execute(update(Message).where(Message.once.contains(f":{row.id}:")).values(due=due))


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


class ReleaseWanted(Arguments):
    """A level of the results of a window."""

    window: Annotated[str, Argument("The id of the window.")]
    level: Annotated[str, Argument("What is released.", choices=LEVELS)]
    check: Annotated[bool, Option("Only list what blocks the release, and what would be left out.")] = False
    reason: Reason = ""


@action(
    "release",
    two="release",
    hint="week certification --check --data season",
    logs="results.released approval.asked",
)
def release_level(at: At, given: ReleaseWanted) -> Outcome:
    """Release a LEVEL of the results of WINDOW: for certification, top values, details, E2E, or to the public.

    Each level is released separately. Open appeals and withheld submissions are listed. The campaign may require
    a second person's approval.
    """
    place = (at.campaign_id, given.window, given.level)
    ready = readiness(at.session, at.office, *place)
    wanted = LevelRelease(given.window, given.level, given.reason)
    made = None if given.check else ask(*at.who, at.campaign_id, wanted)
    waits = made.id if isinstance(made, Approval) else None
    shown = {
        "window": given.window,
        "level": given.level,
        "released": made is not None and waits is None,
        "waits": waits,
        "obstacles": [one.as_dict() for one in ready.obstacles],
        "open_appeals": list(ready.open_appeals),
        "held": list(ready.held),
        "no_primary": list(ready.no_primary),
        "unconfirmed": list(ready.unconfirmed),
    }
    words = [f"Blocked: {one.message}. Fix: {one.fix}" for one in ready.obstacles]
    words += [f"Open appeals: {', '.join(map(str, ready.open_appeals)) or 'none'}. Runs held back: {len(ready.held)}."]
    if made is not None:
        words.append("Waits for a second person." if waits else f"Released: {given.window}, {given.level}.")
    return Outcome(shown, tuple(words), waits=waits)


class BoardWanted(Arguments):
    """Which board is shown, and to whom."""

    window: Annotated[str, Argument("The id of the window.")]
    task: Annotated[str, Argument("The task.")]
    language: Annotated[str, Option("The language.")] = ""
    track: Annotated[str, Option("The track.")] = ""
    public: Annotated[bool, Option("As a visitor would see it.")] = False


@action("board", programs=False, hint="week CLIR --language 1A --data season")
def show_board(at: At, given: BoardWanted) -> Outcome:
    """Show the leaderboard of a TASK in a WINDOW: groups, rank ranges, intervals, and who is excluded and why."""
    who, place = VISITOR if given.public else ORGANIZER, {"language": given.language, "track": given.track}
    subject = boards.Subject(given.window, given.task, given.language, given.track)
    facts.ask(at.session, at.office, boards.order_for(at.session, at.plan, subject))
    seen = visibility.board(
        at.session, at.office, who, at.campaign_id, boards.Subject(given.window, given.task, **place)
    )
    rows = [
        asdict(one) | {"ranks": "-" if one.ranks is None else f"{one.ranks[0]}-{one.ranks[1]}"} for one in seen.rows
    ]
    listing = Listing(rows, ("ranks", "group", "name", "value", "low", "high", "looks", "note"), "Nothing to show.")
    after = [*(f"Left out: {count} {reason}" for reason, count in seen.left_out.items()), *seen.notes]
    after += ["Groups are being computed. Try again later."] if seen.pending else []
    return Outcome(asdict(seen), listing=listing, after=tuple(after))


@action("compare", hint="--data season", logs="comparison.asked")
def compare_again(at: At, given: Arguments) -> Outcome:
    """Repeat failed comparisons, which leaderboards wait for. They are repeated automatically the next day."""
    asked = upkeep.compare_again(*at.who, at.campaign_id)
    words = f"{asked} requested: a worker computes them." if asked else "No leaderboard waits for a comparison."
    return Outcome({"asked": asked}, (words,))
