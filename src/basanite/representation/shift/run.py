"""The shift experiment from two sets of features to curves that are judged."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from basanite.representation.data import Data
from basanite.representation.measuring.settings import Choices
from basanite.representation.shift.experiment import Curves, Report, ShiftPlan, curves
from basanite.representation.shift.monotonicity import Curve, curve_of
from basanite.representation.threads import threads_for


@dataclass(frozen=True)
class Shift:
    """What the experiment found."""

    source: Data
    target: Data
    plan: ShiftPlan
    curves: Curves
    judged: tuple[Curve, ...]
    """By measure, in the order of reports."""

    @property
    def settings(self) -> dict[str, Any]:
        """What another run needs to give the same."""
        plan = self.plan
        mine = {"steps": plan.steps, "repeats": plan.repeats, "draws": plan.draws, "seed": plan.seed}
        unused = ("plan", "otce_rows", "accurate", "misplaced")
        used = {name: value for name, value in Choices(plan.options).written.items() if name not in unused}
        return {**mine, **used, "level": plan.level}


def shift(
    source: Data,
    target: Data,
    plan: ShiftPlan,
    *,
    progress: Report = lambda name, done, of: None,
    executor: Executor | None = None,
) -> Shift:
    """Mix the target into the source level by level and judge every measure's curve (F-7)."""
    with threads_for((source.rows + target.rows) * source.dimensions):
        found = curves(source, target, plan, progress=progress, executor=executor)
    judged = tuple(curve_of(name, found, plan.level) for name in found.repeats)
    return Shift(source, target, plan, found, judged)
