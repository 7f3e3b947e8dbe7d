"""Checks of rules before they run: every fault with its file, its line and the name of its rule (R-10).

Among the faults are rules that can never fire, whatever the statements: mostly a slip of the one who wrote them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from basanite.problems import Findings, Problem, Severity, shortened
from basanite.reading.builtins import OPERATIONS
from basanite.reading.ontology import Ontology
from basanite.reading.patterns import Builtin, Goal, Pattern, PatternTerm, Prefixes, Variable
from basanite.reading.rules.layers import cycles_through_absence
from basanite.reading.rules.tree import Place, Rule, RuleSet, free_in_head, goal_text, is_contradiction
from basanite.reading.terms import TYPE, Iri, Literal, Node
from basanite.reading.values import compare
from basanite.registry import suggestion

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
        pair = _disjoint_pair(found, ontology)
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


def _disjoint_pair(classes: set[Iri], ontology: Ontology) -> tuple[Iri, Iri] | None:
    for one in sorted(classes):
        for other in sorted(classes - {one}):
            ups, others = ontology.ancestors.get(one, frozenset()), ontology.ancestors.get(other, frozenset())
            if any((a, b) in ontology.disjoint for a in ups for b in others):
                return one, other
    return None


@dataclass(frozen=True)
class Fault:
    """What is wrong in a rule, on which line, and what to do."""

    line: int
    message: str
    fix: str


def check_rules(rules: RuleSet, ontology: Ontology | None, findings: Findings) -> None:
    """Find everything that is wrong with rules, whether or not there is an ontology to hold them against."""
    _check_names(rules.rules, findings)
    sound = True
    for rule in rules.rules:
        for fault in _faults(rule, rules, ontology):
            sound = False
            _report(rule, fault, findings)
    if sound:
        _check_cycles(rules, findings)


def check_query(goals: Sequence[Goal], findings: Findings) -> None:
    """Find out whether a query can be asked: every comparison known, and all that it compares bound."""
    rule = Rule("query", "", tuple(goals), (), (), place=Place("--query", 1))
    if not goals:
        _report(rule, Fault(1, "it asks for nothing", "write triples: (?G type NFLGame)"), findings)
    for check in (_operations, _unbound):
        for fault in check(rule):
            _report(rule, fault, findings)


def _report(rule: Rule, fault: Fault, findings: Findings, severity: Severity = "reject") -> None:
    words = shortened(f"rule {rule.name}: {fault.message}", 300)
    findings.add(
        Problem("R-10", rule.place.file, fault.line, None, words, fault.fix, severity=severity, where="reference")
    )


def _check_names(rules: Sequence[Rule], findings: Findings) -> None:
    seen: dict[str, Place] = {}
    for rule in rules:
        if rule.name in seen:
            first = seen[rule.name]
            words = f"the name is already used at {first.file}:{first.line}"
            _report(rule, Fault(rule.place.line, words, "give every rule a name of its own"), findings)
        seen.setdefault(rule.name, rule.place)


def _check_cycles(rules: RuleSet, findings: Findings) -> None:
    for names in cycles_through_absence(rules.rules):
        rule = next(one for one in rules.rules if one.name == names[0])
        words = f"the rules {', '.join(names)} wait for each other through if-not"
        fix = "instances without one reading are reported as undecided; take one if-not away for a plain order"
        _report(rule, Fault(rule.place.line, words, fix), findings, "warn")


def _faults(rule: Rule, rules: RuleSet, ontology: Ontology | None) -> Iterator[Fault]:
    checks: tuple[Callable[[Rule], Iterator[Fault]], ...] = (_heads, _operations, _unbound)
    found = [fault for check in checks for fault in check(rule)]
    yield from found
    if ontology is not None and ontology.closed:
        for part, goal, line in rule.located_goals():
            if isinstance(goal, Pattern) and not is_contradiction(goal):
                yield from _against(goal, part, line, ontology, rules)
    if not found:
        reason = never_fires(rule, rules.prefixes, ontology)
        if reason:
            yield Fault(rule.place.line, f"it can never fire: {reason}", "correct it or take the rule away")


def _heads(rule: Rule) -> Iterator[Fault]:
    heads = [(goal, line) for part, goal, line in rule.located_goals() if part == "then"]
    for goal, line in heads:
        if isinstance(goal, Builtin):
            yield Fault(line, "there is a built-in after then", "calculate in the if part and conclude a statement")
        for variable in free_in_head(rule, goal) if isinstance(goal, Pattern) else ():
            fix = "use a variable of the if part; those of if-not are known there only"
            yield Fault(line, f"{variable} in the conclusion is bound by nothing", fix)
    if rule.contradiction and len(heads) > 1:
        yield Fault(rule.place.line, "there is a contradiction beside other conclusions", "make two rules of it")
    if rule.contradiction and rule.probability is not None:
        yield Fault(rule.place.line, "a contradiction has a probability", "remove it: contradictions are certain")


def _operations(rule: Rule) -> Iterator[Fault]:
    for part, goal, line in rule.located_goals():
        if not isinstance(goal, Builtin) or part == "then":
            continue
        operation = OPERATIONS.get(goal.name)
        if operation is None:
            yield Fault(line, f"there is no built-in mrq:{goal.name}", suggestion(goal.name, tuple(OPERATIONS)))
        elif not operation.least <= len(goal.arguments) <= operation.most:
            wanted = (
                f"{operation.least}" if operation.least == operation.most else f"{operation.least} to {operation.most}"
            )
            yield Fault(line, f"mrq:{goal.name} has {len(goal.arguments)} terms", f"give {wanted}: {operation.says}")
        elif part == "if-not" and operation.test is None:
            yield Fault(line, f"mrq:{goal.name} calculates after if-not", "calculate in the if part")


def _unbound(rule: Rule) -> Iterator[Fault]:
    """Operands that nothing binds: neither a triple nor another calculation."""
    known = {name for pattern in rule.patterns for name in pattern.variables}
    lines = {id(goal): line for _, goal, line in rule.located_goals()}
    waiting = [goal for goal in rule.builtins if goal.name in OPERATIONS]
    while ready := [goal for goal in waiting if not _missing(goal, known)]:
        known |= {name for goal in ready for name in goal.variables}
        waiting = [goal for goal in waiting if goal not in ready]
    for goal in waiting:
        yield Fault(lines[id(goal)], _words(goal, _missing(goal, known)), "bind it by a triple of the if part")
    for absent in rule.if_not:
        if isinstance(absent, Builtin) and (missing := _missing(absent, known)):
            yield Fault(
                lines[id(absent)], _words(absent, missing), "bind it in the if part: variables of if-not are local"
            )


def _missing(goal: Builtin, known: set[str]) -> list[str]:
    inputs = goal.arguments[OPERATIONS[goal.name].inputs] if goal.name in OPERATIONS else ()
    return [term.name for term in inputs if isinstance(term, Variable) and term.name not in known]


def _words(goal: Builtin, missing: Sequence[str]) -> str:
    return f"mrq:{goal.name} needs {', '.join(f'?{name}' for name in missing)}, which nothing binds"


def _against(goal: Pattern, part: str, line: int, ontology: Ontology, rules: RuleSet) -> Iterator[Fault]:
    """A triple checked against the ontology: known names, and values of the right type."""
    predicate, object_ = goal.predicate, goal.object
    if isinstance(predicate, Variable):
        return
    if predicate == TYPE:
        if isinstance(object_, Iri) and object_ not in ontology.classes:
            yield Fault(
                line,
                f"{rules.prefixes.short(object_)} is not a class of the ontology",
                _near(object_, ontology.classes),
            )
        elif isinstance(object_, Literal | Node):
            yield Fault(line, f"{goal_text(goal, rules.prefixes)}: that is no class", "name a class of the ontology")
        return
    assert isinstance(predicate, Iri)
    property_ = ontology.properties.get(predicate)
    if property_ is None:
        words = f"{rules.prefixes.short(predicate)} is not a property of the ontology"
        yield Fault(line, words, _near(predicate, ontology.properties))
    elif part == "then" and property_.mark == "query-only":
        yield Fault(line, f"{property_.name} is allowed only in queries and bodies", "conclude something else")
    elif property_.range is not None and _wrong_range(goal, property_.range, ontology):
        wanted = ontology.prefixes.short(property_.range)
        yield Fault(line, f"{goal_text(goal, rules.prefixes)}: the value is no {wanted}", f"write a value of {wanted}")


def _wrong_range(goal: Goal, range_: Iri, ontology: Ontology) -> bool:
    object_ = goal.object if isinstance(goal, Pattern) else None
    if isinstance(object_, Literal):
        return range_ in ontology.classes or not ontology.in_range(object_, range_)
    return isinstance(object_, Iri | Node) and range_ not in ontology.classes


def _near(iri: Iri, known: object) -> str:
    names = [one.value.replace("#", "/").rpartition("/")[2] for one in known] if isinstance(known, dict) else []
    return suggestion(iri.value.replace("#", "/").rpartition("/")[2], names)
