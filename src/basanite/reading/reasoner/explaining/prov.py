"""Firings as RDF: one PROV-O activity each, with what it used, found absent and generated, and by which rule (R-9).

Statements stand as nodes of plain RDF, by the hash of their content, so that RDF/XML can carry them and one statement
is one node in every document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from basanite.reading.prov_rdf import statement_node, statement_rows
from basanite.reading.reasoner.inference import Firing, Inference
from basanite.reading.rules.names import goal_text
from basanite.reading.rules.tree import Rule
from basanite.reading.terms import RDF, XSD, Iri, Literal, Node, Statement, Term
from basanite.reading.vocabulary import FIRING, PROV, RDFS, RULE, TS, TYPE, names

ACTIVITY, PLAN, ASSOCIATION, QUALIFIED = names(PROV, "Activity", "Plan", "Association", "qualifiedAssociation")
USED, GENERATED, HAD_PLAN = names(PROV, "used", "generated", "hadPlan")
ABSENT, BINDING, CONTRADICTION, PROBABILITY = names(TS, "absent", "binding", "Contradiction", "probability")
LABEL, COMMENT, VALUE = Iri(RDFS + "label"), Iri(RDFS + "comment"), Iri(RDF + "value")


def provenance_graph(inference: Inference, firings: Iterable[Firing]) -> Iterator[Statement]:
    """The firings as RDF, with every statement and rule that they name."""
    named: dict[Statement, None] = {}
    rules: dict[int, None] = {}
    for firing in firings:
        rules[firing.at] = None
        yield from _activity(inference, firing, named)
    for statement in named:
        yield from statement_rows(statement)
    for at in rules:
        yield from _plan(inference.reasoner.program.rules[at])


def rule_iri(rule: Rule) -> Iri:
    """The node of a rule, in exactly this wording."""
    return Iri(RULE + rule.version)


def firing_iri(inference: Inference, firing: Firing) -> Iri:
    """The node of a firing: the rule's wording and its values."""
    rule = inference.reasoner.program.rules[firing.at]
    values = "\n".join(f"{name} {term}" for name, term in sorted(inference.bindings(firing).items()))
    return Iri(FIRING + hashlib.sha256(f"{rule.version}\n{values}".encode()).hexdigest())


def _activity(inference: Inference, firing: Firing, named: dict[Statement, None]) -> Iterator[Statement]:
    node, rule = firing_iri(inference, firing), inference.reasoner.program.rules[firing.at]
    prefixes = inference.reasoner.rules.prefixes
    yield Statement(node, TYPE, ACTIVITY)
    yield Statement(node, LABEL, Literal(f"{rule.name} fired"))
    yield from _association(node, rule)
    for fact in inference.antecedents(firing):
        used = inference.statement(fact)
        named[used] = None
        yield Statement(node, USED, statement_node(used))
    for goal in inference.absent(firing):
        yield Statement(node, ABSENT, Literal(goal_text(goal, prefixes)))
    if rule.contradiction:
        yield Statement(node, TYPE, CONTRADICTION)
    for head in inference.reasoner.program.compiled[firing.at].heads:
        made = inference.statement(head.fact(firing.binding))
        named[made] = None
        yield Statement(node, GENERATED, statement_node(made))
    for name, term in inference.bindings(firing).items():
        yield from _binding(node, name, term)


def _association(node: Iri, rule: Rule) -> Iterator[Statement]:
    """PROV-O hangs a plan on the association of an activity; the short way is there too, for simple queries."""
    association = Iri(node.value + ":association")
    yield Statement(node, HAD_PLAN, rule_iri(rule))
    yield Statement(node, QUALIFIED, association)
    yield Statement(association, TYPE, ASSOCIATION)
    yield Statement(association, HAD_PLAN, rule_iri(rule))


def _binding(node: Iri, name: str, term: Term) -> Iterator[Statement]:
    at = Iri(f"{node.value}:{hashlib.sha256(name.encode()).hexdigest()[:12]}")
    yield Statement(node, BINDING, at)
    yield Statement(at, LABEL, Literal(f"?{name}"))
    yield Statement(at, VALUE, term if not isinstance(term, Node) else Node(term.label))


def _plan(rule: Rule) -> Iterator[Statement]:
    node = rule_iri(rule)
    yield Statement(node, TYPE, PLAN)
    yield Statement(node, LABEL, Literal(rule.name))
    if rule.comment:
        yield Statement(node, COMMENT, Literal(rule.comment))
    if rule.probability is not None:
        yield Statement(node, PROBABILITY, Literal(str(rule.probability), XSD + "decimal"))


def firings_below(inference: Inference, chosen: dict[tuple[int, int], Firing], start: Iterable[Firing]) -> list[Firing]:
    """Some firings and those of the shallowest derivations below them, each once."""
    seen: dict[Firing, None] = {}
    waiting = list(start)
    while waiting:
        firing = waiting.pop()
        if firing not in seen:
            seen[firing] = None
            facts = inference.antecedents(firing)
            waiting += [chosen[fact] for fact in facts if fact in chosen]
    return list(seen)
