"""The spine: read, validate, score, analyse, report. The only place where the stages meet.

The command line, the Python interface and the server all come through here, so a score at home and a score on the
server are the same score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from basanite import __version__, registry
from basanite.analysis.analyse import analyse as analyse_scores
from basanite.analysis.results import Analysis, Comparison, Design
from basanite.errors import MissingExtraError
from basanite.formats.archives.pieces import side_by_side
from basanite.kernel import Scores
from basanite.problems import Findings
from basanite.reports.kinds.comparing import comparison_report
from basanite.reports.kinds.scoring import analysis_report
from basanite.reports.model import Report
from basanite.tasks import Inputs, Opened, Task


def find_task(name: str) -> Task:
    """The task of this name, built in or from a plug-in."""
    task = registry.load("tasks", name)
    if not isinstance(task, Task):
        raise MissingExtraError(f"The plug-in {name!r} is a {type(task).__name__}, not a Task: ask whoever made it.")
    return task


def read(
    task: Task,
    inputs: Inputs,
    settings: Mapping[str, Any],
    findings: Findings,
    *,
    executor: Executor | None = None,
) -> Opened | None:
    """Open the reference and the submission; None if what was found in the reference makes a run impossible."""
    return task.open(inputs, task.parsed(settings), findings, executor)


def validate(
    opened: Opened,
    findings: Findings,
    *,
    executor: Executor | None = None,
    progress: Callable[[int], None] = lambda pieces: None,
) -> None:
    """Find all problems of a submission; what scoring needs is counted in the same pass."""
    for done, examined in enumerate(side_by_side(opened.examine, opened.pieces(findings), executor), start=1):
        opened.take(examined, findings)
        progress(done)
    opened.close(findings)


def score(opened: Opened, *, system: str) -> Scores:
    """The rows of every metric of a submission that has been found valid."""
    return opened.scores(system)


def analyse(scores: Scores, design: Design) -> Analysis:
    """Values with intervals, breakdowns and notes."""
    return analyse_scores(scores, design, version=__version__)


def report(task: Task, analysis: Analysis) -> Report:
    """What people see, ready for any output."""
    return analysis_report(analysis, task.figures(analysis))


def compare_report(task: Task, comparison: Comparison) -> Report:
    """What people see of a comparison, ready for any output."""
    return comparison_report(comparison, task.compared_figures(comparison))
