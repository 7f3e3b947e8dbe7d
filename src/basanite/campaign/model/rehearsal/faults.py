"""What would have gone wrong in a season: rows that take nothing, data that come late, judges who are too few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from basanite.campaign.model import stages
from basanite.campaign.model.finals import has_final_value
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.quotas import pooled
from basanite.campaign.model.refusals import problem
from basanite.campaign.model.rehearsal.play import SimulatedTeam, Step, play
from basanite.campaign.model.time.zones import spelt
from basanite.problems import Problem

PAIRS_OF_A_TEAM = 300
"""Summaries of a team that are judged, if [judging] says nothing: one for each query of a small set."""


@dataclass(frozen=True)
class Crew:
    """Who takes part in the play."""

    teams: int = 3
    judges: int | None = None
    """None: as many as the file says."""


@dataclass(frozen=True)
class Rehearsal:
    """What happened in the play, and what would have gone wrong."""

    steps: tuple[Step, ...]
    faults: tuple[Problem, ...]


def rehearse(campaign: Campaign, *, start: datetime | None = None, crew: Crew | None = None) -> Rehearsal:
    """Play a season from a moment on (by default its first) and list what would have gone wrong (P-30)."""
    who = crew or Crew()
    begins = start or min((window.opens.utc for window in campaign.windows), default=datetime.max)
    steps = play(campaign, [SimulatedTeam(f"Team{number + 1}") for number in range(who.teams)], begins)
    rows = [fault for window in campaign.windows for fault in _of_window(campaign, window, begins, steps)]
    return Rehearsal(steps, (*rows, *_of_parts(campaign), *_of_judging(campaign, who)))


def _of_window(campaign: Campaign, window: Window, begins: datetime, steps: Sequence[Step]) -> Iterator[Problem]:
    if window.closes.utc <= begins:
        closed = spelt(window.closes.utc, campaign.zone)
        yield problem("P-30", f"{window.id}: never open, it closed at {closed}", "move the window, or leave it out")
        return
    if window.quota.count == 0:
        yield problem("P-30", f"{window.id}: the quota is 0", "write a count of at least 1")
    yield from _late_data(campaign, window)
    yield from _refusals(window, [step for step in steps if step.window == window.id and step.what == "submits"])
    yield from _release(campaign, window)


def _late_data(campaign: Campaign, window: Window) -> Iterator[Problem]:
    """Data, keys and queries that teams do not have when the row opens."""
    for pack in campaign.packs:
        if pack.id not in window.dataset:
            continue
        if pack.released.utc > window.opens.utc:
            yield _late(campaign, window, f"the pack {pack.id} comes out", pack.released.utc)
        if pack.key_at and pack.key_at.utc > window.opens.utc:
            yield _late(campaign, window, f"the key of {pack.id} is published", pack.key_at.utc)
    for one in campaign.querysets:
        if one.id in window.querysets and one.released.utc > window.opens.utc:
            yield _late(campaign, window, f"the queries {one.id} come out", one.released.utc)


def _late(campaign: Campaign, window: Window, what: str, when: datetime) -> Problem:
    message = f"{window.id}: {what} at {spelt(when, campaign.zone)}, after the window opens"
    return problem("P-30", message, "open the window later, or release earlier")


def _refusals(window: Window, tries: Sequence[Step]) -> Iterator[Problem]:
    """What the row promises and does not take."""
    if window.quota.count == 0:
        return
    for task in window.tasks:
        mine = [step for step in tries if step.task == task and not step.refused.startswith("M64")]
        if mine and all(step.refused for step in mine):
            yield problem("P-30", f"{window.id}: takes no {task} submission at all", mine[0].refused)
        elif mine and mine[-1].refused.startswith("M63"):
            yield problem("P-30", f"{window.id}: takes no {task} submission at its end", mine[-1].refused)
    if window.kind == "evaluation":
        yield from _primaries(window, tries)


def _primaries(window: Window, tries: Sequence[Step]) -> Iterator[Problem]:
    """Each task needs a primary, tasks that share a count one together (M66, M67)."""
    together = pooled(window)
    groups = [(task,) for task in window.tasks if task not in together] + ([together] if together else [])
    for tasks in groups:
        if not any(step.type == "primary" and not step.refused for step in tries if step.task in tasks):
            fix = "let the quota take one: types = { primary = 1 }"
            yield problem("P-30", f"{window.id}: a primary {' or '.join(tasks)} is impossible", fix)


def _release(campaign: Campaign, window: Window) -> Iterator[Problem]:
    certified = window.closes.utc + window.certification
    for moment in window.results_at:
        if stages.is_blind(window) and moment.utc < certified:
            message = f"{window.id}: results at {spelt(moment.utc, campaign.zone)}, before certification ends"
            yield problem("P-30", message, f"release from {spelt(certified, campaign.zone)} on")
    if window.kind == "evaluation" and not has_final_value(campaign, window):
        fix = "add a closed query set: open queries never count (M20)"
        yield problem("P-30", f"{window.id}: nothing in it counts, all queries are open", fix)


def _of_parts(campaign: Campaign) -> Iterator[Problem]:
    """Declared parts that no row uses, and agreements that end too early."""
    used = {name for window in campaign.windows for name in (*window.dataset, *window.querysets)}
    yield from _unused("pack", (pack.id for pack in campaign.packs), used)
    yield from _unused("query set", (one.id for one in campaign.querysets), used)
    tracks = {track.id for window in campaign.windows for track in stages.window_tracks(campaign, window)}
    yield from _unused("track", (track.id for track in campaign.tracks), tracks)
    for agreement in campaign.agreements:
        packs = {pack.id for pack in campaign.packs if pack.agreement == agreement.id}
        needed = [window for window in campaign.windows if packs & set(window.dataset)]
        last = max((window.closes.utc for window in needed), default=None)
        if agreement.expires and last and agreement.expires.utc < last:
            message = f"the agreement {agreement.id} expires before the last window on its packs closes"
            yield problem("P-30", message, f"let it hold until {spelt(last, campaign.zone)}")


def _unused(kind: str, names: Iterable[str], used: set[str]) -> Iterator[Problem]:
    for name in names:
        if name not in used:
            yield problem("P-30", f"the {kind} {name} is in no window", "add a window for it, or leave it out")


def _of_judging(campaign: Campaign, crew: Crew) -> Iterator[Problem]:
    """Whether each summary can get its K judgements (C08)."""
    k = campaign.judging.get("k")
    judges = crew.judges if crew.judges is not None else campaign.judging.get("judges")
    if k is None or judges is None:
        return
    if k > judges:
        message = f"K = {k} judgements of a summary cannot be reached with {judges} judges"
        yield problem("P-30", message, f"find {k - judges} more judges, or write a smaller k")
    most = campaign.judging.get("per_judge")
    needed = k * crew.teams * campaign.judging.get("pairs", PAIRS_OF_A_TEAM)
    if most is not None and needed > judges * most:
        message = f"too few judges: {needed} judgements are needed, {judges} judges make {judges * most}"
        yield problem("P-30", message, f"find {-(-needed // most) - judges} more judges")
