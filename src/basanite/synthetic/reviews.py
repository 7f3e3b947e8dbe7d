"""Restaurant reviews with five ratings, in the shape of the published text task, for anyone who lacks its data (H-3).

The five ratings of a review are one draw of a Gaussian copula with J-shaped margins. Its sentences praise or blame an
aspect in words from a large pool of synonyms (used as often as Zipf's law says), sometimes by a negated opposite, by an
adjective that fits every noun, or by hearsay that has nothing to do with the rating. So a classifier that counts words
learns little from few labels, and the words that stand together in unlabelled reviews tell it more.

Rows are made in blocks with a seed of their own, so that row i is the same however many rows are asked for.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.synthetic import review_words as lexicon

BLOCK: Final = 4_308
RESTAURANTS: Final = 100
"""In each block: 43 reviews a restaurant on average, as published."""
SENTENCES: Final = 16
SHORTEST, LONGEST = 30, 750
COLUMNS: Final = ("id", "restaurant", "text", *lexicon.ASPECTS)

MARGINS: Final = (
    (0.035, 0.065, 0.150, 0.340, 0.410),
    (0.028, 0.050, 0.125, 0.335, 0.462),
    (0.030, 0.070, 0.180, 0.340, 0.380),
    (0.042, 0.069, 0.140, 0.320, 0.429),
    (0.070, 0.150, 0.280, 0.310, 0.190),
)
"""Shares of the ratings 1 to 5, by aspect."""
CORRELATIONS: Final = (
    (1.00, 0.72, 0.55, 0.68, 0.22),
    (0.72, 1.00, 0.45, 0.50, 0.15),
    (0.55, 0.45, 1.00, 0.42, 0.30),
    (0.68, 0.50, 0.42, 1.00, 0.18),
    (0.22, 0.15, 0.30, 0.18, 1.00),
)
"""Of the normal scores behind the ratings."""
SPOKEN_OF: Final = (0.17, 0.38, 0.14, 0.23, 0.08)
"""How often a sentence is about each aspect."""


@dataclass(frozen=True)
class Knobs:
    """How hard the reviews are: what share of sentences says nothing, or says it in a roundabout way."""

    filler: float = 0.20
    hearsay: float = 0.08
    generic: float = 0.20
    negation: float = 0.10
    zipf: float = 0.7
    doubt: float = 0.7
    """Spread of what a sentence says around what the rating says, in rating points."""
    turning: float = 3.3
    """The rating at which praise and blame are equally likely."""
    restaurant: float = 0.15
    """Share of a rating's variance that belongs to the restaurant."""
    length: float = 205.0
    spread: float = 0.55
    """Median and log deviation of the number of characters at which a review stops."""


STANDARD: Final = Knobs()


@dataclass(frozen=True)
class Review:
    """One review."""

    id: str
    restaurant: str
    text: str
    ratings: tuple[int, int, int, int, int]


def reviews(rows: int = 6_000, *, seed: int = 0, knobs: Knobs = STANDARD) -> Iterator[Review]:
    """The first `rows` reviews of a seed, one after the other.

    >>> [first] = reviews(1, seed=7)
    >>> 30 <= len(first.text) <= 750, first == next(reviews(9_000, seed=7))
    (True, True)
    """
    if rows < 0 or seed < 0:
        raise SettingError(f"{rows} rows of seed {seed} cannot be made: neither may be negative.")
    return islice(_endless(seed, knobs, rows), rows)


def write_reviews(path: Path, rows: int, seed: int = 0, *, knobs: Knobs = STANDARD) -> None:
    """Write reviews as CSV (or JSON lines, where the name ends in .jsonl): the same bytes for the same seed."""
    made = reviews(rows, seed=seed, knobs=knobs)
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix in (".jsonl", ".ndjson"):
            records = (
                {"id": one.id, "restaurant": one.restaurant, "text": one.text}
                | dict(zip(lexicon.ASPECTS, one.ratings, strict=True))
                for one in made
            )
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        elif path.suffix == ".csv":
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows((review.id, review.restaurant, review.text, *review.ratings) for review in made)
        else:
            raise SettingError(f"{path.name}: reviews are written to .csv or .jsonl files.")


def _endless(seed: int, knobs: Knobs, rows: int) -> Iterator[Review]:
    for block in range(-(-rows // BLOCK)):
        dice = np.random.default_rng([seed, block])
        houses = dice.choice(RESTAURANTS, BLOCK, p=_zipf(RESTAURANTS, 0.5))
        ratings = _ratings(houses, knobs, dice)
        said = _sentences(ratings, knobs, dice)
        for row, (house, rated) in enumerate(zip(houses.tolist(), ratings.tolist(), strict=True)):
            number = block * BLOCK + row
            yield Review(f"r{number:06}", f"h{block * RESTAURANTS + house:05}", said.text(row), tuple(rated))


def _ratings(houses: NDArray[np.int64], knobs: Knobs, dice: np.random.Generator) -> NDArray[np.int64]:
    """One draw of the copula for every row; a part of its variance is shared by a restaurant's reviews."""
    root = np.linalg.cholesky(np.array(CORRELATIONS))
    own, shared = dice.standard_normal((len(houses), 5)), dice.standard_normal((RESTAURANTS, 5))
    scores = (np.sqrt(1 - knobs.restaurant) * own + np.sqrt(knobs.restaurant) * shared[houses]) @ root.T
    columns = [1 + np.searchsorted(_cuts(share), scores[:, place]) for place, share in enumerate(MARGINS)]
    return np.stack(columns, axis=1)


@cache
def _cuts(shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Where a normal score passes from one rating to the next."""
    return np.array([NormalDist().inv_cdf(share) for share in np.cumsum(shares)[:-1]])


@cache
def _zipf(size: int, exponent: float) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def _ranks(size: int, exponent: float, die: NDArray[np.float64]) -> NDArray[np.int64]:
    """A die as the rank of a word: rank r comes up as often as r ** -exponent."""
    return np.minimum(np.searchsorted(np.cumsum(_zipf(size, exponent)), die), size - 1)


FILLER, HEARSAY, GENERIC, NEGATED, PLAIN = range(5)


@dataclass(frozen=True)
class _Said:
    """The dice of a block as lists: the kind, aspect, side, word and noun of every sentence, and when to stop."""

    kind: Sequence[Sequence[int]]
    aspect: Sequence[Sequence[int]]
    praise: Sequence[Sequence[bool]]
    dice: Sequence[Sequence[Sequence[int]]]
    """Word, noun and turn of phrase."""
    stop: Sequence[float]

    def text(self, row: int) -> str:
        """The review of one row: sentences until it is long enough, and none that makes it too long."""
        parts, length = [], 0
        for said in zip(self.kind[row], self.aspect[row], self.praise[row], self.dice[row], strict=True):
            part = _sentence(*said)
            if length + len(part) > LONGEST:
                break
            parts.append(part)
            length += len(part) + 1
            if length >= self.stop[row]:
                break
        return " ".join(parts)


def _sentences(ratings: NDArray[np.int64], knobs: Knobs, dice: np.random.Generator) -> _Said:
    """Throw all dice of a block at once; how many rows are asked for does not matter to them."""
    size = (len(ratings), SENTENCES)
    kind = _kinds(size, knobs, dice)
    aspect = np.searchsorted(np.cumsum(SPOKEN_OF)[:-1], dice.random(size))
    opinion = np.take_along_axis(ratings, aspect, axis=1) + knobs.doubt * dice.standard_normal(size)
    praise = np.where(kind == HEARSAY, dice.random(size) < 0.5, opinion > knobs.turning)
    words, die = _words(aspect, praise, kind, knobs, dice), dice.random(size)
    nouns = np.choose(aspect, [_ranks(len(nouns), 0.8, die) for nouns in _nouns_of()])
    numbers = np.stack([words, nouns, dice.integers(0, 1 << 30, size)], axis=-1)
    stop = np.clip(knobs.length * np.exp(knobs.spread * dice.standard_normal(len(ratings))), SHORTEST + 1, LONGEST - 60)
    return _Said(kind.tolist(), aspect.tolist(), praise.tolist(), numbers.tolist(), stop.tolist())


def _kinds(size: tuple[int, int], knobs: Knobs, dice: np.random.Generator) -> NDArray[np.int64]:
    """The kind of every sentence; the first one always speaks of something."""
    own = 1 - knobs.filler - knobs.hearsay
    bounds = np.cumsum([knobs.filler, knobs.hearsay, own * knobs.generic, own * knobs.negation])
    kind = np.searchsorted(bounds, dice.random(size))
    kind[:, 0] = np.where(kind[:, 0] == FILLER, PLAIN, kind[:, 0])
    return kind


def _words(
    aspect: NDArray[np.int64],
    praise: NDArray[np.bool_],
    kind: NDArray[np.int64],
    knobs: Knobs,
    dice: np.random.Generator,
) -> NDArray[np.int64]:
    """The rank of each sentence's word in its pool; a negated sentence takes its word from the other side."""
    die = dice.random(aspect.shape)
    side = praise ^ (kind == NEGATED)
    found = np.zeros(aspect.shape, np.int64)
    for place in range(5):
        for good in (False, True):
            at = (aspect == place) & (side == good)
            found[at] = _ranks(len(_pool(place, good).words), knobs.zipf, die[at])
    at = kind == GENERIC
    found[at] = np.where(praise[at], *(_ranks(len(words), 0.8, die[at]) for words in _generic()))
    return found


@cache
def _pool(aspect: int, praise: bool) -> lexicon.Pool:
    return lexicon.pool(lexicon.ASPECTS[aspect], praise=praise)


@cache
def _generic() -> tuple[tuple[str, ...], tuple[str, ...]]:
    praise, blame = (lexicon.words(text) for text in lexicon.GENERIC)
    return praise, blame


@cache
def _nouns_of() -> tuple[tuple[str, ...], ...]:
    return tuple(lexicon.words(lexicon.NOUNS[aspect]) for aspect in lexicon.ASPECTS)


def _sentence(kind: int, aspect: int, praise: bool, dice: Sequence[int]) -> str:
    """One sentence of a kind about an aspect."""
    word, noun, turn = dice
    named = _nouns_of()[aspect][noun]
    if kind == FILLER:
        return _filler(turn)
    if kind == GENERIC:
        return _phrase(lexicon.SAID["adjective"], turn, named, _generic()[not praise][word])
    pool = _pool(aspect, praise ^ (kind == NEGATED))
    if kind == HEARSAY:
        while pool.forms[word] != "adjective":  # the nearest one at or before this rank
            word -= 1
        return f"{lexicon.WHOSE[turn % len(lexicon.WHOSE)]} {named} was {pool.words[word]}."
    return _phrase(_turns(kind, aspect, pool.forms[word]), turn, named, pool.words[word])


def _turns(kind: int, aspect: int, form: str) -> Sequence[str]:
    """The turns of phrase that a form of word can stand in."""
    if kind == NEGATED:
        return lexicon.NEGATED[form]
    return lexicon.DONE[lexicon.ASPECTS[aspect]] if form == "adverb" else lexicon.SAID[form]


def _phrase(templates: Sequence[str], turn: int, noun: str, word: str) -> str:
    text = templates[turn % len(templates)].format(noun=noun, word=word)
    return text.replace(f" a {word}", f" an {word}") if word[0] in "aeiou" else text


@cache
def _filler_words() -> dict[str, tuple[str, ...]]:
    return {name: lexicon.words(text) for name, text in lexicon.FILLED.items()}


def _filler(turn: int) -> str:
    """A sentence that says nothing about any rating."""
    words = {name: pool[(turn >> 5) % len(pool)] for name, pool in _filler_words().items()}
    dishes = _nouns_of()[1]
    text = lexicon.FILLERS[turn % len(lexicon.FILLERS)].format(
        **words, dish=dishes[(turn >> 8) % len(dishes)], dish2=dishes[(turn >> 14) % len(dishes)]
    )
    return text[0].upper() + text[1:]
