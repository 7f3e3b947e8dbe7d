"""Which claims the design of a plan cannot decide, before anything runs (S-30).

Whatever the systems do, a claim stays open if its runs cannot be made, if it needs a margin that nobody declared, if
there are too few folds, test rows or positives, or if a declared margin is smaller than what the design can show. The
last needs the variance of a test row's share of the gain, which is stated: from an earlier evaluation, or as a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from basanite.analysis.intervals import FEWEST_CARRIERS, FEWEST_UNITS
from basanite.analysis.power import Spread
from basanite.harness.analysis.gains import ENOUGH_SEEDS, few_for_map
from basanite.harness.analysis.verdicts import ALPHA, ONE_MODEL, run_of
from basanite.harness.conditions import Claim
from basanite.harness.data.splits import split_name
from basanite.harness.evaluation import Evaluation
from basanite.harness.pipeline import Builder
from basanite.harness.plan import TaskPlan

POWER = 0.8
MOST_ERRORS = 10.0
"""A gain of more standard errors than this is no design: so much is seen without a test."""


@dataclass(frozen=True)
class ClaimDesign:
    """One claim on one task: why it cannot be decided, if so, and what gain it takes to decide it."""

    task: str
    claim: Claim
    reasons: tuple[str, ...]
    errors: float | None
    """How many standard errors a gain must have to be shown in 80% of cases, if folds make most of its variance."""
    detectable: float | None
    """The gain that is shown in 80% of cases by the stated variance of test rows alone: folds make it larger."""
    notes: tuple[str, ...] = ()

    @property
    def decidable(self) -> bool:
        """Whether nothing keeps the claim from being decided."""
        return not self.reasons

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "task": self.task,
            "claim": self.claim.name,
            "decidable": self.decidable,
            "reasons": list(self.reasons),
            "errors_needed": self.errors,
            "detectable": self.detectable,
            "notes": list(self.notes),
        }


def claim_designs(evaluation: Evaluation, variance: float | None = None) -> list[ClaimDesign]:
    """Every claim on every task of a plan; `variance` is that of one test row's share of a gain."""
    if variance is not None:
        Spread(variance)  # refuses what is no variance
    made = _possible_runs(evaluation)
    return [
        _design(evaluation, task, claim, made[task.name], variance)
        for task in evaluation.plan.tasks.values()
        for claim in evaluation.plan.claims
    ]


def _possible_runs(evaluation: Evaluation) -> dict[str, dict[str, str]]:
    """By task and run, why the run cannot be made; empty where it can."""
    found: dict[str, dict[str, str]] = {name: {} for name in evaluation.plan.tasks}
    for one in Builder(evaluation).planned_runs():
        found[one.task].setdefault(one.run.name, "")
        found[one.task][one.run.name] = found[one.task][one.run.name] or one.reason
    return found


def _design(
    evaluation: Evaluation, task: TaskPlan, claim: Claim, runs: dict[str, str], variance: float | None
) -> ClaimDesign:
    teams = [team.letter for team in evaluation.plan.teams]
    lacking = {team: _missing_runs(claim, team, runs) for team in teams}
    able = [team for team, reason in lacking.items() if not reason]
    alpha = float(evaluation.plan.analysis.get("alpha", ALPHA)) / max(len(teams) * len(evaluation.plan.claims), 1)
    rows = _test_rows(evaluation, task)
    errors, least = _errors_needed(task.folds - 1, alpha), _errors_needed(rows - 1, alpha)
    detectable = None if variance is None or least is None else least * math.sqrt(variance / rows)
    reasons = [
        *(() if able else dict.fromkeys(lacking.values())),
        *_gaps(evaluation, task, claim, errors),
        *_too_coarse(task, claim, detectable),
    ]
    notes = [f"team {team}: {reason}" for team, reason in lacking.items() if reason and able]
    if evaluation.plan.replications < ENOUGH_SEEDS:
        notes.append(f"{ONE_MODEL}: a claim about an algorithm needs {ENOUGH_SEEDS} replications")
    return ClaimDesign(task.name, claim, tuple(reasons), errors, detectable, tuple(notes))


def _missing_runs(claim: Claim, team: str, runs: dict[str, str]) -> str:
    """Why a team's two runs of a claim cannot both be made; empty if they can."""
    names = [run_of(condition, team) for condition in (claim.system, claim.against)]
    wrong = [f"run {name}: {runs.get(name, 'there is no such run')}" for name in names if runs.get(name, "-")]
    return "; ".join(wrong)


def _gaps(evaluation: Evaluation, task: TaskPlan, claim: Claim, errors: float | None) -> Iterator[str]:
    if claim.hypothesis == "not inferior" and task.margin is None:
        yield "no margin is declared, so no system can be called comparable: write margin = … in the task"
    if errors is None:
        yield "with fewer than two folds there is no standard error: write folds = 10"
    elif errors > MOST_ERRORS:
        yield (
            f"with {task.folds} folds only a gain of {errors:.1f} standard errors would be shown in 80% of cases: "
            "write folds = 10, or test fewer claims"
        )
    rows = _test_rows(evaluation, task)
    if few := few_for_map(task.folds, rows) if task.metric == "map11" else "":
        yield f"{few}: write folds = 10, or give more data"
    if rows < FEWEST_UNITS:
        yield f"{rows} test rows are fewer than {FEWEST_UNITS}: give more data, or a smaller train_share"
    if task.metric == "map11":
        yield from _few_positives(evaluation, task)


def _too_coarse(task: TaskPlan, claim: Claim, detectable: float | None) -> Iterator[str]:
    if claim.hypothesis != "not inferior" or task.margin is None or detectable is None:
        return
    if detectable > task.margin:
        yield (
            f"equal systems would be called comparable too rarely: the margin is {task.margin:g}, and the design shows "
            f"{detectable:.4g} in 80% of cases"
        )


def _errors_needed(degrees: int, alpha: float) -> float | None:
    """The standard errors of a gain that a one-sided test shows in 80% of cases."""
    from scipy.special import stdtrit  # here, because it is slow to load

    return None if degrees < 1 else float(stdtrit(degrees, 1 - alpha) + stdtrit(degrees, POWER))


def _test_rows(evaluation: Evaluation, task: TaskPlan) -> int:
    """The fewest test rows that any target has."""
    return min(len(part.test) for part in evaluation.partitions[task.name].values())


def _few_positives(evaluation: Evaluation, task: TaskPlan) -> Iterator[str]:
    """Targets with so few positives among their test rows that their average precision tells nothing."""
    data, parts = evaluation.data[task.name], evaluation.partitions[task.name]
    for target in task.targets:
        rows = parts[split_name(task, target)].test
        positives = int(np.count_nonzero(data.targets[target][rows] > 0))
        if positives < FEWEST_CARRIERS:
            yield f"target {target!r} has {positives} positives among {len(rows)} test rows: leave it out, or test more"
