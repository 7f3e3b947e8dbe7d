"""Is the machine better than novices? The plan's null, and the stronger conditions of S-3, each with its figures.

The plan's null alone can be beaten by a constant rating, for mixing novices passage by passage takes their biases
away. So more is asked: a lead that holds for other passages and novices, more than the best constant reaches, and a
correlation that is there and above its critical value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from basanite.metrics.judgement import null
from basanite.metrics.judgement.crossed import Lead, leads
from basanite.metrics.judgement.readability import (
    CORRELATION,
    METRICS,
    SCORE_DIFFERENCE,
    Readings,
    Reals,
    best_constant,
    novices_as_machines,
    values,
)
from basanite.tasks.readability.panels import Panels

EVERY = "holm"
"""The tests of all three metrics count, adjusted by Holm; else the name of the one declared beforehand."""
FIXED = "texts and novices fixed"


@dataclass(frozen=True)
class Findings:
    """Everything found about one machine against the panels."""

    observed: Mapping[str, float]
    tests: Mapping[str, null.Verdict]
    adjusted: Mapping[str, float]
    nulls: Mapping[str, Reals]
    leads: Mapping[str, Lead]
    constant: float
    constant_value: float
    novices: tuple[Mapping[str, float], ...]
    strays: bool

    def place(self, name: str) -> int | None:
        """The machine's place among the novices on a metric: 1 is the best; None where it has no value."""
        own = self.observed[name]
        if math.isnan(own):
            return None
        return 1 + sum(other[name] > own + 1e-8 for other in self.novices if not math.isnan(other[name]))


@dataclass(frozen=True)
class Condition:
    """One thing the verdict asks for, and whether it holds."""

    name: str
    holds: bool
    figures: str


def examine(block: Readings, *, draws: int, seed: int) -> Findings | None:
    """Tests, leads and rivals of a machine; None where there are no novices."""
    if not block.novices.shape[1]:
        return None
    observed = values(block.experts, block.novices, block.machine)
    drawn = null.null_values(block.experts, block.novices, draws=draws, seed=seed)
    nulls = {metric.name: drawn[at] for at, metric in enumerate(METRICS)}
    tests = {name: null.judged(observed[name], nulls[name]) for name in observed}
    constant = best_constant(block.experts)
    fixed = values(block.experts, block.novices, np.full(len(block.machine), constant))
    return Findings(
        observed,
        tests,
        holm({name: test.p for name, test in tests.items()}),
        nulls,
        leads(block, draws=min(draws, 2000), seed=seed),
        constant,
        fixed[SCORE_DIFFERENCE.name],
        tuple(novices_as_machines(block.experts, block.novices)),
        null.strays(nulls[SCORE_DIFFERENCE.name], null.exact_spread(block.experts, block.novices)),
    )


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjustment over the tests that are defined; the family is all of them.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted, worst = dict.fromkeys(p, math.nan), 0.0
    ordered = sorted((value, name) for name, value in p.items() if not math.isnan(value))
    for rank, (value, name) in enumerate(ordered):
        worst = max(worst, min(1.0, value * (len(p) - rank)))
        adjusted[name] = worst
    return adjusted


def conditions(found: Findings, declared: str) -> tuple[Condition, ...]:
    """What the verdict asks for, one by one."""
    return (_test(found, declared), _lead(found, declared), _beats_constant(found), _correlates(found))


def _test(found: Findings, declared: str) -> Condition:
    if declared == EVERY:
        passed = claimed(found, declared)
        figures = ", ".join(f"{name} {_p(value)}" for name, value in found.adjusted.items())
        return Condition(
            "above the plan's null after Holm over the three metrics", bool(passed), f"adjusted p: {figures}"
        )
    test = found.tests[declared]
    return Condition(f"{declared} above the plan's null", bool(test.p <= null.TAIL), f"p {_p(test.p)}")


def claimed(found: Findings, declared: str) -> tuple[str, ...]:
    """The metrics on which the plan's test is passed, adjusted unless one was declared beforehand."""
    if declared != EVERY:
        return (declared,) if found.tests[declared].p <= null.TAIL else ()
    return tuple(name for name, p in found.adjusted.items() if p <= null.TAIL)


def _lead(found: Findings, declared: str) -> Condition:
    name = SCORE_DIFFERENCE.name if declared == EVERY else declared
    lead = found.leads[name]
    title = f"lead on {name} over other passages and novices too"
    if lead.low is None or lead.high is None:
        return Condition(title, False, f"no interval: {lead.reason}")
    return Condition(title, lead.low > 0, f"{lead.value:.4g}, interval {lead.low:.4g} to {lead.high:.4g}")


def _beats_constant(found: Findings) -> Condition:
    own = found.observed[SCORE_DIFFERENCE.name]
    figures = f"{own:.4g} against {found.constant_value:.4g} for a rating of {found.constant:.4g} throughout"
    return Condition("better than the best constant on score_difference", own > found.constant_value + 1e-8, figures)


def _correlates(found: Findings) -> Condition:
    test = found.tests[CORRELATION.name]
    title = "correlation defined and above its critical value"
    if math.isnan(test.value):
        return Condition(title, False, "undefined: the ratings do not vary")
    return Condition(title, test.above, f"{test.value:.4g} against {test.critical:.4g}")


def verdict(found: Findings, declared: str) -> str:
    """The verdict in one sentence, with what stands against it."""
    failed = [condition.name for condition in conditions(found, declared) if not condition.holds]
    if failed:
        return f"not shown to be better than novices; does not hold: {'; '.join(failed)}"
    return f"better than novices (shown on {', '.join(claimed(found, declared))})"


def parts_of(found: Findings) -> dict[str, dict[str, float]]:
    """What stands inside each value: p, the critical value, the adjusted p, the lead, the machine's place."""
    return {name: dict(_parts(found, name)) for name in found.tests}


def _parts(found: Findings, name: str) -> Iterator[tuple[str, float]]:
    test, lead = found.tests[name], found.leads[name]
    yield from {"p": test.p, "critical": test.critical, "p_adjusted": found.adjusted[name], "lead": lead.value}.items()
    if lead.low is not None and lead.high is not None:
        yield from (("lead_low", lead.low), ("lead_high", lead.high))
    if (place := found.place(name)) is not None:
        yield from (("place", float(place)), ("places", float(len(found.novices) + 1)))
    if test.undefined:
        yield "undefined_draws", float(test.undefined)


def _p(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


@dataclass(frozen=True)
class Examined:
    """What the report shows: the panels, the machine among them, the findings and how baselines did."""

    units: tuple[str, ...]
    panels: Panels
    block: Readings
    found: Findings | None
    declared: str
    baselines: Mapping[str, Mapping[str, float]]
