"""Dividing items into parts that have each genre and each topic in its share, rounded down or up and never further.

Items are edges between a genre and a topic. To take a share of them, every pair starts with its share as a fraction;
along a circle of fractions some are raised and others lowered by the same amount until one of them is whole, and so on
until all are. No sum over a genre, a topic or everything ever passes a whole number on the way, so each ends as its
share rounded down or up. Which way a circle turns is drawn so that every item has the same chance.

R. Gandhi and others, Dependent rounding and its applications, Journal of the ACM 53 (2006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from basanite.judging.planning.dice import chance, shuffled

Node = tuple[str, str]
Arc = tuple[Node, Node]
Cell = tuple[str, str]
Value = TypeVar("Value")
SOURCE, SINK = ("", "source"), ("", "sink")


def parts(
    items: Sequence[Value],
    count: int,
    cell: Callable[[Value], Cell],
    name: Callable[[Value], str],
    seed: int | str,
) -> list[list[Value]]:
    """Items in so many parts, by halves: sizes and shares of both facts are floor or ceil in each of them.

    >>> found = parts("aaaabbbb", 4, lambda letter: (letter, ""), str, 1)
    >>> ["".join(sorted(part)) for part in found]
    ['ab', 'ab', 'ab', 'ab']
    """
    if count <= 1:
        return [list(items)]
    first = count // 2
    taken, left = taken_share(items, first, count, cell, name, (seed, "half", count, len(items)))
    return [*parts(taken, first, cell, name, f"{seed}/1"), *parts(left, count - first, cell, name, f"{seed}/2")]


def taken_share(
    items: Sequence[Value],
    top: int,
    bottom: int,
    cell: Callable[[Value], Cell],
    name: Callable[[Value], str],
    seed: object,
) -> tuple[list[Value], list[Value]]:
    """`top / bottom` of the items in balance, and the rest; both in the order they came in."""
    by_cell: dict[Cell, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        by_cell[cell(item)].append(at)
    wanted = rounded_shares({each: len(places) for each, places in by_cell.items()}, top, bottom, str(seed))
    chosen = {
        at
        for each, places in by_cell.items()
        for at in shuffled(places, lambda at: f"{name(items[at])}|{at}", str(seed), each)[: wanted[each]]
    }
    return [item for at, item in enumerate(items) if at in chosen], [
        item for at, item in enumerate(items) if at not in chosen
    ]


def rounded_shares(counts: Mapping[Cell, int], top: int, bottom: int, seed: str) -> dict[Cell, int]:
    """How many to take of each cell, so that cells, rows, columns and the whole are their share rounded down or up."""
    flow = _Circulation(seed, bottom)
    for (row, column), count in sorted(counts.items()):
        flow.add(SOURCE, ("row", row), count * top)
        flow.add(("row", row), ("column", column), count * top)
        flow.add(("column", column), SINK, count * top)
        flow.add(SINK, SOURCE, count * top)
    flow.settle()
    return {cell: flow.amount[("row", cell[0]), ("column", cell[1])] // bottom for cell in counts}


class _Circulation:
    """Amounts on arcs in units of 1/bottom; what flows into a node flows out of it."""

    def __init__(self, seed: str, bottom: int) -> None:
        self.seed, self.bottom = seed, bottom
        self.amount: dict[Arc, int] = defaultdict(int)
        self.turn = 0

    def add(self, start: Node, end: Node, amount: int) -> None:
        """Let more flow along an arc."""
        self.amount[start, end] += amount

    def settle(self) -> None:
        """Turn circles until every amount is whole."""
        near = self._fractions()
        while any(near.values()):
            self._turn(self._circle(near), near)

    def _fractions(self) -> dict[Node, set[Arc]]:
        near: dict[Node, set[Arc]] = defaultdict(set)
        for arc, amount in self.amount.items():
            if amount % self.bottom:
                near[arc[0]].add(arc)
                near[arc[1]].add(arc)
        return near

    def _circle(self, near: Mapping[Node, set[Arc]]) -> list[tuple[Arc, int]]:
        """Arcs that are no whole amounts and close a circle, each with the direction it is passed in."""
        node = min(node for node, arcs in near.items() if arcs)
        path: list[tuple[Arc, int]] = []
        seen = {node: 0}
        while True:
            used = path[-1][0] if path else None
            arc = min(arc for arc in near[node] if arc != used)
            forward = arc[0] == node
            path.append((arc, 1 if forward else -1))
            node = arc[1] if forward else arc[0]
            if node in seen:
                return path[seen[node] :]
            seen[node] = len(path)

    def _turn(self, circle: Sequence[tuple[Arc, int]], near: Mapping[Node, set[Arc]]) -> None:
        self.turn += 1
        up, down = self._room(circle, 1), self._room(circle, -1)
        ahead = chance(self.seed, "turn", self.turn) < down / (up + down)
        step = up if ahead else -down
        for arc, direction in circle:
            self.amount[arc] += direction * step
            if self.amount[arc] % self.bottom == 0:
                near[arc[0]].discard(arc)
                near[arc[1]].discard(arc)

    def _room(self, circle: Sequence[tuple[Arc, int]], sign: int) -> int:
        """How far the circle can be turned until the first amount is whole."""
        over = {arc: self.amount[arc] % self.bottom for arc, _ in circle}
        return min(self.bottom - over[arc] if direction * sign > 0 else over[arc] for arc, direction in circle)
