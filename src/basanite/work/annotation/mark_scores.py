"""F1 of marks over texts, and the difference of two groups of texts, with an interval over texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np

from basanite.kernel import source_of
from basanite.metrics.judgement.estimate import Estimate, undefined_estimate
from basanite.work.annotation.config.model import MENTION
from basanite.work.annotation.events import Part, State

FEWEST: Final = 5
"""Texts of each group, below which there is no interval."""
Mark: TypeAlias = tuple[str, tuple[Part, ...]]
Table: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
"""For each text: marks of both, of the one, of the other."""


def marks_of(state: State) -> frozenset[Mark]:
    """The marks of a record: each label with its words."""
    found = (
        (one.category, mention.parts) for one in state.objects.values() for mention in one.mentions.get(MENTION, ())
    )
    return frozenset(found)


def count_table(pairs: Iterable[tuple[frozenset[Mark], frozenset[Mark]]]) -> Table:
    """Marks in both, in the one and in the other, for each pair."""
    return np.array([(len(a & b), len(a), len(b)) for a, b in pairs], np.float64).reshape(-1, 3)


def f1_of(table: Table) -> Estimate:
    """F1 over all texts of a table."""
    value = float(_f1(table.sum(axis=0).reshape(1, 3))[0])
    return undefined_estimate("nobody marked anything") if np.isnan(value) else Estimate(value)


def f1_difference(one: Table, other: Table, *, draws: int = 2_000, seed: int = 0) -> Estimate:
    """How much larger F1 is in one group of texts; texts of each are drawn with replacement for the interval."""
    values = [f1_of(table) for table in (one, other)]
    if not all(value.is_defined for value in values):
        return undefined_estimate("one of the groups has no marks")
    value = values[0].value - values[1].value
    if min(len(one), len(other)) < FEWEST:
        return Estimate(value, f"fewer than {FEWEST} texts in one of the groups: no reliable interval")
    dice = np.random.Generator(source_of(seed, "marks"))
    drawn = [_f1(_redrawn(table, dice, draws)) for table in (one, other)]
    low, high = np.nanquantile(drawn[0] - drawn[1], [0.025, 0.975])
    return Estimate(value, "", float(low), float(high))


def _redrawn(table: Table, dice: np.random.Generator, draws: int) -> Table:
    weights = dice.multinomial(len(table), np.full(len(table), 1 / len(table)), size=draws)
    drawn: Table = weights.astype(np.float64) @ table
    return drawn


def _f1(sums: Table) -> Table:
    both, total = 2 * sums[:, 0], sums[:, 1] + sums[:, 2]
    found: Table = np.full(len(sums), np.nan)
    np.divide(both, total, out=found, where=total > 0)
    return found
