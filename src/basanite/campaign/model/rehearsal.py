"""A season played beforehand, to find what would have gone wrong while it can still be fixed (P-30)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product

from basanite.campaign.model import windows
from basanite.campaign.model.calendar import TYPES, admit, complete_declaration
from basanite.campaign.model.plan import Campaign, Declared, Window
from basanite.campaign.model.quotas import Use, account, pooled_tasks
from basanite.campaign.model.refusals import RefusedError, problem
from basanite.campaign.model.windows import has_final_value
from basanite.campaign.model.zones import spelt
from basanite.problems import Problem
from basanite.reports.wording import plural

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Step:
    """Something that happened in the play."""

    at: datetime
    what: str
    window: str = ""
    team: str = ""
    task: str = ""
    type: str = ""
    refused: str = ""
    """The rule that refused it, and its words."""


@dataclass
class SimulatedTeam:
    """A team that submits the same system everywhere, and the attempts it has used."""

    name: str
    used: list[Use] = field(default_factory=list)

    def submits(self, campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Step:
        """Try to submit, as at any door; the attempt counts if it is taken."""
        step = Step(now, "submits", window.id, self.name, declared.task, declared.type)
        try:
            row = admit(campaign, declared, now, self.used)
        except RefusedError as error:
            first = error.problems[0]
            return Step(**{**step.__dict__, "refused": f"{first.rule}: {first.message}; {first.fix}"})
        full = complete_declaration(campaign, row, declared)
        place = account(campaign, row, full.task, full.language, full.track, now)
        self.used.append(Use(place.key, place.period, full.task, full.type))
        return step


def play(campaign: Campaign, teams: Sequence[SimulatedTeam], start: datetime) -> tuple[Step, ...]:
    """The whole season in the order of time, from a moment on."""
    steps: list[Step] = []
    for now, what, window in sorted(_moments(campaign, start), key=lambda moment: (moment[0], moment[2].id)):
        steps.append(Step(now, what, window.id))
        if what != "closes":
            steps += [
                team.submits(campaign, window, declared, now)
                for team in teams
                for declared in _attempts(campaign, window)
            ]
    return tuple(steps)


def _moments(campaign: Campaign, start: datetime) -> Iterator[tuple[datetime, str, Window]]:
    """When something is tried: as a row opens (or the play begins), in its last minute, and when it has closed."""
    for window in campaign.windows:
        first, last = max(window.opens.utc, start), window.closes.utc - MINUTE
        if first < window.closes.utc:
            yield first, "opens", window
            if last > first:
                yield last, "is about to close", window
            yield window.closes.utc, "closes", window


def _attempts(campaign: Campaign, window: Window) -> Iterator[Declared]:
    """One primary and one contrastive run of each task, language and track."""
    tracks = windows.window_tracks(campaign, window)
    choices = product(window.tasks, windows.languages(campaign, window) or ("",), [t.id for t in tracks] or [""], TYPES)
    for task, language, track, kind in choices:
        condition = windows.conditions(campaign, window, track)[0]
        queries = "" if task in windows.TASKS_WITHOUT_QUERIES else windows.queryset_name(campaign, window)
        yield Declared(
            task,
            "Rehearsal",
            type=kind,
            language=language,
            queryset=queries,
            dataset=window.dataset,
            track=track,
            condition=condition,
        )


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
        yield problem("P-30", f"{window.id}: never open, it closed at {closed}", "move the window, or remove it")
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
            yield _late(campaign, window, f"the data pack {pack.id} is released", pack.released.utc)
        if pack.key_at and pack.key_at.utc > window.opens.utc:
            yield _late(campaign, window, f"the key of {pack.id} is published", pack.key_at.utc)
    for one in campaign.querysets:
        if one.id in window.querysets and one.released.utc > window.opens.utc:
            yield _late(campaign, window, f"the queries {one.id} are released", one.released.utc)


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
            yield problem("P-30", f"{window.id}: accepts no {task} submission at all", mine[0].refused)
        elif mine and mine[-1].refused.startswith("M63"):
            yield problem("P-30", f"{window.id}: accepts no {task} submission at its end", mine[-1].refused)
    if window.kind == "evaluation":
        yield from _primaries(window, tries)


def _primaries(window: Window, tries: Sequence[Step]) -> Iterator[Problem]:
    """Each task needs a primary, tasks that share a count one together (M66, M67)."""
    together = pooled_tasks(window)
    groups = [(task,) for task in window.tasks if task not in together] + ([together] if together else [])
    for tasks in groups:
        if not any(step.type == "primary" and not step.refused for step in tries if step.task in tasks):
            fix = "let the quota take one: types = { primary = 1 }"
            yield problem("P-30", f"{window.id}: a primary {' or '.join(tasks)} is impossible", fix)


def _release(campaign: Campaign, window: Window) -> Iterator[Problem]:
    certified = window.closes.utc + window.certification
    for moment in window.results_at:
        if windows.is_blind(window) and moment.utc < certified:
            message = f"{window.id}: results at {spelt(moment.utc, campaign.zone)}, before certification ends"
            yield problem("P-30", message, f"release from {spelt(certified, campaign.zone)} on")
    if window.kind == "evaluation" and not has_final_value(campaign, window):
        fix = "add a closed query set: open queries never count (M20)"
        yield problem("P-30", f"{window.id}: nothing counts, because all queries are open", fix)


def _of_parts(campaign: Campaign) -> Iterator[Problem]:
    """Declared parts that no row uses, and agreements that end too early."""
    used = {name for window in campaign.windows for name in (*window.dataset, *window.querysets)}
    yield from _unused_parts("pack", (pack.id for pack in campaign.packs), used)
    yield from _unused_parts("query set", (one.id for one in campaign.querysets), used)
    tracks = {track.id for window in campaign.windows for track in windows.window_tracks(campaign, window)}
    yield from _unused_parts("track", (track.id for track in campaign.tracks), tracks)
    for agreement in campaign.agreements:
        packs = {pack.id for pack in campaign.packs if pack.agreement == agreement.id}
        needed = [window for window in campaign.windows if packs & set(window.dataset)]
        last = max((window.closes.utc for window in needed), default=None)
        if agreement.expires and last and agreement.expires.utc < last:
            message = f"the agreement {agreement.id} expires before the last window on its data packs closes"
            yield problem("P-30", message, f"extend it to {spelt(last, campaign.zone)}")


def _unused_parts(kind: str, names: Iterable[str], used: set[str]) -> Iterator[Problem]:
    for name in names:
        if name not in used:
            yield problem("P-30", f"the {kind} {name} is in no window", "add a window for it, or remove it")


def _of_judging(campaign: Campaign, crew: Crew) -> Iterator[Problem]:
    """Whether each summary can get its K judgements (C08)."""
    k = campaign.judging.get("k")
    judges = crew.judges if crew.judges is not None else campaign.judging.get("judges")
    if k is None or judges is None:
        return
    if k > judges:
        message = f"K = {k} judgments per summary cannot be reached with {plural('judge', judges)}"
        yield problem("P-30", message, f"find {plural('more judge', k - judges)}, or use a smaller k")
    most = campaign.judging.get("per_judge")
    needed = k * crew.teams * campaign.judging.get("pairs", PAIRS_OF_A_TEAM)
    if most is not None and needed > judges * most:
        message = (
            f"too few judges: {needed} judgments are needed, and {plural('judge', judges)} can give {judges * most}"
        )
        yield problem("P-30", message, f"find {plural('more judge', -(-needed // most) - judges)}")
