"""Coreference: MUC, B-cubed, CEAF, BLANC and LEA of documents, as the reference scorers count them.

An entity is the mentions of one thing. Mentions of both sides that are the same have the same number; how many of them
each entity of one side shares with each of the other is all that the measures need. Every measure is a ratio of sums
over documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, Metric, Rows, ratio
from basanite.metrics.matching import best_matching

Floats = NDArray[np.float64]

PRADHAN: Final = (
    "Pradhan et al., Scoring Coreference Partitions of Predicted Mentions: A Reference Implementation, ACL 2014"
)
VILAIN: Final = "Vilain et al., A model-theoretic coreference scoring scheme, MUC-6 (1995)"
BAGGA: Final = (
    "Bagga and Baldwin, Algorithms for scoring coreference chains, LREC workshop on linguistic coreference (1998)"
)
LUO: Final = "Luo, On coreference resolution performance metrics, HLT-EMNLP 2005"
LUO_BLANC: Final = "Luo, Pradhan, Recasens and Hovy, An extension of BLANC to system mentions, ACL 2014"
MOOSAVI: Final = (
    "Moosavi and Strube, Which coreference evaluation metric do you trust? A proposal for a link-based entity aware "
    "metric, ACL 2016"
)

COLUMNS: Final = (
    *("mentions", "gold_mentions", "answered_mentions", "answered_once"),
    *("muc", "gold_muc", "answered_muc"),
    *("b3_recalled", "b3_precise", "ceafm", "ceafe", "gold_entities", "answered_entities"),
    *("linked", "gold_linked", "answered_linked", "apart", "gold_apart", "answered_apart"),
    *("lea_recalled", "lea_precise"),
)
"""What each document contributes."""
AT: Final = {name: at for at, name in enumerate(COLUMNS)}
PARTS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "muc": ("muc", "gold_muc", "muc", "answered_muc"),
    "b3": ("b3_recalled", "gold_mentions", "b3_precise", "answered_mentions"),
    "ceafm": ("ceafm", "gold_mentions", "ceafm", "answered_mentions"),
    "ceafe": ("ceafe", "gold_entities", "ceafe", "answered_entities"),
    "lea": ("lea_recalled", "gold_mentions", "lea_precise", "answered_mentions"),
    "mentions": ("mentions", "gold_mentions", "mentions", "answered_once"),
    "linked": ("linked", "gold_linked", "linked", "answered_linked"),
    "apart": ("apart", "gold_apart", "apart", "answered_apart"),
}
"""By measure the columns that recall and precision are ratios of."""

Entities = Sequence[Sequence[int]]
"""The mentions of each entity, by number; a mention of both sides is in one entity of each."""


@dataclass(frozen=True)
class Resolved:
    """Documents with the entities of the reference and of the answer."""

    gold: Sequence[Entities]
    answers: Sequence[Entities]


def statistics(block: Resolved) -> Rows:
    """One row of `COLUMNS` for each document."""
    rows = [document_row(gold, answers) for gold, answers in zip(block.gold, block.answers, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS))


def document_row(gold: Entities, answers: Entities) -> list[float]:
    """What one document contributes.

    >>> dict(zip(COLUMNS, document_row([[1, 2, 3]], [[1, 2], [3, 4]])))["muc"]
    1
    """
    ours, theirs = [len(one) for one in gold], [len(one) for one in answers]
    entity = {mention: at for at, one in enumerate(answers) for mention in one}
    shared = Counter((at, entity[mention]) for at, one in enumerate(gold) for mention in one if mention in entity)
    found, met = [0] * len(ours), [0] * len(theirs)
    for (at, other), number in shared.items():
        found[at] += number
        met[other] += number
    common = sum(found)
    linked = sum(map(_pairs, shared.values()))
    apart = _pairs(common) - sum(map(_pairs, found)) - sum(map(_pairs, met)) + linked
    everything = [(sum(sizes), sum(map(_pairs, sizes))) for sizes in (ours, theirs)]
    return [
        *(common, *(number for number, _ in everything), len({mention for one in answers for mention in one})),
        *(common - len(shared), *(sum(sizes) - len(sizes) for sizes in (ours, theirs))),
        sum(number * number / ours[at] for (at, _), number in shared.items()),
        sum(number * number / theirs[other] for (_, other), number in shared.items()),
        _best_total(shared),
        _best_total({(at, other): 2 * n / (ours[at] + theirs[other]) for (at, other), n in shared.items()}),
        *(len(ours), len(theirs)),
        *(linked, *(pairs for _, pairs in everything)),
        *(apart, *(_pairs(number) - pairs for number, pairs in everything)),
        _lea(shared, ours, theirs),
        _lea({(other, at): number for (at, other), number in shared.items()}, theirs, ours),
    ]


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


def _lea(shared: Mapping[tuple[int, int], int], sizes: Sequence[int], others: Sequence[int]) -> float:
    """The links of each entity that the other side has too, weighted by the entity's size; a singleton links itself."""
    total = 0.0
    for (at, other), number in shared.items():
        if sizes[at] > 1:
            total += sizes[at] * _pairs(number) / _pairs(sizes[at])
        elif others[other] == 1:
            total += 1
    return total


def _best_total(weights: Mapping[tuple[int, int], float]) -> float:
    """The largest sum of weights where each entity of one side is paired with at most one of the other.

    Entities that share no mention, by way of others either, never compete: each group of them is solved by itself.
    """
    ways: dict[int, set[int]] = defaultdict(set)
    back: dict[int, set[int]] = defaultdict(set)
    for at, other in weights:
        ways[at].add(other)
        back[other].add(at)
    total, left = 0.0, set(ways)
    while left:
        ours, theirs = _group(left.pop(), ways, back)
        left -= ours
        if len(ours) == 1 or len(theirs) == 1:
            total += max(weights[at, other] for at in ours for other in ways[at])
        else:
            total += _best_assignment(weights, sorted(ours), sorted(theirs))
    return total


def _group(first: int, ways: Mapping[int, set[int]], back: Mapping[int, set[int]]) -> tuple[set[int], set[int]]:
    ours, theirs, waiting = {first}, set[int](), [first]
    while waiting:
        new = ways[waiting.pop()] - theirs
        theirs |= new
        for other in new:
            waiting += back[other] - ours
            ours |= back[other]
    return ours, theirs


def _best_assignment(weights: Mapping[tuple[int, int], float], ours: Sequence[int], theirs: Sequence[int]) -> float:
    table = np.array([[weights.get((at, other), 0.0) for other in theirs] for at in ours])
    return float(table[best_matching(table)].sum())


def recall_of(sums: Rows, name: str) -> Floats:
    """What of the reference was found."""
    top, bottom, _, _ = PARTS[name]
    return ratio(sums[..., AT[top]], sums[..., AT[bottom]])


def precision_of(sums: Rows, name: str) -> Floats:
    """What of the answer is right."""
    _, _, top, bottom = PARTS[name]
    return ratio(sums[..., AT[top]], sums[..., AT[bottom]])


def f1_of(sums: Rows, name: str) -> Floats:
    """The harmonic mean; 0 where only one side has anything to count, undefined where neither has."""
    recall, precision = recall_of(sums, name), precision_of(sums, name)
    nowhere = np.isnan(recall) & np.isnan(precision)
    recall, precision = np.nan_to_num(recall), np.nan_to_num(precision)
    found = np.nan_to_num(ratio(2 * recall * precision, recall + precision))
    return np.where(nowhere, np.nan, found)


def conll_of(sums: Rows) -> Floats:
    """The mean of MUC, B-cubed and CEAF-e; a measure with nothing to count is 0 in it, as in the reference scorer."""
    three = np.stack([f1_of(sums, name) for name in ("muc", "b3", "ceafe")])
    return np.where(np.isnan(three).all(axis=0), np.nan, np.nan_to_num(three).sum(axis=0) / len(three))


def blanc_of(sums: Rows, value: str = "f1", either: bool = False) -> Floats:
    """The mean of the values of links inside entities and of links between them.

    One of them stands alone if the reference has no links of the other kind, or if neither side has any (`either`).
    """
    of = {"f1": f1_of, "recall": recall_of, "precision": precision_of}[value]
    values = np.stack([np.nan_to_num(of(sums, name)) for name in ("linked", "apart")])
    kinds = [sums[..., AT[f"gold_{name}"]] + either * sums[..., AT[f"answered_{name}"]] for name in ("linked", "apart")]
    there = np.stack(kinds) > 0
    return ratio((values * there).sum(axis=0), there.sum(axis=0).astype(np.float64))


def _metric(name: str, title: str, summary: str, citation: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        summary=summary,
        citation=citation,
        family="coreference",
        statistics=statistics,
        reduce=partial(f1_of, name=name),
        range=SHARE,
        columns=COLUMNS,
        unit="document",
    )


CONLL = replace(_metric("conll", "CoNLL mean", "Mean of the F1 of MUC, B-cubed and CEAF-e", PRADHAN), reduce=conll_of)
MUC = _metric("muc", "MUC", "F1 of the minimal links that form the entities", VILAIN)
B3 = _metric("b3", "B-cubed", "F1 over mentions, by the overlap of their entities", BAGGA)
CEAFM = _metric("ceafm", "CEAF-m", "F1 of mentions in entities that are paired one to one", LUO)
CEAFE = _metric("ceafe", "CEAF-e", "F1 of the similarity of entities that are paired one to one", LUO)
BLANC = replace(
    _metric("blanc", "BLANC", "Mean F1 of links inside entities and of links between entities", LUO_BLANC),
    reduce=blanc_of,
    parameters=("either",),
)
LEA = _metric("lea", "LEA", "F1 of the links of each entity, weighted by its size", MOOSAVI)
MENTIONS = _metric("mentions", "Mentions", "F1 of mentions, whatever entity they are in", PRADHAN)
METRICS = (CONLL, MUC, B3, CEAFM, CEAFE, BLANC, LEA, MENTIONS)


def shares_of(rows: Rows, name: str, *, either: bool = False) -> dict[str, float]:
    """Precision and recall of a measure over all documents, where they are defined."""
    total = rows.sum(axis=0)
    if name == "conll":
        return {}
    blanc = name == "blanc"
    found = {
        "precision": float(blanc_of(total, "precision", either) if blanc else precision_of(total, name)),
        "recall": float(blanc_of(total, "recall", either) if blanc else recall_of(total, name)),
    }
    return {key: value for key, value in found.items() if not np.isnan(value)}
