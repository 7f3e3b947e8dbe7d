"""Speech metrics: word and character error rate, from edit distances that rapidfuzz finds and we sum.

The rate of many utterances is all their edits over all words (or characters) of their references, never the mean of
rates. Words are what stands between white space, so several spaces are as good as one; characters are code points,
spaces among them counted, those at the ends not. Nothing is folded here: what shall not matter is taken away before,
by a normaliser that the user names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, Metric, Rows
from basanite.metrics.text.speech_alignment import AlignmentCounts, counts_of

MORRIS = (
    "Morris, Maier and Green, From WER and RIL to MER and WIL: improved evaluation measures for connected speech "
    "recognition, Interspeech 2004"
)
LEVENSHTEIN = "Levenshtein, Binary codes capable of correcting deletions, insertions and reversals, 1966"

Pieces: TypeAlias = Sequence[str]
"""The words of an utterance, or its characters: a list of words, or a text."""

WORD_COLUMNS = ("edits", "reference_words")
CHARACTER_COLUMNS = ("edits", "reference_characters")


@dataclass(frozen=True)
class Utterances:
    """What was said, by one or more transcribers, and what the system heard."""

    units: Sequence[str]
    references: Sequence[Sequence[str]]
    answers: Sequence[str]

    @cached_property
    def words(self) -> Aligned:
        """Both sides as words."""
        return _aligned(self.references, self.answers, str.split)

    @cached_property
    def characters(self) -> Aligned:
        """Both sides as characters, without white space at the ends."""
        return _aligned(self.references, self.answers, str.strip)


@dataclass(frozen=True)
class Aligned:
    """Pieces to be compared: of every utterance the reference that counts, and the answer."""

    references: Sequence[Pieces]
    answers: Sequence[Pieces]

    @cached_property
    def counts(self) -> AlignmentCounts:
        """Hits, substitutions, deletions and insertions of all utterances together."""
        return sum(map(counts_of, self.references, self.answers), AlignmentCounts())


def _aligned(references: Sequence[Sequence[str]], answers: Sequence[str], pieces: Callable[[str], Pieces]) -> Aligned:
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
    return _rows(block.words)


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
METRICS = (WER, CER)


def values(references: Sequence[str | Sequence[str]], answers: Sequence[str]) -> dict[str, float]:
    """WER and CER of some utterances, each with one reference or several.

    >>> values(["the cat sat", "yes"], ["the cat sat down", "yes"])
    {'wer': 0.25, 'cer': 0.35714285714285715}
    """
    block = Utterances([str(at) for at in range(len(answers))], list(_several(references)), answers)
    return {metric.name: metric.of(metric.statistics(block)) for metric in METRICS}


def _several(references: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    for texts in references:
        yield [texts] if isinstance(texts, str) else texts
