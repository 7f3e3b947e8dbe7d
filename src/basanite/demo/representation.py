"""The demo's look at representations: a network is trained here, its features are measured, and shifted (F-1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

DRAWS, SHIFT_DRAWS, REPEATS = 300, 30, 5
STEPS: Final = 3


def make(folder: Path, tell: Callable[[int, int], None]) -> None:
    """Train, measure all ten digits, then mix unknown ones into the known ones level by level."""
    tell(0, STEPS)
    _write_features(folder)
    tell(1, STEPS)
    _measure(folder)
    tell(2, STEPS)
    _shift(folder)


def _write_features(folder: Path) -> None:
    import numpy as np

    from basanite.synthetic.examples.features import example_files

    for name, arrays in example_files().items():
        if name in ("digits", "seen", "unseen"):
            np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)


def _measure(folder: Path) -> None:
    from basanite.reports.outputs import write
    from basanite.representation.data import read_data
    from basanite.representation.measuring.report import run_report
    from basanite.representation.measuring.run import Plan, run

    plan = Plan.of({}, draws=DRAWS, projection="tsne")
    write(run_report(run(read_data(folder / "digits.npz"), plan)), folder / "features.html")


def _shift(folder: Path) -> None:
    from basanite.reports.outputs import write
    from basanite.representation.data import read_data
    from basanite.representation.shift.experiment import ShiftPlan
    from basanite.representation.shift.report import shift_report
    from basanite.representation.shift.run import shift

    plan = ShiftPlan(repeats=REPEATS, draws=SHIFT_DRAWS)
    found = shift(read_data(folder / "seen.npz"), read_data(folder / "unseen.npz"), plan)
    write(shift_report(found), folder / "shift.html")
