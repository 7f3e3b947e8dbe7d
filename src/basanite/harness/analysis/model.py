"""What an analysis of a result folder found, as plain values that are written as JSON and shown in reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from basanite.harness.analysis.gains import Estimate
from basanite.harness.analysis.verdicts import Contrast, RunValues
from basanite.harness.conditions import CONDITIONS, Claim
from basanite.harness.results import State

FORMAT: Final = "basanite-harness-analysis/1"
TITLES: Final = {condition.number: condition.title for condition in CONDITIONS}


@dataclass(frozen=True)
class Standing:
    """One run: its values, its mean with the interval from folds and test rows, and the spread of its seeds."""

    values: RunValues
    estimate: Estimate
    seed_deviation: float | None = None
    plain: float | None = None
    """The mean of the average precision without interpolation (A22)."""
    over_floor: Estimate | None = None
    """By how much it does better than run 0 (H-38)."""

    @property
    def beats_floor(self) -> bool | None:
        """Whether the one-sided lower 95% bound of its gain over run 0 is above 0; None where that is not known."""
        bound = math.nan if self.over_floor is None else self.over_floor.lower()
        return None if math.isnan(bound) else bound > 0

    def as_dict(self) -> dict[str, Any]:
        """The run as JSON says it."""
        mean, error = self.values.overall
        told = {
            "condition": TITLES[self.values.condition],
            "team": self.values.team,
            "value": mean,
            "standard_error_over_folds": error,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "by_fold": [{"value": m, "standard_error_over_targets": e} for m, e in self.values.by_fold],
            "by_target": {
                target: {"value": m, "standard_error_over_folds": e}
                for target, (m, e) in zip(self.values.targets, self.values.by_target, strict=True)
            },
            "undefined": self.values.undefined_count,
            "undefined_draws": self.estimate.undefined,
            "flags": list(self.values.flags),
        }
        more = {"between_seed_deviation": self.seed_deviation, "map": self.plain, "over_floor": self._floor()}
        return {**told, **{name: value for name, value in more.items() if value is not None}}

    def _floor(self) -> dict[str, Any] | None:
        found = self.over_floor
        return None if found is None else {"gain": found.value, "lower": found.lower(), "beats": self.beats_floor}


@dataclass(frozen=True)
class Judgement:
    """A claim for one team: the contrast with its verdict, and beside it what the plan's own view would say."""

    claim: Claim
    contrast: Contrast
    drawn: tuple[float, float] | None
    by_t: float
    by_signs: float
    bars_overlap: bool
    reading: str = ""
    """What the evaluation plan takes from a failure against condition 4 or 5."""

    def as_dict(self) -> dict[str, Any]:
        """The verdict as JSON says it."""
        one = self.contrast
        return {
            "claim": self.claim.name,
            "headline": self.claim.headline,
            "team": one.team,
            "first": one.first,
            "second": one.second,
            "hypothesis": one.kind,
            "gain": one.gain,
            "low": one.low,
            "high": one.high,
            "standard_error": one.error,
            "degrees_of_freedom": one.degrees,
            "margin": one.margin,
            "p": one.p,
            "p_adjusted": one.p_adjusted,
            "smallest_detectable": one.smallest_detectable,
            "bounds": {"lower": one.lower, "upper": one.upper},
            "above_floor": list(one.above_floor) if one.above_floor else None,
            "finding": one.finding,
            "reason": one.reason,
            "state": one.state,
            "note": one.note,
            "bootstrap": list(self.drawn) if self.drawn else None,
            "plan_view": {"paired_t_p": self.by_t, "sign_flip_p": self.by_signs, "bars_overlap": self.bars_overlap},
            "reading": self.reading,
        }


@dataclass(frozen=True)
class Pair:
    """Two teams with the same condition: by how much the first does better, and whether that is significant."""

    first: str
    second: str
    gain: Estimate
    p_adjusted: float

    def as_dict(self) -> dict[str, Any]:
        """The pair as JSON says it."""
        found = {"gain": self.gain.value, "low": self.gain.low, "high": self.gain.high, "p": self.gain.p}
        return {"first": self.first, "second": self.second, **found, "p_adjusted": self.p_adjusted}


@dataclass(frozen=True)
class TeamRanking:
    """The teams of one condition by one metric, best first; never over several tasks or metrics (H-23)."""

    metric: str
    best: str
    condition: int
    order: tuple[str, ...]
    values: Mapping[str, float]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]
    ranges: Mapping[str, tuple[int, int]]
    missing: Mapping[str, str] = field(default_factory=dict)
    """Teams without a value, and why (A35)."""

    def as_dict(self) -> dict[str, Any]:
        """The ranking as JSON says it."""
        return {
            "metric": self.metric,
            "best": self.best,
            "condition": self.condition,
            "order": list(self.order),
            "values": dict(self.values),
            "pairs": [pair.as_dict() for pair in self.pairs],
            "groups": [list(group) for group in self.groups],
            "rank_ranges": {team: list(ends) for team, ends in self.ranges.items()},
            "missing": dict(self.missing),
        }


@dataclass(frozen=True)
class TaskAnalysis:
    """Everything about one task."""

    task: str
    metric: str
    best: str
    targets: tuple[str, ...]
    folds: int
    runs: Mapping[str, Standing]
    states: Mapping[str, tuple[State, str]]
    """How every run ended, and why."""
    judgements: tuple[Judgement, ...]
    rankings: tuple[TeamRanking, ...]
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """What makes runs doubtful, whatever their values are (H-37); also among the notes."""

    def as_dict(self) -> dict[str, Any]:
        """The task as JSON says it."""
        return {
            "metric": self.metric,
            "best": self.best,
            "targets": list(self.targets),
            "folds": self.folds,
            "runs": {run: standing.as_dict() for run, standing in self.runs.items()},
            "states": {run: {"state": state, "reason": reason} for run, (state, reason) in self.states.items()},
            "verdicts": [judgement.as_dict() for judgement in self.judgements],
            "rankings": [ranking.as_dict() for ranking in self.rankings],
            "notes": list(self.notes),
            "flags": list(self.flags),
        }


@dataclass(frozen=True)
class HarnessAnalysis:
    """Everything about one result folder."""

    name: str
    title: str
    plan_digest: str
    teams: Mapping[str, str]
    """Names by letter."""
    claims: tuple[Claim, ...]
    tasks: Mapping[str, TaskAnalysis]
    settings: Mapping[str, Any]
    replications: int = 1
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What was asked for beyond the plan's graphs, by task: curves, layers, quantity, measures, invariance."""
    notes: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings to show before any value: flags of runs and of extras, and learners that did not learn."""
        return tuple(
            f"{name}: {flag[0].lower()}{flag[1:]}"
            for name, task in self.tasks.items()
            for flag in (*task.flags, *self._extra_flags(self.extras.get(name, {})))
        )

    def _extra_flags(self, found: Mapping[str, Any]) -> Iterator[str]:
        for team, layers in found.get("layers", {}).items():
            if layers and all(entry.get("learned") is False for entry in layers):
                yield f"No layer of {self.teams[team]} does better than the same with random weights."
        for line in found.get("warnings", ()):
            yield f"Beyond the runs: {line}."

    def as_dict(self) -> dict[str, Any]:
        """The object that `harness analyse --json` prints and that analysis.json holds."""
        return {
            "format": FORMAT,
            "name": self.name,
            "title": self.title,
            "plan_digest": self.plan_digest,
            "teams": dict(self.teams),
            "claims": [asdict(claim) for claim in self.claims],
            "replications": self.replications,
            "settings": dict(self.settings),
            "tasks": {name: task.as_dict() for name, task in self.tasks.items()},
            "extras": dict(self.extras),
            "notes": list(self.notes),
            "flags": list(self.flags),
        }
