"""Verdicts on claims: superiority, and being comparable within a margin that was declared before unsealing (S-2).

Not to reject is no proof of anything. A system is *comparable* to a strong baseline only if the one-sided upper
bound of what it loses lies below the margin; it is *outperformed* if the lower bound lies above nothing. These bounds
have the confidence that the level of the tests leaves: 95% unless the plan declares another `alpha`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.comparison import holm
from basanite.analysis.resampling import all_signs
from basanite.harness.results import ResultFolder, Score
from basanite.harness.steps.classification import ALL_CLIPPED
from basanite.kernel import ANY, Ends, within
from basanite.reports.wording import number

State = Literal["supported", "not supported", "undecided", "not interpretable"]
NOTHING_LEARNED: Final = "neither learned anything"
NO_INTERVAL: Final = "no reliable interval"
NO_MARGIN: Final = "not shown to be outperformed (the plan's wording)"
ONE_MODEL: Final = "for this one trained model"
LEVEL: Final = 0.95
"""Of two-sided intervals, whatever the level of the tests."""
ALPHA: Final = 0.05


@dataclass(frozen=True)
class Contrast:
    """Two conditions of one team, as gain: positive means that the first does better, whatever the metric."""

    claim: str
    task: str
    team: str
    first: str
    second: str
    gain: float
    error: float
    degrees: float
    kind: Literal["superior", "not inferior"]
    margin: float | None = None
    p: float = math.nan
    p_adjusted: float = math.nan
    finding: str = "inconclusive"
    state: State = "undecided"
    note: str = ""
    ends: Ends = ANY
    """The gains there can be; no interval goes beyond (S-26)."""
    alpha: float = ALPHA
    """The level of the tests, and of the one-sided bounds that stand beside their verdicts."""
    above_floor: tuple[float, float] | None = None
    """The one-sided lower 95% bounds of both runs' gains over run 0, which learns nothing (S-31)."""
    too_small: str = ""
    """Why the design gives no reliable interval (H-45)."""

    def one_sided_bound(self, level: float) -> float:
        """The gain that is exceeded with this one-sided confidence: its lower bound for 0.95, its upper for 0.05."""
        from scipy.special import stdtrit  # here, because it is slow to load

        return within(self.gain - float(stdtrit(self.degrees, level)) * self.error, self.ends)

    @property
    def low(self) -> float:
        """The lower end of the two-sided 95% CI."""
        return self.one_sided_bound((1 + LEVEL) / 2)

    @property
    def high(self) -> float:
        """The upper end of the two-sided 95% CI."""
        return self.one_sided_bound((1 - LEVEL) / 2)

    @property
    def lower(self) -> float:
        """The one-sided lower bound at the level of the tests."""
        return self.one_sided_bound(1 - self.alpha)

    @property
    def upper(self) -> float:
        """The one-sided upper bound at the level of the tests."""
        return self.one_sided_bound(self.alpha)

    @property
    def smallest_detectable(self) -> float:
        """The gain that one test finds in 80% of cases: from the standard error, never from what was seen."""
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, 1 - self.alpha) + stdtrit(self.degrees, 0.8)) * self.error

    @property
    def reason(self) -> str:
        """What the verdict rests on: the one-sided bound that decides, which no two-sided interval shows (S-29)."""
        if self.too_small:
            return self.too_small
        if self.state == "not interpretable" and self.above_floor:
            first, second = map(number, self.above_floor)
            return (
                f"neither beats run 0, which learns nothing: the one-sided 95% lower bounds of their gains over it are "
                f"{first} and {second}"
            )
        sure = f"one-sided {100 * (1 - self.alpha):g}%"
        margin = self.margin if self.kind == "not inferior" else None
        line = "0" if margin is None else f"the margin {number(-margin)}"
        lower, upper = f"{sure} lower bound {number(self.lower)}", f"{sure} upper bound {number(self.upper)}"
        if self.finding == "outperformed by less than the margin":
            return f"{upper} is below 0, {lower} above {line}"
        if self.finding == "outperformed":
            return f"{upper} is below 0"
        if self.finding == NO_MARGIN:
            return f"{upper} is not below 0, and no margin was declared"
        if self.state == "supported":
            return f"{lower} is above {line}"
        if self.p <= self.alpha:
            return (
                f"{lower} is above {line}, but p {number(self.p)} becomes {number(self.p_adjusted)} for all tests here"
            )
        if margin is None:
            return f"0 lies between the {sure} bounds {number(self.lower)} and {number(self.upper)}"
        return f"{lower} is not above {line}, {upper} not below 0"


def with_p_value(contrast: Contrast) -> Contrast:
    """The same with its one-sided p: of no gain, or of a loss as large as the margin."""
    from scipy.special import stdtr

    if contrast.kind == "not inferior" and contrast.margin is None:
        return contrast  # without a margin there is no test whose rejection makes the claim
    shift = contrast.margin or 0.0 if contrast.kind == "not inferior" else 0.0
    if contrast.error == 0:
        return replace(contrast, p=0.0 if contrast.gain + shift > 0 else 1.0)
    return replace(contrast, p=float(stdtr(contrast.degrees, -(contrast.gain + shift) / contrast.error)))


def judge_contrasts(contrasts: Sequence[Contrast], *, alpha: float = ALPHA, replications: int = 1) -> list[Contrast]:
    """Every contrast with its verdict; Holm goes over the tests whose rejection makes a claim, of all teams (S-2)."""
    made = [with_p_value(replace(one, alpha=alpha)) for one in contrasts]
    places = [place for place, one in enumerate(made) if not math.isnan(one.p)]
    adjusted = dict(zip(places, holm([made[place].p for place in places]), strict=True))
    found = [replace(one, p_adjusted=adjusted.get(place, math.nan)) for place, one in enumerate(made)]
    note = "" if replications >= 3 else ONE_MODEL  # a claim about an algorithm needs three seeds (S-8)
    verdicts = [_verdict(one) for one in found]
    return [
        replace(one, finding=finding, state=state, note=note)
        for one, (finding, state) in zip(found, verdicts, strict=True)
    ]


judged = judge_contrasts
"""Its name in the first release."""


def _verdict(one: Contrast) -> tuple[str, State]:
    if one.too_small:
        return NO_INTERVAL, "undecided"
    if one.above_floor and not max(one.above_floor) > 0:
        return NOTHING_LEARNED, "not interpretable"
    return _superior(one) if one.kind == "superior" else _comparable(one)


def _superior(one: Contrast) -> tuple[str, State]:
    if one.p_adjusted <= one.alpha:
        return "better", "supported"
    if one.upper < 0:
        return "outperformed", "not supported"
    return "inconclusive", "undecided"


def _comparable(one: Contrast) -> tuple[str, State]:
    """A gain whose upper bound is below 0 is a loss against the strong baseline: outperformed."""
    outperformed = one.upper < 0
    if one.margin is None:
        return ("outperformed", "not supported") if outperformed else (NO_MARGIN, "undecided")
    within = one.p_adjusted <= one.alpha
    if outperformed:
        # Small or not, the loss is shown, and the claim is that there is none to be shown.
        return ("outperformed by less than the margin" if within else "outperformed"), "not supported"
    return ("comparable", "supported") if within else ("inconclusive", "undecided")


Reals = NDArray[np.float64]
MOST_SIGNS: Final = 16
"""Up to so many folds all patterns of signs are tried."""


@dataclass(frozen=True)
class RunValues:
    """The values of one run: folds x targets, nan where a value is undefined."""

    run: str
    condition: int
    team: str
    targets: tuple[str, ...]
    values: Reals
    flags: tuple[str, ...] = ()
    """What must stand beside them, each with how often."""

    @property
    def by_fold(self) -> list[tuple[float, float]]:
        """For each fold the mean over targets and its standard error across targets (second graph)."""
        return [mean_and_error(fold) for fold in self.values]

    @property
    def overall(self) -> tuple[float, float]:
        """The mean over folds and its standard error across folds (third graph)."""
        return mean_and_error(np.array([mean for mean, _ in self.by_fold]))

    @property
    def by_target(self) -> list[tuple[float, float]]:
        """For each target the mean over folds and its standard error across folds."""
        return [mean_and_error(target) for target in self.values.T]

    @property
    def all_clipped(self) -> bool:
        """Whether no prediction of some fold lay inside the range: the model says nothing (H-37)."""
        return any(flag.startswith(ALL_CLIPPED) for flag in self.flags)

    @property
    def undefined_count(self) -> int:
        """How many of the K x C values are undefined (A21)."""
        return int(np.isnan(self.values).sum())


def mean_and_error(values: Reals) -> tuple[float, float]:
    """The mean of the defined values and its standard error; nan where there are too few.

    >>> mean_and_error(np.array([1.0, 2.0, 3.0]))
    (2.0, 0.5773502691896258)
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return math.nan, math.nan
    spread = float(defined.std(ddof=1) / math.sqrt(len(defined))) if len(defined) > 1 else math.nan
    return float(defined.mean()), spread


def all_values(result: ResultFolder, task: str) -> dict[tuple[str, int], RunValues]:
    """The K x C values of every run and replication of a task (H-22)."""
    targets, folds = result.targets(task), int(result.task(task)["folds"])
    grids: dict[tuple[str, int], RunValues] = {}
    flags: dict[tuple[str, int], list[str]] = {}
    for score in result.scores():
        if score.task == task and score.target in targets:
            key = score.run, score.replication
            if key not in grids:
                grids[key] = _empty(score, targets, folds)
            value = math.nan if score.value is None else score.value
            grids[key].values[score.fold - 1, targets.index(score.target)] = value
            flags.setdefault(key, []).extend(score.flags)
    return {key: replace(grid, flags=flag_summary(flags[key])) for key, grid in grids.items()}


def _empty(score: Score, targets: tuple[str, ...], folds: int) -> RunValues:
    return RunValues(score.run, score.condition, score.team, targets, np.full((folds, len(targets)), np.nan))


def mean_over_replications(found: Mapping[tuple[str, int], RunValues]) -> dict[str, RunValues]:
    """The values of every run, averaged over its replications."""
    runs = dict.fromkeys(run for run, _ in found)
    means = {}
    for run in runs:
        every = [values for (name, _), values in found.items() if name == run]
        flags = tuple(dict.fromkeys(flag for values in every for flag in values.flags))
        means[run] = replace(every[0], values=np.mean([values.values for values in every], axis=0), flags=flags)
    return means


def flag_summary(flags: Sequence[str]) -> tuple[str, ...]:
    """Flags of many values in short: equal ones once with how often, numbers at their beginning added up.

    >>> flag_summary(["constant scorer", "3 predictions were clipped", "constant scorer", "4 predictions were clipped"])
    ('constant scorer (2 values)', '7 predictions were clipped')
    """
    sums: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for flag in flags:
        head, _, rest = flag.partition(" ")
        words = f"# {rest}" if head.isdigit() else flag
        sums[words] += int(head) if head.isdigit() else 0
        times[words] += 1
    return tuple(
        words.replace("#", str(sums[words]), 1) if words.startswith("# ") else _times(words, times[words])
        for words in times
    )


def _times(words: str, count: int) -> str:
    return f"{words} ({count} values)" if count > 1 else f"{words} (1 value)"


def bars_overlap(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether the bars mean plus and minus one standard error meet: a note beside an interval, never a verdict (A3).

    >>> bars_overlap((0.5, 0.1), (0.7, 0.1)), bars_overlap((0.5, 0.1), (0.8, 0.1))
    (True, False)
    """
    return abs(first[0] - second[0]) <= (first[1] + second[1]) * (1 + 1e-12)


def fold_tests(first: Reals, second: Reals) -> tuple[float, float]:
    """The plan's own view: two-sided p of a paired t over folds, and of all patterns of signs (1,024 for ten folds)."""
    from scipy.special import stdtr  # here, because it is slow to load

    gaps = first - second
    gaps = gaps[~np.isnan(gaps)]
    mean, error = mean_and_error(gaps)
    if math.isnan(error):
        return math.nan, math.nan
    if error == 0:
        return (1.0, 1.0) if mean == 0 else (0.0, 2.0 / 2 ** len(gaps))
    by_t = 2 * float(stdtr(len(gaps) - 1, -abs(mean / error)))
    if len(gaps) > MOST_SIGNS:
        return by_t, math.nan
    sums = np.abs(all_signs(len(gaps)) @ gaps)
    return by_t, float(np.mean(sums >= abs(gaps.sum()) * (1 - 1e-12)))


def run_of(condition: int, team: str) -> str:
    """The run of a condition that has a team's parts; the floor and condition 1 have none.

    >>> run_of(0, "a"), run_of(1, "a"), run_of(6, "a")
    ('0', '1', '6a')
    """
    return str(condition) if condition < 2 else f"{condition}{team}"
