"""Bundles: what a judge gets in one piece, be it an item, the segments of a document, or a round to be ranked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from basanite.judging.items import Item
from basanite.judging.planning.model import Assignment
from basanite.judging.planning.sharing import Cell, parts
from basanite.judging.schemes.model import Scheme


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
