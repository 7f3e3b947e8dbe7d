"""What is explained, in every way it can be shown: text, data, a page, or RDF by the ending of a file."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.reading.rdf import ENDINGS, write_rdf
from basanite.reading.reasoner.explaining.page import PageMaker, Shown, page
from basanite.reading.reasoner.explaining.plain import step_lines, step_object, tree_lines, tree_object
from basanite.reading.reasoner.explaining.prov import firings_below, provenance_graph
from basanite.reading.reasoner.explaining.trees import Explainer, Tree
from basanite.reading.reasoner.inference import Contradiction, Firing
from basanite.reading.reasoner.session import Session
from basanite.reading.rules.names import named_bindings, triple

LARGEST_TEXT: Final = 4 * 2**20
NAME: Final = re.compile(r"[^\W_][\w.\-]{0,199}")
PAGES: Final = (".html", ".htm")


@dataclass(frozen=True)
class Explained:
    """A statement's tree, or the contradictions."""

    tree: Tree | None
    contradictions: tuple[Contradiction, ...] = ()


def explained(session: Session, statement: str | None) -> Explained | None:
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


def rendered(session: Session, found: Explained, out: Path, documents: Path | None) -> bytes:
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
        raise UnreadableError(f"{folder} is no folder of texts. Give the one that holds them as --documents.")
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
