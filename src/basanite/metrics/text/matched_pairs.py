"""MAPSSWE, the matched pairs sentence-segment word error test of NIST, on the alignments of two systems.

Errors are counted in segments that at least two words which both systems have right keep apart, so that they may be
taken as independent; the mean difference of errors over its standard error is compared with the normal distribution.
Gillick and Cox, Some statistical issues in the comparison of speech recognition algorithms, ICASSP 1989; as sc_stats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from basanite.metrics.text.speech import Operation

APART: Final = 2
"""Words in a row that both have right from which on errors belong to different segments."""


@dataclass(frozen=True)
class MatchedPairs:
    """What the test found."""

    segments: int
    mean: float
    """Errors of the first system less those of the second, in a segment."""
    z: float
    p: float
    """Two-sided, by the normal distribution."""


def matched_pairs(first: Sequence[Sequence[Operation]], second: Sequence[Sequence[Operation]]) -> MatchedPairs:
    """The test on two systems, utterance by utterance; nan where there are less than two segments."""
    found = [pair for one, other in zip(first, second, strict=True) for pair in segments(one, other)]
    gaps = [one - other for one, other in found]
    size = len(gaps)
    if size < 2:
        return MatchedPairs(size, math.nan, math.nan, math.nan)
    mean = sum(gaps) / size
    squares = sum((gap - mean) ** 2 for gap in gaps)
    z = mean / math.sqrt(squares / (size - 1) / size) if squares else math.copysign(math.inf, mean) if mean else 0.0
    return MatchedPairs(size, mean, z, math.erfc(abs(z) / math.sqrt(2)))


def segments(first: Sequence[Operation], second: Sequence[Operation]) -> Iterator[tuple[int, int]]:
    """Errors of either system in each segment of one utterance that holds any.

    >>> from basanite.metrics.text.speech import align
    >>> said = "a b c d e".split()
    >>> list(segments(align(said, "x b c d y".split()), align(said, "a b c z".split())))
    [(1, 0), (1, 2)]
    """
    errors, right = [0, 0], APART
    for steps in _places(first, second):
        wrong = [sum(step.step != "hit" for step in side) for side in steps]
        if not any(wrong):
            right += 1
            continue
        if right >= APART and any(errors):
            yield errors[0], errors[1]
            errors = [0, 0]
        errors = [old + new for old, new in zip(errors, wrong, strict=True)]
        right = 0 if any(step.step != "hit" or not step.reference for side in steps for step in side[-1:]) else 1
    if any(errors):
        yield errors[0], errors[1]


def _places(
    first: Sequence[Operation], second: Sequence[Operation]
) -> Iterator[tuple[Sequence[Operation], Sequence[Operation]]]:
    """The steps of both, word of the reference by word, each with what was inserted before it.

    Where different readings of the reference were chosen, all from the first different word to the last is one place.
    """
    sides = [_by_word(first), _by_word(second)]
    words = [[place[-1].reference if place else "" for place in side] for side in sides]
    if words[0] == words[1]:
        yield from zip(*sides, strict=True)
        return
    most = min(map(len, words))
    front = next((at for at in range(most) if words[0][at] != words[1][at]), most)
    back = next((at for at in range(most - front) if words[0][-1 - at] != words[1][-1 - at]), most - front)
    yield from zip(*(side[:front] for side in sides), strict=True)
    middle = [[step for place in side[front : len(side) - back] for step in place] for side in sides]
    yield middle[0], middle[1]
    yield from zip(*(side[len(side) - back :] for side in sides), strict=True)


def _by_word(steps: Sequence[Operation]) -> list[list[Operation]]:
    """Steps up to each word of the reference; what is inserted behind the last one stands alone, and may be nothing."""
    places: list[list[Operation]] = [[]]
    for step in steps:
        places[-1].append(step)
        if step.reference:
            places.append([])
    return places
