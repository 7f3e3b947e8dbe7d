"""How often verdicts are as they were constructed: plans of guinea pigs, run with many seeds (H-39).

Data and splits are drawn again each time, so a verdict depends on nothing that was looked at before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from basanite.analysis.interval_methods import exact_bounds
from basanite.errors import SettingError
from basanite.harness.analysis.run_analysis import Options, analyse
from basanite.harness.evaluation import Evaluation, evaluation_of
from basanite.harness.plan import Plan
from basanite.harness.plan_file import load_plan
from basanite.harness.running import run_plan

FORMAT: Final = "basanite-harness-calibration/1"
LEVEL: Final = 0.95
SEEDS: Final = 20
DRAWS: Final = 1_000
"""Of the bootstrap that gives MAP its standard error: more change the third digit of it."""


@dataclass
class ClaimCalibration:
    """One claim of one plan: the verdict that it was constructed for, and those that it got."""

    plan: str
    task: str
    team: str
    claim: str
    constructed: str
    states: list[str] = field(default_factory=list)
    """One for each seed."""
    gains: list[float] = field(default_factory=list)

    @property
    def hits(self) -> int:
        """How often the verdict was as constructed."""
        return self.states.count(self.constructed)

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 95% interval of their share."""
        return exact_bounds(self.hits / len(self.states), len(self.states), LEVEL)

    def as_dict(self) -> dict[str, Any]:
        """The claim as JSON says it."""
        told = {name: getattr(self, name) for name in ("plan", "task", "team", "claim", "constructed", "gains")}
        low, high = self.interval
        more = {"runs": len(self.states), "as_constructed": self.hits, "low": low, "high": high}
        return {**told, **more, "verdicts": dict(Counter(self.states)), "states": list(self.states)}


def calibrate(
    plan: Path, seeds: Sequence[int], out: Path, *, workers: int = 1, ended: Callable[[int], None] = lambda done: None
) -> list[ClaimCalibration]:
    """Run a plan once with each seed, in a folder of its own below `out`, and count its verdicts.

    `ended` is called after each seed with how many are done.
    """
    read, found = load_plan(plan), dict[tuple[str, str, str], ClaimCalibration]()
    if not read.constructed:
        raise SettingError(
            f"{plan.name} does not say which verdicts it was constructed for. "
            'Write constructed = { central = "supported" } at its top.'
        )
    for done, seed in enumerate(seeds, start=1):
        folder = out / read.name / f"seed-{seed}"
        result = run_plan(_evaluation_of_seed(read, plan.parent, folder, seed), folder / "result", workers=workers)
        for task, team, claim, state, gain in _verdicts(result, read):
            one = found.setdefault(
                (task, team, claim), ClaimCalibration(read.name, task, team, claim, read.constructed[claim])
            )
            one.states.append(state)
            one.gains.append(gain)
        ended(done)
    return list(found.values())


def _evaluation_of_seed(plan: Plan, folder: Path, out: Path, seed: int) -> Evaluation:
    """The evaluation with other splits, and with other data where they are generated."""
    tasks = {}
    for name, task in plan.tasks.items():
        data = dict(task.data)
        if str(data.get("reader", "")).startswith("generated-"):
            data["seed"] = seed
            if "clips" in data:  # encoded once for each seed, and gone with the folder
                data["path"] = str((out / "clips").resolve())
        tasks[name] = replace(task, data=data)
    return evaluation_of(replace(plan, seed=seed, seal="", tasks=tasks), folder)


def _verdicts(result: Any, plan: Plan) -> Iterator[tuple[str, str, str, str, float]]:
    for name, task in analyse(result, Options(draws=DRAWS, alpha=Options.of(result).alpha)).tasks.items():
        for one in task.judgements:
            if one.claim.name in plan.constructed:
                verdict = one.contrast
                yield name, verdict.team, one.claim.name, verdict.state, float(verdict.gain)
