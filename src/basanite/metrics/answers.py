"""Answers to queries against a gold standard: optimal one-to-one matching with partial credit, and F of any sum.

An entity is a set of strings (R-20). The credit of an answer's entity for a gold one is the share of its strings that
belong to the gold class, and nothing if another gold class holds more of them; aliases that are missing cost nothing
(S-4). A literal is right or wrong. Matching runs inside one query and document, so documents are additive units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Ends, Metric, Rows

LEAST = 0.5
"""A pair with less credit than this is no match (S-4)."""
SLACK = 1e-9

Bound: TypeAlias = frozenset[str] | str
"""What a variable stands for: an entity as its strings, or a literal."""
Bindings: TypeAlias = tuple[tuple[str, Bound], ...]
"""Variables with what they stand for, in the order of their names."""
Credit: TypeAlias = Callable[[frozenset[str], frozenset[str]], float]


def share(answer: frozenset[str], gold: frozenset[str]) -> float:
    """The share of the answer's strings that belong to the gold class: a missing alias costs nothing.

    >>> share(frozenset({"Jets", "New York"}), frozenset({"Jets", "NYJ", "New York Jets"}))
    0.5
    """
    return len(answer & gold) / len(answer) if answer else 0.0


def dice(answer: frozenset[str], gold: frozenset[str]) -> float:
    """Twice the shared strings over all strings of both: missing aliases cost as much as wrong ones.

    >>> dice(frozenset({"Jets"}), frozenset({"Jets", "NYJ", "New York Jets"}))
    0.5
    """
    return 2 * len(answer & gold) / (len(answer) + len(gold)) if answer or gold else 0.0


CREDITS: Mapping[str, Credit] = {"share": share, "dice": dice}


@dataclass(frozen=True)
class Match:
    """An answer (by place) and the gold answer it was given to, with its credit."""

    answer: int
    gold: int
    credit: float


def match(answers: Sequence[Bindings], gold: Sequence[Bindings], credit: Credit = share) -> list[Match]:
    """The one-to-one matching with the most credit; the same whatever the order of either side (R-20)."""
    golden = _stable_order(gold)
    given = credit_matrix(answers, [gold[at] for at in golden], credit)
    worth = np.flatnonzero(given.any(axis=1)).tolist()  # however many others there are, they cost nothing more
    if not worth:
        return []
    order = [worth[at] for at in _stable_order([answers[at] for at in worth])]
    matrix = given[order]
    from scipy.optimize import linear_sum_assignment  # here, because only machine reading needs it, and brings it

    rows, columns = linear_sum_assignment(matrix, maximize=True)
    found = [Match(order[r], golden[c], float(matrix[r, c])) for r, c in zip(rows, columns, strict=True)]
    return sorted((one for one in found if one.credit >= LEAST - SLACK), key=lambda one: one.answer)


def credit_matrix(answers: Sequence[Bindings], gold: Sequence[Bindings], credit: Credit = share) -> Rows:
    """The credit of every answer for every gold answer, `float64[answers, gold]`; less than a half is nothing."""
    index, found = GoldIndex(gold), np.zeros((len(answers), len(gold)))
    for row, answer in enumerate(answers):
        for column, value in index.candidates(answer, credit):
            found[row, column] = value
    return np.where(found >= LEAST - SLACK, found, 0.0)


class GoldIndex:
    """Gold answers by their literals and entities: an answer looks up the few it could have credit for."""

    def __init__(self, gold: Sequence[Bindings]) -> None:
        self.holders: dict[tuple[str, str], set[frozenset[str]]] = {}
        self.places: dict[Bindings, list[int]] = {}
        for place, bindings in enumerate(gold):
            self.places.setdefault(bindings, []).append(place)
            for name, bound in bindings:
                entity = bound if isinstance(bound, frozenset) else frozenset()
                for text in entity:
                    self.holders.setdefault((name, text), set()).add(entity)

    def candidates(self, answer: Bindings, credit: Credit) -> Iterator[tuple[int, float]]:
        """The gold answers whose literals are equal and whose entities no other entity beats, with the credit."""
        choices = [self._bounds(name, bound, credit) for name, bound in answer]
        for chosen in product(*choices):
            key = tuple((name, bound) for (name, _), (bound, _) in zip(answer, chosen, strict=True))
            entities = [value for bound, value in chosen if isinstance(bound, frozenset)]
            for place in self.places.get(key, ()):
                yield place, sum(entities) / len(entities) if entities else 1.0

    def _bounds(self, name: str, bound: Bound, credit: Credit) -> list[tuple[Bound, float]]:
        """A literal as it is, or the gold entities that hold most of an entity's strings (S-4), with their credit."""
        if isinstance(bound, str):
            return [(bound, 1.0)]
        held = Counter(entity for text in bound for entity in self.holders.get((name, text), ()))
        most = max(held.values(), default=0)
        return [(entity, credit(bound, entity)) for entity, count in held.items() if count == most]


def _stable_order(answers: Sequence[Bindings]) -> list[int]:
    """Places in an order that depends on the answers alone, so that ties are settled the same way every time."""
    keys = [[(name, sorted(b) if isinstance(b, frozenset) else [b]) for name, b in answer] for answer in answers]
    return sorted(range(len(answers)), key=keys.__getitem__)


KINDS = ("all", "explicit", "inferred")
SIDES = ("machine", "human")
COUNTS = ("credit", "exact", "answers", "gold")
COLUMNS = tuple(f"{side}_{count}_{kind}" for side in SIDES for kind in KINDS for count in COUNTS)


@dataclass(frozen=True)
class AnswerCounts:
    """What each document holds: credit, exact matches, answers and gold, of machine and human, by kind."""

    units: tuple[str, ...]
    counts: NDArray[np.float64]
    """`float64[documents, 2 sides, 3 kinds, 4 counts]`."""


def document_rows(block: AnswerCounts) -> Rows:
    """One row for each document, as `COLUMNS` names them."""
    return block.counts.reshape(len(block.units), -1)


def f_measure(credit: Rows, answers: Rows, gold: Rows, beta: float = 1.0) -> Rows:
    """F-beta from credit, answers and gold: nothing right is 0, and no gold and no answers is undefined.

    >>> float(f_measure(np.array(3.0), np.array(4.0), np.array(6.0)))
    0.6
    """
    weight = beta**2
    return (1 + weight) * credit / (answers + weight * gold)


def _part(sums: Rows, side: str, kind: str, count: str) -> Rows:
    return sums[..., COLUMNS.index(f"{side}_{count}_{kind}")]


def _share(sums: Rows, *, side: str, kind: str, of: str, count: str = "credit") -> Rows:
    """Precision, which is a share of all answers, or recall, a share of the gold."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return _part(sums, side, kind, count) / _part(sums, side, kind, of)


def _f(sums: Rows, *, side: str, kind: str, count: str = "credit", beta: float = 1.0) -> Rows:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = [_part(sums, side, kind, name) for name in (count, "answers", "gold")]
        return f_measure(found[0], found[1], found[2], beta)


def _ratio(sums: Rows, *, kind: str, beta: float = 1.0) -> Rows:
    """Machine F over human F; undefined where the human F is 0 or undefined."""
    human = _f(sums, side="human", kind=kind, beta=beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(human > 0, _f(sums, side="machine", kind=kind, beta=beta) / human, np.nan)


PAPER = (
    "Strassel, Adams, Goldberg, Herr, Keesing, Oblinger, Simpson, Schrag and Wright (2010), The DARPA Machine Reading "
    "Program, LREC"
)
SHARED_NAMES = ("precision", "recall", "f")
WORDS = {"all": "", "explicit": " stated in one piece of text", "inferred": " that need inference"}


def _title(key: str) -> str:
    """The name that people read.

    >>> _title("human_f_explicit"), _title("pr_i"), _title("precision"), _title("exact_f")
    ('Human F (stated)', 'PR (inferred)', 'Precision', 'F (full matches)')
    """
    kinds = {"explicit": "stated", "f": "stated", "inferred": "inferred", "i": "inferred"}
    if key == "exact_f":
        return "F (full matches)"
    first, *rest = key.removeprefix("human_").split("_")
    title = {"pr": "PR", "f": "F"}.get(first, first if key.startswith("human_") else first.capitalize())
    return f"{'Human ' * key.startswith('human_')}{title}{f' ({kinds[rest[0]]})' if rest else ''}"


def _metric(
    name: str, summary: str, reduce: Callable[..., Rows], parameters: tuple[str, ...] = (), *, ends: Ends = SHARE
) -> Metric:
    return Metric(
        name=name,
        title=_title(name),
        summary=summary,
        citation=PAPER,
        family="reading",
        statistics=document_rows,
        reduce=reduce,
        range=ends,
        columns=COLUMNS,
        parameters=parameters,
        unit="document",
        shared_name=name in SHARED_NAMES,
    )


def _human_ratio(name: str, summary: str, kind: str) -> Metric:
    return _metric(name, summary, partial(_ratio, kind=kind), ("beta",), ends=NOT_NEGATIVE)


def _measures(side: str, kind: str) -> list[Metric]:
    before, after = ("human_" if side == "human" else ""), ("" if kind == "all" else f"_{kind}")
    whose = f"{side} answers{WORDS[kind]}"
    precision, recall = (partial(_share, side=side, kind=kind, of=of) for of in ("answers", "gold"))
    f = partial(_f, side=side, kind=kind)
    return [
        _metric(f"{before}precision{after}", f"credit over the number of {whose}", precision),
        _metric(f"{before}recall{after}", f"credit of {whose} over the gold answers", recall),
        _metric(f"{before}f{after}", f"F-beta of {whose} against the gold", f, ("beta",)),
    ]


PR = _human_ratio("pr", "machine F over human F on the gold answers: the primary ratio", "all")
PR_F = _human_ratio("pr_f", "machine F over human F on facts, stated in one piece of text", "explicit")
PR_I = _human_ratio("pr_i", "machine F over human F on answers that need inference", "inferred")
EXACT_F = _metric(
    "exact_f",
    "F-beta of machine answers where only full matches count, without partial credit",
    partial(_f, side="machine", kind="all", count="exact"),
    ("beta",),
)
(
    (PRECISION, RECALL, F),
    (PRECISION_EXPLICIT, RECALL_EXPLICIT, F_EXPLICIT),
    (PRECISION_INFERRED, RECALL_INFERRED, F_INFERRED),
) = (_measures("machine", kind) for kind in KINDS)
(
    (HUMAN_PRECISION, HUMAN_RECALL, HUMAN_F),
    (HUMAN_PRECISION_EXPLICIT, HUMAN_RECALL_EXPLICIT, HUMAN_F_EXPLICIT),
    (HUMAN_PRECISION_INFERRED, HUMAN_RECALL_INFERRED, HUMAN_F_INFERRED),
) = (_measures("human", kind) for kind in KINDS)

METRICS = (
    PR,
    PR_F,
    PR_I,
    F,
    PRECISION,
    RECALL,
    EXACT_F,
    F_EXPLICIT,
    PRECISION_EXPLICIT,
    RECALL_EXPLICIT,
    F_INFERRED,
    PRECISION_INFERRED,
    RECALL_INFERRED,
    HUMAN_F,
    HUMAN_PRECISION,
    HUMAN_RECALL,
    HUMAN_F_EXPLICIT,
    HUMAN_PRECISION_EXPLICIT,
    HUMAN_RECALL_EXPLICIT,
    HUMAN_F_INFERRED,
    HUMAN_PRECISION_INFERRED,
    HUMAN_RECALL_INFERRED,
)
