"""How likely an answer is where rules carry probabilities: over all ways to it, without counting a rule twice (R-11).

Each firing of a rule with a probability is a coin of its own. A statement is as likely as it is that all coins of at
least one of its derivations fall well; what is left is `unknown`, for nothing else is concluded in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from basanite.reading.limits import LimitReachedError
from basanite.reading.reasoner.chaining import Fact
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Firing

Ways: TypeAlias = frozenset[frozenset[Firing]]
"""Sets of uncertain firings, each of which is enough."""

CERTAIN: Ways = frozenset({frozenset()})
MOST_COINS = 300
"""Uncertain firings behind one answer; each doubles the worlds, and is one step of recursion."""


@dataclass
class Chances:
    """Probabilities of the statements of one inference."""

    explainer: Explainer
    _known: dict[Fact, Ways] = field(default_factory=dict)
    _steps: int = 0

    @property
    def uncertain(self) -> bool:
        """Whether any rule of the theory carries a probability."""
        return any(rule.probability is not None for rule in self.explainer.inference.reasoner.program.rules)

    def probability(self, facts: Iterable[Fact]) -> float:
        """How likely it is that all of some facts follow; too many ways to tell reach the limit on worlds."""
        facts = list(dict.fromkeys(facts))
        self._settle(facts)
        self._steps = 0
        ways = self._joined(self._known[fact] for fact in facts)
        if len(frozenset().union(*ways)) > MOST_COINS:
            raise LimitReachedError("worlds", self.explainer.inference.reasoner.limits.worlds)
        return self._chance(ways)

    def _settle(self, facts: Sequence[Fact]) -> None:
        """Find the ways to some facts, from what is given upwards, until no new way is found."""
        cone = self._cone([fact for fact in facts if fact not in self._known])
        self._known.update({fact: CERTAIN if self._given(fact) else frozenset() for fact in cone})
        firings = list(dict.fromkeys(f for fact in cone if not self._given(fact) for f in self._supports(fact)))
        changed = bool(firings)
        while changed:
            changed = False
            for firing in firings:
                changed = self._add(firing, cone) or changed

    def _add(self, firing: Firing, cone: set[Fact]) -> bool:
        inference = self.explainer.inference
        ways = self._joined(self._known[fact] for fact in inference.antecedents(firing))
        if inference.reasoner.program.rules[firing.at].probability is not None:
            ways = frozenset(way | {firing} for way in ways)
        changed = False
        for head in inference.reasoner.program.compiled[firing.at].heads:
            fact = head.fact(firing.binding)
            if fact in cone and not self._given(fact):
                joined = self._least(self._known[fact] | ways)
                changed = changed or joined != self._known[fact]
                self._known[fact] = joined
        return changed

    def _given(self, fact: Fact) -> bool:
        return not self.explainer.inference.is_derived(fact)

    def _supports(self, fact: Fact) -> list[Firing]:
        return self.explainer.supports.get(fact, [])

    def _cone(self, facts: Sequence[Fact]) -> set[Fact]:
        """All facts that some facts may rest on."""
        seen: set[Fact] = set()
        waiting = list(facts)
        while waiting:
            fact = waiting.pop()
            if fact not in seen and fact not in self._known:
                seen.add(fact)
                firings = [] if self._given(fact) else self._supports(fact)
                waiting += [below for firing in firings for below in self.explainer.inference.antecedents(firing)]
        return seen

    def _joined(self, parts: Iterable[Ways]) -> Ways:
        """The ways to have all of several things."""
        whole = CERTAIN
        for ways in parts:
            whole = self._least(frozenset(one | other for one in whole for other in ways))
        return whole

    def _least(self, ways: Ways) -> Ways:
        """Without those that need more than another one."""
        most = self.explainer.inference.reasoner.limits.worlds
        if len(ways) * len(ways) > most:
            raise LimitReachedError("worlds", most)
        return frozenset(way for way in ways if not any(other < way for other in ways))

    def _chance(self, ways: Ways) -> float:
        """The probability of a set of ways, coin by coin."""
        if not ways:
            return 0.0
        if frozenset() in ways:
            return 1.0
        self._steps += 1
        inference = self.explainer.inference
        if self._steps > inference.reasoner.limits.worlds:
            raise LimitReachedError("worlds", inference.reasoner.limits.worlds)
        coin = min(min(ways, key=sorted))
        probability = inference.reasoner.program.rules[coin.at].probability
        assert probability is not None
        with_it = self._chance(self._least(frozenset(way - {coin} for way in ways)))
        without = self._chance(frozenset(way for way in ways if coin not in way))
        return float(probability) * with_it + (1 - float(probability)) * without
