"""The whole report of a result folder, for every output there is (H-26)."""

from __future__ import annotations

from collections.abc import Iterator

from basanite.figures import Cell, Table
from basanite.harness.analysis.model import HarnessAnalysis, TaskAnalysis
from basanite.harness.reporting.background import closing_sections, facts, opening_sections
from basanite.harness.reporting.beyond import extra_sections
from basanite.harness.reporting.graphs import NAMES
from basanite.harness.reporting.results import result_sections
from basanite.harness.reporting.states import ReportState
from basanite.harness.results import ResultFolder
from basanite.reports.model import Headline, Report
from basanite.reports.wording import number

COLUMNS = ("task", "run", "condition", "team", "fold", "target", "metric", "value")


def harness_report(
    result: ResultFolder, analysis: HarnessAnalysis, state: ReportState | None = None, *, times: bool = False
) -> Report:
    """The report; `times` shows what steps took, which the plan leaves out unless somebody asks (H-25)."""
    told = state or ReportState()
    sections = (
        *opening_sections(result, analysis),
        *result_sections(analysis),
        *extra_sections(analysis),
        *closing_sections(result, analysis, told, times=times),
    )
    return Report(
        analysis.title,
        f"Evaluation report, {told.state}",
        sections,
        facts(result, analysis, told),
        {**analysis.as_dict(), "report": told.as_dict()},
        Table("Records", COLUMNS, tuple(_records(analysis))),
        tuple(_headlines(result, analysis)),
        tuple(_sentences(analysis, told)),
        analysis.flags,
    )


def _headlines(result: ResultFolder, analysis: HarnessAnalysis) -> Iterator[Headline]:
    """The full systems, where one axis holds them all: several metrics have no common one."""
    metrics = {task.metric for task in analysis.tasks.values()}
    for task in analysis.tasks.values() if len(metrics) == 1 else ():
        rows = len(result.truth(task.task, task.targets[0]))
        for run, standing in task.runs.items():
            if standing.values.condition in (1, 6):
                yield _headline(task, run, analysis, rows)


def _headline(task: TaskAnalysis, run: str, analysis: HarnessAnalysis, rows: int) -> Headline:
    standing = task.runs[run]
    team = analysis.teams.get(standing.values.team, "strong shallow classifier")
    found = standing.estimate
    best = "low" if task.best == "low" else "high"
    label = f"{task.task} {run}: {team}"
    return Headline(label, NAMES[task.metric], found.value, found.low, found.high, rows, "test row", 0.95, best)  # type: ignore[arg-type]


def _sentences(analysis: HarnessAnalysis, state: ReportState) -> Iterator[str]:
    """The headline claims first, then the others, then what limits them."""
    if state.state != "released":
        yield f"This report is not released: {state.state}."
    for task in analysis.tasks.values():
        for one in task.judgements:
            if one.claim.headline:
                verdict = one.contrast
                yield (
                    f"{task.task}, {analysis.teams[verdict.team]}: claim “{one.claim.name}” ({verdict.first} against "
                    f"{verdict.second}) {verdict.state}: {verdict.finding}, gain {number(verdict.gain)} "
                    f"({verdict.reason}; two-sided 95 % interval {number(verdict.low)} to {number(verdict.high)})."
                )
        yield from _others(task, analysis)
    yield from analysis.notes
    for task in analysis.tasks.values():
        gaps = [run for run, (ended, _) in task.states.items() if ended != "done"]
        if gaps:
            yield f"{task.task}: no result of {', '.join(gaps)}; the table of runs says why."


def _others(task: TaskAnalysis, analysis: HarnessAnalysis) -> Iterator[str]:
    """The claims that are no headlines, in a sentence each."""
    for claim in analysis.claims:
        found = [one.contrast for one in task.judgements if one.claim.name == claim.name and not claim.headline]
        if found:
            teams = ", ".join(
                f"{verdict.state} for {analysis.teams[verdict.team]} ({verdict.reason})" for verdict in found
            )
            yield f"{task.task}: claim “{claim.name}” ({claim.system} against {claim.against}) {teams}."


def _records(analysis: HarnessAnalysis) -> Iterator[tuple[Cell, ...]]:
    for task in analysis.tasks.values():
        for run, standing in task.runs.items():
            told = task.task, run, standing.values.condition, standing.values.team
            for fold, values in enumerate(standing.values.values, start=1):
                for target, value in zip(task.targets, values, strict=True):
                    yield (*told, fold, target, task.metric, None if value != value else float(value))
