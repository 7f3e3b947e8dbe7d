"""How the two ends of an interval are found: a plain function for each method.

Which one a metric uses is part of its definition, fixed before any data (S-25); simulations say which contains the
true value as often as it promises (`docs/explanation/coverage.md`). A method gives two ends, or the reason why it
has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import PRECISION

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[float, float]

FEWEST_BCA_DRAWS = 5_000
NARROW = PRECISION
"""An interval narrower than this share of its ends has no width."""

NO_WIDTH = "no interval: every draw gives the same value"
NO_JACKKNIFE = "no interval: the value is undefined without one of the units"
NO_ENDS = "no interval: its method needs a range with two finite ends"
BIASED = "no interval: few units make it too large, by more than it varies between samples"
NORMAL = NormalDist()
MOST_STEPS = 10_000
MOST_BENT = 0.9
"""How far skewness may bend an interval: near 1 the cubic has no slope and its ends run away. At 0.9 the longer side of
a 95 % interval is up to twice as long as without skewness."""
MANY = 100
"""Hits, and misses, beyond which the exact interval of a share is Wilson's."""


@dataclass(frozen=True)
class Sample:
    """What every method may use of one value."""

    estimate: float
    draws: Floats
    """The value in every draw of whole units; it may be undefined in some."""
    things: int
    """How many units, or clusters of them, are drawn."""
    level: float
    leave_out: Callable[[], Floats]
    """Gives the value without each unit in turn, or without each of many groups; only some methods need it."""
    possible: Ends = (0.0, 1.0)
    """The least and the largest value there can be."""

    @cached_property
    def defined_draws(self) -> Floats:
        """The draws in which the value is defined."""
        return self.draws[np.isfinite(self.draws)]


def percentile(sample: Sample) -> Ends:
    """The middle of the draws (Efron 1979)."""
    return _between(sample, tails_of(sample.level))


def expanded_percentile(sample: Sample) -> Ends:
    """The same with tails for the few units there are: t for normal, n - 1 for n (Hesterberg 2015).

    >>> sample = Sample(50.0, np.arange(101.0), 30, 0.95, lambda: np.zeros(0))
    >>> [round(end, 2) for end in expanded_percentile(sample)], [round(end, 2) for end in percentile(sample)]
    ([1.88, 98.12], [2.5, 97.5])
    """
    widening = (sample.things / (sample.things - 1)) ** 0.5
    low = NORMAL.cdf(-student_quantile((1 + sample.level) / 2, sample.things - 1) * widening)
    return _between(sample, (low, 1 - low))


def studentized_ends(sample: Sample) -> Ends | str:
    """The jackknife's standard error times t, bent by its skewness (Johnson 1978, Hall 1992).

    Where a few units are much worse than the rest, an interval that is as long on both sides of the value misses the
    truth on one of them; Hall's cubic takes the skewness out of the statistic before it is compared with t.

    >>> units = np.append(np.zeros(29), 30.0)  # their mean is 1, and all of it is one unit's
    >>> ends = studentized_ends(Sample(1.0, np.zeros(0), 30, 0.95, lambda: (30 - units) / 29))
    >>> [round(end, 2) for end in ends]
    [-0.58, 5.04]
    """
    pulls = _pulls(sample)
    if isinstance(pulls, str):
        return pulls
    number, squares = len(pulls), float(np.sum(pulls**2))
    spread = ((number - 1) * squares) ** 0.5  # the standard error times the root of the number
    step = student_quantile((1 + sample.level) / 2, number - 1) / number**0.5
    skewness, most = float(np.mean(pulls**3)) / (squares / number) ** 1.5, MOST_BENT / step
    skewness = min(max(skewness, -most), most)
    above, below = (_unbent(side, skewness, number) for side in (step, -step))
    return sample.estimate - spread * above, sample.estimate - spread * below


def wilson(sample: Sample) -> Ends | str:
    """The score interval of a share (Wilson 1927) of as many trials as would give the jackknife's standard error.

    The range of the metric is what 0 and 1 are; t stands for the normal quantile.

    >>> ends = wilson(Sample(0.1, np.zeros(0), 30, 0.95, lambda: (3 - (np.arange(30) < 3)) / 29))
    >>> [round(end, 4) for end in ends]
    [0.0326, 0.2683]
    """
    found = _share(sample)
    return found if isinstance(found, str) else _score_ends(sample, *found)


def exact(sample: Sample) -> Ends | str:
    """The exact binomial interval of a share of that many trials (Korn and Graubard 1998), for rates near 0.

    Where there are many hits and misses it is Wilson's, which hardly differs then.

    >>> ends = exact(Sample(0.1, np.zeros(0), 30, 0.95, lambda: (3 - (np.arange(30) < 3)) / 29))
    >>> [round(end, 4) for end in ends]
    [0.0184, 0.279]
    """
    found = _share(sample)
    if isinstance(found, str):
        return found
    share, trials, freedom = found
    tail = (1 + sample.level) / 2
    trials *= (NORMAL.inv_cdf(tail) / student_quantile(tail, freedom)) ** 2
    if trials * min(share, 1 - share) > MANY:
        return _score_ends(sample, *found)
    return _scale_shares(sample, exact_bounds(share, trials, sample.level))


def bca(sample: Sample) -> Ends | str:
    """The draws between tails that correct for bias and skewness (Efron 1987)."""
    tails = bca_tails(sample.estimate, sample.defined_draws, sample.leave_out, sample.level)
    return tails if isinstance(tails, str) else _between(sample, tails)


def no_interval(sample: Sample) -> str:
    """None, for a value that is biased in few units by more than it varies: no resample shows by how much."""
    return BIASED


METHODS: Mapping[str, Callable[[Sample], Ends | str]] = {
    "percentile": percentile,
    "expanded": expanded_percentile,
    "studentized": studentized_ends,
    "wilson": wilson,
    "exact": exact,
    "bca": bca,
    "none": no_interval,
}
"""By the names that stand beside intervals."""


def tails_of(level: float) -> Ends:
    """The two tails of a central interval."""
    return (1 - level) / 2, (1 + level) / 2


def bca_tails(estimate: float, draws: Floats, leave_out: Callable[[], Floats], level: float) -> Ends | str:
    """The tails of BCa, or the reason why there are none (S-13)."""
    slack = NARROW * abs(estimate)
    below, above = np.mean(draws < estimate - slack), np.mean(draws > estimate + slack)
    if draws.size < FEWEST_BCA_DRAWS:
        return f"BCa needs {FEWEST_BCA_DRAWS:,} draws"
    if not below or not above:
        return "all draws lie on one side of the estimate"
    acceleration = _acceleration(leave_out())
    if acceleration is None:
        return "the jackknife is constant or undefined"
    bias = NORMAL.inv_cdf(float(below + (1 - below - above) / 2))
    return _shifted_tails(bias, acceleration, level)


def exact_bounds(share: float, trials: float, level: float) -> Ends:
    """The exact binomial interval of Clopper and Pearson (1934) for a share of a number of trials.

    >>> [round(bound, 4) for bound in exact_bounds(0.0, 20, 0.95)]
    [0.0, 0.1684]
    """
    hits, (low, high) = share * trials, tails_of(level)
    return (
        _beta_quantile(low, hits, trials - hits + 1) if hits > 0 else 0.0,
        _beta_quantile(high, hits + 1, trials - hits) if hits < trials else 1.0,
    )


def student_quantile(tail: float, freedom: int) -> float:
    """The quantile of Student's t by the expansion of Fisher and Cornish, good to four digits from ten degrees on.

    >>> round(student_quantile(0.975, 29), 3), round(student_quantile(0.975, 299), 3)
    (2.045, 1.968)
    """
    z = NORMAL.inv_cdf(tail)
    square = z * z
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z * (1 + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1)))


def student_tails(statistic: float, freedom: int) -> float:
    """The two-sided p of Student's t.

    >>> round(student_tails(2.045, 29), 4), student_tails(0.0, 29)
    (0.05, 1.0)
    """
    return _beta_below(freedom / (freedom + statistic * statistic), freedom / 2, 0.5)


def _between(sample: Sample, tails: Ends) -> Ends:
    low, high = np.quantile(sample.defined_draws, tails)
    return float(low), float(high)


def _share(sample: Sample) -> tuple[float, float, int] | str:
    """The value as a share of its range, the trials of a binomial share with that error, and degrees of freedom."""
    pulls, (least, most) = _pulls(sample), sample.possible
    if isinstance(pulls, str):
        return pulls
    if not math.isfinite(most - least):
        return NO_ENDS
    share, number = (sample.estimate - least) / (most - least), len(pulls)
    if not 0 < share < 1:
        return NO_WIDTH
    variance = (number - 1) / number * float(np.sum(pulls**2)) / (most - least) ** 2
    return share, share * (1 - share) / variance, number - 1


def _score_ends(sample: Sample, share: float, trials: float, freedom: int) -> Ends:
    step = student_quantile((1 + sample.level) / 2, freedom) ** 2 / trials
    middle, half = share + step / 2, (step * (share * (1 - share) + step / 4)) ** 0.5
    return _scale_shares(sample, ((middle - half) / (1 + step), (middle + half) / (1 + step)))


def _scale_shares(sample: Sample, shares: Ends) -> Ends:
    least, most = sample.possible
    return least + (most - least) * shares[0], least + (most - least) * shares[1]


def _beta_quantile(tail: float, first: float, second: float) -> float:
    """The quantile of the beta distribution, by halving; a library with special functions would be slow to load."""
    low, high = 0.0, 1.0
    while high - low > NARROW * high and (low + high) / 2 not in (low, high):
        middle = (low + high) / 2
        low, high = (middle, high) if _beta_below(middle, first, second) < tail else (low, middle)
    return (low + high) / 2


def _beta_below(x: float, first: float, second: float) -> float:
    """The share of the beta distribution below x, by its continued fraction (Press et al. 2007, section 6.4)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (first + 1) / (first + second + 2):
        return 1 - _beta_below(1 - x, second, first)
    scale = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
    front = math.exp(scale + first * math.log(x) + second * math.log1p(-x)) / first
    ahead, behind = 1.0, 1 / (1 - (first + second) * x / (first + 1))
    found = behind
    for step in range(1, MOST_STEPS):
        even = step * (second - step) * x / ((first + 2 * step - 1) * (first + 2 * step))
        odd = -(first + step) * (first + second + step) * x / ((first + 2 * step) * (first + 2 * step + 1))
        for term in (even, odd):
            ahead, behind = 1 + term / ahead, 1 / (1 + term * behind)
            found *= ahead * behind
        if abs(ahead * behind - 1) < NARROW**1.5:
            break
    return front * found


def _pulls(sample: Sample) -> Floats | str:
    """How far each unit pulls the value away from the mean without it, or why that cannot be said."""
    left_out = sample.leave_out()
    with np.errstate(over="ignore", invalid="ignore"):  # values near the largest number there is
        pulls: Floats = left_out.mean() - left_out
        spread = float(np.sum(pulls**2))
    if not np.isfinite(spread):
        return NO_JACKKNIFE
    narrow = spread <= float(NARROW * np.abs(left_out).max()) ** 2
    return NO_WIDTH if narrow else pulls


def _unbent(step: float, skewness: float, number: int) -> float:
    """The inverse of Hall's cubic: how far the estimate is off, if its bent statistic is `step`."""
    if abs(skewness) < NARROW:
        return step
    return float(3 / skewness * (np.cbrt(1 + skewness * (step - skewness / (6 * number))) - 1))


def _acceleration(left_out: Floats) -> float | None:
    """The skewness of the jackknife over 6; None where it has none."""
    pulls = left_out.mean() - left_out
    spread = float(np.sum(pulls**2))
    if not np.isfinite(spread) or spread <= float(NARROW * np.abs(left_out).max()) ** 2:
        return None
    return float(np.sum(pulls**3) / (6 * spread**1.5))


def _shifted_tails(bias: float, acceleration: float, level: float) -> Ends | str:
    moved = [bias + NORMAL.inv_cdf(tail) for tail in tails_of(level)]
    if any(acceleration * step >= 1 for step in moved):
        return "the correction has no solution"
    low, high = (NORMAL.cdf(bias + step / (1 - acceleration * step)) for step in moved)
    return low, high
