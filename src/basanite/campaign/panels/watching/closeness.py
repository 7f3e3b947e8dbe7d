"""How close judges are to each other on the items they share, as a number from 0 to 1 for stars and verdicts alike."""

from __future__ import annotations

import numpy as np

from basanite.campaign.panels.deciding.said import Reals, Values
from basanite.judging.scheme import Question

SMALLEST_SCALE = 1e-9


def with_others(question: Question, values: Values) -> Reals:
    """For each judge, how close the others on the same items are, on average; nan without any."""
    count = np.bincount(values.item, minlength=len(values.items)).astype(np.float64)[values.item]
    shared = count > 1
    close = (_near_mean(question, values, count) if question.numeric else _same(values, count))[shared]
    judge = values.judge[shared]
    number = np.bincount(judge, minlength=len(values.judges))
    total = np.bincount(judge, close, len(values.judges))
    return np.asarray(np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0))


def _near_mean(question: Question, values: Values, count: Reals) -> Reals:
    """How near a value is to the mean of the others, as a share of the scale."""
    total = np.bincount(values.item, values.value, len(values.items))[values.item]
    others = (total - values.value) / np.maximum(count - 1, 1)
    return np.asarray(1 - np.abs(values.value - others) / max(question.hi - question.lo, SMALLEST_SCALE))


def _same(values: Values, count: Reals) -> Reals:
    """The share of the others on the item who say the same."""
    width = int(values.value.max(initial=0)) + 1
    cell = values.item * width + values.value.astype(np.int64)
    times = np.bincount(cell, minlength=len(values.items) * width)[cell]
    return np.asarray((times - 1) / np.maximum(count - 1, 1))


def alike(question: Question, table: Reals, one: int, other: int) -> float | None:
    """How far two columns of a table of ratings agree on the items of both, 0 to 1; nobody agrees with oneself."""
    if one == other:
        return None
    both = ~(np.isnan(table[:, one]) | np.isnan(table[:, other]))
    apart = np.abs(table[both, one] - table[both, other])
    if question.numeric:
        return float(1 - apart.mean() / max(question.hi - question.lo, SMALLEST_SCALE))
    return float((apart == 0).mean())
