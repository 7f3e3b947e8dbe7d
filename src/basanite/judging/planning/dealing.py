"""Dealing bundles to judges like cards: each gets its judgements, loads and genres stay even, the same query apart.

What the judges hold is kept in arrays over judges, so that a thousand of them are looked at in one go for each bundle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from basanite.judging.planning.bundles import Bundle
from basanite.judging.planning.dice import die
from basanite.judging.planning.model import Judge
from basanite.judging.schemes.model import EVERYBODY
from basanite.problems import Findings, Problem

RULE_APART, RULE_REACHED = "M52", "P-30"
FILE = "plan"
NAMED = 3
"""So many things that judges meet again are named; the others are counted."""
Counts = NDArray[np.int64]


@dataclass
class Hand:
    """The bundles that a judge was newly dealt, in no order yet."""

    judge: Judge
    bundles: list[Bundle] = field(default_factory=list)


class _Table:
    """All judges at once: what each holds, by number."""

    def __init__(self, judges: Sequence[Judge], seed: int) -> None:
        self.judges = judges
        self.number = {judge.id: at for at, judge in enumerate(judges)}
        self.dice = np.array([die(seed, "judge", judge.id) for judge in judges], np.uint64)
        self.most = np.array([judge.most or np.iinfo(np.int64).max for judge in judges], np.int64)
        self.load = self._none()
        self.cells: dict[tuple[int, str], Counts] = defaultdict(self._none)
        self.apart: dict[tuple[str, ...], Counts] = defaultdict(self._none)
        self.holders: dict[str, list[int]] = defaultdict(list)
        self._declared: dict[tuple[frozenset[str], frozenset[str]], NDArray[np.bool_]] = {}

    def _none(self) -> Counts:
        return np.zeros(len(self.judges), np.int64)

    def able(self, bundle: Bundle) -> Counts:
        """The judges who may have a bundle: nothing declared stands against it, and they do not have it yet."""
        free = self._undeclared(bundle) & (self.load + len(bundle) <= self.most)
        free[self.holders.get(bundle.name, [])] = False
        return np.flatnonzero(free)

    def _undeclared(self, bundle: Bundle) -> NDArray[np.bool_]:
        """Whom neither language nor conflict keeps from it; the same for all bundles of such a kind."""
        kind = bundle.languages, bundle.makers
        if kind not in self._declared:
            told = [
                (not one.languages or bundle.languages <= one.languages) and not bundle.makers & one.conflicts
                for one in self.judges
            ]
            self._declared[kind] = np.array(told, np.bool_)
        return self._declared[kind].copy()

    def chosen(self, able: Counts, bundle: Bundle, needed: int, dice: int) -> Counts:
        """Who of the able gets it: who met the query least, then has least of the genre, least at all, least topic."""
        met = sum((self.apart[values] for values in bundle.apart), self._none())
        first, second = self.cells[0, bundle.cell[0]], self.cells[1, bundle.cell[1]]
        drawn = self.dice[able] ^ np.uint64(dice)
        order = np.lexsort((drawn, second[able], self.load[able], first[able], met[able]))
        return able[order[:needed]]

    def give(self, bundle: Bundle, who: Counts) -> None:
        """Have some judges hold a bundle."""
        self.holders[bundle.name].extend(who.tolist())
        self.load[who] += len(bundle)
        self.cells[0, bundle.cell[0]][who] += 1
        self.cells[1, bundle.cell[1]][who] += 1
        for values in bundle.apart:
            self.apart[values][who] += 1


def deal(
    bundles: Sequence[Bundle],
    judges: Sequence[Judge],
    wanted: int,
    before: Mapping[str, Sequence[Bundle]],
    seed: int,
    findings: Findings,
    *,
    given: bool = False,
) -> list[Hand]:
    """Every bundle to so many judges, those counted who had it before; what cannot be done is reported.

    Bundles are dealt genre by genre, or, if the order is `given`, as they come.
    """
    table, hands = _laid(judges, before, seed), [Hand(judge) for judge in judges]
    held = Counter(bundle.name for several in before.values() for bundle in several)
    short: Counter[int] = Counter()
    for bundle in bundles if given else _in_order(bundles, seed):
        needed = len(hands) if wanted == EVERYBODY else max(wanted - held[bundle.name], 0)
        able = table.able(bundle)
        who = table.chosen(able, bundle, needed, die(seed, "bundle", bundle.name))
        table.give(bundle, who)
        for at in who.tolist():
            hands[at].bundles.append(bundle)
        if wanted != EVERYBODY and len(able) < needed:
            short[wanted - needed + len(able)] += len(bundle)
    findings.extend(_unreached(short, wanted))
    findings.extend(_met_again(table, bundles, wanted))
    return hands


def _laid(judges: Sequence[Judge], before: Mapping[str, Sequence[Bundle]], seed: int) -> _Table:
    """The table with what judges were given earlier."""
    table = _Table(judges, seed)
    for judge, several in before.items():
        if judge in table.number:
            for bundle in several:
                table.give(bundle, np.array([table.number[judge]]))
    return table


def _in_order(bundles: Sequence[Bundle], seed: int) -> list[Bundle]:
    """Genre by genre, so that dealing leaves each judge an even share; the most asked for queries first."""
    often = Counter(values for bundle in bundles for values in bundle.apart)
    return sorted(
        bundles,
        key=lambda bundle: (
            bundle.cell[0],
            -max((often[values] for values in bundle.apart), default=0),
            die(seed, "order", bundle.name),
        ),
    )


def _unreached(short: Mapping[int, int], wanted: int) -> Iterator[Problem]:
    for reached, items in sorted(short.items()):
        message = f"{items} items reach {reached} of the {wanted} judgements each: there are too few judges for them"
        fix = "enrol more judges who know the language and have no conflict, or lower per_item"
        yield Problem(RULE_REACHED, FILE, None, None, message, fix, severity="warn", where="metadata")


def _met_again(table: _Table, bundles: Sequence[Bundle], wanted: int) -> Iterator[Problem]:
    """What a judge gets although the same was to be met once only; logged, never silent."""
    needs = Counter(values for bundle in bundles for values in bundle.apart)
    met = [(values, again) for values in sorted(needs) if (again := int((table.apart[values] > 1).sum()))]
    fix = "enrol more judges, lower per_item, or accept it: it stands in the log"
    for values, again in met[:NAMED]:
        named, people = ", ".join(values), len(table.judges)
        judgements = needs[values] * (wanted or people)
        message = f"{again} judges get {named!r} more than once: {judgements} judgements for {people} judges"
        yield Problem(RULE_APART, FILE, None, None, message, fix, named, severity="warn", where="metadata")
    if len(met) > NAMED:
        message = f"so it is with {len(met) - NAMED} more: {len(met)} of {len(needs)} are met more than once by a judge"
        yield Problem(RULE_APART, FILE, None, None, message, fix, severity="warn", where="metadata")
