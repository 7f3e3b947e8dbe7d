"""Tags of words and the entities they mark: precision, recall and F1 as seqeval counts them, and word senses.

Entities are read from tags in two ways. By default an entity goes on while its tags do, whatever the first one is (as
conlleval and seqeval do it); strictly, tags count only where their scheme allows them in this order (as seqeval does
with `mode="strict"`). An entity is right if its first word, last word and type are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, LevelRows, Metric, Rows, column_ratio, ratio

Floats = NDArray[np.float64]

SANG: Final = (
    "Tjong Kim Sang and De Meulder, Introduction to the CoNLL-2003 Shared Task: Language-Independent Named Entity "
    "Recognition, CoNLL-2003; rules of seqeval (Nakayama, 2018); word senses as Raganato et al., Word Sense "
    "Disambiguation: A Unified Evaluation Framework and Empirical Comparison, EACL 2017"
)
OUTSIDE: Final = "O"
NOTHING: Final = frozenset({"O", "_", "-"})
"""Labels that mark no word, where each word has a label of its own."""
LABELS: Final = "labels"
"""The scheme in which each word has a label of its own: parts of speech, senses."""
STRANGE: Final = "(not in the reference)"
TAG: Final = re.compile(r"O|[BIESLU](-.*)?")

WHOLE: Final = ("tokens", "right_tags", "gold", "answered", "right", "strict_gold", "strict_answered", "strict_right")
"""What a sentence contributes; `TYPE_COLUMNS` of each type of entity follow."""
TYPE_COLUMNS: Final = WHOLE[2:]
GOLD, ANSWERED, RIGHT = range(3)
FIRST, STRICT = 2, 5
"""Where the counts of entities begin in a row, by default and strictly."""

Entity = tuple[int, int, str]
"""The first word, the word after the last one, and the type."""

Pattern = tuple[str, str, bool | None]
"""Tags of the word before and of this one, and whether their types are the same; None for either."""
ANY: Final = "BIESLUO"


@dataclass(frozen=True)
class Scheme:
    """Which tags there are, and in which order they begin, go on with, and end an entity."""

    tags: str
    begins: tuple[Pattern, ...]
    goes_on: tuple[Pattern, ...]
    ends: tuple[Pattern, ...]


SCHEMES: Final[Mapping[str, Scheme]] = {
    "IOB1": Scheme(
        "IOB",
        (("O", "I", None), ("I", "I", False), ("B", "I", None), ("I", "B", True), ("B", "B", True)),
        (("BI", "I", True),),
        (("I", "I", False), ("I", "OB", None), ("B", "O", None), ("B", "I", False), ("B", "B", True)),
    ),
    "IOB2": Scheme(
        "IOB",
        ((ANY, "B", None),),
        (("BI", "I", True),),
        (("BI", "OB", None), ("BI", "I", False)),
    ),
    "IOE1": Scheme(
        "IOE",
        (("O", "I", None), ("I", "I", False), ("E", "I", None), ("E", "E", True)),
        (("I", "IE", True),),
        (("I", "I", False), ("I", "O", None), ("I", "E", False), ("E", "IE", True)),
    ),
    "IOE2": Scheme(
        "IOE",
        (("O", "IE", None), ("E", "IE", None), ("I", "IE", False)),
        (("I", "IE", True),),
        (("E", ANY, None),),
    ),
    "IOBES": Scheme("IOBES", ((ANY, "BS", None),), (("BI", "IE", True),), (("SE", ANY, None),)),
    "BILOU": Scheme("BILOU", ((ANY, "BU", None),), (("BI", "IL", True),), (("UL", ANY, None),)),
}
"""The schemes of seqeval, by their names there."""


def split_tag(tag: str) -> tuple[str, str]:
    """The letter and the type of a tag.

    >>> split_tag("B-PER"), split_tag("O"), split_tag("I")
    (('B', 'PER'), ('O', '_'), ('I', '_'))
    """
    return tag[:1], tag[1:].removeprefix("-") or "_"


def entities(tags: Sequence[str]) -> set[Entity]:
    """The entities of a sentence as conlleval reads them: letters L and U stand for E and S.

    >>> sorted(entities(["I-PER", "I-PER", "O", "B-LOC", "B-LOC"]))
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    """
    found: set[Entity] = set()
    before, kind, begin = OUTSIDE, "", 0
    for at, tag in enumerate((*tags, OUTSIDE)):
        letter, what = split_tag(tag)
        letter = {"L": "E", "U": "S"}.get(letter, letter)
        other = kind != what
        if before != OUTSIDE and (before in "ES" or letter in "BSO" or other):
            found.add((begin, at, kind))
        if letter != OUTSIDE and (letter in "BS" or before in "ESO" or other):
            begin = at
        before, kind = letter, what
    return found


def strict_entities(tags: Sequence[str], scheme: Scheme) -> set[Entity]:
    """The entities whose tags stand in an order that the scheme allows.

    >>> sorted(strict_entities(["I-PER", "I-PER", "O", "B-LOC", "I-LOC"], SCHEMES["IOB2"]))
    [(3, 5, 'LOC')]
    """
    pairs = [*map(split_tag, tags), split_tag(OUTSIDE)]
    found: set[Entity] = set()
    at, before = 0, split_tag(OUTSIDE)
    while at < len(pairs):
        end = at + 1
        if _fits(scheme.begins, before, pairs[at]):
            while end < len(pairs) and _fits(scheme.goes_on, pairs[end - 1], pairs[end]):
                end += 1
            if end < len(pairs) and _fits(scheme.ends, pairs[end - 1], pairs[end]):
                found.add((at, end, pairs[at][1]))
        at, before = end, pairs[end - 1]
    return found


def _fits(patterns: Sequence[Pattern], before: tuple[str, str], now: tuple[str, str]) -> bool:
    return any(
        before[0] in one and now[0] in other and (same is None or same == (before[1] == now[1]))
        for one, other, same in patterns
    )


def scheme_of(sentences: Sequence[Sequence[str]]) -> str:
    """The scheme that tags show: by their letters; with B and I alone IOB1 if an entity begins with I.

    >>> scheme_of([["B-PER", "I-PER", "O"]]), scheme_of([["O", "I-PER"]]), scheme_of([["U-PER"]]), scheme_of([["NN"]])
    ('IOB2', 'IOB1', 'BILOU', 'labels')
    """
    tags = {tag for sentence in sentences for tag in sentence}
    letters = {tag[0] for tag in tags}
    if not all(map(TAG.fullmatch, tags)) or letters <= {OUTSIDE}:
        return LABELS if letters - {OUTSIDE} else "IOB2"
    if letters & set("LU"):
        return "BILOU"
    if "S" in letters or {"B", "E"} <= letters:
        return "IOBES"
    if "E" in letters:
        return "IOE2"
    return "IOB1" if any(map(_begins_inside, sentences)) else "IOB2"


def _begins_inside(tags: Sequence[str]) -> bool:
    pairs = map(split_tag, (OUTSIDE, *tags))
    return any(now[0] == "I" and (before[0] == OUTSIDE or before[1] != now[1]) for before, now in pairwise(pairs))


Counts = Mapping[str, Sequence[float]]
"""By type what a sentence contributes: `TYPE_COLUMNS`."""


class Block(Protocol):
    """Sentences, or single words, of a reference and an answer."""

    @property
    def types(self) -> Sequence[str]:
        """The types of the reference, in the order of their columns."""

    def contributions(self) -> Iterator[tuple[float, float, Counts]]:
        """Of each unit the words, those with the right tag, and the counts of each type."""


@dataclass(frozen=True)
class Tagged:
    """Sentences as the tags of their words."""

    gold: Sequence[Sequence[str]]
    answers: Sequence[Sequence[str]]
    scheme: str
    types: Sequence[str]

    def contributions(self) -> Iterator[tuple[float, float, Counts]]:
        """Of each sentence the words, those with the right tag, and the entities of each type."""
        for gold, answers in zip(self.gold, self.answers, strict=True):
            counts: dict[str, list[float]] = {}
            for offset, read in ((0, self._entities), (3, self._strictly)):
                ours, theirs = read(gold), read(answers)
                for column, found in ((GOLD, ours), (ANSWERED, theirs), (RIGHT, ours & theirs)):
                    for _, _, kind in found:
                        counts.setdefault(kind, [0] * len(TYPE_COLUMNS))[offset + column] += 1
            yield len(gold), sum(one == other for one, other in zip(gold, answers, strict=True)), counts

    def _entities(self, tags: Sequence[str]) -> set[Entity]:
        if self.scheme == LABELS:
            return {(at, at + 1, tag) for at, tag in enumerate(tags) if tag not in NOTHING}
        return entities(tags)

    def _strictly(self, tags: Sequence[str]) -> set[Entity]:
        return self._entities(tags) if self.scheme == LABELS else strict_entities(tags, SCHEMES[self.scheme])


@dataclass(frozen=True)
class Senses:
    """Words with the senses that are right and those that were given; none, if there is no answer."""

    gold: Sequence[frozenset[str]]
    answers: Sequence[frozenset[str]]
    kinds: Sequence[str]
    """The part of speech of each word, which is its type."""
    types: Sequence[str]

    def contributions(self) -> Iterator[tuple[float, float, Counts]]:
        """One word each; of several senses given, each is worth its share."""
        for gold, answers, kind in zip(self.gold, self.answers, self.kinds, strict=True):
            right = len(gold & answers) / len(answers) if answers else 0.0
            counts = [1.0, float(bool(answers)), right]
            yield 1, right, {kind: [*counts, *counts]}


def statistics(block: Block) -> Rows:
    """One row for each unit: `WHOLE`, then `TYPE_COLUMNS` of each type and of all types that the reference lacks."""
    place = {name: at for at, name in enumerate(block.types)}
    width = len(WHOLE) + len(TYPE_COLUMNS) * (len(place) + 1)
    rows: list[Floats] = []
    for tokens, right, counts in block.contributions():
        row = np.zeros(width)
        row[0], row[1] = tokens, right
        for kind, found in counts.items():
            begin = len(WHOLE) + len(TYPE_COLUMNS) * place.get(kind, len(place))
            row[begin : begin + len(TYPE_COLUMNS)] += found
        row[FIRST : len(WHOLE)] = row[len(WHOLE) :].reshape(-1, len(TYPE_COLUMNS)).sum(axis=0)
        rows.append(row)
    return np.array(rows).reshape(-1, width)


def type_rows(block: Block, rows: Rows) -> dict[str, LevelRows]:
    """For each type of the reference the sentences that have an entity of it on either side."""
    found = {}
    for at, name in enumerate(block.types):
        begin = len(WHOLE) + len(TYPE_COLUMNS) * at
        index = np.flatnonzero(rows[:, begin : begin + len(TYPE_COLUMNS)].any(axis=1))
        level = np.zeros((len(index), rows.shape[1]))
        level[:, FIRST : len(WHOLE)] = rows[index, begin : begin + len(TYPE_COLUMNS)]
        found[name] = LevelRows(index, level)
    return found


def precision_of(counts: Rows) -> Floats:
    """What is right over what was answered."""
    return ratio(counts[..., RIGHT], counts[..., ANSWERED])


def recall_of(counts: Rows) -> Floats:
    """What is right over what there is."""
    return ratio(counts[..., RIGHT], counts[..., GOLD])


def f1_of(counts: Rows) -> Floats:
    """The harmonic mean of both."""
    return ratio(2 * counts[..., RIGHT], counts[..., ANSWERED] + counts[..., GOLD])


VALUES: Final = {"precision": precision_of, "recall": recall_of, "f1": f1_of}
TITLES: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
WORDS: Final = {
    "precision": "Share of the predicted entities or senses that are correct",
    "recall": "Share of the entities or senses of the reference that were found",
    "f1": "Harmonic mean of precision and recall",
}


def _micro(sums: Rows, value: str, first: int) -> Floats:
    return VALUES[value](sums[..., first : first + 3])


def _macro(sums: Rows, value: str, first: int, undefined: float = 0.0) -> Floats:
    counts = sums[..., len(WHOLE) :]
    counts = counts.reshape(*counts.shape[:-1], -1, len(TYPE_COLUMNS))[..., first - FIRST : first - FIRST + 3]
    occurs = (counts[..., GOLD] + counts[..., ANSWERED]) > 0
    values = VALUES[value](counts)
    values = np.where(occurs & np.isnan(values), undefined, values)
    there = ~np.isnan(values)
    return ratio(np.where(there, values, 0).sum(axis=-1), there.sum(axis=-1).astype(np.float64))


def _metric(value: str, *, strict: bool = False, macro: bool = False) -> Metric:
    how = " of each type, as a mean over types" if macro else ""
    order = ", for tags in an order that their scheme allows" if strict else ""
    title = f"Strict {TITLES[value] if value == 'f1' else TITLES[value].lower()}" if strict else TITLES[value]
    return Metric(
        name=f"{'strict_' if strict else ''}{value}{'_macro' if macro else ''}",
        title=f"{title}{' (macro)' if macro else ''}",
        summary=f"{WORDS[value]}{how}{order}",
        citation=SANG,
        family="tagging",
        statistics=statistics,
        reduce=partial(_macro if macro else _micro, value=value, first=STRICT if strict else FIRST),
        range=SHARE,
        parameters=("undefined",) if macro else (),
        unit="sentence",
        by_item=not macro,
        shared_name=not strict,
    )


F1, PRECISION, RECALL = (_metric(value) for value in ("f1", "precision", "recall"))
F1_MACRO, PRECISION_MACRO, RECALL_MACRO = (_metric(value, macro=True) for value in ("f1", "precision", "recall"))
STRICT_F1, STRICT_PRECISION, STRICT_RECALL = (_metric(value, strict=True) for value in ("f1", "precision", "recall"))
STRICT_F1_MACRO = _metric("f1", strict=True, macro=True)
ACCURACY = replace(
    F1,
    name="accuracy",
    title="Tagging accuracy",
    summary="Share of words with the tag of the reference",
    reduce=partial(column_ratio, top=1, bottom=0),
    by_item=False,
)
METRICS = (
    *(F1, PRECISION, RECALL, F1_MACRO, PRECISION_MACRO, RECALL_MACRO),
    *(STRICT_F1, STRICT_PRECISION, STRICT_RECALL, STRICT_F1_MACRO, ACCURACY),
)
