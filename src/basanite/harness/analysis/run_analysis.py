"""From a result folder to its analysis: values, contrasts and verdicts of every claim and team, and rankings.

Verdicts rest on folds and test rows together (S-7), with Holm over the tests of all teams of a task that make a claim
(S-2). The plan's own view, tests over folds alone, stands beside them and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np

from basanite import canonical
from basanite.analysis.comparison import groups, holm, rank_ranges
from basanite.harness.analysis.gains import ENOUGH_SEEDS, PLAIN, Comparer, Estimate
from basanite.harness.analysis.model import HarnessAnalysis, Judgement, Pair, Standing, TaskAnalysis, TeamRanking
from basanite.harness.analysis.verdicts import (
    ALPHA,
    Contrast,
    RunValues,
    all_values,
    bars_overlap,
    fold_tests,
    judge_contrasts,
    mean_over_replications,
    run_of,
)
from basanite.harness.conditions import CLAIMS, CONDITIONS, FLOOR, Claim
from basanite.harness.results import ResultFolder, RunStatus, State, write_bytes
from basanite.harness.steps.classification import ALL_CLIPPED


def team_ranking(
    comparer: Comparer, teams: Sequence[str], condition: int, *, missing: Mapping[str, str], alpha: float
) -> TeamRanking:
    """The teams that have a run of this condition, the best first; p adjusted over all pairs by Holm."""
    found = [team for team in teams if team not in missing]
    values = {team: comparer.value(run_of(condition, team)).value for team in found}
    order = sorted(found, key=lambda team: values[team] if comparer.low else -values[team])
    pairs = _pairs(comparer, order, condition)
    beaten = {
        (pair.first, pair.second) if pair.gain.value > 0 else (pair.second, pair.first)
        for pair in pairs
        if pair.p_adjusted <= alpha and pair.gain.value != 0
    }
    return TeamRanking(
        comparer.metric,
        "low" if comparer.low else "high",
        condition,
        tuple(order),
        values,
        pairs,
        groups(order, beaten),
        rank_ranges(order, beaten),
        missing,
    )


def _pairs(comparer: Comparer, order: Sequence[str], condition: int) -> tuple[Pair, ...]:
    places = list(combinations(order, 2))
    gains = [comparer.gain(run_of(condition, first), run_of(condition, second)) for first, second in places]
    adjusted = holm([gain.p for gain in gains])
    return tuple(Pair(first, second, gain, p) for (first, second), gain, p in zip(places, gains, adjusted, strict=True))


def ranking_sentence(ranking: TeamRanking, names: Mapping[str, str], alpha: float) -> str:
    """The ranking as a sentence, with whether its differences are significant."""
    if not ranking.order:
        return "No team has a value here."
    line = " before ".join(f"{names[team]} ({ranking.values[team]:.4g})" for team in ranking.order)
    if len(ranking.order) == 1:
        return f"{line}: the only team with a value."
    shown = [pair for pair in ranking.pairs if pair.p_adjusted <= alpha]
    same = [pair for pair in ranking.pairs if pair.gain.error == 0 and pair.gain.value == 0]
    if len(same) == len(ranking.pairs):
        return f"{line}: the results are the same."
    if not shown:
        return f"{line}: no difference is significant."
    if len(shown) == len(ranking.pairs):
        return f"{line}: {'the difference is' if len(shown) == 1 else 'all differences are'} significant."
    parts = ", ".join(f"{names[pair.first]} and {names[pair.second]}" for pair in shown)
    return f"{line}: significant between {parts}; not between the others."


DRAWS: Final = 10_000
TOP: Final = 6
READINGS: Final[Mapping[int, str]] = {
    4: "The plan reads such a result in one of two ways: this data set and task are not the place to see that learned "
    "representations help, or the deep system does not do its work well.",
    5: "The plan reads such a result in one of two ways: this data set and task are not the place to see that several "
    "layers do better than one, or the deep system does not do its work well.",
}
"""What sections 5.2.4 and 5.2.5 of the evaluation plan say, in our words, if 6 does not beat 4 or 5."""


@dataclass(frozen=True)
class Options:
    """How much is drawn, and at which level claims are tested."""

    draws: int = DRAWS
    seed: int = 0
    alpha: float = ALPHA

    @classmethod
    def of(cls, result: ResultFolder, draws: int | None = None, seed: int = 0) -> Options:
        """What the plan says, unless something else is asked for."""
        told: Mapping[str, Any] = result.manifest["plan"].get("analysis", {})
        return cls(draws or int(told.get("draws", DRAWS)), seed, float(told.get("alpha", ALPHA)))


def analyse(result: ResultFolder, options: Options | None = None) -> HarnessAnalysis:
    """Everything that the result folder says about its claims and teams."""
    chosen, plan = options or Options.of(result), result.manifest["plan"]
    claims = tuple(Claim(**entry) for entry in plan["claims"]) if "claims" in plan else CLAIMS
    teams = {team["letter"]: team["name"] for team in result.manifest["teams"]}
    settings = {"draws": chosen.draws, "seed": chosen.seed, "alpha": chosen.alpha, "level": 0.95}
    tasks = {task: _Task(result, task, tuple(teams), claims, chosen).analysis() for task in result.tasks}
    return HarnessAnalysis(
        plan["name"],
        plan["title"],
        result.manifest["plan_digest"],
        teams,
        claims,
        tasks,
        settings,
        int(plan["replications"]),
        notes=_notes(result),
    )


def write_analysis(result: ResultFolder, analysis: HarnessAnalysis) -> None:
    """Write analysis.json: the same folder gives the same bytes."""
    write_bytes(result.path / "analysis.json", canonical.dumps(analysis.as_dict()).encode())


class _Task:
    """One task of a result folder while it is analysed."""

    def __init__(
        self, result: ResultFolder, task: str, teams: Sequence[str], claims: Sequence[Claim], options: Options
    ) -> None:
        self.result, self.task, self.teams, self.claims, self.options = result, task, teams, claims, options
        self.replications = int(result.manifest["plan"]["replications"])
        self.comparer = comparer_of(result, task, options)
        self.plain = comparer_of(result, task, options, metric=PLAIN) if self.comparer.metric == "map11" else None
        self.every = all_values(result, task)
        self.statuses = [status for status in result.status() if status.task == task]
        self.done = tuple(run for run in result.runs(task) if self._state(run)[0] == "done")
        self.values = {run: values for run, values in mean_over_replications(self.every).items() if run in self.done}

    def analysis(self) -> TaskAnalysis:
        """Values, verdicts and rankings of the task."""
        return TaskAnalysis(
            self.task,
            self.comparer.metric,
            "low" if self.comparer.low else "high",
            self.comparer.targets,
            self.comparer.folds,
            {run: self._standing(run) for run in self.done},
            {run: self._state(run) for run in self.result.runs(self.task)},
            tuple(self._judgements()),
            tuple(self._rankings()),
            tuple(self._notes()),
            tuple(self._flags()),
        )

    @cached_property
    def over_floor(self) -> dict[str, Estimate]:
        """By how much each run does better than run 0, which learns nothing (H-38); empty where there is no run 0."""
        floor = run_of(FLOOR.number, "")
        return {run: self.comparer.gain(run, floor) for run in self.done if run != floor} if floor in self.done else {}

    def _state(self, run: str) -> tuple[State, str]:
        """How a run ended: done only if every replication is."""
        found: list[RunStatus] = [status for status in self.statuses if status.run == run]
        bad = next((status for status in found if status.state != "done"), None)
        return (bad.state, bad.reason) if bad else ("done", "")

    def _standing(self, run: str) -> Standing:
        means = np.array([values.overall[0] for (name, _), values in self.every.items() if name == run])
        deviation = float(means.std(ddof=1)) if len(means) > 1 else None
        return Standing(
            self.values[run], self.comparer.value(run), deviation, self._plain(run), self.over_floor.get(run)
        )

    def _plain(self, run: str) -> float | None:
        """The mean of the plain average precision, without draws (A22)."""
        if self.plain is None:
            return None
        tables = [self.plain.values(run, number) for number in range(1, self.replications + 1)]
        return RunValues(run, TOP, "", self.plain.targets, np.mean(tables, axis=0)).overall[0]

    def _judgements(self) -> Iterator[Judgement]:
        """Every claim of every team whose two runs ended well (H-24)."""
        found = [(claim, *one) for claim in self.claims for one in self._contrasts(claim)]
        verdicts = judge_contrasts(
            [contrast for _, contrast, _ in found], alpha=self.options.alpha, replications=self.replications
        )
        for (claim, _, drawn), verdict in zip(found, verdicts, strict=True):
            yield self._judgement(claim, verdict, drawn)

    def _contrasts(self, claim: Claim) -> Iterator[tuple[Contrast, tuple[float, float] | None]]:
        for team in self.teams:
            first, second = (run_of(condition, team) for condition in (claim.system, claim.against))
            if {first, second} <= set(self.done):
                margin = self.result.task(self.task).get("margin") if claim.hypothesis == "not inferior" else None
                gain = self.comparer.gain(first, second)
                yield (
                    Contrast(
                        claim.name,
                        self.task,
                        team,
                        first,
                        second,
                        gain.value,
                        gain.error,
                        gain.degrees,
                        claim.hypothesis,
                        margin,
                        ends=gain.bounds,
                        above_floor=self._above_floor(first, second),
                        too_small=self.comparer.too_small,
                    ),
                    gain.drawn,
                )

    def _above_floor(self, first: str, second: str) -> tuple[float, float] | None:
        """The lower bounds of both runs' gains over the floor."""
        found = self.over_floor
        return (found[first].lower(), found[second].lower()) if found else None

    def _judgement(self, claim: Claim, verdict: Contrast, drawn: tuple[float, float] | None) -> Judgement:
        first, second = self.values[verdict.first], self.values[verdict.second]
        means = [np.array([mean for mean, _ in values.by_fold]) for values in (first, second)]
        failed = (
            claim.system == TOP and claim.hypothesis == "superior" and verdict.state in ("not supported", "undecided")
        )
        reading = READINGS.get(claim.against, "") if failed else ""
        return Judgement(
            claim, verdict, drawn, *fold_tests(*means), bars_overlap(first.overall, second.overall), reading
        )

    def _rankings(self) -> Iterator[TeamRanking]:
        """The teams by condition, the full systems first; those also by the plain average precision (A22)."""
        conditions = [condition.number for condition in CONDITIONS if condition.by_team]
        for condition in sorted(conditions, reverse=True):
            yield self._ranking(self.comparer, condition)
            if condition == TOP and self.plain is not None:
                yield self._ranking(self.plain, condition)

    def _ranking(self, comparer: Comparer, condition: int) -> TeamRanking:
        runs = {team: run_of(condition, team) for team in self.teams}
        missing = {
            team: ": ".join(filter(None, self._state(run))) for team, run in runs.items() if run not in self.done
        }
        return team_ranking(comparer, self.teams, condition, missing=missing, alpha=self.options.alpha)

    def _flags(self) -> Iterator[str]:
        """What makes a run doubtful whatever its value is (H-37): how it was trained, warned of or clipped; the full
        systems first."""
        for run in sorted(self.result.runs(self.task), key=lambda run: -int(run[0])):
            told = dict.fromkeys(flag for status in self.statuses if status.run == run for flag in status.flags)
            clipped = [ALL_CLIPPED] if run in self.values and self.values[run].all_clipped else []
            if told or clipped:
                yield f"Run {run}: {'; '.join((*told, *clipped))}."
        if not self.over_floor:
            yield (
                "There is no run 0 that learns nothing, so no claim is compared with a floor. "
                'Fix: basanite harness run PLAN --only 0 --reason "floor".'
            )
        weak = [] if self.comparer.too_small else [run for run in self.over_floor if self._is_weak(run)]
        if weak:
            names = f"run {weak[0]} does" if len(weak) == 1 else f"runs {', '.join(weak)} do"
            yield f"The strong classifier is not strong here: {names} not beat run 0, which learns nothing."

    def _is_weak(self, run: str) -> bool:
        """Whether a run of the strong classifier is not shown to beat the floor (H-40)."""
        strong = next(one for one in CONDITIONS if one.number == self.values[run].condition).strong
        return strong and not self.over_floor[run].lower() > 0

    def _notes(self) -> Iterator[str]:
        yield from self._flags()
        if self.comparer.too_small:
            why = self.comparer.too_small
            yield f"{why[0].upper()}{why[1:]}. No interval is shown and no claim is decided (H-45)."
        undefined = {run: values.undefined_count for run, values in self.values.items() if values.undefined_count}
        if undefined:
            told = ", ".join(f"{count} of run {run}" for run, count in undefined.items())
            yield f"Undefined values leave their means (A21): {told}."
        draws = max((self.comparer.value(run).undefined for run in self.done), default=0)
        if draws:
            yield f"In up to {draws} draws of a run some target had no positive and left that draw's mean (S-7)."
        if self.result.task(self.task).get("margin") is None:
            yield "No margin was declared before unsealing, so no system can be called comparable (S-2)."
        if self.comparer.folds < 2 or any(math.isnan(values.overall[1]) for values in self.values.values()):
            yield "With fewer than two folds there is no standard error."


def comparer_of(result: ResultFolder, task: str, options: Options, *, metric: str = "") -> Comparer:
    """The comparer of a task with the options of an analysis."""
    replications = int(result.manifest["plan"]["replications"])
    return Comparer(result, task, draws=options.draws, seed=options.seed, metric=metric, replications=replications)


def _notes(result: ResultFolder) -> tuple[str, ...]:
    replications = int(result.manifest["plan"]["replications"])
    if replications < ENOUGH_SEEDS:
        return (
            f"{replications} replication{'s' if replications > 1 else ''}: every verdict is for this one trained model "
            "of each team. A claim about an algorithm needs three seeds at least (S-8).",
        )
    return (f"{replications} replications: the seed is a third random factor beside folds and test rows (S-8).",)
