"""Rules that can never fire, whatever the statements: mostly a slip of the one who wrote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from basanite.reading.builtins import OPERATIONS
from basanite.reading.ontology.model import Ontology
from basanite.reading.patterns import Builtin, Pattern, PatternTerm, Prefixes, Variable
from basanite.reading.rules.names import goal_text
from basanite.reading.rules.tree import Rule
from basanite.reading.terms import Iri, Literal
from basanite.reading.values import compare
from basanite.reading.vocabulary import TYPE

TURNED: Final = {
    "lessThan": "greaterThan",
    "lessThanOrEqualTo": "greaterThanOrEqualTo",
    "greaterThan": "lessThan",
    "greaterThanOrEqualTo": "lessThanOrEqualTo",
    "equalTo": "equalTo",
}
HIGH: Final = {"lessThan": True, "lessThanOrEqualTo": False, "equalTo": False}
"""Comparisons that bound a variable from above, and whether strictly."""
LOW: Final = {"greaterThan": True, "greaterThanOrEqualTo": False, "equalTo": False}


def never_fires(rule: Rule, prefixes: Prefixes, ontology: Ontology | None = None) -> str:
    """Why a rule can never fire; nothing if it can, as far as this can tell."""
    reasons = [*_in_both_parts(rule, prefixes), *_false_tests(rule, prefixes), *_empty_bounds(rule)]
    if not reasons and ontology is not None:
        reasons = [*_impossible_kinds(rule, ontology)]
    return next(iter(reasons), "")


def _in_both_parts(rule: Rule, prefixes: Prefixes) -> Iterator[str]:
    """Something of the `if` part matches an `if-not` pattern always: it is the same, or all that differs is local."""
    own = {name for goal in rule.if_ for name in goal.variables}
    for absent in rule.if_not:
        for goal in rule.if_:
            if goal == absent or (
                isinstance(goal, Pattern) and isinstance(absent, Pattern) and _covers(absent, goal, own)
            ):
                yield f"{goal_text(goal, prefixes)} must be there and {goal_text(absent, prefixes)} must not"


def _covers(absent: Pattern, goal: Pattern, own: set[str]) -> bool:
    """Whether every instance of a triple is one of a pattern, whose local variables stand for anything."""
    local = [term for term in absent.terms if isinstance(term, Variable) and term.name not in own]
    if len(local) != len(set(local)):
        return False
    pairs = zip(absent.terms, goal.terms, strict=True)
    return all(wanted in local or wanted == found for wanted, found in pairs)


def _false_tests(rule: Rule, prefixes: Prefixes) -> Iterator[str]:
    for part, wanted in ((rule.if_, True), (rule.if_not, False)):
        for goal in part:
            operation = OPERATIONS.get(goal.name) if isinstance(goal, Builtin) else None
            if operation is None or operation.test is None or not isinstance(goal, Builtin) or goal.variables:
                continue
            terms = [term for term in goal.arguments if not isinstance(term, Variable)]
            if operation.test(terms) is not wanted:
                yield f"{goal_text(goal, prefixes)} is always {'false' if wanted else 'true'}"


def _empty_bounds(rule: Rule) -> Iterator[str]:
    """Comparisons with constants that leave nothing between them."""
    bounds: defaultdict[str, list[tuple[str, Literal]]] = defaultdict(list)
    for goal in rule.builtins:
        name, terms = goal.name, goal.arguments
        if name in TURNED and len(terms) == 2 and isinstance(terms[1], Variable):
            name, terms = TURNED[name], (terms[1], terms[0])
        if name in TURNED and len(terms) == 2 and isinstance(terms[0], Variable) and isinstance(terms[1], Literal):
            bounds[terms[0].name].append((name, terms[1]))
    for variable, found in bounds.items():
        for high, top in found:
            for low, bottom in found:
                if high in HIGH and low in LOW and _apart(bottom, top, strict=HIGH[high] or LOW[low]):
                    yield f"no value of ?{variable} is between {bottom.lexical} and {top.lexical}"


def _apart(low: Literal, high: Literal, *, strict: bool) -> bool:
    order = compare(low, high)
    return order is None or order > 0 or (order == 0 and strict)


def _impossible_kinds(rule: Rule, ontology: Ontology) -> Iterator[str]:
    """Variables that would have to be of classes that exclude each other, or a value and a thing at once."""
    classes: defaultdict[str, set[Iri]] = defaultdict(set)
    values: set[str] = set()
    things: set[str] = set()
    for pattern in rule.patterns:
        if isinstance(pattern.subject, Variable):
            things.add(pattern.subject.name)
        for term, kind in _kinds(pattern, ontology):
            if kind in ontology.classes:
                classes[term.name].add(kind)
            else:
                values.add(term.name)
    for name in sorted(values & (things | classes.keys())):
        yield f"?{name} would have to be a value and a thing at once"
    for name, found in sorted(classes.items()):
        pair = _excluded(found, ontology)
        if pair and not rule.contradiction:
            yield f"?{name} would have to be {ontology.prefixes.short(pair[0])} and {ontology.prefixes.short(pair[1])}"


def _kinds(pattern: Pattern, ontology: Ontology) -> Iterator[tuple[Variable, Iri]]:
    """What a triple says of its variables: a class, or for values their type."""
    if pattern.predicate == TYPE:
        if isinstance(pattern.subject, Variable) and pattern.object in ontology.classes:
            assert isinstance(pattern.object, Iri)
            yield pattern.subject, pattern.object
        return
    property_ = ontology.properties.get(pattern.predicate) if isinstance(pattern.predicate, Iri) else None
    sides: list[tuple[PatternTerm, Iri | None]] = [(pattern.subject, property_.domain if property_ else None)]
    sides.append((pattern.object, property_.range if property_ else None))
    yield from ((term, kind) for term, kind in sides if isinstance(term, Variable) and kind is not None)


def _excluded(classes: set[Iri], ontology: Ontology) -> tuple[Iri, Iri] | None:
    for one in sorted(classes):
        for other in sorted(classes - {one}):
            ups, others = ontology.ancestors.get(one, frozenset()), ontology.ancestors.get(other, frozenset())
            if any((a, b) in ontology.disjoint for a in ups for b in others):
                return one, other
    return None
