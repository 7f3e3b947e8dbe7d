"""Alignments: what happened to each word, side by side, and which of several allowed readings fits an answer best.

The number of edits between two sequences is unique; how it splits into substitutions, deletions and insertions is not.
Ours is the split of rapidfuzz, everywhere the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Step: TypeAlias = Literal["hit", "substitution", "deletion", "insertion"]
_STEPS: dict[str, Step] = {"replace": "substitution", "delete": "deletion", "insert": "insertion"}

Reading: TypeAlias = Sequence[str]
Slots: TypeAlias = Sequence[Sequence[Reading]]
"""What may be said, place by place: for every place the readings allowed there, each a sequence of words."""


class Operation(NamedTuple):
    """One step of an alignment: the word of the reference and the one that was heard; "" where there is none."""

    step: Step
    reference: str
    answer: str


@dataclass(frozen=True)
class AlignmentCounts:
    """How often each step occurs."""

    hits: int = 0
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0

    def __add__(self, other: AlignmentCounts) -> AlignmentCounts:
        return AlignmentCounts(
            self.hits + other.hits,
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
        )


def align(reference_words: Sequence[str], answer_words: Sequence[str]) -> list[Operation]:
    """The steps that lead from what was said to what was heard, in order.

    >>> [tuple(step) for step in align("the cat sat".split(), "a cat sat down".split())]
    [('substitution', 'the', 'a'), ('hit', 'cat', 'cat'), ('hit', 'sat', 'sat'), ('insertion', '', 'down')]
    """
    from rapidfuzz.distance import Levenshtein  # here, because it is slow to load

    steps: list[Operation] = []
    for code in Levenshtein.opcodes(reference_words, answer_words):
        said = reference_words[code.src_start : code.src_end]
        heard = answer_words[code.dest_start : code.dest_end]
        steps += _operations(_STEPS.get(code.tag, "hit"), said, heard)
    return steps


def _operations(step: Step, said: Sequence[str], heard: Sequence[str]) -> Iterator[Operation]:
    for at in range(max(len(said), len(heard))):
        yield Operation(step, said[at] if at < len(said) else "", heard[at] if at < len(heard) else "")


def counts_of(reference: Sequence[str], answer: Sequence[str]) -> AlignmentCounts:
    """How often each step occurs between two sequences.

    >>> counts_of("the cat sat".split(), "a cat sat down".split())
    AlignmentCounts(hits=2, substitutions=1, deletions=0, insertions=1)
    """
    from rapidfuzz.distance import Levenshtein

    tags = [step[0] for step in Levenshtein.editops(reference, answer).as_list()]
    replaced, deleted, inserted = (tags.count(tag) for tag in _STEPS)
    return AlignmentCounts(len(reference) - replaced - deleted, replaced, deleted, inserted)


def best_reading(slots: Slots, answer: Sequence[str]) -> list[Reading]:
    """Of each slot the reading with which the whole has fewest edits; of equals that with most words.

    All paths are followed at once, one row of costs for every prefix of the answer, so the time grows with words
    written and words heard, not with the number of combinations.

    >>> best_reading([[("well",)], [("uh",), ()], [("can", "not"), ("cannot",)]], ["well", "cannot"])
    [('well',), (), ('cannot',)]
    """
    number = {word: at for at, word in enumerate(dict.fromkeys(answer))}
    heard = np.fromiter(map(number.__getitem__, answer), np.int64, len(answer))
    costs = np.arange(len(answer) + 1, dtype=np.int64) * _EDIT
    trail: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for readings in slots:
        ways = np.stack([_after(costs, [number.get(word, -1) for word in reading], heard) for reading in readings])
        chosen = ways.argmin(axis=0)
        best = np.take_along_axis(ways, chosen[None], axis=0)[0]
        trail.append((chosen, best % _PLACES))
        costs = best // _PLACES
    return _traced(slots, trail, len(answer))


_PLACES = 1 << 24
"""More than the words of any answer: the low digits of a cost say where in the answer its slot began."""
_EDIT = 1 << 18
"""One edit outweighs every word that a reading may be longer; 20 bits are left for the edits themselves."""


def _after(costs: NDArray[np.int64], reading: Sequence[int], heard: NDArray[np.int64]) -> NDArray[np.int64]:
    """Costs after one reading, each with the place in the answer from which it came."""
    row = costs * _PLACES + np.arange(len(costs))
    edit, steps = _EDIT * _PLACES, np.arange(len(costs), dtype=np.int64) * _EDIT * _PLACES
    for word in reading:
        kept = np.where(heard == word, 0, edit)
        row[1:] = np.minimum(row[1:] + edit, row[:-1] + kept)
        row[0] += edit
        row = np.minimum.accumulate(row - steps) + steps - _PLACES  # words heard beside it; a longer reading wins ties
    return row


def _traced(slots: Slots, trail: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], end: int) -> list[Reading]:
    found: list[Reading] = []
    for readings, (chosen, origin) in zip(reversed(slots), reversed(trail), strict=True):
        found.append(readings[int(chosen[end])])
        end = int(origin[end])
    return found[::-1]
