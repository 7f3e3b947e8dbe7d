"""ROUGE of summaries: n-grams and longest common subsequences that they share with those of people (T-21).

Values are those of the package rouge-score: words are runs of the letters a to z and of digits in lower case, stemmed
by Porter's algorithm if asked for; of several references the one with the best F counts, for each measure apart.

The longest common subsequence of two sentences is found with a row of bits for each word of the reference (Hyyrö 2004):
a zero bit at j says that the subsequence grows by one where word j is taken in, so counting zeros gives the table of
lengths, and the way back through it takes the same turns as the package's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from basanite.kernel import SHARE, Metric, Rows, column_ratio

LIN = "Lin, ROUGE: a package for automatic evaluation of summaries, ACL workshop 2004"
SHORTEST_STEMMED: Final = 4
"""Letters of a word from which on it is stemmed."""
MEASURES: Final = ("rouge1", "rouge2", "rouge_l", "rouge_lsum")
PARTS: Final = ("f", "precision", "recall")
COLUMNS: Final = (*(f"{name}_{part}" for name in MEASURES for part in PARTS), "summaries")
_WORD: Final = re.compile(r"[a-z0-9]+")

Words: TypeAlias = Sequence[str]
Shares: TypeAlias = tuple[float, float, float]
"""F, precision and recall."""
NOTHING: Final[Shares] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Summaries:
    """Texts with a system's summary and those of people; lines are sentences."""

    units: Sequence[str]
    answers: Sequence[str]
    references: Sequence[Sequence[str]]


def rouge_words(text: str) -> list[str]:
    """The words of a text as rouge-score finds them.

    >>> rouge_words("Dogs aren't 2 cats.")
    ['dogs', 'aren', 't', '2', 'cats']
    """
    return _WORD.findall(text.lower())


def stemmed_words(text: str) -> list[str]:
    """The same words without their endings, if they have four letters or more.

    >>> stemmed_words("Dogs running to cities")
    ['dog', 'run', 'to', 'citi']
    """
    return [_stem(word) if len(word) >= SHORTEST_STEMMED else word for word in rouge_words(text)]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer  # here, because it is slow to load

    return PorterStemmer()


TOKENISERS: Final[dict[str, Callable[[str], list[str]]]] = {
    "rouge": rouge_words,
    "stems": stemmed_words,
    "none": str.split,
}


def _shares(common: float, given: int, wanted: int) -> Shares:
    """F, precision and recall of what two sides have in common."""
    precision, recall = common / max(given, 1), common / max(wanted, 1)
    return (2 * precision * recall / (precision + recall) if common else 0.0), precision, recall


def _gram_shares(given: Words, wanted: Words, order: int) -> Shares:
    ours, theirs = (Counter(zip(*(words[at:] for at in range(order)), strict=False)) for words in (given, wanted))
    return _shares(sum((ours & theirs).values()), ours.total(), theirs.total())


def _sequence_shares(given: Words, wanted: Words) -> Shares:
    """ROUGE-L: the longest sequence of words that both texts have in this order."""
    from rapidfuzz.distance import LCSseq

    return _shares(LCSseq.similarity(given, wanted), len(given), len(wanted))


def _summary_shares(given: Sequence[Words], wanted: Sequence[Words]) -> Shares:
    """ROUGE-Lsum: for each sentence of the reference the union of what it shares with every sentence of the summary.

    No word counts more often than it stands on either side, as in ROUGE 1.5.5.
    """
    left, known = Counter(chain.from_iterable(given)), Counter(chain.from_iterable(wanted))
    common = 0
    for sentence in wanted:
        places = sorted(set().union(*(_shared_places(sentence, other) for other in given)))
        for word in (sentence[at] for at in places):
            if left[word] > 0 and known[word] > 0:
                common += 1
                left[word] -= 1
                known[word] -= 1
    return _shares(common, sum(map(len, given)), sum(map(len, wanted)))


def _shared_places(sentence: Words, other: Words) -> Iterator[int]:
    """Where the words of a longest common subsequence stand in a sentence, from its end.

    Of several such subsequences it is the one that is found by stepping back in the sentence before the other text.
    """
    if not other:
        return
    rows = _rows_of_bits(sentence, other)
    at, place = len(sentence), len(other)
    while at and place:
        if sentence[at - 1] == other[place - 1]:
            yield at - 1
            at, place = at - 1, place - 1
        elif _length(rows[at], place - 1) > _length(rows[at - 1], place):
            place -= 1
        else:
            at -= 1


def _rows_of_bits(sentence: Words, other: Words) -> list[int]:
    """Before and after each word of the sentence, where the common subsequence with the other text grows (zeros)."""
    whole = (1 << len(other)) - 1
    places: dict[str, int] = {}
    for at, word in enumerate(other):
        places[word] = places.get(word, 0) | 1 << at
    row, rows = whole, [whole]
    for word in sentence:
        found = row & places.get(word, 0)
        row = ((row + found) | (row - found)) & whole
        rows.append(row)
    return rows


def _length(row: int, place: int) -> int:
    """How long the common subsequence is with the first words of the other text."""
    return (~row & ((1 << place) - 1)).bit_count()


def _scores(answer: str, reference: str, words: Callable[[str], list[str]]) -> tuple[Shares, ...]:
    """The four measures of one summary with one reference."""
    given, wanted = words(answer), words(reference)
    if not given or not wanted:
        return (NOTHING,) * len(MEASURES)
    sentences, others = ([words(line) for line in text.split("\n")] for text in (answer, reference))
    grams = (_gram_shares(given, wanted, order) for order in (1, 2))
    return *grams, _sequence_shares(given, wanted), _summary_shares(sentences, others)


def rouge_rows(block: Summaries, *, tokenise: str = "rouge") -> Rows:
    """What each summary contributes: F, precision and recall of each measure with its best reference, and 1."""
    words = TOKENISERS[tokenise]
    rows = np.ones((len(block.units), len(COLUMNS)))
    for row, answer, references in zip(rows, block.answers, block.references, strict=True):
        scores = [_scores(answer, reference, words) for reference in references]
        best = [max(of_measure, key=lambda shares: shares[0]) for of_measure in zip(*scores, strict=True)]
        row[:-1] = list(chain.from_iterable(best))
    return rows


def _of(name: str, title: str, summary: str) -> Metric:
    """The mean F of a measure."""
    top, bottom = COLUMNS.index(f"{name}_f"), len(COLUMNS) - 1
    return Metric(
        name=name,
        title=title,
        summary=summary,
        citation=LIN,
        family="summaries",
        statistics=rouge_rows,
        reduce=partial(column_ratio, top=top, bottom=bottom),
        range=SHARE,
        columns=COLUMNS,
        unit="summary",
        linear=True,
    )


ROUGE_1 = _of("rouge1", "ROUGE-1", "Mean F1 of the unigrams that a summary shares with its best reference")
ROUGE_2 = _of("rouge2", "ROUGE-2", "Mean F1 of the bigrams that a summary shares with its best reference")
ROUGE_L = replace(
    _of("rouge_l", "ROUGE-L", "Mean F1 of the longest common subsequence of a summary and its best reference"),
    shared_name=True,
)
ROUGE_LSUM = _of(
    "rouge_lsum",
    "ROUGE-Lsum",
    "The same by sentence: what each sentence of the reference shares with any sentence of the summary",
)
METRICS: Final = (ROUGE_1, ROUGE_2, ROUGE_L, ROUGE_LSUM)


def rouge(answer: str, references: Sequence[str], *, tokenise: str = "rouge") -> dict[str, float]:
    """The F of each measure of one summary; sentences stand on lines of their own.

    >>> {name: round(value, 4) for name, value in rouge("the cat sat", ["a cat sat down", "the dog"]).items()}
    {'rouge1': 0.5714, 'rouge2': 0.4, 'rouge_l': 0.5714, 'rouge_lsum': 0.5714}
    """
    row = rouge_rows(Summaries(("",), (answer,), (references,)), tokenise=tokenise)[0]
    return {metric.name: float(row[COLUMNS.index(f"{metric.name}_f")]) for metric in METRICS}
