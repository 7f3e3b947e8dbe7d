"""Derivation trees: why a statement holds, by the shallowest way, with the other ways counted (R-9).

A tree never goes in a circle: every antecedent lies nearer to the input than what it supports. A statement that was
given is a leaf, whatever else leads to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from basanite.reading.patterns import Goal
from basanite.reading.reasoner.chaining import Fact
from basanite.reading.reasoner.inference import Contradiction, Firing, Inference
from basanite.reading.rules.tree import Rule
from basanite.reading.terms import Statement, Term

MOST_STEPS = 2000
"""Steps of one tree; beyond, a step says that there is more below it."""
DEEPEST = 100
"""Steps on top of one another that a page shows open to be followed."""


@dataclass(frozen=True)
class Step:
    """One way to a statement: the rule, its values, what it rests on, and what it found absent."""

    rule: Rule
    bindings: Mapping[str, Term]
    antecedents: tuple[Tree, ...]
    tests: tuple[Goal, ...]
    absent: tuple[Goal, ...]
    firing: Firing


@dataclass(frozen=True)
class Tree:
    """A statement and how it came about: given, or by a step; `others` counts further ways to it."""

    statement: Statement
    step: Step | None
    others: int = 0
    cut: bool = False
    """Whether there is more below that is not shown."""

    def leaves(self) -> Iterator[Statement]:
        """The given statements that it rests on, each once."""
        seen: dict[Statement, None] = {}
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            if tree.step is None:
                seen[tree.statement] = None
            else:
                waiting += reversed(tree.step.antecedents)
        return iter(seen)

    @property
    def depth(self) -> int:
        """How many steps stand on top of one another.

        >>> from basanite.reading.terms import Iri
        >>> Tree(Statement(Iri("urn:a"), Iri("urn:b"), Iri("urn:c")), None).depth
        0
        """
        deepest, waiting = 0, [(self, 0)]
        while waiting:
            tree, depth = waiting.pop()
            deepest = max(deepest, depth)
            if tree.step is not None:
                waiting += [(below, depth + 1) for below in tree.step.antecedents]
        return deepest


@dataclass(frozen=True)
class Explainer:
    """Answers why; the index of what supports what is made when first asked for."""

    inference: Inference

    @cached_property
    def supports(self) -> dict[Fact, list[Firing]]:
        """For every derived fact, the firings that lead to it."""
        found: dict[Fact, list[Firing]] = {}
        compiled = self.inference.program.compiled
        for firing in self.inference.firings():
            for head in compiled[firing.at].heads:
                found.setdefault(head.fact(firing.binding), []).append(firing)
        return found

    @cached_property
    def nearest(self) -> dict[Fact, Firing]:
        """For every derived fact, the firing of its shallowest derivation."""
        waiting: dict[Firing, int] = {}
        users: dict[Fact, list[Firing]] = {}
        ready: list[Firing] = []
        for firing in self.inference.firings():
            needed = [fact for fact in self.inference.antecedents(firing) if self.inference.is_derived(fact)]
            waiting[firing] = len(needed)
            for fact in needed:
                users.setdefault(fact, []).append(firing)
            if not needed:
                ready.append(firing)
        return self._levels(ready, waiting, users)

    def _levels(
        self, ready: list[Firing], waiting: dict[Firing, int], users: Mapping[Fact, list[Firing]]
    ) -> dict[Fact, Firing]:
        """Go outwards from the input, one level of steps after the other: the first to reach a fact is the nearest."""
        found: dict[Fact, Firing] = {}
        compiled = self.inference.program.compiled
        while ready:
            reached: list[Fact] = []
            for firing in ready:
                for head in compiled[firing.at].heads:
                    fact = head.fact(firing.binding)
                    if fact not in found and self.inference.is_derived(fact):
                        found[fact] = firing
                        reached.append(fact)
            ready = []
            for fact in reached:
                for firing in users.get(fact, ()):
                    waiting[firing] -= 1
                    if waiting[firing] == 0:
                        ready.append(firing)
        return found

    def tree(self, statement: Statement) -> Tree | None:
        """The shallowest derivation of a statement; nothing if it does not hold."""
        fact = self.inference.fact(statement)
        if fact is None or not self.inference.state.sure.holds(*fact):
            return None
        return self._tree(fact, _Budget())

    def others(self, statement: Statement) -> list[Tree]:
        """The further ways to a statement, each by its own last step."""
        fact = self.inference.fact(statement)
        if fact is None:
            return []
        chosen = self.nearest.get(fact)
        return [
            Tree(statement, self.step(firing, _Budget()))
            for firing in self.supports.get(fact, ())
            if firing != chosen and fact not in self._below(firing)
        ]

    def _below(self, firing: Firing) -> set[Fact]:
        """All facts that the shallowest derivations of a firing's antecedents go through."""
        seen: set[Fact] = set()
        waiting = self.inference.antecedents(firing)
        while waiting:
            fact = waiting.pop()
            if fact not in seen:
                seen.add(fact)
                waiting += self.inference.antecedents(self.nearest[fact]) if fact in self.nearest else []
        return seen

    def _tree(self, fact: Fact, budget: _Budget, depth: int = 0) -> Tree:
        statement = self.inference.statement(fact)
        ways = self.supports.get(fact, ())
        chosen = self.nearest.get(fact)
        if chosen is None:
            return Tree(statement, None, len(ways))
        if depth >= DEEPEST or not budget.take():
            return Tree(statement, None, len(ways), cut=True)
        return Tree(statement, self.step(chosen, budget, depth), len(ways) - 1)

    def step(self, firing: Firing, budget: _Budget | None = None, depth: int = 0) -> Step:
        """A firing with the trees of its antecedents."""
        inference, budget = self.inference, budget or _Budget()
        return Step(
            inference.program.rules[firing.at],
            inference.bindings(firing),
            tuple(self._tree(fact, budget, depth + 1) for fact in inference.antecedents(firing)),
            tuple(inference.tests(firing)),
            tuple(inference.absent(firing)),
            firing,
        )

    def inputs(self, facts: Iterable[Fact]) -> list[Statement]:
        """The given statements that some facts rest on, by their shallowest derivations, sorted."""
        seen: set[Fact] = set()
        waiting, found = list(facts), set()
        while waiting:
            fact = waiting.pop()
            if fact in seen:
                continue
            seen.add(fact)
            if fact in self.nearest:
                waiting += self.inference.antecedents(self.nearest[fact])
            else:
                found.add(self.inference.statement(fact))
        return sorted(found, key=str)

    def behind(self, contradiction: Contradiction) -> list[Statement]:
        """The given statements behind a contradiction."""
        facts = (self.inference.fact(statement) for statement in contradiction.antecedents)
        return self.inputs(fact for fact in facts if fact is not None)


class _Budget:
    """How many steps a tree may still take."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.left = most

    def take(self) -> bool:
        """Take one, if there is one."""
        self.left -= 1
        return self.left >= 0
