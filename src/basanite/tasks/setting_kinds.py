"""Kinds of settings that several tasks have: how the text a user typed becomes a value."""

from __future__ import annotations

import math
from collections.abc import Sequence

YES, NO = ("yes", "true", "1", "on"), ("no", "false", "0", "off")


def one_of(words: Sequence[str], text: str) -> str:
    """One of a few words."""
    if text not in words:
        raise ValueError(f"it is none of {', '.join(words)}")
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
        raise ValueError("it is no range: write it like 1..5, the lower number first")
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
        raise ValueError(f"it is no whole number from {low} to {high}")
    return found
