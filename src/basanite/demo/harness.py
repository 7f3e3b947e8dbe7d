"""The demo's harness run: a plan with two teams is run, analysed, and reported as a page and as slides."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from basanite.harness.engine.graph import Outcome, Step

PLAN: Final = Path(__file__).with_name("harness.toml")
PARAMETERS: Final = {"alder.toml": "units = 64\nnoise = 0.02\n", "birch.toml": "units = 64\nnoise = 0.3\n"}
"""What the teams froze of their learners: one hides few pixels while it learns, the other many."""
DRAWS: Final = 2_000
OUTPUTS: Final = ("report.html", "report.pptx")


def make(folder: Path, tell: Callable[[int, int], None]) -> None:
    """Run the plan in a folder and write its report; what was computed before is not computed again."""
    from basanite.harness.evaluation import ready
    from basanite.harness.running import Watcher, run_plan

    steps = _Steps(tell)
    result = run_plan(ready(_plan(folder)), folder / "result", watcher=Watcher(steps.ended, planned=steps.planned))
    _report(folder, result.path, tell, steps.all)


def _plan(folder: Path) -> Path:
    """The plan, with the parameters of the teams beside it."""
    for name, text in PARAMETERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Path(shutil.copyfile(PLAN, folder / "plan.toml"))


def _report(folder: Path, result: Path, tell: Callable[[int, int], None], steps: int) -> None:
    from basanite.harness.analysis.analysing import Options, analyse
    from basanite.harness.reporting.building import harness_report
    from basanite.harness.reporting.states import read_state
    from basanite.harness.results import ResultFolder
    from basanite.reports.outputs import write

    opened = ResultFolder(result)
    report = harness_report(opened, analyse(opened, Options.of(opened, DRAWS, 0)), read_state(opened))
    for at, name in enumerate(OUTPUTS, start=1):
        tell(steps + at, steps + len(OUTPUTS) + 1)
        write(report, folder / name)


class _Steps:
    """Counts the steps of a run, the writing of its report included."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self.tell, self.all = tell, 0

    def planned(self, steps: Sequence[Step], reused: int) -> None:
        """What there is to do."""
        self.all = len(steps)

    def ended(self, outcome: Outcome, finished: int, total: int) -> None:
        """One more is done."""
        self.tell(min(finished, self.all), self.all + len(OUTPUTS) + 1)
