"""Answers as they come, NDJSON or RDF: those that can be read are taken, of all others each line is told (R-23)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.campaign.answering.inside.asking import (
    ABOUT,
    ANSWER,
    ASKS,
    BINDING,
    END,
    EXACT,
    KIND,
    LITERAL,
    NAME,
    PIECE,
    START,
    VARIABLE,
)
from basanite.campaign.answering.inside.bindings import digest, plain
from basanite.campaign.answering.inside.desk import TASK, Desk
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.gold.answers import Answer, Known, read_answers
from basanite.reading.patterns import Prefixes
from basanite.reading.rdf import parse_rdf
from basanite.reading.terms import Iri, Literal, Node, Term
from basanite.reading.vocabulary import DOCUMENT, TYPE

LARGEST: Final = 64 * 2**20
LISTED: Final = 500
"""Problems of a kind that are told one by one."""
PIECES: Final = 50
"""Pieces of text that one answer may rest on."""
LONGEST: Final = 2_000
KEPT: Final = ("document", "start", "end", "exact")


def take(desk: Desk) -> None:
    """Read what came; write the answers that can be used, and every problem with its line."""
    findings = Findings(LISTED)
    path = desk.files["body"] if desk.data["media"] == "ndjson" else _as_lines(desk, findings)
    found = read_answers(path, _known(desk), findings)
    lines = read_bounded(path, LARGEST).split(b"\n")
    desk.write("answers.json", [_kept(one, lines[one.line - 1]) for one in found])
    desk.write("problems.json", findings.as_dict(TASK))


def _known(desk: Desk) -> Known:
    known = json.loads(desk.files["known"].read_bytes())
    queries = {name: tuple(variables) for name, variables in known["queries"].items()}
    prefixes = Prefixes(known["namespace"], known["prefixes"])
    return Known(queries, frozenset(known["documents"]), prefixes, known["ranges"])


def _kept(one: Answer, line: bytes) -> dict[str, Any]:
    told = json.loads(line)["answer"]
    return {
        "line": one.line,
        "query": one.query,
        "document": one.document,
        "bindings": plain(one.bindings),
        "told": {name.removeprefix("?"): value for name, value in told.items()},
        "digest": digest(one.query, one.document, one.bindings),
        "kind": one.kind,
        "provenance": [_piece(piece) for piece in one.provenance[:PIECES]],
    }


def _piece(piece: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a piece of text: positions, and a quotation of bounded length."""
    kept: dict[str, Any] = {name: piece[name] for name in ("start", "end") if type(piece.get(name)) is int}
    kept |= {name: str(piece[name])[:LONGEST] for name in ("document", "exact") if isinstance(piece.get(name), str)}
    return kept


def _as_lines(desk: Desk, findings: Findings) -> Path:
    """Answers in RDF as lines, so that both forms are read by the same code; their numbers stand for lines."""
    about: dict[Term, dict[Iri, list[Term]]] = {}
    data = read_bounded(desk.files["body"], LARGEST)
    for row in parse_rdf(data, desk.data["media"], "answers", findings):
        said = row.statement
        about.setdefault(said.subject, {}).setdefault(said.predicate, []).append(said.object)
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    path = Path(tempfile.mkdtemp()) / "answers.ndjson"
    lines = [json.dumps(record) for record in _records(about)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _records(about: Mapping[Term, Mapping[Iri, list[Term]]]) -> Iterator[dict[str, Any]]:
    for node in sorted((node for node, said in about.items() if ANSWER in said.get(TYPE, ())), key=str):
        said = about[node]
        yield {
            "query": _text(said.get(ASKS)),
            "document": _document(said.get(ABOUT)),
            "kind": _text(said.get(KIND)) or "explicit",
            "answer": dict(_binding(about.get(one, {})) for one in said.get(BINDING, ())),
            "provenance": [_place(about.get(one, {})) for one in said.get(PIECE, ())],
        }


def _binding(said: Mapping[Iri, list[Term]]) -> tuple[str, Any]:
    name = f"?{_text(said.get(VARIABLE))}"
    if NAME in said:
        return name, sorted(_text([one]) for one in said[NAME])
    return name, _text(said.get(LITERAL))


def _place(said: Mapping[Iri, list[Term]]) -> dict[str, Any]:
    numbers = {name: _text(said.get(key)) for name, key in (("start", START), ("end", END))}
    found: dict[str, Any] = {name: int(text) for name, text in numbers.items() if text.isdigit() and len(text) < 10}
    return found | ({"exact": _text(said[EXACT])} if EXACT in said else {})


def _document(found: list[Term] | None) -> str:
    text = _text(found)
    return text.removeprefix(DOCUMENT)


def _text(found: list[Term] | None) -> str:
    one = found[0] if found else None
    if isinstance(one, Literal):
        return one.lexical
    return one.value if isinstance(one, Iri) else one.label if isinstance(one, Node) else ""
