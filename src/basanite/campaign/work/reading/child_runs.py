"""Runs in the child: answers from NDJSON or RDF, and scored as `basanite score reading` does (R-19, R-23)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.analysis.results import score_object
from basanite.campaign.work.reading.child import TASK, Desk, digest, lay_gold, plain
from basanite.campaign.work.reading.child_packages import WHY
from basanite.campaign.work.reading.child_sparql import (
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
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.gold.answers import Answer, Known, read_answers
from basanite.reading.gold.derivation import derived_gold
from basanite.reading.gold.scope import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.model import Package
from basanite.reading.patterns import Prefixes
from basanite.reading.queries import all_queries
from basanite.reading.query import Query
from basanite.reading.rdf import parse_rdf
from basanite.reading.terms import DOCUMENT, TYPE, Iri, Literal, Node, Term
from basanite.scoring import Scorer
from basanite.tasks import Inputs

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
    found = read_answers(path, _known_names(desk), findings)
    lines = read_bounded(path, LARGEST).split(b"\n")
    desk.write("answers.json", [_record(one, lines[one.line - 1]) for one in found])
    desk.write("problems.json", findings.as_dict(TASK))


def _known_names(desk: Desk) -> Known:
    known = json.loads(desk.files["known"].read_bytes())
    queries = {name: tuple(variables) for name, variables in known["queries"].items()}
    prefixes = Prefixes(known["namespace"], known["prefixes"])
    return Known(queries, frozenset(known["documents"]), prefixes, known["ranges"])


def _record(one: Answer, line: bytes) -> dict[str, Any]:
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


def score(desk: Desk) -> None:
    """Score the answers of a run against one version of the gold; write `result.json`."""
    root = desk.root()
    lay_gold(desk, root)
    package = desk.package(root)
    generated = [query for query in all_queries(package.ontology) if query.id in set(desk.data["generated"])]
    if generated:
        add_queries(package, generated, desk.data["part"])
    settings = {"part": desk.data["part"], "queries": ",".join(desk.data["queries"])}
    settings |= {"gold": desk.data["gold"]} if desk.data["gold"] else {}
    scorer = Scorer("reading", settings | desk.data["settings"], draws=desk.data["draws"], seed=desk.data["seed"])
    human = desk.files.get("human")
    inputs = Inputs(desk.files["answers"], None, None, None, (), None, human).against([root])
    analysis = scorer.analysis(inputs, system=desk.data["system"])
    desk.write("result.json", score_object(analysis))


def add_queries(package: Package, queries: Sequence[Query], part: str) -> None:
    """Let generated queries be asked, and add to each version of the gold what annotations say to them (R-12, R-17)."""
    entries = [_entry(query, package) for query in queries]
    text = json.dumps({"format": "basanite-queries/1", "queries": entries}, ensure_ascii=True)
    (package.root / "queries" / "zz-generated.yaml").write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _gold_lines(package, queries, part))
    for path in versions(package.root).values():
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)


def _entry(query: Query, package: Package) -> dict[str, Any]:
    return {
        "query": query.id,
        "type": query.type,
        "question": query.question or query.id,
        "find": query.lines(package.manifest.prefixes),
        "select": [f"?{name}" for name in query.select or query.variables],
    }


def _gold_lines(package: Package, queries: Sequence[Query], part: str) -> Iterator[dict[str, Any]]:
    if annotation_path(package.root, part).is_file():
        yield from derived_gold(package, part, WHY, queries)
