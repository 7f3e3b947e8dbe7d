"""Speech metrics: word and character error rate, from edit distances that rapidfuzz finds and we sum.

The rate of many utterances is all their edits over all words (or characters) of their references, never the mean of
rates. Words are what stands between white space, so several spaces are as good as one; characters are code points,
spaces among them counted, those at the ends not. Nothing is folded here: what shall not matter is taken away before,
by a normaliser that the user names.

Alignments: what happened to each word, side by side, and which of several allowed readings fits an answer best.

The number of edits between two sequences is unique; how it splits into substitutions, deletions and insertions is not.
Ours is the split of rapidfuzz, everywhere the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Metric, Rows

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

    @property
    def edits(self) -> int:
        """How many words are wrong."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def reference(self) -> int:
        """How many words were said."""
        return self.hits + self.substitutions + self.deletions

    @property
    def answer(self) -> int:
        """How many words were heard."""
        return self.hits + self.substitutions + self.insertions

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
    return _trace_edits(slots, trail, len(answer))


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


def _trace_edits(slots: Slots, trail: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], end: int) -> list[Reading]:
    found: list[Reading] = []
    for readings, (chosen, origin) in zip(reversed(slots), reversed(trail), strict=True):
        found.append(readings[int(chosen[end])])
        end = int(origin[end])
    return found[::-1]


MORRIS = (
    "Morris, Maier and Green, From WER and RIL to MER and WIL: improved evaluation measures for connected speech "
    "recognition, Interspeech 2004"
)
LEVENSHTEIN = "Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966"

SCTK = "Fiscus, Ajot and Garofolo, SCTK, the NIST Scoring Toolkit: sclite"

Pieces: TypeAlias = Sequence[str]
"""The words of an utterance, or its characters: a list of words, or a text."""

WORD_COLUMNS = ("edits", "reference_words")
CHARACTER_COLUMNS = ("edits", "reference_characters")
ALIGNED_COLUMNS = ("hits", "edits", "reference_words", "heard_words")


@dataclass(frozen=True)
class Utterances:
    """What was said, by one or more transcribers, and what the system heard."""

    units: Sequence[str]
    references: Sequence[Sequence[str]]
    answers: Sequence[str]
    steps: Sequence[Sequence[Operation]] | None = None
    """How the words were aligned, where other rules (sclite's) have done that already; each has one reference then."""

    @cached_property
    def outcomes(self) -> Sequence[AlignmentCounts]:
        """Hits, substitutions, deletions and insertions of each utterance."""
        if self.steps is None:
            return list(map(counts_of, self.words.references, self.words.answers))
        return list(map(counts_of_steps, self.steps))

    @cached_property
    def words(self) -> Aligned:
        """Both sides as words."""
        return _align_all(self.references, self.answers, str.split)

    @cached_property
    def characters(self) -> Aligned:
        """Both sides as characters, without white space at the ends."""
        return _align_all(self.references, self.answers, str.strip)


def counts_of_steps(steps: Sequence[Operation]) -> AlignmentCounts:
    """How often each step occurs in an alignment."""
    kinds: list[str] = [step.step for step in steps]
    return AlignmentCounts(*map(kinds.count, ("hit", "substitution", "deletion", "insertion")))


@dataclass(frozen=True)
class Aligned:
    """Pieces to be compared: of every utterance the reference that counts, and the answer."""

    references: Sequence[Pieces]
    answers: Sequence[Pieces]

    @cached_property
    def counts(self) -> AlignmentCounts:
        """Hits, substitutions, deletions and insertions of all utterances together."""
        return sum(map(counts_of, self.references, self.answers), AlignmentCounts())


def _align_all(references: Sequence[Sequence[str]], answers: Sequence[str], pieces: Callable[[str], Pieces]) -> Aligned:
    heard = [pieces(text) for text in answers]
    if all(len(texts) == 1 for texts in references):
        return Aligned([pieces(text) for (text,) in references], heard)
    pairs = zip(references, heard, strict=True)
    return Aligned([best_reference([pieces(text) for text in texts], answer) for texts, answer in pairs], heard)


def best_reference(references: Sequence[Pieces], answer: Pieces) -> Pieces:
    """The reference with the fewest edits; of several the longest, whose rate is lowest, and of those the first.

    >>> best_reference(["a b c".split(), "a b c d".split()], "a b c x".split())
    ['a', 'b', 'c', 'd']
    """
    from rapidfuzz.distance import Levenshtein

    if not references:
        return ()
    return min(references, key=lambda words: (Levenshtein.distance(words, answer), -len(words)))


def word_statistics(block: Utterances) -> Rows:
    """Per utterance: edits between answer and best reference, and the words of that reference."""
    if block.steps is None:
        return _rows(block.words)
    return _table((one.edits, one.reference) for one in block.outcomes)


def sentence_statistics(block: Utterances) -> Rows:
    """Per utterance: whether any word of it is wrong, and one."""
    return _table((bool(one.edits), 1) for one in block.outcomes)


def alignment_statistics(block: Utterances) -> Rows:
    """Per utterance: hits, edits, words of the reference and words that were heard."""
    return _table((one.hits, one.edits, one.reference, one.answer) for one in block.outcomes)


def _table(rows: Iterable[tuple[float, ...]]) -> Rows:
    return np.array(list(rows), np.float64)


def character_statistics(block: Utterances) -> Rows:
    """Per utterance: edits between answer and best reference, and the characters of that reference."""
    return _rows(block.characters)


def _rows(aligned: Aligned) -> Rows:
    from rapidfuzz.distance import Levenshtein  # here, because it is slow to load

    said, heard = aligned.references, aligned.answers
    edits = np.fromiter(map(Levenshtein.distance, said, heard), np.float64, len(heard))
    return np.column_stack([edits, np.fromiter(map(len, said), np.float64, len(heard))])


def _rate(sums: Rows) -> NDArray[np.float64]:
    """Edits over reference length; without a reference word there is no rate, whatever was heard."""
    length = sums[..., 1]
    return np.asarray(np.divide(sums[..., 0], length, out=np.full(np.shape(length), np.nan), where=length > 0))


WER = Metric(
    name="wer",
    title="WER",
    summary="Word error rate: substitutions, deletions and insertions per word of the reference; may exceed 1",
    citation=MORRIS,
    family="speech",
    statistics=word_statistics,
    reduce=_rate,
    range=NOT_NEGATIVE,
    best="low",
    columns=WORD_COLUMNS,
    unit="utterance",
)
CER = Metric(
    name="cer",
    title="CER",
    summary="Character error rate: substitutions, deletions and insertions per character of the reference, with spaces",
    citation=LEVENSHTEIN + "; " + MORRIS,
    family="speech",
    statistics=character_statistics,
    reduce=_rate,
    range=NOT_NEGATIVE,
    best="low",
    columns=CHARACTER_COLUMNS,
    unit="utterance",
)


def _match_errors(sums: Rows) -> NDArray[np.float64]:
    """Edits over everything that was aligned."""
    hits, edits = sums[..., 0], sums[..., 1]
    return _share(edits, hits + edits)


def _information_kept(sums: Rows) -> NDArray[np.float64]:
    """The share of words said that were heard, times the share of words heard that were said."""
    hits = sums[..., 0]
    kept = _share(hits, sums[..., 2]) * np.nan_to_num(_share(hits, sums[..., 3]))
    return np.asarray(kept)


def _information_lost(sums: Rows) -> NDArray[np.float64]:
    return np.asarray(1 - _information_kept(sums))


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))


SER = Metric(
    name="ser",
    title="SER",
    summary="Sentence error rate: the share of utterances with any word wrong",
    citation=SCTK,
    family="speech",
    statistics=sentence_statistics,
    reduce=_rate,
    range=SHARE,
    best="low",
    linear=True,
    proportion=True,
    interval="wilson",
    columns=("wrong", "utterances"),
    unit="utterance",
)
MER = Metric(
    name="mer",
    title="MER",
    summary="Match error rate: the share of aligned words that are wrong; at most 1",
    citation=MORRIS,
    family="speech",
    statistics=alignment_statistics,
    reduce=_match_errors,
    range=SHARE,
    best="low",
    columns=ALIGNED_COLUMNS,
    unit="utterance",
)
WIL = Metric(
    name="wil",
    title="WIL",
    summary="Word information lost: 1 minus word information preserved",
    citation=MORRIS,
    family="speech",
    statistics=alignment_statistics,
    reduce=_information_lost,
    range=SHARE,
    best="low",
    columns=ALIGNED_COLUMNS,
    unit="utterance",
)
WIP = Metric(
    name="wip",
    title="WIP",
    summary="Word information preserved: hits per reference word, times hits per recognized word",
    citation=MORRIS,
    family="speech",
    statistics=alignment_statistics,
    reduce=_information_kept,
    range=SHARE,
    columns=ALIGNED_COLUMNS,
    unit="utterance",
)
METRICS = (WER, CER, SER, MER, WIL, WIP)


def values(references: Sequence[str | Sequence[str]], answers: Sequence[str]) -> dict[str, float]:
    """WER and CER of some utterances, each with one reference or several.

    >>> values(["the cat sat", "yes"], ["the cat sat down", "yes"])
    {'wer': 0.25, 'cer': 0.35714285714285715}
    """
    block = Utterances([str(at) for at in range(len(answers))], list(_several(references)), answers)
    return {metric.name: metric.of(metric.statistics(block)) for metric in (WER, CER)}


def _several(references: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    for texts in references:
        yield [texts] if isinstance(texts, str) else texts
