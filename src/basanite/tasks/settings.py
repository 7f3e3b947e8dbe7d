"""What a user may set, of a task or of the analysis of any task, and how the text that was typed becomes a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from basanite.analysis.results import Design
from basanite.errors import SettingError
from basanite.registry import suggestion

YES, NO = ("yes", "true", "1", "on"), ("no", "false", "0", "off")
USUAL_DRAWS, BCA_DRAWS, MOST_DRAWS = 1000, 5000, 1_000_000
"""Draws if nobody says how many; BCa needs more (S-13)."""


@dataclass(frozen=True)
class Setting:
    """One thing about a task that a user may set: how to read it, and what it is without being set."""

    name: str
    help: str
    parse: Callable[[str], Any]
    default: Any = None

    def read(self, value: Any) -> Any:
        """The value as it is used, or a `SettingError` that says what would do."""
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        try:
            return self.parse(text)
        except ValueError as error:
            raise SettingError(f"{self.name}={value!r} cannot be used: {error}. {self.help}") from error


def one_of(words: Sequence[str], text: str) -> str:
    """One of a few words."""
    if text not in words:
        raise ValueError(f"it is not one of {', '.join(words)}")
    return text


def yes_or_no(text: str) -> bool:
    """Yes or no, in the words people use for it.

    >>> yes_or_no("true"), yes_or_no("no")
    (True, False)
    """
    word = text.strip().lower()
    if word not in YES + NO:
        raise ValueError("it is neither yes nor no")
    return word in YES


def names_list(text: str) -> tuple[str, ...]:
    """Names separated by commas.

    >>> names_list("food, noise")
    ('food', 'noise')
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("it names nothing")
    return names


def number_range(text: str) -> tuple[float, float]:
    """Two numbers with two dots between them, the lower one first.

    >>> number_range("1..5")
    (1.0, 5.0)
    """
    low, dots, high = text.partition("..")
    ends = number_or_nan(low), number_or_nan(high)
    if not dots or not all(map(math.isfinite, ends)) or ends[0] >= ends[1]:
        raise ValueError("it is not a range: write it like 1..5, the lower number first")
    return ends


def number_or_nan(text: str) -> float:
    """A number; nan, which lies within no bounds, for what is none.

    >>> number_or_nan("0.5"), number_or_nan("half")
    (0.5, nan)
    """
    try:
        return float(text)
    except ValueError:
        return math.nan


def number_from_0(text: str) -> float:
    """A finite number of 0 or more.

    >>> number_from_0("0.5")
    0.5
    """
    number = number_or_nan(text)
    if not 0 <= number < math.inf:
        raise ValueError("it is not a number of 0 or more")
    return number


def whole_number(low: int, high: int, text: str) -> int:
    """A whole number within bounds.

    >>> whole_number(1, 10, "7")
    7
    """
    try:
        found = int(text)
    except ValueError:
        found = low - 1
    if not low <= found <= high:
        raise ValueError(f"it is not a whole number from {low} to {high}")
    return found


def share_between(text: str) -> float:
    """A number between 0 and 1, neither of them included.

    >>> share_between("0.95")
    0.95
    """
    number = number_or_nan(text)
    if not 0 < number < 1:
        raise ValueError("it must lie between 0 and 1")
    return number


def column_name(text: str) -> str:
    """The name of a column: any text that is not blank."""
    if not text.strip():
        raise ValueError("it is empty")
    return text


PRIMARY = Setting("primary", "The primary metric, if it is not the task's own (--primary).", str)
ANALYSIS = (
    Setting(
        "interval",
        "How intervals are computed: metric (each by its own method), percentile, or bca (5,000 resamples unless "
        "--draws says more).",
        partial(one_of, ("metric", "percentile", "bca")),
        "metric",
    ),
    Setting("level", "Level of the intervals, like 0.95.", share_between, 0.95),
    Setting("alpha", "Level of the tests of a comparison, like 0.05.", share_between, 0.05),
    Setting(
        "adjustment", "For many comparisons: holm or romano-wolf.", partial(one_of, ("holm", "romano-wolf")), "holm"
    ),
    Setting(
        "cluster",
        "The column of the reference or metadata whose units are resampled together, or none.",
        column_name,
        "",
    ),
    Setting(
        "test_draws",
        "The number of resamples for the tests of a comparison, 10,000 to 10,000,000.",
        partial(whole_number, 10_000, 10_000_000),
        10_000,
    ),
)
"""What may be set about the analysis of any task."""


def analysis_design(given: Mapping[str, Any], *, draws: int | None, seed: int) -> Design:
    """How to analyse, by the settings of the analysis among those given."""
    chosen = {setting.name: setting.read(given[setting.name]) for setting in ANALYSIS if setting.name in given}
    if draws is not None and not 1 <= draws <= MOST_DRAWS:
        raise SettingError(f"draws={draws} cannot be used: it must lie between 1 and {MOST_DRAWS:,}.")
    usual = BCA_DRAWS if chosen.get("interval") == "bca" else USUAL_DRAWS
    return Design(draws=usual if draws is None else draws, seed=seed, **chosen)


def values_design(given: Mapping[str, Any], *, draws: int | None, seed: int) -> Design:
    """The same where there is no task, so that no other setting is known; a column `cluster` may be named."""
    known = [setting.name for setting in ANALYSIS]
    unknown = sorted(given.keys() - {*known, "cluster"})
    if unknown:
        raise SettingError(f"There is no setting {unknown[0]!r}. {suggestion(unknown[0], known)}")
    return analysis_design(given, draws=draws, seed=seed)
