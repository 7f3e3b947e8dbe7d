"""Translation edit rate of two lists of words: edits and moves of phrases, found by the search of Tercom.

Numbers are those of sacrebleu, whose search it is: of all moves of a phrase to where the reference has it, the one
that saves most edits is made, again and again. Nearly all of its time goes into the edit distance of each candidate.
Here words are single characters, so that a move is a slice of a string whose distance is found by bits (rapidfuzz),
and the one alignment of each round comes from rows of bits as well (Hyyrö 2003).

sacrebleu looks for distances in a beam of 25 words around the diagonal. A path of the least cost d between m and n
words leaves the diagonal by at most (d + |m - n|) / 2, so where that is less than the beam, the distance is the plain
one, and so are all paths of that cost. Where it is more, the beam is searched for all candidates of a round at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

BEAM: Final = 25
"""How far from the diagonal distances are looked for: one place less on the side of the reference's end."""
SURE: Final = BEAM - 1
NEVER: Final = 1 << 29
LONGEST_MOVE: Final = 10
FARTHEST_MOVE: Final = 50
MOST_CANDIDATES: Final = 1000
SAME, REPLACED, EXTRA, MISSING = " ", "s", "d", "i"
"""Steps of an alignment as sacrebleu writes them: of both texts, of the candidate's alone, of the reference's alone."""

Rank = tuple[int, int, int]
"""The words of a move, and how early it begins and ends: of those that save as much the highest is made."""


def count_edits(words: Sequence[str], reference: Sequence[str]) -> int:
    """How many words and phrases have to be changed or moved for a text to become the reference.

    >>> count_edits("a b c d e".split(), "c d e a b".split()), count_edits(["a", "b"], ["a", "c", "d"])
    (1, 2)
    """
    if not words or not reference:
        return max(len(words), len(reference))
    numbers: dict[str, int] = {}
    text, wanted = (
        "".join(chr(numbers.setdefault(word, len(numbers))) for word in side) for side in (words, reference)
    )
    target = _Target(wanted)
    moves = tried = 0
    while True:
        saved, moved, tried = _best_move(text, target, tried)
        if tried >= MOST_CANDIDATES or saved <= 0:
            return moves + target.alignment(text)[0]
        moves, text = moves + 1, moved


class _Target:
    """A reference, to which texts of one length are compared."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.places: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            self.places.setdefault(word, []).append(at)

    def alignment(self, text: str) -> tuple[int, str]:
        """The edit distance, and the steps from the beginning of both to their end."""
        rows = _rows_of_bits(text, self.words)
        found = _cell(rows, len(text), len(self.words))
        if self.is_near(text, found):
            return found, _steps(rows, text, self.words)
        table = [row[0].tolist() for row in _beam_rows([text], self.words)]
        return table[-1][-1], _beam_steps(table, text, self.words)

    def is_near(self, text: str, distance: int) -> bool:
        """Whether every path of this cost lies in the beam."""
        return distance + abs(len(text) - len(self.words)) <= 2 * SURE

    def best_of(
        self, texts: Sequence[str], ranks: Sequence[Rank], before: int
    ) -> tuple[tuple[int, int, int, int], str] | None:
        """The text that saves most of `before`; of several the one with the highest rank."""
        from rapidfuzz.distance import Levenshtein

        best, most, far = None, None, list[int]()
        for at, (text, rank) in enumerate(zip(texts, ranks, strict=True)):
            found = Levenshtein.distance(text, self.words, score_cutoff=most)
            if most is not None and found > most:
                continue  # beaten: the distance in the beam is no shorter
            if not self.is_near(text, found):
                far.append(at)
            elif best is None or (before - found, *rank) > best[0]:
                best, most = ((before - found, *rank), text), found
        for at, found in zip(far, _beam_distances([texts[at] for at in far], self.words), strict=True):
            if best is None or (before - found, *ranks[at]) > best[0]:
                best = (before - found, *ranks[at]), texts[at]
        return best


def _beam_rows(texts: Sequence[str], wanted: str) -> Iterator[NDArray[np.int32]]:
    """Row after row the distances of texts of one length in sacrebleu's beam: texts x places of the reference."""
    size, length = len(wanted), len(texts[0])
    goal = np.fromiter(map(ord, wanted), np.int32, size)
    words = np.array([list(map(ord, text)) for text in texts], dtype=np.int32)
    places = np.arange(size + 1, dtype=np.int32)
    row = np.tile(places, (len(texts), 1))
    yield row
    ratio = size / length
    width = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    for at in range(1, length + 1):
        diagonal = math.floor(at * ratio)
        low = max(0, diagonal - width)
        high = size + 1 if at == length else min(size + 1, diagonal + width)
        costs = row[:, low:high] + 1  # a word of the text alone
        inner = max(low, 1)
        through = row[:, inner - 1 : high - 1] + (goal[inner - 1 : high - 1] != words[:, at - 1 : at])
        np.minimum(costs[:, inner - low :], through, out=costs[:, inner - low :])
        here = places[low:high]
        following = np.full_like(row, NEVER)
        following[:, low:high] = np.minimum.accumulate(costs - here, axis=1) + here  # then words of the reference alone
        row = following
        yield row


def _beam_distances(texts: Sequence[str], wanted: str) -> list[int]:
    if not texts:
        return []
    *_, last = _beam_rows(texts, wanted)
    return [int(found) for found in last[:, -1]]


def _beam_steps(table: Sequence[Sequence[int]], text: str, wanted: str) -> str:
    """The way through a table of distances from its end, by the same preferences as `_steps`."""
    at, place, steps = len(text), len(wanted), []
    while at and place:
        cost = table[at][place]
        same = text[at - 1] == wanted[place - 1]
        if table[at - 1][place - 1] + (not same) == cost:
            steps.append(SAME if same else REPLACED)
            at, place = at - 1, place - 1
        elif table[at - 1][place] + 1 == cost:
            steps.append(EXTRA)
            at -= 1
        else:
            steps.append(MISSING)
            place -= 1
    return MISSING * place + EXTRA * at + "".join(reversed(steps))


Bits = tuple[int, int]
"""Where a row of distances rises and where it falls, from each word of the reference to the next."""


def _rows_of_bits(text: str, wanted: str) -> list[Bits]:
    """The row of distances before and after each word of a text, as the differences along the reference."""
    whole = (1 << len(wanted)) - 1
    places: dict[str, int] = {}
    for at, word in enumerate(wanted):
        places[word] = places.get(word, 0) | 1 << at
    rises, falls = whole, 0
    rows = [(rises, falls)]
    for word in text:
        equal = places.get(word, 0)
        along = (((equal & rises) + rises) ^ rises) | equal | falls  # no step down from the row before costs anything
        more, less = falls | (whole & ~(along | rises)), rises & along
        more, less = (more << 1) | 1, less << 1
        rises, falls = (less | ~(along | more)) & whole, more & along & whole
        rows.append((rises, falls))
    return rows


def _cell(rows: Sequence[Bits], at: int, place: int) -> int:
    """The distance of the first words of the text to the first of the reference."""
    mask = (1 << place) - 1
    rises, falls = rows[at]
    return at + (rises & mask).bit_count() - (falls & mask).bit_count()


def _steps(rows: Sequence[Bits], text: str, wanted: str) -> str:
    """The way through the table from its end: of equal ways one through both texts, then through the text alone."""
    at, place, steps = len(text), len(wanted), []
    cost = _cell(rows, at, place)
    while at and place:
        diagonal = _cell(rows, at - 1, place - 1)
        if text[at - 1] == wanted[place - 1]:
            steps.append(SAME)
        elif diagonal + 1 == cost:
            steps.append(REPLACED)
        else:
            above = _cell(rows, at - 1, place)
            step = EXTRA if above + 1 == cost else MISSING
            steps.append(step)
            at, place, cost = (at - 1, place, above) if step is EXTRA else (at, place - 1, cost - 1)
            continue
        at, place, cost = at - 1, place - 1, diagonal
    return MISSING * place + EXTRA * at + "".join(reversed(steps))


@dataclass(frozen=True)
class _Alignment:
    """Which word of the text stands at each word of the reference, and how many words up to each are wrong."""

    partner: Sequence[int]
    """For each word of the reference; -1 before the first of the text."""
    wrong: Sequence[int]
    """Wrong words of the text before each of its places."""
    missed: Sequence[int]
    """The same of the reference."""


def _alignment_of(steps: str) -> _Alignment:
    at, partner, wrong, missed = -1, [], [], []
    for step in steps:
        if step != MISSING:
            at += 1
            wrong.append(step != SAME)
        if step != EXTRA:
            partner.append(at)
            missed.append(step != SAME)
    return _Alignment(partner, tuple(accumulate(wrong, initial=0)), tuple(accumulate(missed, initial=0)))


def _best_move(text: str, target: _Target, tried: int) -> tuple[int, str, int]:
    """What the best move saves, the text after it, and how many candidates were tried by then."""
    before, steps = target.alignment(text)
    if not before:
        return 0, text, tried
    aligned = _alignment_of(steps)
    moves: dict[Rank, str] = {}
    for start, goal, length in _phrases(text, target, aligned):
        for to in _ends_of_move(goal, length, aligned.partner):
            tried += 1  # also where another place of the reference gives the same move
            rank = (length, -start, -to)
            if rank not in moves:
                moves[rank] = _move_phrase(text, start, length, to)
        if tried >= MOST_CANDIDATES:
            break
    best = target.best_of(list(moves.values()), list(moves), before)
    return (best[0][0], best[1], tried) if best else (0, text, tried)


def _phrases(text: str, target: _Target, aligned: _Alignment) -> Iterator[tuple[int, int, int]]:
    """Phrases of the text that the reference has elsewhere, where both are wrong: beginnings in both, and length."""
    words, partner, wrong, missed = target.words, aligned.partner, aligned.wrong, aligned.missed
    for start, word in enumerate(text):
        for goal in target.places.get(word, ()):
            if abs(goal - start) > FARTHEST_MOVE:
                continue
            longest = min(LONGEST_MOVE, len(text) - start, len(words) - goal)
            for length in range(1, longest + 1):
                if text[start + length - 1] != words[goal + length - 1]:
                    break
                inside = start <= partner[goal] < start + length
                if wrong[start + length] > wrong[start] and missed[goal + length] > missed[goal] and not inside:
                    yield start, goal, length


def _ends_of_move(goal: int, length: int, partner: Sequence[int]) -> Iterator[int]:
    """The places in the text to which a phrase may be moved: before its first word, or behind one of its own."""
    before = -1
    for at in range(goal - 1, min(goal + length, len(partner))):
        to = 0 if at == -1 else partner[at] + 1
        if to != before:
            yield to
            before = to


def _move_phrase(text: str, start: int, length: int, to: int) -> str:
    """The text with a phrase taken to another place."""
    phrase, end = text[start : start + length], start + length
    if to < start:
        return text[:to] + phrase + text[to:start] + text[end:]
    if to > end:
        return text[:start] + text[end:to] + phrase + text[to:]
    return text[:start] + text[end : length + to] + phrase + text[length + to :]
