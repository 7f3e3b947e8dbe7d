"""From answers to counts: what each document holds of credit, answers and gold, for machine and human, by kind.

Matched answers take the gold's kind. Unmatched ones count against the kinds that their query's gold has, so nobody
gains by what he calls his answers (X-17). Answers that only match gold out of scope are taken out first: they are
neither right nor wrong (R-24).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.answers import COUNTS, KINDS, Bound, Credit, Match, match, share
from basanite.reading.gold.answers import Answer, GoldAnswer
from basanite.reading.gold.structure import own_id, resolve

Cell = tuple[str, str]
"""A query and a document: matching never leaves one."""


@dataclass(frozen=True)
class Gold:
    """One version of the gold as one phase sees it."""

    inside: Mapping[Cell, tuple[GoldAnswer, ...]]
    outside: Mapping[Cell, tuple[GoldAnswer, ...]]
    """Right, but beyond what this phase asks."""
    settled: Mapping[Cell, tuple[GoldAnswer, ...]]
    """Found wrong, out of scope or said before: adjudicated, and no gold."""
    kinds: Mapping[str, frozenset[str]]
    """The kinds of the gold of each query."""

    @property
    def size(self) -> int:
        """How many answers there are to find."""
        return sum(map(len, self.inside.values()))


@dataclass(frozen=True)
class Settled:
    """What became of a side's answers in one query and document."""

    matches: tuple[Match, ...]
    answers: tuple[Answer, ...]
    """Those in scope."""
    full: int
    """How many could be matched fully, by a matching of their own."""
    full_kinds: Mapping[str, int] = field(default_factory=dict)
    unmatched: tuple[Answer, ...] = ()


def gold_for(
    gold: Iterable[GoldAnswer], capabilities: frozenset[str] | None, asked: frozenset[str] = frozenset(KINDS[1:])
) -> Gold:
    """The gold as a phase with these capabilities (None: all) and a task about these kinds see it."""
    inside: dict[Cell, list[GoldAnswer]] = {}
    outside: dict[Cell, list[GoldAnswer]] = {}
    settled: dict[Cell, list[GoldAnswer]] = {}
    kinds: dict[str, set[str]] = {}
    for one in _with_one_name(tuple(gold)):
        cell = one.answer.query, one.answer.document
        if one.verdict != "correct":
            (outside if one.verdict == "out-of-scope" else settled).setdefault(cell, []).append(one)
        elif one.answer.kind not in asked or not (capabilities is None or one.capabilities <= capabilities):
            outside.setdefault(cell, []).append(one)
        else:
            inside.setdefault(cell, []).append(one)
            kinds.setdefault(one.answer.query, set()).add(one.answer.kind)
    by_query = {query: frozenset(found) for query, found in kinds.items()}
    return Gold(_frozen(inside), _frozen(outside), _frozen(settled), by_query)


def _with_one_name(gold: Sequence[GoldAnswer]) -> Iterator[GoldAnswer]:
    """The gold with all strings of a thing without a name wherever it stands in its document, by its id or by words."""
    strings: dict[tuple[str, str], frozenset[str]] = {}
    described: dict[tuple[str, str, str], set[str]] = {}
    for one in gold:
        for name, bound in one.answer.bindings:
            if isinstance(bound, frozenset) and (thing := own_id(bound)):
                place = one.answer.document, thing
                strings[place] = strings.get(place, frozenset()) | bound
                for text in bound:
                    described.setdefault((one.answer.document, name, text), set()).add(thing)
    for one in gold:
        document, said = one.answer.document, one.answer.bindings
        bindings = tuple((name, strings.get((document, _thing(document, name, b, described)), b)) for name, b in said)
        yield one if bindings == said else replace(one, answer=replace(one.answer, bindings=bindings))


def _thing(document: str, name: str, bound: Bound, described: Mapping[tuple[str, str, str], set[str]]) -> str:
    """The thing without a name that an entity of the gold is: by its id, or by words that describe one such thing."""
    if own_id(bound) or isinstance(bound, str):
        return own_id(bound)
    found = set().union(*(described.get((document, name, text), set()) for text in bound))
    return found.pop() if len(found) == 1 else ""


def _frozen(cells: Mapping[Cell, Sequence[GoldAnswer]]) -> dict[Cell, tuple[GoldAnswer, ...]]:
    return {cell: tuple(found) for cell, found in cells.items()}


def by_cell(answers: Iterable[Answer]) -> dict[Cell, tuple[Answer, ...]]:
    """Answers by query and document."""
    cells: dict[Cell, list[Answer]] = {}
    for answer in answers:
        cells.setdefault((answer.query, answer.document), []).append(answer)
    return {cell: tuple(found) for cell, found in cells.items()}


def settle(answers: Sequence[Answer], gold: Gold, cell: Cell, credit: Credit = share) -> Settled:
    """Match the answers of one query and document; those that match only what is out of scope are taken out."""
    inside = gold.inside.get(cell, ())
    left = _without_outside(answers, inside, gold.outside.get(cell, ()), credit)
    truth = [one.answer.bindings for one in inside]
    matches = match([answer.bindings for answer in left], truth, credit)
    full = match([answer.bindings for answer in left], truth, lambda answer, gold: float(answer <= gold))
    found = {one.answer for one in matches}
    return Settled(
        tuple(matches),
        tuple(left),
        len(full),
        Counter(inside[one.gold].answer.kind for one in full),
        tuple(answer for place, answer in enumerate(left) if place not in found),
    )


def counts_of(cells: Mapping[Cell, Settled], gold: Gold, documents: Sequence[str]) -> NDArray[np.float64]:
    """`float64[documents, kinds, counts]` of one side."""
    place = {name: at for at, name in enumerate(documents)}
    counts = np.zeros((len(documents), len(KINDS), len(COUNTS)))
    for cell in {*cells, *gold.inside}:
        if cell[1] in place:
            counts[place[cell[1]]] += _cell_counts(cells.get(cell, Settled((), (), 0)), gold, cell)
    return counts


def settled_cells(
    answers: Iterable[Answer], gold: Gold, credit: Credit = share, *, told: Callable[[int], None] = lambda answers: None
) -> dict[Cell, Settled]:
    """Every query and document that a side has answers for, settled; first, things without a name are recognized.

    `told` is called after each of them with the number of its answers.
    """
    known = [
        [one.answer for found in side.values() for one in found] for side in (gold.inside, gold.outside, gold.settled)
    ]
    named = resolve(tuple(answers), known, credit)
    cells: dict[Cell, Settled] = {}
    for cell, found in by_cell(named).items():
        cells[cell] = settle(found, gold, cell, credit)
        told(len(found))
    return cells


def never_adjudicated(cells: Mapping[Cell, Settled], gold: Gold, credit: Credit = share) -> tuple[int, int]:
    """How many unmatched answers nobody has looked at yet, and how many are unmatched at all (S-21)."""
    unmatched = sum(len(one.unmatched) for one in cells.values())
    seen = sum(
        len(match([a.bindings for a in one.unmatched], [g.answer.bindings for g in gold.settled.get(cell, ())], credit))
        for cell, one in cells.items()
    )
    return unmatched - seen, unmatched


def _without_outside(
    answers: Sequence[Answer], inside: Sequence[GoldAnswer], outside: Sequence[GoldAnswer], credit: Credit
) -> list[Answer]:
    if not outside:
        return list(answers)
    taken = {one.answer for one in match([a.bindings for a in answers], _bindings(inside), credit)}
    rest = [place for place in range(len(answers)) if place not in taken]
    gone = {rest[one.answer] for one in match([answers[at].bindings for at in rest], _bindings(outside), credit)}
    return [answer for place, answer in enumerate(answers) if place not in gone]


def _bindings(gold: Sequence[GoldAnswer]) -> list[tuple[tuple[str, frozenset[str] | str], ...]]:
    return [one.answer.bindings for one in gold]


def _cell_counts(one: Settled, gold: Gold, cell: Cell) -> NDArray[np.float64]:
    inside = gold.inside.get(cell, ())
    found = np.zeros((len(KINDS), len(COUNTS)))
    # Unmatched answers count against the kinds of their query's gold, or both if there is none.
    kinds = gold.kinds.get(cell[0]) or frozenset(KINDS[1:])
    found[0] = sum(m.credit for m in one.matches), one.full, len(one.answers), len(inside)
    for at, kind in enumerate(KINDS[1:], start=1):
        matched = [m for m in one.matches if inside[m.gold].answer.kind == kind]
        against = len(one.unmatched) if kind in kinds else 0
        found[at] = (
            sum(m.credit for m in matched),
            one.full_kinds.get(kind, 0),
            len(matched) + against,
            sum(g.answer.kind == kind for g in inside),
        )
    return found


def kind_shares(answers: Iterable[Answer]) -> Iterator[tuple[str, float]]:
    """The share of each kind among what a side claims."""
    kinds = Counter[str](answer.kind for answer in answers)
    total = sum(kinds.values())
    for kind in KINDS[1:]:
        yield kind, kinds[kind] / total if total else float("nan")
