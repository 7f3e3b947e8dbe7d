"""The demo's two parts that take long, a harness run and measures of features, made in a process beside the server.

That process is `python -m basanite.demo.parts KEY DATA`: it loads what the part needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from basanite.sandbox.child import ONE_THREAD, PYTHON
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import Progress

if TYPE_CHECKING:
    from basanite.harness.steps.graph import Outcome, Step


HARNESS_PLAN: Final = Path(__file__).with_name("harness.toml")
PARAMETERS: Final = {"alder.toml": "units = 200\nnoise = 0.5\n", "birch.toml": "units = 200\nnoise = 0.01\n"}
"""What the teams froze of their learners: one hides half of the columns while it learns, the other hardly any."""
HARNESS_DRAWS: Final = 2_000
OUTPUTS: Final = ("report.html", "report.pptx")


def make_harness_part(folder: Path, tell: Callable[[int, int], None]) -> None:
    """Run the plan in a folder and write its report; what was computed before is not computed again."""
    from basanite.harness.evaluation import ready
    from basanite.harness.running import Watcher, run_plan

    steps = _Steps(tell)
    result = run_plan(
        ready(_plan(folder)), folder / "result", watcher=Watcher(steps.count_step, planned=steps.plan_steps)
    )
    _report(folder, result.path, tell, steps.all)


def _plan(folder: Path) -> Path:
    """The plan, with the parameters of the teams beside it."""
    for name, text in PARAMETERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Path(shutil.copyfile(HARNESS_PLAN, folder / "plan.toml"))


def _report(folder: Path, result: Path, tell: Callable[[int, int], None], steps: int) -> None:
    from basanite.harness.analysis.run_analysis import Options, analyse
    from basanite.harness.report.report import harness_report
    from basanite.harness.report.states import read_state
    from basanite.harness.results import ResultFolder
    from basanite.reports.report import write

    opened = ResultFolder(result)
    report = harness_report(opened, analyse(opened, Options.of(opened, HARNESS_DRAWS, 0)), read_state(opened))
    for at, name in enumerate(OUTPUTS, start=1):
        tell(steps + at, steps + len(OUTPUTS) + 1)
        write(report, folder / name)


class _Steps:
    """Counts the steps of a run, the writing of its report included."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self.tell, self.all = tell, 0

    def plan_steps(self, steps: Sequence[Step], reused: int) -> None:
        """What there is to do."""
        self.all = len(steps)

    def count_step(self, outcome: Outcome, finished: int, total: int) -> None:
        """One more is done."""
        self.tell(min(finished, self.all), self.all + len(OUTPUTS) + 1)


FEATURE_DRAWS, SHIFT_DRAWS, REPEATS = 300, 30, 5
STEPS: Final = 3


def make_representation_part(folder: Path, tell: Callable[[int, int], None]) -> None:
    """Train, measure all ten digits, then mix unknown ones into the known ones level by level."""
    tell(0, STEPS)
    _write_features(folder)
    tell(1, STEPS)
    _measure(folder)
    tell(2, STEPS)
    _shift(folder)


def _write_features(folder: Path) -> None:
    import numpy as np

    from basanite.synthetic.features import example_files

    for name, arrays in example_files().items():
        if name in ("digits", "seen", "unseen"):
            np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)


def _measure(folder: Path) -> None:
    from basanite.reports.report import write
    from basanite.representation.data import read_data
    from basanite.representation.measurement import Plan, run
    from basanite.representation.report import run_report

    plan = Plan.of({}, draws=FEATURE_DRAWS, projection="tsne")
    write(run_report(run(read_data(folder / "digits.npz"), plan)), folder / "features.html")


def _shift(folder: Path) -> None:
    from basanite.reports.report import write
    from basanite.representation.data import read_data
    from basanite.representation.shift import ShiftPlan
    from basanite.representation.shift_curves import shift
    from basanite.representation.shift_report import shift_report

    plan = ShiftPlan(repeats=REPEATS, draws=SHIFT_DRAWS)
    found = shift(read_data(folder / "seen.npz"), read_data(folder / "unseen.npz"), plan)
    write(shift_report(found), folder / "shift.html")


Work = Callable[[Path, Callable[[int, int], None]], None]
WORKS: Final[Mapping[str, Work]] = {
    "harness": make_harness_part,
    "representation": make_representation_part,
}
BEHIND: Final = 5
"""How much more urgent whatever somebody waits for is."""


def main(key: str, data: Path) -> None:
    """Make one part, in this process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(BEHIND)

    def tell(done: int, of: int) -> None:
        parts.write(data, Progress(key, "working", done, of))

    place = parts.place(data, key)
    place.mkdir(parents=True, exist_ok=True)
    WORKS[key](place, tell)
    parts.write(data, Progress(key, "ready"))


def _end_with_parent() -> None:
    os.read(0, 1)  # nothing ever comes but the end
    os._exit(1)


COMMAND: Final = (PYTHON, "-I", "-m", "basanite.demo.parts")
LONGEST_REASON: Final = 500
LONGEST_TAIL: Final = 10_000
GONE: Final = "its process was stopped"
UNSAID: Final = "it ended without a result"


@contextmanager
def beside(data: Path, command: tuple[str, ...] = COMMAND) -> Iterator[None]:
    """Make whatever is not ready while the block runs; what is under way when it ends is gone on with next time."""
    maker = Maker(data, command)
    thread = threading.Thread(target=maker.work, name="basanite-demo-parts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        maker.stop()
        thread.join()


class Maker:
    """Makes parts one by one until told to stop."""

    def __init__(self, data: Path, command: tuple[str, ...]) -> None:
        self.data, self.command = data, command
        self.stopped = False
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def work(self) -> None:
        """All parts that are not ready, those that failed before included."""
        for one in parts.progress(self.data):
            if one.state != "ready" and not self.stopped:
                self._make(one.key)

    def stop(self) -> None:
        """End the part that is being made."""
        with self.lock:
            self.stopped = True
            if self.child is not None:
                self.child.kill()

    def _make(self, key: str) -> None:
        parts.write(self.data, Progress(key, "working"))
        with tempfile.TemporaryFile() as wrong:
            code = self._ran(key, wrong)
            wrong.seek(max(0, wrong.tell() - LONGEST_TAIL))
            told = wrong.read()
        if {one.key: one.state for one in parts.progress(self.data)}[key] == "ready":
            return
        reason = reason_of(told) if code else UNSAID
        parts.write(self.data, Progress(key) if self.stopped else Progress(key, "failed", reason=reason))

    def _ran(self, key: str, wrong: IO[bytes]) -> int:
        """Run the process; its input is a pipe that closes when this one ends, however it ends."""
        with self.lock:
            if self.stopped:
                return 0
            command, around = (*self.command, key, str(self.data)), {**os.environ, **ONE_THREAD}
            self.child = subprocess.Popen(
                command,
                env=around,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=wrong,
                start_new_session=True,  # Ctrl-C is for the server, which then ends this one
            )
        with self.child:  # closes the pipe in the end
            return self.child.wait()


def reason_of(wrong: bytes) -> str:
    """Why a process failed: the last line that it wrote.

    >>> reason_of(b"Traceback ...\\nOSError: no space left\\n"), reason_of(b"")
    ('OSError: no space left', 'its process was stopped')
    """
    lines = wrong.decode(errors="replace").strip().splitlines()
    return lines[-1][:LONGEST_REASON] if lines else GONE


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
