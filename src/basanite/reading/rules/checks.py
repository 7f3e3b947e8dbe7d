"""Checks of rules before they run: every fault with its file, its line and the name of its rule (R-10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from basanite.problems import Findings, Problem, Severity, shortened
from basanite.reading.builtins import OPERATIONS
from basanite.reading.ontology.model import Ontology
from basanite.reading.patterns import Builtin, Goal, Pattern, Variable
from basanite.reading.rules.layers import cycles_through_absence
from basanite.reading.rules.names import goal_text
from basanite.reading.rules.never import never_fires
from basanite.reading.rules.tree import Place, Rule, RuleSet, free_in_head, is_contradiction
from basanite.reading.terms import Iri, Literal, Node
from basanite.reading.vocabulary import TYPE
from basanite.registry import suggestion


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
            words = f"the name stands already at {first.file}:{first.line}"
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
    if ontology is not None:
        for part, goal, line in rule.located():
            if isinstance(goal, Pattern) and not is_contradiction(goal):
                yield from _against(goal, part, line, ontology, rules)
    if not found:
        reason = never_fires(rule, rules.prefixes, ontology)
        if reason:
            yield Fault(rule.place.line, f"it can never fire: {reason}", "correct it or take the rule away")


def _heads(rule: Rule) -> Iterator[Fault]:
    heads = [(goal, line) for part, goal, line in rule.located() if part == "then"]
    for goal, line in heads:
        if isinstance(goal, Builtin):
            yield Fault(line, "a built-in stands after then", "calculate in the if part and conclude a statement")
        for variable in free_in_head(rule, goal) if isinstance(goal, Pattern) else ():
            fix = "use a variable of the if part; those of if-not are known there only"
            yield Fault(line, f"{variable} in the conclusion is bound by nothing", fix)
    if rule.contradiction and len(heads) > 1:
        yield Fault(rule.place.line, "a contradiction stands beside other conclusions", "make two rules of it")
    if rule.contradiction and rule.probability is not None:
        yield Fault(rule.place.line, "a contradiction has a probability", "take it away: contradictions are certain")


def _operations(rule: Rule) -> Iterator[Fault]:
    for part, goal, line in rule.located():
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
    lines = {id(goal): line for _, goal, line in rule.located()}
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
    """A triple held against the ontology: known names, and values of the right type."""
    predicate, object_ = goal.predicate, goal.object
    if isinstance(predicate, Variable):
        return
    if predicate == TYPE:
        if isinstance(object_, Iri) and object_ not in ontology.classes:
            yield Fault(
                line, f"{rules.prefixes.short(object_)} is no class of the ontology", _near(object_, ontology.classes)
            )
        elif isinstance(object_, Literal | Node):
            yield Fault(line, f"{goal_text(goal, rules.prefixes)}: that is no class", "name a class of the ontology")
        return
    assert isinstance(predicate, Iri)
    property_ = ontology.properties.get(predicate)
    if property_ is None:
        words = f"{rules.prefixes.short(predicate)} is no property of the ontology"
        yield Fault(line, words, _near(predicate, ontology.properties))
    elif part == "then" and property_.mark == "query-only":
        yield Fault(line, f"{property_.name} may stand in queries and bodies only", "conclude something else")
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
