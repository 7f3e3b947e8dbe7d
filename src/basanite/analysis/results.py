"""What an analysis ends in: values with intervals, differences with verdicts, systems in groups.

Why a verdict is what it is, with the numbers that it rests on: never one of several things that may be so (S-29).

Results as JSON objects: what `score --json` and `compare --json` print and what the server stores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal

from basanite.canonical import plain_values
from basanite.kernel import NOISE, Scores

Kind = Literal["dominated", "few", "disagree", "adjusted"]
WORDS: Mapping[Kind, str] = {
    "dominated": "{percent}% of the squared differences come from {unit} alone (limit {most}%)",
    "few": "only {differing} of {among} {things} differ, so no adjusted p below {smallest_p:.3g} is possible",
    "disagree": "p {p:.3g} is {side} {alpha:g}, yet the interval {low:.4g} to {high:.4g} {holds} 0",
    "adjusted": "p {p:.3g} becomes {p_adjusted:.3g} for {pairs} pairs, but the interval is for this pair alone",
}


@dataclass(frozen=True)
class Reason:
    """One reason of a verdict."""

    kind: Kind
    figures: Mapping[str, float]
    unit: str = ""
    """The unit, or cluster, that dominates."""
    things: str = "units"
    """What is swapped between the systems: units, or clusters of them."""

    def __str__(self) -> str:
        return WORDS[self.kind].format(**self.parts, unit=self.unit, things=self.things)

    @property
    def parts(self) -> dict[str, Any]:
        """The figures, with what words about them need besides."""
        found: dict[str, Any] = dict(self.figures)
        if self.kind == "dominated":
            found |= {"percent": f"{100 * found['share']:.0f}", "most": f"{100 * found['most']:.0f}"}
        if self.kind == "disagree":
            above = found["p"] > found["alpha"]
            found |= {"side": "above" if above else "at most", "holds": "excludes" if above else "contains"}
        return found

    def as_dict(self) -> dict[str, Any]:
        """The reason as JSON says it."""
        named = {"unit": self.unit} if self.unit else {}
        return {"kind": self.kind, **self.figures, "things": self.things, **named}


def without_noise(number: float | None, scale: float) -> float | None:
    """The number, or exactly 0 if it is only rounding noise on this scale.

    >>> without_noise(2e-16, 1.0), without_noise(2e-16, 1e-10), without_noise(None, 1.0)
    (0.0, 2e-16, None)
    """
    return 0.0 if number is not None and abs(number) <= NOISE * scale else number


def _clear_noise(result: object, *names: str) -> None:
    """Set what is noise beside the largest of these fields to 0; infinite ones give no scale."""
    numbers = {name: getattr(result, name) for name in names}
    scale = max((abs(number) for number in numbers.values() if number is not None and math.isfinite(number)), default=0)
    for name, number in numbers.items():
        object.__setattr__(result, name, without_noise(number, scale))


@dataclass(frozen=True)
class Value:
    """A number that never stands alone: it comes with its interval, its number of units, and its notes.

    `value` is nan where it is undefined; `low` and `high` are None where there is no reliable interval, and a flag
    says why.
    """

    value: float
    low: float | None
    high: float | None
    units: int
    undefined: int = 0
    flags: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    signature: str = ""
    """How exactly it was computed: variant, tokeniser, smoothing, case, references (T-10)."""
    method: str = ""
    """How its interval was made, where it has one (S-25)."""

    def __post_init__(self) -> None:
        """Write rounding noise as 0, in the value and in both ends of its interval."""
        _clear_noise(self, "value", "low", "high")


Breakdowns = Mapping[str, Mapping[str, Mapping[str, Value]]]


@dataclass(frozen=True)
class Design:
    """How to analyse, fixed before looking: draws, seed, level and interval method."""

    draws: int = 1000
    seed: int = 0
    level: float = 0.95
    interval: str = "metric"
    """`metric` leaves the method to the definition of each metric (S-25)."""
    test_draws: int = 10_000
    alpha: float = 0.05
    adjustment: str = "holm"
    cluster: str = ""
    """The column whose levels are resampled whole; "" leaves it to the task, "none" takes units as independent."""
    executor: Executor | None = field(default=None, compare=False, repr=False)
    """Who computes draws of metrics that are no function of sums; it changes no number (P-16)."""


@dataclass(frozen=True)
class Analysis:
    """Everything known about one system on one task."""

    scores: Scores
    values: Mapping[str, Value]
    breakdowns: Breakdowns
    design: Design
    signature: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Two systems on one metric: `difference` is first minus second."""

    metric: str
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    verdict: str
    """`first`, `second` (the better one), `no difference shown`, `undecided`, `identical`, `undefined`; `different`
    where neither direction is better."""
    note: str = ""
    moved: tuple[tuple[str, float], ...] = ()
    """The units with the largest differences, with their share of the difference, largest first."""
    flags: tuple[str, ...] = ()
    """What must be said of the interval, or why there is none."""
    reasons: tuple[Reason, ...] = ()
    """Why the verdict is what it is, where p and interval alone do not say it; `note` has them in words (S-29)."""
    dominant: str = ""
    """The one unit that more than 20% of the squared differences come from, if there is one (S-12)."""
    dominant_share: float = 0.0
    """The share of the squared differences that comes from it."""
    swapped: tuple[int, int, str] = (0, 0, "units")
    """How many units (or clusters) differ, of how many, and what they are."""
    smallest_p: float = 0.0
    """The smallest p that this test could have given, before adjustment (S-1)."""
    detectable: float | None = None
    """The smallest difference that these units show in 80% of cases, after adjustment (S-30)."""
    units_needed: int | None = None
    """How many units would show a difference as large as the observed one in 80% of cases (S-30)."""
    method: str = ""
    """How its interval was made, where it has one (S-25)."""

    def __post_init__(self) -> None:
        """Write rounding noise as 0, in the difference and in both ends of its interval."""
        _clear_noise(self, "difference", "low", "high")


@dataclass(frozen=True)
class Ranking:
    """Systems on one metric: clusters with clean cuts between them, rank ranges, and who may be as good as the best."""

    metric: str
    order: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    rank_ranges: Mapping[str, tuple[int, int]]
    not_worse_than_best: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two or more systems on one task, with the family of tests stated."""

    task: str
    systems: tuple[str, ...]
    analyses: Mapping[str, Analysis]
    differences: tuple[Difference, ...]
    rankings: Mapping[str, Ranking]
    family_size: int
    draws: int
    notes: tuple[str, ...] = ()


RESULT_FORMAT = "basanite-result/1"


COMPARISON_FORMAT = "basanite-comparison/1"


def score_object(analysis: Analysis) -> dict[str, Any]:
    """The object that `score --json` prints."""
    scores = analysis.scores
    data: dict[str, Any] = {
        "format": RESULT_FORMAT,
        "task": scores.task,
        "primary": scores.primary,
        "values": values_object(analysis.values),
        "breakdowns": _breakdowns(analysis),
        "settings": _settings(analysis),
        "signature": analysis.signature,
        "digests": dict(scores.digests),
        "notes": list(dict.fromkeys((*scores.notes, *analysis.notes))),
    }
    if scores.warnings:
        data["warnings"] = [problem.as_dict() for problem in scores.warnings]
    return _object(data)


def compare_object(comparison: Comparison) -> dict[str, Any]:
    """The object that `compare --json` prints."""
    rankings, first = comparison.rankings, next(iter(comparison.analyses.values()))
    design = first.design
    data = {
        "format": COMPARISON_FORMAT,
        "task": comparison.task,
        "primary": first.scores.primary,
        "systems": list(comparison.systems),
        "differences": [
            {**difference_object(one), "detectable": one.detectable, "units_needed": one.units_needed}
            for one in comparison.differences
        ],
        "groups": {name: [list(group) for group in ranking.groups] for name, ranking in rankings.items()},
        "rank_ranges": {
            name: {system: list(ranks) for system, ranks in ranking.rank_ranges.items()}
            for name, ranking in rankings.items()
        },
        "not_worse_than_best": {name: list(ranking.not_worse_than_best) for name, ranking in rankings.items()},
        "family": {"size": comparison.family_size, "draws": comparison.draws},
        # What the tests of a comparison depend on besides what its signatures say.
        "settings": {"alpha": design.alpha, "adjustment": design.adjustment, "test_draws": comparison.draws},
        "values": {system: values_object(analysis.values) for system, analysis in comparison.analyses.items()},
        "signatures": {system: analysis.signature for system, analysis in comparison.analyses.items()},
        "notes": list(comparison.notes),
    }
    if not any(analysis.values for analysis in comparison.analyses.values()):  # a task that has values of parts alone
        data["breakdowns"] = {system: _breakdowns(analysis) for system, analysis in comparison.analyses.items()}
    return _object(data)


def _breakdowns(analysis: Analysis) -> dict[str, Any]:
    return {
        factor: {level: values_object(values) for level, values in levels.items()}
        for factor, levels in analysis.breakdowns.items()
    }


def _object(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain_values(value) for key, value in data.items()}


def _settings(analysis: Analysis) -> dict[str, Any]:
    design = analysis.design
    fixed = {"draws": design.draws, "seed": design.seed, "level": design.level, "interval": design.interval}
    return {**fixed, **({"cluster": design.cluster} if design.cluster else {}), **analysis.scores.settings}


def values_object(values: Mapping[str, Value]) -> dict[str, Any]:
    """The values of a system by name."""
    return {name: _value(value) for name, value in values.items()}


def _value(value: Value) -> dict[str, Any]:
    entry = {
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "units": value.units,
        "undefined": value.undefined,
        "flags": list(value.flags),
        "parts": dict(value.parts),
    }
    named = {"method": value.method, "signature": value.signature}
    return {**entry, **{key: name for key, name in named.items() if name}, **_infinity_notes(value)}


def _infinity_notes(value: Value) -> dict[str, Any]:
    """What null cannot say by itself: that a value is undefined, or which way a number is infinite."""
    said: dict[str, Any] = {}
    if math.isnan(value.value):
        said["note"] = "; ".join(value.flags) or "undefined"
    bounds = {"infinite": value.value, "infinite_low": value.low, "infinite_high": value.high}
    said |= {name: _sign(bound) for name, bound in bounds.items() if bound is not None and math.isinf(bound)}
    parts = {name: _sign(part) for name, part in value.parts.items() if math.isinf(part)}
    return {**said, "infinite_parts": parts} if parts else said


def _sign(value: float) -> str:
    return "+" if value > 0 else "-"


def difference_object(difference: Difference) -> dict[str, Any]:
    """One pair of systems on one metric."""
    entry = {
        "metric": difference.metric,
        "first": difference.first,
        "second": difference.second,
        "difference": difference.difference,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "p_adjusted": difference.p_adjusted,
        "verdict": difference.verdict,
        "note": difference.note or ("undefined" if math.isnan(difference.difference) else ""),
        "flags": list(difference.flags),
        "reasons": [reason.as_dict() for reason in difference.reasons],
        "moved": [list(unit) for unit in difference.moved],
    }
    if difference.method:
        entry["method"] = difference.method
    infinite = math.isinf(difference.difference)
    return {**entry, "infinite": _sign(difference.difference)} if infinite else entry
