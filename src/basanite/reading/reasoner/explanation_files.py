"""What is explained, in every way it can be shown: text, data, a page, or RDF by the ending of a file.

As RDF each firing is one PROV-O activity, with what it used, found absent and generated, and by which rule (R-9).
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.reading.prov_rdf import statement_node, statement_rows
from basanite.reading.rdf import ENDINGS, write_rdf
from basanite.reading.reasoner.explanation import Explainer, Tree
from basanite.reading.reasoner.explanation_page import PageMaker, Shown, page
from basanite.reading.reasoner.inference import Contradiction, Firing, Inference
from basanite.reading.reasoner.plain import step_lines, step_object, tree_lines, tree_object
from basanite.reading.reasoner.session import Session
from basanite.reading.rules.tree import Rule, goal_text, named_bindings, triple
from basanite.reading.terms import (
    FIRING,
    PROV,
    RDF,
    RDFS,
    RULE,
    TS,
    TYPE,
    XSD,
    Iri,
    Literal,
    Node,
    Statement,
    Term,
    names,
)

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
        yield from _plan(inference.program.rules[at])


def rule_iri(rule: Rule) -> Iri:
    """The node of a rule, in exactly this wording."""
    return Iri(RULE + rule.version)


def _activity(inference: Inference, firing: Firing, named: dict[Statement, None]) -> Iterator[Statement]:
    rule = inference.program.rules[firing.at]
    # A firing is the rule's wording and its values.
    values = "\n".join(f"{name} {term}" for name, term in sorted(inference.bindings(firing).items()))
    node = Iri(FIRING + hashlib.sha256(f"{rule.version}\n{values}".encode()).hexdigest())
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
    for head in inference.program.compiled[firing.at].heads:
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


LARGEST_TEXT: Final = 4 * 2**20
NAME: Final = re.compile(r"[^\W_][\w.\-]{0,199}")
PAGES: Final = (".html", ".htm")


@dataclass(frozen=True)
class Explained:
    """A statement's tree, or the contradictions."""

    tree: Tree | None
    contradictions: tuple[Contradiction, ...] = ()


def explanation(session: Session, statement: str | None) -> Explained | None:
    """What is asked to be explained; nothing if the statement does not hold."""
    if statement is None:
        return Explained(None, session.inference.contradictions)
    tree = session.explainer.tree(session.statement(statement))
    return None if tree is None else Explained(tree)


def as_data(session: Session, found: Explained) -> dict[str, Any]:
    """The object that `reading explain --json` prints."""
    prefixes = session.prefixes
    undecided = [one.as_dict() for one in session.inference.undecided]
    if found.tree is not None:
        others = session.explainer.others(found.tree.statement)
        other = [step_object(tree.step, prefixes) for tree in others if tree.step is not None]
        return {"tree": tree_object(found.tree, prefixes), "other_derivations": other, "undecided": undecided}
    return {
        "contradictions": [_contradiction(one, session.explainer, session) for one in found.contradictions],
        "undecided": undecided,
    }


def _contradiction(one: Contradiction, explainer: Explainer, session: Session) -> dict[str, Any]:
    prefixes = session.prefixes
    return {
        "rule": one.rule,
        "message": one.message,
        "bindings": named_bindings(dict(one.bindings), prefixes),
        "inputs": [triple(statement, prefixes) for statement in explainer.behind(one)],
        "if": [tree_object(tree, prefixes) for tree in map(explainer.tree, one.antecedents) if tree is not None],
    }


def as_lines(session: Session, found: Explained) -> list[str]:
    """The explanation as lines of text."""
    prefixes = session.prefixes
    if found.tree is not None:
        return [*tree_lines(found.tree, prefixes)]
    lines: list[str] = []
    for one in found.contradictions:
        lines.append(f"Contradiction by {one.rule}: {one.message}")
        if one.firing is not None:
            lines += step_lines(session.explainer.step(one.firing), prefixes, "  ")
        else:
            trees = filter(None, map(session.explainer.tree, one.antecedents))
            lines += [line for tree in trees for line in tree_lines(tree, prefixes, "  ")]
    return lines or ["No contradictions."]


def explanation_file(session: Session, found: Explained, out: Path, documents: Path | None) -> bytes:
    """The explanation as a file: a page, or RDF."""
    ending = out.suffix.lower()
    if ending in PAGES:
        return _page(session, found, documents)
    if ending in ENDINGS:
        return _rdf(session, found, ENDINGS[ending])
    raise SettingError(f"An explanation is a page or RDF, so {out.name} must end in one of .html {' '.join(ENDINGS)}.")


def _page(session: Session, found: Explained, documents: Path | None) -> bytes:
    names = {mention.document for mentions in session.given.mentions.values() for mention in mentions}
    texts = _texts(documents, names) if documents else {}
    maker = PageMaker(session.explainer, session.given.mentions, texts)
    if found.tree is not None:
        shown: list[Shown] = [one for one in (maker.statement(found.tree.statement),) if one is not None]
        return page("Why this holds", " ".join(triple(found.tree.statement, session.prefixes)), shown, maker)
    shown = [maker.contradiction(one) for one in found.contradictions]
    count = len(shown)
    return page("What contradicts what", f"{count} contradiction{'' if count == 1 else 's'}", shown, maker)


def _texts(folder: Path, names: set[str]) -> dict[str, str]:
    """The documents of these names in a folder or one below it; a name that is no plain name is never opened."""
    if not folder.is_dir():
        raise UnreadableError(f"{folder} is not a folder of texts. Give the one that holds them as --documents.")
    found = {}
    for name in sorted(filter(NAME.fullmatch, names)):
        paths = [*folder.glob(f"{name}.txt"), *folder.glob(f"*/{name}.txt")]
        if paths:
            found[name] = read_bounded(paths[0], LARGEST_TEXT).decode("utf-8", "replace")
    return found


def _rdf(session: Session, found: Explained, format_: str) -> bytes:
    """Every firing behind what is explained."""
    explainer, inference = session.explainer, session.inference
    start: list[Firing] = [one.firing for one in found.contradictions if one.firing is not None]
    facts = [inference.fact(statement) for one in found.contradictions for statement in one.antecedents]
    if found.tree is not None:
        facts.append(inference.fact(found.tree.statement))
    start += [explainer.nearest[fact] for fact in facts if fact is not None and fact in explainer.nearest]
    out = io.BytesIO()
    graph = provenance_graph(inference, firings_below(inference, explainer.nearest, start))
    write_rdf(graph, out, format_, prefixes=session.prefixes.all)
    return out.getvalue()
