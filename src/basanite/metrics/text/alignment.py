"""Aligning the words of an answer with those of a reference, as METEOR wants it.

Each word is matched once at most. Of all alignments the one with most matches is taken, then the one with fewest
chunks (runs that are adjacent in both texts), then the one whose words moved least; what is still equal is settled by
more exact matches, then more synonyms. The words of the answer are taken from left to right, and partial alignments
that leave the same choices to what follows are one state, of which the best is kept: exact, unless there are more
states than the beam is wide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

BEAM: Final = 400
MOST_OPTIONS: Final = 5_000
"""Above so many possible matches each word keeps the nearest few, and the beam is narrow: texts of one word repeated
a hundred times."""
NEAREST, NARROW = 16, 20

EXACT, SYNONYM, STEM = 0, 1, 2
Options: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For each word of the answer, the places in the reference that it may be matched with, and the kind of each match."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How many words were matched, in how many chunks, and how many of the matches are not exact."""

    matches: int
    chunks: int
    synonyms: int = 0
    stems: int = 0

    @property
    def exact(self) -> int:
        """How many words were matched with the same word."""
        return self.matches - self.synonyms - self.stems


@dataclass(frozen=True, slots=True)
class _Costs:
    """Costs in the order in which they count: each is dearer than all that come after it together."""

    kinds: tuple[int, int, int]
    step: int
    chunk: int
    skip: int

    @classmethod
    def of(cls, words: int, width: int) -> _Costs:
        base = words + 1
        step = base * base
        chunk = step * (words * width + 1)
        return cls((0, base, base + 1), step, chunk, chunk * base)

    def decoded(self, cost: int, words: int) -> Alignment:
        skipped, rest = divmod(cost, self.skip)
        chunks, rest = divmod(rest, self.chunk)
        inexact, stems = divmod(rest % self.step, self.kinds[SYNONYM])
        return Alignment(words - skipped, chunks, inexact - stems, stems)


def align(options: Options, width: int, *, beam: int = BEAM) -> Alignment:
    """The best alignment of an answer with a reference of `width` words.

    >>> align([[(1, EXACT)], [(0, EXACT), (2, STEM)]], 3)
    Alignment(matches=2, chunks=1, synonyms=0, stems=1)
    """
    if sum(map(len, options)) > MOST_OPTIONS:
        options, beam = [_nearest(row, at) for at, row in enumerate(options)], min(beam, NARROW)
    words = [(at, row) for at, row in enumerate(options) if row]
    costs = _Costs.of(len(options), width)
    optional, later = _skippable([row for _, row in words]), _claimed_later([row for _, row in words])
    states = {(0, -1): 0}
    for number, (at, row) in enumerate(words):
        follows = words[number + 1] if number + 1 < len(words) else (-1, ())
        soon = frozenset(place for place, _ in follows[1]) if follows[0] == at + 1 else frozenset()
        states = _advanced(states, (at, row), optional[number], later[number + 1], soon, costs)
        if len(states) > beam:
            states = dict(sorted(states.items(), key=lambda state: (state[1], state[0]))[:beam])
    return costs.decoded(min(states.values()), len(words))


def _nearest(row: Sequence[tuple[int, int]], at: int) -> Sequence[tuple[int, int]]:
    return sorted(row, key=lambda option: abs(option[0] - at))[:NEAREST]


def _advanced(
    states: Mapping[tuple[int, int], int],
    word: tuple[int, Sequence[tuple[int, int]]],
    optional: bool,
    later: int,
    soon: frozenset[int],
    costs: _Costs,
) -> dict[tuple[int, int], int]:
    """Every state after one more word: the places taken that later words want, and the place that goes on a chunk."""
    at, row = word
    moves = [(place, 1 << place, costs.kinds[kind] + costs.step * abs(place - at)) for place, kind in row]
    made: dict[tuple[int, int], int] = {}
    for (taken, next_place), cost in states.items():
        stuck = True
        for place, bit, price in moves:
            if not taken & bit:
                stuck = False
                total = cost + price + (0 if place == next_place else costs.chunk)
                state = (taken | bit) & later, place + 1 if place + 1 in soon else -1
                if made.get(state, total + 1) > total:
                    made[state] = total
        if optional or stuck:
            total, state = cost + costs.skip, (taken & later, -1)
            if made.get(state, total + 1) > total:
                made[state] = total
    return made


def _skippable(rows: Options) -> list[bool]:
    """Which words may have to go without: not those of a group that wants the same places, enough and its own."""
    wanted = [tuple(place for place, _ in row) for row in rows]
    groups = Counter(wanted)
    claims = Counter(place for places in wanted for place in places)
    return [
        groups[places] > len(places) or any(claims[place] != groups[places] for place in places) for places in wanted
    ]


def _claimed_later(rows: Options) -> list[int]:
    """For each word, as bits, the places that it or a later one may be matched with; nothing after the last."""
    claimed = [0]
    for row in reversed(rows):
        bits = claimed[-1]
        for place, _ in row:
            bits |= 1 << place
        claimed.append(bits)
    return claimed[::-1]
