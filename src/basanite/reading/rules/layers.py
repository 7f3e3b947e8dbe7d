"""Layers: which rules must be finished before which, and where rules depend on each other through `if-not`.

Rule A depends on rule B if something that B concludes can match what A asks for, or what must be absent for A. A rule
does not depend on itself through `if-not`: it is never blocked by statements that only it supports. Rules that depend
on each other form one layer; if there is an `if-not` among them, it has no order and needs the well-founded semantics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from basanite.reading.patterns import Goal, Pattern, PatternTerm, Variable
from basanite.reading.rules.tree import Rule


@dataclass(frozen=True)
class Layer:
    """Rules that are run together, by their place in the theory."""

    rules: tuple[int, ...]
    recursive: bool
    """Whether what they conclude can match what they ask for."""
    ordered: bool
    """Whether no `if-not` among them waits for another rule of the same layer."""


def layers(rules: Sequence[Rule]) -> list[Layer]:
    """The rules in layers, each after everything it depends on."""
    needs, blocks = dependencies(rules)
    both = [needs[at] | blocks[at] for at in range(len(rules))]
    return [_layer(tuple(sorted(part)), needs, blocks) for part in components(both)]


def _layer(part: tuple[int, ...], needs: Sequence[set[int]], blocks: Sequence[set[int]]) -> Layer:
    inside = set(part)
    recursive = any(needs[at] & inside for at in part)
    return Layer(part, recursive, not any(blocks[at] & inside for at in part))


def dependencies(rules: Sequence[Rule]) -> tuple[list[set[int]], list[set[int]]]:
    """For each rule the rules that can give what it asks for, and those that can give what must be absent."""
    heads = _Heads(rules)

    def makers(goals: Sequence[Goal]) -> Iterator[int]:
        for goal in goals:
            if isinstance(goal, Pattern):
                yield from (at for at, head in heads.near(goal) if may_match(head, goal))

    needs = [set(makers(rule.if_)) for rule in rules]
    blocks = [set(makers(rule.if_not)) - {at} for at, rule in enumerate(rules)]
    return needs, blocks


class _Heads:
    """All conclusions, by property and by property with object: an ontology has tens of thousands about types."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.found: dict[tuple[PatternTerm | None, ...], list[tuple[int, Pattern]]] = {}
        for at, rule in enumerate(rules):
            for head in rule.heads:
                predicate, object_ = map(_constant_of, (head.predicate, head.object))
                for key in ((), (predicate,), (predicate, object_)):
                    self.found.setdefault(key, []).append((at, head))

    def near(self, goal: Pattern) -> Iterator[tuple[int, Pattern]]:
        """The conclusions that may match a goal by property and object, and some more."""
        predicate, object_ = map(_constant_of, (goal.predicate, goal.object))
        if predicate is None:
            keys: list[tuple[PatternTerm | None, ...]] = [()]
        elif object_ is None:
            keys = [(predicate,), (None,)]
        else:
            keys = [(predicate, object_), (predicate, None), (None,)]
        for key in keys:
            yield from self.found.get(key, ())


def _constant_of(term: PatternTerm) -> PatternTerm | None:
    return None if isinstance(term, Variable) else term


def may_match(one: Pattern, other: Pattern) -> bool:
    """Whether some statement could be an instance of both."""
    pairs = zip(one.terms, other.terms, strict=True)
    return all(isinstance(a, Variable) or isinstance(b, Variable) or a == b for a, b in pairs)


def negates_itself(rule: Rule) -> bool:
    """Whether something that a rule concludes can match what must be absent for it."""
    absent = [goal for goal in rule.if_not if isinstance(goal, Pattern)]
    return any(may_match(head, goal) for head in rule.heads for goal in absent)


def components(edges: Sequence[set[int]]) -> list[list[int]]:
    """Strongly connected parts of a graph, each after all that it points to (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(edges)):
        work = [] if root in order else [(root, iter(sorted(edges[root])))]
        while work:
            node, targets = work[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            target = next((t for t in targets if t not in order or t in on_stack), None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    part: list[int] = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    found.append(part)
            elif target not in order:
                work.append((target, iter(sorted(edges[target]))))
            else:
                low[node] = min(low[node], order[target])
    return found


def cycles_through_absence(rules: Sequence[Rule]) -> list[tuple[str, ...]]:
    """The names of the rules of every layer that has no order."""
    return [tuple(rules[at].name for at in layer.rules) for layer in layers(rules) if not layer.ordered]
