"""`basanite across`: one declared value over several tasks or windows, and how far the order hangs on one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from basanite.analysis.aggregate import MISSING, NORMALIZED, RULES, UNRANKED, TaskValues, aggregate, resampled_values
from basanite.analysis.paired import IncomparableError
from basanite.analysis.results import Design
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    plain_findings,
    say,
    show_findings,
    show_report,
    write_reports,
)
from basanite.errors import SettingError, UnknownNameError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.toml_file import Table, TomlReport, entry_lines, parse_toml
from basanite.kernel import Scores
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.reports.across import Declared, across_report
from basanite.reports.result_files import check_alike, read_comparison, read_result
from basanite.scoring import Scorer, find_task, score_submission
from basanite.tasks import Inputs

RULE: Final = "S-32"
KIND: Final = "aggregate"
LARGEST: Final = 1 << 20
KEYS: Final = ("format", "title", "rule", "missing", "tasks")
TASK_KEYS: Final = (
    "name", "task", "metric", "reference", "submissions", "results", "anchors", "weight", "metadata", "queries",
    "judgements", "settings",
)  # fmt: skip
HEAVIEST: Final = 1e9
MOST: Final = 200
"""Tasks in a file, and systems of a task."""


@dataclass(frozen=True)
class PlannedTask:
    """One task of an aggregate: where its systems' answers or results are, and how its values count."""

    name: str
    task: str
    metric: str
    reference: tuple[Path, ...]
    submissions: Mapping[str, Path]
    results: Mapping[str, Path]
    comparison: Path | None
    anchors: tuple[float, float] | None
    weight: float
    metadata: tuple[Path, ...] = ()
    queries: Path | None = None
    judgements: Mapping[str, Path] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AggregatePlan:
    """A declared aggregate."""

    title: str
    rule: str
    missing: str
    tasks: tuple[PlannedTask, ...]


@dataclass(frozen=True)
class PlanEntries(Table):
    """One table of the file."""

    rule: ClassVar[str] = RULE

    @property
    def place(self) -> str:
        """The table in words: a task by its name."""
        name = self.values.get("name")
        if len(self.path) == 2 and isinstance(name, str) and name:
            return f"task {name!r}"
        return ".".join(map(str, self.path)) or self.whole_file

    def text(self, key: str, default: str | None = None) -> str:
        """A text; one that is needed has no default."""
        value = self.values.get(key, default)
        if isinstance(value, str) and (value.strip() or default is not None):
            return value
        self.add(f"{self.place} has no text `{key}`", f'write {key} = "…"', key=key, found=value)
        return default or ""

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of some texts."""
        value = self.text(key, default)
        if value and value not in allowed:
            self.add(f"`{key}` of {self.place} is unknown", suggestion(value, allowed), key=key, found=value)
        return value

    def weight(self) -> float:
        """How much the task counts: 1 where nothing is written."""
        value = self.values.get("weight", 1.0)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < HEAVIEST:
            return float(value)
        message = f"`weight` of {self.place} is not a number between 0 and {HEAVIEST:g}"
        self.add(message, "write weight = …", key="weight", found=value)
        return 1.0

    def paths(self, key: str, folder: Path) -> dict[str, Path]:
        """A table of paths by name, each from the folder of the file."""
        value = self.values.get(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(path, str) and path for path in value.values()):
            fix = f'write [tasks.{key}] and under it a line for each system: Alpha = "…"'
            self.add(f"`{key}` of {self.place} is not a table of files", fix, key=key, found=value)
            return {}
        if len(value) > MOST:
            self.add(f"{len(value)} entries in `{key}` of {self.place}", f"at most {MOST} are read", key=key)
        return {str(name): folder / path for name, path in value.items()}

    def files(self, key: str, folder: Path) -> tuple[Path, ...]:
        """One path or a list of them."""
        value = self.values.get(key, [])
        value = [value] if isinstance(value, str) else value
        if isinstance(value, list) and all(isinstance(path, str) and path for path in value):
            return tuple(folder / path for path in value)
        self.add(f"`{key}` of {self.place} is not a file", f'write {key} = "…"', key=key, found=value)
        return ()


def read_aggregate_plan(path: Path) -> tuple[AggregatePlan | None, Findings]:
    """The plan in a file, if nothing is wrong with it, and everything that is, by line."""
    findings = Findings()
    report = TomlReport(path.name, RULE, findings)
    try:
        text = read_bounded(path, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        report.add("invalid UTF-8", "save the file as UTF-8")
        return None, findings
    document = parse_toml(text, KIND, report)
    if document is None:
        return None, findings
    top = PlanEntries(document, (), path.name, entry_lines(text), findings)
    plan = _plan(top, path.parent)
    return (plan if findings.valid else None), findings


def _plan(top: PlanEntries, folder: Path) -> AggregatePlan:
    top.check_keys(KEYS)
    rule = top.choice("rule", RULES)
    tables = top.tables("tasks")
    if not 2 <= len(tables) <= MOST:
        top.add(f"{len(tables)} tasks", f"write [[tasks]] above each, 2 to {MOST} times", key="tasks")
    tasks = tuple(_task(table, folder, rule) for table in tables[:MOST])
    names = [task.name for task in tasks]
    for table, name in zip(tables, names, strict=False):
        if names.count(name) > 1:
            table.add(f"two tasks are called {name!r}", "give each a name of its own", key="name", found=name)
    return AggregatePlan(top.text("title", ""), rule, top.choice("missing", MISSING, UNRANKED), tasks)


def _task(table: PlanEntries, folder: Path, rule: str) -> PlannedTask:
    table.check_keys(TASK_KEYS)
    results = table.values.get("results")
    comparison = folder / results if isinstance(results, str) and results else None
    given = table.paths("results", folder) if comparison is None else {}
    submissions = table.paths("submissions", folder)
    if sum(map(bool, (submissions, given, comparison))) != 1:
        fix = "name files under [tasks.submissions], or what `basanite score --json` wrote under [tasks.results]"
        table.add(f"{table.place} needs either submissions or results", fix)
    queries = table.files("queries", folder)
    settings = table.values.get("settings", {})
    if not isinstance(settings, Mapping):
        table.add(f"`settings` of {table.place} is not a table", "write settings = {key = value}", key="settings")
        settings = {}
    if "primary" in settings and "metric" in table.values:
        fix = "write the metric that counts as metric = … alone"
        table.add(f"{table.place} names its metric twice: `metric` and `primary` in `settings`", fix, key="settings")
    return PlannedTask(
        table.text("name"),
        table.text("task"),
        table.text("metric", ""),
        table.files("reference", folder),
        submissions,
        given,
        comparison,
        _anchors(table, rule),
        table.weight(),
        table.files("metadata", folder),
        next(iter(queries), None),
        table.paths("judgements", folder),
        settings,
    )


def _anchors(table: PlanEntries, rule: str) -> tuple[float, float] | None:
    """The values that count 0 and 1: declared, for entrants must not change what others are worth."""
    value = table.values.get("anchors")
    if value is None:
        if rule == NORMALIZED:
            fix = "write anchors = {zero = …, one = …}: the values that count 0 and 1, independent of the systems"
            table.add(f"{table.place} has no anchors", fix)
        return None
    ends = [value.get(key) for key in ("zero", "one")] if isinstance(value, Mapping) and len(value) == 2 else []
    sound = [end for end in ends if isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end)]
    if len(sound) == 2 and sound[0] != sound[1]:
        return float(sound[0]), float(sound[1])
    fix = "write anchors = {zero = 0.0, one = 1.0} with two different numbers"
    table.add(f"`anchors` of {table.place} cannot be used", fix, key="anchors", found=value)
    return None


ACROSS = "across"


@click.command(epilog=example("basanite across aggregate.toml --report across.html"))
@click.argument("plan", type=PATH)
@click.option(
    "--draws", "--resamples", type=click.IntRange(100, 100_000), default=1000, show_default=True, help="Resamples."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@as_json
def across(plan: Path, draws: int, seed: int, workers: int, reports: tuple[Path, ...], as_json: bool) -> None:
    """Rank systems over the tasks that PLAN declares, with anchors, weights and a rule.

    Intervals resample units inside each task. The result also shows how the ranking changes when one task is left out.
    """
    check_reports(reports, [plan])
    declared, findings = read_aggregate_plan(plan)
    if declared is None:
        show_findings(plain_findings(findings), ACROSS, json=as_json)
        raise click.exceptions.Exit(1)
    design = Design(draws=draws, seed=seed)
    scored = Scored(design, workers, as_json)
    tasks = [_values_with_name(each, declared.rule, scored) for each in declared.tasks]
    found = aggregate(tasks, declared.rule, design, missing=declared.missing)
    report = across_report(found, Declared(declared.title or plan.name, declared.missing, design))
    write_reports(report, reports)
    show_report(report, json=as_json)


@dataclass(frozen=True)
class Scored:
    """How every task is scored."""

    design: Design
    workers: int
    json: bool


def _values_with_name(planned: PlannedTask, rule: str, how: Scored) -> TaskValues:
    """The same, with the task's name before whatever is wrong with it."""
    try:
        return _task_values(planned, rule, how)
    except (IncomparableError, SettingError, UnknownNameError, UnreadableError) as error:
        raise SettingError(f"{planned.name}: {error}") from error


def _task_values(planned: PlannedTask, rule: str, how: Scored) -> TaskValues:
    """The values of one task, with the anchors and the weight that are declared for it."""
    found = _of_submissions(planned, how) if planned.submissions else _of_results(planned)
    if found.best == "none":
        raise SettingError(f"{found.metric} has no better and worse, so it cannot rank systems.")
    if planned.anchors and (planned.anchors[0] < planned.anchors[1]) != (found.best == "high"):
        better = "higher" if found.best == "high" else "lower"
        raise SettingError(
            f"{better.capitalize()} values of {found.metric} are better, so the anchor `one` must be {better} than "
            f"`zero` ({planned.anchors[0]:g} and {planned.anchors[1]:g} are given)."
        )
    return replace(found, anchors=planned.anchors if rule == NORMALIZED else None, weight=planned.weight)


def _of_submissions(planned: PlannedTask, how: Scored) -> TaskValues:
    headline = {"primary": planned.metric} if planned.metric else {}
    scorer = Scorer(planned.task, {**planned.settings, **headline}, seed=how.design.seed, workers=how.workers)
    if scorer.task.needs_reference and not planned.reference:
        raise SettingError(f"{scorer.task.name} is scored against a reference: write reference = …")
    stray = sorted(planned.judgements.keys() - planned.submissions.keys())
    if stray:
        raise SettingError(f"`judgements` names {stray[0]!r}, which is not a system there.")
    shared = Inputs(Path(), None, None, planned.queries, planned.metadata).against(planned.reference)
    scores = [
        _scores(scorer, replace(shared, submission=path, judgements=planned.judgements.get(name)), name, planned, how)
        for name, path in planned.submissions.items()
    ]
    return resampled_values(planned.name, scorer.primary, scores, how.design)


def _scores(scorer: Scorer, inputs: Inputs, system: str, planned: PlannedTask, how: Scored) -> Scores:
    findings = Findings()
    opened = scorer.open_submission(inputs, findings, scored=True)
    if opened is not None and findings.valid:
        return score_submission(opened, system=system)
    if not how.json:
        say(f"{planned.name}, {system} ({inputs.submission}):")
    show_findings(findings, planned.task, json=how.json)
    raise click.exceptions.Exit(1)


def _of_results(planned: PlannedTask) -> TaskValues:
    """Values that were written down: they rank, and have no interval."""
    results = (
        [read_result(path, name) for name, path in planned.results.items()]
        if planned.comparison is None
        else read_comparison(planned.comparison)
    )
    if len(results) > 1:
        check_alike(results, force=False)
    other = next((result for result in results if result.task != planned.task), None)
    if other is not None:
        raise SettingError(f"The result of {other.system} is one of {other.task}, not of {planned.task}.")
    metric = planned.metric or results[0].primary
    lacking = next((result.system for result in results if metric not in result.values), None)
    if lacking is not None:
        raise SettingError(f"The result of {lacking} has no {metric}.")
    return TaskValues(
        planned.name,
        planned.task,
        metric,
        find_task(planned.task).metric(metric).best,
        {result.system: result.values[metric].value for result in results},
        no_interval=f"{planned.name} was given as results, which hold no rows of single units",
    )
