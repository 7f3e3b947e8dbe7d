"""People as a baseline: each reader by themselves, what they agree on, and all of them pooled (R-39).

Readers are scored on the documents that they answered about, since nobody reads everything. Pooled, the readers are one
side: what two of them say in other words is one answer, found by the matching that scores them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from basanite.metrics.answers import Bindings, Credit, f_measure
from basanite.reading.gold.answers import Answer, GoldAnswer, is_own
from basanite.reading.gold.counts import Gold, counts_of, gold_for, settled_cells


@dataclass(frozen=True)
class ReaderScore:
    """What one reader reached on the documents that they answered about."""

    reader: str
    documents: int
    answers: int
    f: float
    precision: float
    recall: float
    without_own: float
    """F against the gold without what only this reader brought in."""
    others: float
    """F of all the others, pooled, on all documents: what the union is worth without this reader."""


@dataclass(frozen=True)
class ReaderPair:
    """How far two readers say the same about the documents that both answered about."""

    readers: tuple[str, str]
    documents: int
    f: float
    """F of one with the other as the gold, the mean of both ways."""


@dataclass(frozen=True)
class Readers:
    """All readers of a score, the union of what they say, and their agreement."""

    scores: tuple[ReaderScore, ...]
    pairs: tuple[ReaderPair, ...]
    pooled: float

    @property
    def mean(self) -> float:
        """The mean F of the readers for whom it is defined; nan if there are none."""
        return statistics.fmean(self._defined) if self._defined else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation of F between readers; nan for fewer than two."""
        return statistics.stdev(self._defined) if len(self._defined) > 1 else math.nan

    @property
    def agreement(self) -> float:
        """The mean F of pairs that share documents; nan if none do."""
        found = [pair.f for pair in self.pairs if not math.isnan(pair.f)]
        return statistics.fmean(found) if found else math.nan

    @property
    def parts(self) -> dict[str, float]:
        """What stands inside the value of the human F."""
        if not self.scores:
            return {}
        own = [one.without_own for one in self.scores if not math.isnan(one.without_own)]
        found = {
            "readers": float(len(self.scores)),
            "mean_reader": self.mean,
            "spread": self.spread,
            "least": min(self._defined, default=math.nan),
            "most": max(self._defined, default=math.nan),
            "mean_without_own_gold": statistics.fmean(own) if own else math.nan,
            "agreement": self.agreement,
        }
        return {name: value for name, value in found.items() if not math.isnan(value)}

    @property
    def _defined(self) -> list[float]:
        return [one.f for one in self.scores if not math.isnan(one.f)]


def pooled(answers: Sequence[Answer], gold: Gold, credit: Credit) -> tuple[Answer, ...]:
    """The union of what readers say: an answer that an earlier reader gave, in whatever words, is there once.

    Readers come in the order of their names, so that the order of a file changes nothing.
    """
    groups = _by_reader(answers)
    union = list(groups.pop("", ()))
    known = in_words_of(gold, union, credit) if groups else []
    for _, said in sorted(groups.items()):
        own = {one.line: one for one in said}
        new = _new(in_words_of(gold, said, credit), known, credit)
        known += new
        union += [own[one.line] for one in new]
    return tuple(union)


def in_words_of(gold: Gold, answers: Sequence[Answer], credit: Credit) -> list[Answer]:
    """Answers that match the gold in its words, so that the same answer in other words can be recognized."""
    said = {one.line: one for one in answers}
    for cell, settled in settled_cells(answers, gold, credit).items():
        for match in settled.matches:
            line = settled.answers[match.answer].line
            said[line] = replace(said[line], bindings=gold.inside[cell][match.gold].answer.bindings)
    return list(said.values())


@dataclass(frozen=True)
class Panel:
    """The readers of one score, and what they are held against."""

    answers: Sequence[Answer]
    lines: Sequence[GoldAnswer]
    capabilities: frozenset[str] | None
    kinds: frozenset[str]
    documents: Sequence[str]
    credit: Credit
    beta: float

    def readers(self) -> Readers:
        """Each reader, each pair of them, and their union; nothing where answers do not say whose they are."""
        groups = {name: said for name, said in _by_reader(self.answers).items() if name}
        if not groups:
            return Readers((), (), math.nan)
        gold = gold_for(self.lines, self.capabilities, self.kinds)
        scores = tuple(self._reader(name, said, gold) for name, said in sorted(groups.items()))
        worded = [(name, in_words_of(gold, said, self.credit)) for name, said in sorted(groups.items())]
        pairs = tuple(self._pair(*one) for one in combinations(worded, 2))
        return Readers(scores, pairs, self._f(pooled(self.answers, gold, self.credit), gold, self.documents)[0])

    def _reader(self, name: str, said: Sequence[Answer], gold: Gold) -> ReaderScore:
        about = {one.document for one in said}
        foreign = [one for one in self.lines if one.system != name]
        without = gold if len(foreign) == len(self.lines) else gold_for(foreign, self.capabilities, self.kinds)
        others = pooled([one for one in self.answers if one.reader != name], gold, self.credit)
        return ReaderScore(
            name,
            len(about),
            len(said),
            *self._f(said, gold, about),
            self._f(said, without, about)[0],
            self._f(others, gold, self.documents)[0] if others else math.nan,
        )

    def _pair(self, one: tuple[str, list[Answer]], other: tuple[str, list[Answer]]) -> ReaderPair:
        shared = {said.document for said in one[1]} & {said.document for said in other[1]}
        sides = [[said for said in side if said.document in shared] for _, side in (one, other)]
        ways = [
            self._f(given, gold_for([GoldAnswer(said) for said in taken], None), shared)[0]
            for given, taken in (sides, reversed(sides))
        ]
        return ReaderPair((one[0], other[0]), len(shared), statistics.fmean(ways) if shared else math.nan)

    def _f(self, said: Sequence[Answer], gold: Gold, about: Collection[str]) -> tuple[float, float, float]:
        """F, precision and recall on some documents."""
        counts = counts_of(settled_cells(said, gold, self.credit), gold, sorted(about))[:, 0].sum(axis=0)
        credit, _, given, golden = counts.tolist()
        with np.errstate(invalid="ignore", divide="ignore"):
            f = float(f_measure(np.array(credit), np.array(given), np.array(golden), self.beta))
        return f, credit / given if given else math.nan, credit / golden if golden else math.nan


def _by_reader(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(answer.reader, []).append(answer)
    return groups


def _new(said: Sequence[Answer], union: Sequence[Answer], credit: Credit) -> list[Answer]:
    """What a reader says beyond the union; things without a name that the union has are called as it calls them."""
    if not union:
        return list(said)
    known = gold_for([GoldAnswer(one) for one in union], None)
    by_line = {one.line: one for one in said}
    left = [one for cell in settled_cells(said, known, credit).values() for one in cell.unmatched]
    return [replace(one, bindings=_whole(one.bindings, by_line[one.line].bindings)) for one in left]


def _whole(resolved: Bindings, given: Bindings) -> Bindings:
    """Bindings after matching, which drops ids that mean nothing to the gold: here they tell things apart, and stay."""
    return tuple(
        (name, bound if isinstance(bound, str) or any(map(is_own, bound)) else own)
        for (name, bound), (_, own) in zip(resolved, given, strict=True)
    )
