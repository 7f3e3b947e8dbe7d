"""Who judges what in one round: judges, shares in balance, bundles of items, and how they are dealt out (R-2)."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from basanite.problems import Problem
from basanite.work.items import Item
from basanite.work.scheme import EVERYBODY, JUDGE, Scheme

TRAINING_ROUND = 0


@dataclass(frozen=True)
class Judge:
    """Somebody who judges: the group, and what was declared (P-22)."""

    id: str
    group: str = JUDGE
    languages: frozenset[str] = frozenset()
    """Languages known; nothing declared is no bar."""
    conflicts: frozenset[str] = frozenset()
    """Teams or systems whose items this judge must not get."""
    most: int = 0
    """The most items this judge takes on; 0 is any number."""
    active: bool = True
    """Whether there may be new work: who withdrew gets none, and what was done counts."""


@dataclass(frozen=True, order=True)
class Assignment:
    """One item for one judge. Rounds and positions count from 1; round 0 is training."""

    judge: str
    round: int
    position: int
    item: str
    flipped: bool = False
    """In pairwise judging: the item's second text stands on the left."""


@dataclass(frozen=True)
class Plan:
    """All assignments in the order of judges, rounds and positions, and what could not be done as wished."""

    assignments: tuple[Assignment, ...]
    warnings: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self.assignments)

    def __len__(self) -> int:
        return len(self.assignments)

    def of(self, judge: str) -> tuple[Assignment, ...]:
        """The assignments of one judge in order."""
        return tuple(each for each in self.assignments if each.judge == judge)


Value = TypeVar("Value")


def die(seed: int | str, *names: object) -> int:
    """A number of 64 bits that looks random and depends on the seed and the names only.

    >>> die(7, "a") == die(7, "a"), die(7, "a") == die(8, "a")
    (True, False)
    """
    words = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def chance(seed: int | str, *names: object) -> float:
    """The same as a number from 0 up to and without 1."""
    return die(seed, *names) / 2**64


def seeded_order(
    values: Iterable[Value], name: Callable[[Value], object], seed: int | str, *names: object
) -> list[Value]:
    """The values in an order drawn for the seed; each is known by its name."""
    return sorted(values, key=lambda value: (die(seed, *names, name(value)), str(name(value))))


Node = tuple[str, str]
Arc = tuple[Node, Node]
Cell = tuple[str, str]

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
        for at in seeded_order(places, lambda at: f"{name(items[at])}|{at}", str(seed), each)[: wanted[each]]
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


@dataclass(frozen=True)
class Bundle:
    """Items that stay together: their name, what a judge should not meet twice, and what they are balanced by."""

    name: str
    items: tuple[Item, ...]
    apart: frozenset[tuple[str, ...]]
    cell: Cell
    languages: frozenset[str]
    makers: frozenset[str]
    """Teams and systems behind it: who has a conflict with one of them does not get it (P-22)."""

    def __len__(self) -> int:
        return len(self.items)


def cell_of(item: Item, facts: Sequence[str]) -> Cell:
    """The values of the first two facts that rounds are balanced by.

    >>> cell_of(Item("a", (), {"genre": "news"}), ("genre", "topic"))
    ('news', '')
    """
    first, second = (*facts, "", "")[:2]
    return item.facts.get(first, ""), item.facts.get(second, "")


def bundles_of(items: Sequence[Item], scheme: Scheme, kept: Sequence[Assignment], seed: int) -> list[Bundle]:
    """The bundles of the real items under a scheme."""
    if scheme.rank_after_round:
        return [_bundle(group, scheme) for group in _ranked_rounds(items, scheme, kept, seed)]
    groups: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        groups[_key(item, scheme.together)].append(item)
    return [_bundle(group, scheme) for group in groups.values()]


def _key(item: Item, facts: Sequence[str]) -> tuple[str, ...]:
    values = tuple(item.facts.get(fact, "") for fact in facts)
    return values if any(values) else ("\0", item.id)


def _bundle(items: Sequence[Item], scheme: Scheme) -> Bundle:
    return Bundle(
        min(item.id for item in items),
        tuple(items),
        frozenset(_apart(items, scheme.keep_apart)),
        cell_of(items[0], scheme.balance),
        frozenset(_values(items, ("language",))),
        frozenset(_values(items, ("team", "system", "left", "right"))),
    )


def _apart(items: Iterable[Item], facts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for each in (facts_of for item in items for facts_of in item.all_facts):
        values = tuple(each.get(fact, "") for fact in facts)
        if any(values):
            yield values


def _values(items: Iterable[Item], facts: Sequence[str]) -> Iterator[str]:
    for each in (facts_of for item in items for facts_of in item.all_facts):
        yield from (each[fact] for fact in facts if each.get(fact))


def _ranked_rounds(
    items: Sequence[Item], scheme: Scheme, kept: Sequence[Assignment], seed: int
) -> Iterator[Sequence[Item]]:
    """Rounds that are the same for all judges: those in use, then those of the prepared set, then new ones (R-1)."""
    by_id = {item.id: item for item in items}
    used: set[str] = set()
    for names in dict.fromkeys(_rounds_in_use(kept)):
        fresh = [by_id[name] for name in sorted(names) if name in by_id and name not in used]
        used |= names
        if fresh:
            yield fresh
    prepared: dict[str, list[Item]] = defaultdict(list)
    for item in (item for item in items if item.id not in used):
        prepared[item.facts.get("round", "")].append(item)
    loose = prepared.pop("", [])
    yield from prepared.values()
    count = ceil(len(loose) / scheme.round_size)
    yield from (
        parts(loose, count, lambda item: cell_of(item, scheme.balance), lambda item: item.id, seed) if loose else ()
    )


def _rounds_in_use(kept: Sequence[Assignment]) -> Iterator[frozenset[str]]:
    rounds: dict[tuple[str, int], set[str]] = defaultdict(set)
    for each in kept:
        if each.round > 0:
            rounds[each.judge, each.round].add(each.item)
    yield from (frozenset(names) for names in rounds.values())


RULE_APART, RULE_REACHED = "M52", "P-30"
FILE = "plan"
NAMED = 3
"""So many things that judges meet again are named; the others are counted."""
Counts = NDArray[np.int64]


@dataclass
class Hand:
    """The bundles that a judge was newly dealt, in no order yet."""

    judge: Judge
    bundles: list[Bundle] = field(default_factory=list)


class _Table:
    """All judges at once: what each holds, by number."""

    def __init__(self, judges: Sequence[Judge], seed: int) -> None:
        self.judges = judges
        self.number = {judge.id: at for at, judge in enumerate(judges)}
        self.dice = np.array([die(seed, "judge", judge.id) for judge in judges], np.uint64)
        self.most = np.array([judge.most or np.iinfo(np.int64).max for judge in judges], np.int64)
        self.load = self._none()
        self.cells: dict[tuple[int, str], Counts] = defaultdict(self._none)
        self.apart: dict[tuple[str, ...], Counts] = defaultdict(self._none)
        self.holders: dict[str, list[int]] = defaultdict(list)
        self._declared: dict[tuple[frozenset[str], frozenset[str]], NDArray[np.bool_]] = {}

    def _none(self) -> Counts:
        return np.zeros(len(self.judges), np.int64)

    def able(self, bundle: Bundle) -> Counts:
        """The judges who may have a bundle: nothing declared stands against it, and they do not have it yet."""
        free = self._is_free(bundle) & (self.load + len(bundle) <= self.most)
        free[self.holders.get(bundle.name, [])] = False
        return np.flatnonzero(free)

    def _is_free(self, bundle: Bundle) -> NDArray[np.bool_]:
        """Whom neither language nor conflict keeps from it; the same for all bundles of such a kind."""
        kind = bundle.languages, bundle.makers
        if kind not in self._declared:
            told = [
                (not one.languages or bundle.languages <= one.languages) and not bundle.makers & one.conflicts
                for one in self.judges
            ]
            self._declared[kind] = np.array(told, np.bool_)
        return self._declared[kind].copy()

    def chosen(self, able: Counts, bundle: Bundle, needed: int, dice: int) -> Counts:
        """Who of the able gets it: who met the query least, then has least of the genre, least at all, least topic."""
        met = sum((self.apart[values] for values in bundle.apart), self._none())
        first, second = self.cells[0, bundle.cell[0]], self.cells[1, bundle.cell[1]]
        drawn = self.dice[able] ^ np.uint64(dice)
        order = np.lexsort((drawn, second[able], self.load[able], first[able], met[able]))
        return able[order[:needed]]

    def give(self, bundle: Bundle, who: Counts) -> None:
        """Have some judges hold a bundle."""
        self.holders[bundle.name].extend(who.tolist())
        self.load[who] += len(bundle)
        self.cells[0, bundle.cell[0]][who] += 1
        self.cells[1, bundle.cell[1]][who] += 1
        for values in bundle.apart:
            self.apart[values][who] += 1


def deal(
    bundles: Sequence[Bundle],
    judges: Sequence[Judge],
    wanted: int,
    before: Mapping[str, Sequence[Bundle]],
    seed: int,
    *,
    given: bool = False,
    most: int = 1,
) -> tuple[list[Hand], list[Problem]]:
    """Every bundle to so many judges, those counted who had it before; what cannot be done is reported beside it.

    Bundles are dealt genre by genre, or, if the order is `given`, as they come. `most` is how many alike a judge gets.
    """
    table, hands = _table_of(judges, before, seed), [Hand(judge) for judge in judges]
    held = Counter(bundle.name for several in before.values() for bundle in several)
    short: Counter[int] = Counter()
    for bundle in bundles if given else _in_order(bundles, seed):
        needed = len(hands) if wanted == EVERYBODY else max(wanted - held[bundle.name], 0)
        able = table.able(bundle)
        who = table.chosen(able, bundle, needed, die(seed, "bundle", bundle.name))
        table.give(bundle, who)
        for at in who.tolist():
            hands[at].bundles.append(bundle)
        if wanted != EVERYBODY and len(able) < needed:
            short[wanted - needed + len(able)] += len(bundle)
    return hands, [*_short_items(short, wanted), *_met_again(table, bundles, wanted, most)]


def _table_of(judges: Sequence[Judge], before: Mapping[str, Sequence[Bundle]], seed: int) -> _Table:
    """The table with what judges were given earlier."""
    table = _Table(judges, seed)
    for judge, several in before.items():
        if judge in table.number:
            for bundle in several:
                table.give(bundle, np.array([table.number[judge]]))
    return table


def _in_order(bundles: Sequence[Bundle], seed: int) -> list[Bundle]:
    """Genre by genre, so that dealing leaves each judge an even share; the most asked for queries first."""
    often = Counter(values for bundle in bundles for values in bundle.apart)
    return sorted(
        bundles,
        key=lambda bundle: (
            bundle.cell[0],
            -max((often[values] for values in bundle.apart), default=0),
            die(seed, "order", bundle.name),
        ),
    )


def _short_items(short: Mapping[int, int], wanted: int) -> Iterator[Problem]:
    for reached, items in sorted(short.items()):
        message = f"{items} items reach {reached} of the {wanted} judgments each: there are too few judges for them"
        fix = "enroll more judges who know the language and have no conflict, or lower per_item"
        yield Problem(RULE_REACHED, FILE, None, None, message, fix, severity="warn", where="metadata")


def _met_again(table: _Table, bundles: Sequence[Bundle], wanted: int, most: int) -> Iterator[Problem]:
    """What a judge gets more often than the scheme wants; logged, never silent."""
    needs = Counter(values for bundle in bundles for values in bundle.apart)
    met = [(values, again) for values in sorted(needs) if (again := int((table.apart[values] > most).sum()))]
    often = "once" if most == 1 else f"{most} times"
    for values, again in met[:NAMED]:
        named, people = ", ".join(values), len(table.judges)
        judgements = needs[values] * (wanted or people)
        message = f"{again} judges get {named!r} more than {often}: {judgements} judgments for {people} judges"
        fix = f"enroll more judges, {ceil(judgements / most)} or more, lower per_item, or accept it: it is in the log"
        yield Problem(RULE_APART, FILE, None, None, message, fix, named, severity="warn", where="metadata")
    if len(met) > NAMED:
        fix = "enroll more judges, lower per_item, or accept it: it is in the log"
        others = f"{len(met)} of {len(needs)} are met more than {often} by a judge"
        message = f"so it is with {len(met) - NAMED} more: {others}"
        yield Problem(RULE_APART, FILE, None, None, message, fix, severity="warn", where="metadata")
