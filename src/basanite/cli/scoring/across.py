"""`basanite across`: one declared value over several tasks or windows, and how far the order hangs on one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from basanite import spine
from basanite.analysis.aggregate import NORMALIZED, TaskValues, aggregate, resampled_values
from basanite.analysis.paired import IncomparableError
from basanite.analysis.results import Design
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    say,
    show_findings,
    show_report,
    write_reports,
)
from basanite.cli.reading import plain
from basanite.cli.scoring.across_plan import PlannedTask, read_aggregate_plan
from basanite.errors import SettingError, UnknownNameError, UnreadableError
from basanite.interface import Work
from basanite.kernel import Scores
from basanite.problems import Findings
from basanite.reports.kinds.across import Declared, across_report
from basanite.reports.kinds.results import check_alike, read_comparison, read_result
from basanite.tasks import Inputs

ACROSS = "across"


@click.command(epilog=example("basanite across aggregate.toml --report across.html"))
@click.argument("plan", type=PATH)
@click.option("--draws", type=click.IntRange(100, 100_000), default=1000, show_default=True, help="Resamples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@as_json
def across(plan: Path, draws: int, seed: int, workers: int, reports: tuple[Path, ...], as_json: bool) -> None:
    """Rank systems over the tasks that PLAN declares: their anchors, their weights and the rule.

    Intervals resample units inside each task. The result also says which order changes when one task is left out.
    """
    check_reports(reports, [plan])
    declared, findings = read_aggregate_plan(plan)
    if declared is None:
        show_findings(plain(findings), ACROSS, json=as_json)
        raise click.exceptions.Exit(1)
    design = Design(draws=draws, seed=seed)
    scored = Scored(design, workers, as_json)
    tasks = [_named(each, declared.rule, scored) for each in declared.tasks]
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


def _named(planned: PlannedTask, rule: str, how: Scored) -> TaskValues:
    """The same, with the task's name before whatever is wrong with it."""
    try:
        return _counted(planned, rule, how)
    except (IncomparableError, SettingError, UnknownNameError, UnreadableError) as error:
        raise SettingError(f"{planned.name}: {error}") from error


def _counted(planned: PlannedTask, rule: str, how: Scored) -> TaskValues:
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
    work = Work(planned.task, {**planned.settings, **headline}, seed=how.design.seed, workers=how.workers)
    if work.task.needs_reference and not planned.reference:
        raise SettingError(f"{work.task.name} is scored against a reference: write reference = …")
    stray = sorted(planned.judgements.keys() - planned.submissions.keys())
    if stray:
        raise SettingError(f"`judgements` names {stray[0]!r}, which is no system there.")
    shared = Inputs(Path(), None, None, planned.queries, planned.metadata).against(planned.reference)
    scores = [
        _scores(work, replace(shared, submission=path, judgements=planned.judgements.get(name)), name, planned, how)
        for name, path in planned.submissions.items()
    ]
    return resampled_values(planned.name, work.primary, scores, how.design)


def _scores(work: Work, inputs: Inputs, system: str, planned: PlannedTask, how: Scored) -> Scores:
    findings = Findings()
    opened = work.validated(inputs, findings, scored=True)
    if opened is not None and findings.valid:
        return spine.score(opened, system=system)
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
        spine.find_task(planned.task).metric(metric).best,
        {result.system: result.values[metric].value for result in results},
        no_interval=f"{planned.name} was given as results, which hold no rows of single units",
    )
