"""Which thing is which, so that most of what is said of both agrees: the best one-to-one assignment (R-31).

Statements about one thing each make it a linear assignment, which is exact. Statements that connect several things make
it an integer program: its best answer after `MOST_NODES` branches is taken, exact where the search ends before.
Where there are more than `MOST_LINKED` of them, each thing is judged on its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final, TypeAlias

import numpy as np

MOST_LINKED: Final = 2_000
"""Links of a document that the integer program takes; above, a link is shared out evenly among its things."""
MOST_NODES: Final = 5_000
"""Branches that it looks at: a bound in steps and not in time, so that the same input has the same outcome."""

Pair: TypeAlias = tuple[int, int]
"""A thing of the answers and one of the gold, each by its number."""


@dataclass(frozen=True)
class Link:
    """An answer that says what a line of the gold says, if its things are the things of the line."""

    answer: int
    line: int
    credit: float
    pairs: tuple[Pair, ...]


def best_assignment(links: Sequence[Link], bonus: Mapping[Pair, float]) -> dict[int, int]:
    """The assignment with the most credit; `bonus` settles ties between pairs.

    >>> best_assignment([Link(0, 0, 1.0, ((0, 0),)), Link(1, 1, 1.0, ((0, 1),)), Link(2, 0, 1.0, ((1, 0),))], {})
    {0: 1, 1: 0}
    """
    linked = any(len(link.pairs) > 1 for link in links)
    pairs = _searched(links, bonus) if linked and len(links) <= MOST_LINKED else None
    return dict(sorted(_linear(_weights(links, bonus)) if pairs is None else pairs))


def _weights(links: Iterable[Link], bonus: Mapping[Pair, float]) -> dict[Pair, float]:
    """What each pair is worth by itself; what several things have in common is shared out evenly."""
    shares: dict[Pair, list[Link]] = defaultdict(list)
    for link in links:
        for pair in link.pairs:
            shares[pair].append(link)
    return {pair: _matched(found) + bonus.get(pair, 0.0) for pair, found in shares.items()}


def _matched(links: Sequence[Link]) -> float:
    """The most credit that answers have if each counts for one line, and each line for one answer."""
    answers, lines = {link.answer for link in links}, {link.line for link in links}
    if len(answers) == len(lines) == len(links):
        return sum(link.credit / len(link.pairs) for link in links)
    rows, columns = _numbers(answers), _numbers(lines)
    matrix = np.zeros((len(rows), len(columns)))
    for link in links:
        matrix[rows[link.answer], columns[link.line]] = link.credit / len(link.pairs)
    return float(matrix[_assignment(matrix)].sum())


def _linear(weights: Mapping[Pair, float]) -> list[Pair]:
    """The assignment with the largest sum of weights, exactly."""
    columns = _numbers(golden for _, golden in weights)
    by_column: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for (thing, golden), weight in weights.items():
        by_column[golden].append((weight, -thing))
    # A column never needs more rows than there are columns: of its best ones, the others leave at least one free.
    best = {golden: nlargest(len(columns), found) for golden, found in by_column.items()}
    rows = _numbers(-thing for found in best.values() for _, thing in found)
    matrix = np.zeros((len(rows), len(columns)))
    for golden, found in best.items():
        for weight, thing in found:
            matrix[rows[-thing], columns[golden]] = weight
    things, golds = list(rows), list(columns)
    places = zip(*_assignment(matrix), strict=True)
    return [(things[row], golds[column]) for row, column in places if matrix[row, column] > 0]


def _assignment(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.optimize import linear_sum_assignment  # here, because it is slow to load

    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return rows, columns


def _numbers(found: Iterable[int]) -> dict[int, int]:
    return {one: at for at, one in enumerate(sorted(set(found)))}


def _searched(links: Sequence[Link], bonus: Mapping[Pair, float]) -> list[Pair] | None:
    """The best assignment found as an integer program: a link counts if all its pairs are chosen; None if none is."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    pairs = sorted({pair for link in links for pair in link.pairs})
    at = {pair: place for place, pair in enumerate(pairs)}
    rows = [
        [(at[pair], 1.0) for pair in pairs if pair[side] == one] for side in (0, 1) for one in {p[side] for p in pairs}
    ]
    size = len(pairs) + len(links)
    for name in ("answer", "line"):
        groups: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, link in enumerate(links, start=len(pairs)):
            groups[getattr(link, name)].append((place, 1.0))
        rows += groups.values()
    most = [1.0] * len(rows)
    for place, link in enumerate(links, start=len(pairs)):
        rows += [[(place, 1.0), (at[pair], -1.0)] for pair in link.pairs]
        most += [0.0] * len(link.pairs)
    worth = np.array([bonus.get(pair, 0.0) for pair in pairs] + [link.credit for link in links])
    cells = [(number, place, value) for number, row in enumerate(rows) for place, value in row]
    numbers, places, values = zip(*cells, strict=True)
    matrix = csr_array((values, (numbers, places)), shape=(len(rows), size))
    whole = np.r_[np.ones(len(pairs)), np.zeros(len(links))]
    found = milp(
        -worth,
        integrality=whole,
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, ub=np.array(most)),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    used = {pair for place, link in enumerate(links, start=len(pairs)) if found.x[place] > 0.5 for pair in link.pairs}
    return [pair for place, pair in enumerate(pairs) if found.x[place] > 0.5 and pair in used]
