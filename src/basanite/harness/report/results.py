"""What a task gave, as figures: the three graphs, verdicts with what stands beside them, rankings, gaps and flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.harness.analysis.model import TITLES, HarnessAnalysis, Judgement, Standing, TaskAnalysis, TeamRanking
from basanite.harness.analysis.run_analysis import ranking_sentence
from basanite.reports.report import Section
from basanite.reports.wording import number, plural

NAMES: Final = {"map11": "MAP (11 points)", "mrmse": "mRMSE", "map": "MAP (not interpolated)"}
TARGET_NAMES: Final = {"map11": "average precision", "mrmse": "RMSE"}
SPREAD: Final = "spread over classes, not uncertainty"
NO_SAMPLING: Final = "test sampling not included"
SHARED_RUN: Final = "evaluation team"


def direction(task: TaskAnalysis) -> str:
    """Which way is better, in words."""
    return "lower is better" if task.best == "low" else "higher is better"


def graphs(task: TaskAnalysis, teams: Mapping[str, str]) -> Iterator[Chart]:
    """Values of each class, means of each fold, and the mean over folds."""
    if task.runs:
        yield first_graph(task)
        yield second_graph(task, teams)
        yield third_graph(task, teams)


def first_graph(task: TaskAnalysis) -> Chart:
    """All K x C values: a point for each run and fold, a picture for each target."""
    rows = tuple(
        (target, run, fold, _number(value))
        for at, target in enumerate(task.targets)
        for run, standing in task.runs.items()
        for fold, value in enumerate(standing.values.values[:, at], start=1)
    )
    name = TARGET_NAMES[task.metric]
    return Chart(
        f"{task.task}, graph 1: values of each target",
        f"One point for each of {plural('fold', task.folds)}: the {name} of every run on every target; "
        f"{direction(task)}.",
        "points",
        Table(f"{task.task}: all values", ("Target", "Run", "Fold", "Value"), rows),
        Axis("Run", "run", "category"),
        _axis(name, [row[3] for row in rows]),
        facet="Target",
    )


def second_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart:
    """The mean over targets of every fold, with the standard error across targets."""
    rows = tuple(
        (_condition(standing.values.condition), _team(teams, standing.values.team), str(fold), *_ends(mean, error))
        for standing in task.runs.values()
        for fold, (mean, error) in enumerate(standing.values.by_fold, start=1)
    )
    return Chart(
        f"{task.task}, graph 2: {NAMES[task.metric]} of each fold",
        f"The mean over {plural('target', len(task.targets))}, {direction(task)}. Bars: one standard error across "
        f"classes ({SPREAD}).",
        "points",
        Table(f"{task.task}: folds", ("Condition", "Team", "Fold", "Value", "Low", "High"), rows),
        Axis("Fold", "fold", "category"),
        _axis(NAMES[task.metric], [cell for row in rows for cell in row[3:]]),
        series="Team",
        low="Low",
        high="High",
        facet="Condition",
    )


def third_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart:
    """The mean over folds of every run, with the standard error across folds."""
    rows = []
    for run, standing in task.runs.items():
        values = standing.values
        team = f" {teams[values.team]}" if values.team else ""
        rows.append((f"{run} {TITLES[values.condition]}{team}", *_ends(*values.overall)))
    return Chart(
        f"{task.task}, graph 3: {NAMES[task.metric]} of each run",
        f"The mean over {plural('fold', task.folds)}, {direction(task)}. Bars: one standard error across folds "
        f"({NO_SAMPLING}).",
        "bars",
        Table(f"{task.task}: runs", ("Run", "Value", "Low", "High"), rows),
        Axis("Value", NAMES[task.metric]),
        Axis("Run", "run", "category"),
        low="Low",
        high="High",
    )


def gains_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart | None:
    """What each claim gains, with its two-sided interval."""
    if not task.judgements:
        return None
    rows = tuple(
        (
            f"{one.contrast.first} against {one.contrast.second}: {teams[one.contrast.team]}",
            *map(_number, (one.contrast.gain, one.contrast.low, one.contrast.high)),
        )
        for one in task.judgements
    )
    return Chart(
        f"{task.task}: gains with 95% CI",
        f"By how much {NAMES[task.metric]} is better, with two-sided intervals over folds and test rows. Above 0 the "
        "first run does better; verdicts rest on one-sided bounds, which the table gives.",
        "bars",
        Table(f"{task.task}: gains", ("Contrast", "Gain", "Low", "High"), rows),
        Axis("Gain", f"gain in {NAMES[task.metric]}"),
        Axis("Contrast", "contrast", "category"),
        low="Low",
        high="High",
    )


def _condition(number: int) -> str:
    return f"{number} {TITLES[number]}"


def _team(teams: Mapping[str, str], letter: str) -> str:
    return teams[letter] if letter else SHARED_RUN


def _ends(mean: float, error: float) -> tuple[float | None, float | None, float | None]:
    value = _number(mean)
    if value is None or _number(error) is None:
        return value, None, None
    return value, mean - error, mean + error


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def _axis(label: str, values: Sequence[float | None]) -> Axis:
    """An axis of points: not from zero, for points are places and no lengths."""
    found = [value for value in values if value is not None] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.1
    return Axis("Value", label, low=low - room, high=high + room)


INTERVAL = (
    "Intervals are 95% CI for new folds and new test rows (two-way variance components for RMSE, a crossed "
    "bootstrap for average precision). A gain is how much better the first run does: first minus second, for errors "
    "second minus first. Verdicts rest on one-sided 95% bounds, which stand beside them, and on p, one-sided and "
    "adjusted by Holm over all teams' tests of this task; a two-sided interval may just hold 0 beside them. Paired t "
    "and sign flips look at folds alone, so they find differences too easily: they are the plan's view and decide "
    "nothing."
)


def result_sections(analysis: HarnessAnalysis) -> Iterator[Section]:
    """For each task its graphs, then its verdicts and rankings."""
    for task in analysis.tasks.values():
        lead = f"{NAMES[task.metric]}, {direction(task)}. {' '.join(task.notes)}".strip()
        yield Section(f"Results: {task.task}", lead, tuple(_figures(task, analysis.teams)))
        yield Section(f"Verdicts: {task.task}", INTERVAL, tuple(_verdicts(task, analysis)))
        yield Section(f"Ranking: {task.task}", _RANKED, tuple(_rankings(task, analysis)))


_RANKED = (
    "Each task and metric has a ranking of its own, never one over all. A rank range counts only teams that are "
    "significantly better or worse."
)


def _figures(task: TaskAnalysis, teams: Mapping[str, str]) -> Iterator[Figure]:
    yield from graphs(task, teams)
    yield _runs_table(task, teams)
    flagged = tuple((run, flag) for run, standing in task.runs.items() for flag in standing.values.flags)
    if flagged:
        yield Table(f"{task.task}: notes on the values", ("Run", "Flag"), flagged)


def _runs_table(task: TaskAnalysis, teams: Mapping[str, str]) -> Table:
    """Every run that was planned, with its value or the reason why it has none (A35)."""
    plain = any(standing.plain is not None for standing in task.runs.values())
    seeds = any(standing.seed_deviation is not None for standing in task.runs.values())
    more = (*(("MAP, plain",) if plain else ()), *(("Between seeds",) if seeds else ()))
    columns = ("Run", "Condition", "Team", "State", "Value", "s.e.", "Low", "High", "Over run 0", *more)
    rows = tuple(_run_row(run, task, teams, plain, seeds) for run in task.states)
    note = "s.e.: over folds. Low and high: 95% CI for new folds and new test rows."
    note += " Over run 0: the gain over the floor; not shown: its one-sided lower 95% bound is not above 0."
    note += (
        " MAP, plain: not interpolated, as most published results; the plan's metric is, at 11 points." if plain else ""
    )
    done = frozenset(at for at, run in enumerate(task.states) if run.startswith("6"))
    return Table(f"{task.task}: all runs", columns, rows, note, emphasis=done)


def _run_row(run: str, task: TaskAnalysis, teams: Mapping[str, str], plain: bool, seeds: bool) -> tuple[Cell, ...]:
    state, reason = task.states[run]
    title, team = TITLES[int(run[0])], teams.get(run[1:], "")
    if run not in task.runs:
        gap: tuple[Cell, ...] = (None,) * (plain + seeds)
        return (run, title, team, f"{state}: {reason}", None, None, None, None, None, *gap)
    standing = task.runs[run]
    mean, error = standing.values.overall
    more = (*((standing.plain,) if plain else ()), *((standing.seed_deviation,) if seeds else ()))
    ends = standing.estimate.low, standing.estimate.high
    return (run, title, team, state, mean, error, *ends, _over_floor(standing), *more)


def _over_floor(standing: Standing) -> str | None:
    if standing.over_floor is None:
        return None
    return number(standing.over_floor.value) + (" (not shown)" if standing.beats_floor is False else "")


def _verdicts(task: TaskAnalysis, analysis: HarnessAnalysis) -> Iterator[Figure]:
    drawn = gains_graph(task, analysis.teams)
    if drawn:
        yield drawn
    yield _verdict_table(task.judgements, analysis.teams, task.task)
    yield _plan_table(task.judgements, task.task)
    readings = tuple(dict.fromkeys(map(_reading, filter(lambda one: one.reading, task.judgements))))
    if readings:
        yield Text("What the plan says about this", readings)


def _verdict_table(judgements: Sequence[Judgement], teams: Mapping[str, str], task: str) -> Table:
    columns = ("Claim", "Team", "Runs", "Gain", "Low", "High", "p", "Finding", "Verdict")
    rows = tuple(
        (
            one.claim.name,
            teams[one.contrast.team],
            f"{one.contrast.first} – {one.contrast.second}",
            one.contrast.gain,
            one.contrast.low,
            one.contrast.high,
            one.contrast.p_adjusted,
            f"{one.contrast.finding}: {one.contrast.reason}",
            one.contrast.state,
        )
        for one in judgements
    )
    notes = dict.fromkeys(one.contrast.note for one in judgements if one.contrast.note)
    strong = frozenset(at for at, one in enumerate(judgements) if one.claim.headline)
    note = "".join(f"All verdicts are {note}. " for note in notes)
    return Table(f"{task}: verdicts", columns, rows, note + _margin(judgements), emphasis=strong)


def _margin(judgements: Sequence[Judgement]) -> str:
    margins = {one.contrast.margin for one in judgements if one.contrast.margin is not None}
    return f"Comparable means: a loss below {number(margins.pop())}, declared before unsealing." if margins else ""


def _plan_table(judgements: Sequence[Judgement], task: str) -> Table:
    """What stands beside the primary interval: the plan's tests, the bars, the bootstrap, what could be found."""
    columns = (
        "Runs",
        "Gain",
        "Low",
        "High",
        "Bootstrap",
        "Bars overlap",
        "Paired t over folds",
        "Sign flips",
        "Smallest detectable",
    )
    rows = tuple(
        (
            f"{one.contrast.first} – {one.contrast.second}",
            one.contrast.gain,
            one.contrast.low,
            one.contrast.high,
            f"{number(one.drawn[0])} to {number(one.drawn[1])}" if one.drawn else None,
            "yes" if one.bars_overlap else "no",
            one.by_t,
            one.by_signs,
            one.contrast.smallest_detectable,
        )
        for one in judgements
    )
    note = (
        "Bars overlap: mean ± 1 s.e. across folds, a note only. Bootstrap: the middle 95% of draws. Smallest "
        "detectable: the gain that this test finds in 80% of cases, from the standard error alone."
    )
    return Table(f"{task}: beside the interval, the plan's own view", columns, rows, note, detail=True)


def _reading(one: Judgement) -> str:
    failed = "does not do better than" if one.contrast.state == "not supported" else "is not shown to do better than"
    return f"Run {one.contrast.first} {failed} run {one.contrast.second}. {one.reading}"


def _rankings(task: TaskAnalysis, analysis: HarnessAnalysis) -> Iterator[Figure]:
    alpha = float(analysis.settings["alpha"])
    yield Text(
        "In words",
        tuple(f"{_of(one)}: {ranking_sentence(one, analysis.teams, alpha)}" for one in task.rankings if one.order),
    )
    yield _ranking_table(task, analysis.teams)
    pairs = tuple(_pair_rows(task, analysis.teams))
    if pairs:
        columns = ("Condition", "Metric", "First", "Second", "Gain", "Low", "High", "p adjusted")
        yield Table(f"{task.task}: every pair of teams", columns, pairs, detail=True)


def _of(one: TeamRanking) -> str:
    return f"{one.condition} {TITLES[one.condition]}, {NAMES[one.metric]}"


def _ranking_table(task: TaskAnalysis, teams: Mapping[str, str]) -> Table:
    rows = tuple(
        (_of(one), place, teams[team], one.values[team], _range(one.ranges[team]))
        for one in task.rankings
        for place, team in enumerate(one.order, start=1)
    )
    gaps = tuple(
        (_of(one), None, teams[team], None, reason) for one in task.rankings for team, reason in one.missing.items()
    )
    return Table(
        f"{task.task}: ranking", ("Condition and metric", "Rank", "Team", "Value", "Rank range"), (*rows, *gaps)
    )


def _range(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _pair_rows(task: TaskAnalysis, teams: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    for one in task.rankings:
        for pair in one.pairs:
            names = teams[pair.first], teams[pair.second]
            numbers = pair.gain.value, pair.gain.low, pair.gain.high, pair.p_adjusted
            yield (f"{one.condition} {TITLES[one.condition]}", NAMES[one.metric], *names, *numbers)
