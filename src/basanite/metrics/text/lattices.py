"""Alignment as sclite does it: readings to choose from on both sides, and costs of 4, 3 and 3 (Fiscus, NIST).

A substitution costs 4, a deletion or an insertion 3, so that the cheapest alignment may have more edits than there need
be. Of ways that cost the same a substitution goes first, then an insertion, then a deletion, traced from the end; words
of alternatives are chosen on the way. `@` stands for nothing, and leaving it out costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.text.speech import Operation, Slots

SUBSTITUTION: Final = 4000
EDIT: Final = 3000
LEFT_OUT: Final = 2000
"""What leaving out a word in parentheses costs, where that is allowed."""
NOTHING: Final = 1
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Comparing:
    """What counts as the same word: sclite's options -D and -F."""

    optional: bool = False
    """Whether a word in parentheses may be left out and counts as correct then."""
    fragments: bool = False
    """Whether `wor-` is correct beside a word that begins so, and `-ord` beside one that ends so."""


@dataclass(frozen=True)
class _Arcs:
    """The words of one side, each with the words that may stand before it; the first is the start, which is no word."""

    words: tuple[str, ...]
    before: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]

    @property
    def linear(self) -> bool:
        """Whether there is nothing to choose: each word has the one before it."""
        return all(ways == (at,) for at, ways in enumerate(self.before[1:])) and len(self.ends) == 1


def sclite_alignment(said: Slots, heard: Slots, comparing: Comparing) -> list[Operation]:
    """The steps from what was said to what was heard, as sclite counts them.

    >>> steps = sclite_alignment([[("a",)], [("b",), ()]], [[("a",)], [("c",)]], Comparing())
    >>> [tuple(step) for step in steps]
    [('hit', 'a', 'a'), ('insertion', '', 'c')]
    """
    sides = _arcs(said), _arcs(heard)
    if sides[0].words == sides[1].words and all(side.linear for side in sides):
        return [Operation("hit", word, word) for word in sides[0].words[1:] if word]
    costs = _Costs(*sides, comparing)
    return list(_steps(*sides, costs, _cells(*sides, costs)))


def _arcs(slots: Slots) -> _Arcs:
    words = [""]
    before: list[tuple[int, ...]] = [()]
    ends: tuple[int, ...] = (0,)
    for readings in slots:
        after: list[int] = []
        for reading in readings:
            ways: tuple[int, ...] = ends
            for word in reading or ("",):
                words.append(word)
                before.append(ways)
                ways = (len(words) - 1,)
            after += ways
        ends = tuple(after) or ends
    return _Arcs(tuple(words), tuple(before), ends)


class _Costs:
    """What each step costs, in thousandths of sclite's costs."""

    def __init__(self, said: _Arcs, heard: _Arcs, comparing: Comparing) -> None:
        self.optional = comparing.optional
        sides = [[self._bare(word) for word in side.words] for side in (said, heard)]
        numbers = {word: at for at, word in enumerate(dict.fromkeys((*sides[0], *sides[1])))}
        self.same = np.equal.outer(*([numbers[word] for word in side] for side in sides))
        self.same[np.ix_(*([not word for word in side] for side in sides))] = False  # nothing beside nothing is no hit
        if comparing.fragments:
            self._allow_fragments(*sides)
        self.deletion = self._lone(said)
        self.insertion = self._lone(heard)

    def _bare(self, word: str) -> str:
        return word[1:-1] if self.optional and is_optional(word) else word

    def _lone(self, side: _Arcs) -> Whole:
        """What a word costs that stands alone."""
        cost = {"": NOTHING}
        found = [LEFT_OUT if self.optional and is_optional(word) else cost.get(word, EDIT) for word in side.words]
        return np.array(found, np.int64)

    def _allow_fragments(self, said: Sequence[str], heard: Sequence[str]) -> None:
        for a, word in enumerate(said):
            for b, other in enumerate(heard):
                if "-" in (word[:1], word[-1:], other[:1], other[-1:]):
                    self.same[a, b] = _fits(word, other)

    def substitution(self, a: int) -> Whole:
        """Of one word of the reference beside every word that was heard."""
        return np.where(self.same[a], 0, SUBSTITUTION)


def is_optional(word: str) -> bool:
    """Whether a word stands in parentheses.

    >>> is_optional("(uh)"), is_optional("()"), is_optional("uh")
    (True, False, False)
    """
    return len(word) > 2 and word[0] == "(" and word[-1] == ")"


def _fits(word: str, other: str) -> bool:
    """Whether one is a fragment of the other; the first that is a fragment decides, as in sclite."""
    for fragment, whole in ((word, other), (other, word)):
        if len(fragment) > 1 and fragment[0] == "-":
            return whole.endswith(fragment[1:])
        if len(fragment) > 1 and fragment[-1] == "-":
            return whole.startswith(fragment[:-1])
    return word == other


def _cells(said: _Arcs, heard: _Arcs, costs: _Costs) -> NDArray[np.int32]:
    """The least cost up to each word of either side, both included."""
    cells = np.empty((len(said.words), len(heard.words)), np.int32)
    insert, total, linear = costs.insertion, np.cumsum(costs.insertion), heard.linear
    most = max(map(len, heard.before))
    before = np.array([(*ways, *ways[-1:] * (most - len(ways))) for ways in heard.before[1:]], np.int64)
    for a, ways in enumerate(said.before):
        if not a:
            row = np.full(len(heard.words), np.iinfo(np.int32).max // 2, np.int64)
            row[0] = 0
        else:
            above = cells[list(ways)].min(axis=0) if len(ways) > 1 else cells[ways[0]].astype(np.int64)
            row = above + costs.deletion[a]
            if len(row) > 1:
                beside = above[before].min(axis=1) + costs.substitution(a)[1:]
                row[1:] = np.minimum(row[1:], beside)
        if linear:
            row = np.minimum.accumulate(row - total) + total
        else:
            for b, others in enumerate(heard.before[1:], start=1):
                row[b] = min(row[b], min(row[other] for other in others) + insert[b])
        cells[a] = row
    return cells


def _steps(said: _Arcs, heard: _Arcs, costs: _Costs, cells: NDArray[np.int32]) -> Iterator[Operation]:
    """The way back from the cheapest end, turned round."""
    a, b = min(((a, b) for a in said.ends for b in heard.ends), key=lambda cell: cells[cell])
    back: list[Operation] = []
    while a or b:
        over = min(
            ((i, j) for i in said.before[a] for j in heard.before[b]), key=lambda cell: cells[cell], default=None
        )
        up = min(((i, b) for i in said.before[a]), key=lambda cell: cells[cell], default=None)
        left = min(((a, j) for j in heard.before[b]), key=lambda cell: cells[cell], default=None)
        far = np.inf
        both = far if over is None else cells[over] + (0 if costs.same[a, b] else SUBSTITUTION)
        deletion = far if up is None else cells[up] + costs.deletion[a]
        insertion = far if left is None else cells[left] + costs.insertion[b]
        word, other = said.words[a], heard.words[b]
        if over is not None and both <= deletion and both <= insertion:
            back.append(Operation("hit" if costs.same[a, b] else "substitution", word, other))
            a, b = over
        elif up is not None and deletion < insertion:
            if word:
                back.append(Operation("hit" if costs.optional and is_optional(word) else "deletion", word, ""))
            a, b = up
        elif left is not None:
            if other:
                back.append(Operation("hit" if costs.optional and is_optional(other) else "insertion", "", other))
            a, b = left
    return reversed(back)
