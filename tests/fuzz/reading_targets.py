"""Readers of machine reading: RDF, rules, queries, packages, answers, SPARQL."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.fuzz.target import EXAMPLES, Target, example, shown

import basanite
from basanite.campaign.work.reading.child_sparql import fault
from basanite.problems import Findings
from basanite.reading.effort import read_effort
from basanite.reading.gold.answers import Known, read_answers, read_gold
from basanite.reading.ontology_file import read_ontology
from basanite.reading.package import Package, read_package
from basanite.reading.package.checks import check_package
from basanite.reading.patterns import PatternError, parse_pattern, parse_term
from basanite.reading.queries import read_queries
from basanite.reading.rdf import FORMATS, parse_rdf, write_rdf
from basanite.reading.reasoner.combinations import read_theory
from basanite.reading.reasoner.given import read_statements
from basanite.reading.rules.files import read_rules
from basanite.reading.rules.sexpr_rules import graph_statements

NFL, SMALL = EXAMPLES / "reading" / "nfl", EXAMPLES / "annotation" / "protests"
SPARQL = [
    b"PREFIX ex: <urn:x:> SELECT ?s (COUNT(*) AS ?n) { ?s ex:p/ex:q* ?o FILTER(?o > 3 && regex(?s, 'a')) } GROUP BY ?s",
    b"CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <urn:g> { ?s ?p ?o OPTIONAL { ?o a _:b } } } LIMIT 10",
    b'ASK { ?s ?p """long "text" here"""@en, "x"^^<urn:t> }',
]
PATTERNS = [
    b"?game nfl:teamFinalScoreInGame ?score", b'(?x > 3)', b'nfl:x rdf:type "some text"@en', b"?a owl:sameAs _:b",
]  # fmt: skip
Read = Callable[[bytes, Path], object]
_RDF_KINDS = {"jsonld": "json"}


def targets() -> list[Target]:
    """All of them."""
    return [
        *(Target(f"rdf {name}", _RDF_KINDS.get(name, "text"), _written(name), _rdf(name)) for name in FORMATS),
        Target(
            "rules", "text", example("reading/nfl/rules/scoring.rules", "reading/table3/table3.rules"), _rules(".rules")
        ),
        Target("rules yaml", "text", example("reading/nfl/rules/as-yaml/scoring.yaml"), _rules(".yaml"), 3),
        Target("graph", "text", example("reading/table3/periods.graph", "reading/table3/overtime.graph"), _graph),
        Target("given statements", "text", example("reading/table3/periods.graph"), _given),
        Target("patterns", "text", lambda: PATTERNS, _patterns),
        Target("sparql", "text", lambda: SPARQL, lambda data, _: fault(data.decode("utf-8", "replace"))),
        Target("ontology", "text", example("annotation/protests/ontology.ttl"), _ontology),
        Target("queries", "text", example("reading/nfl/queries/queries.yaml"), _queries, 3),
        Target("theory", "text", example("reading/nfl/theories/scoring.toml"), _theory),
        Target("effort", "ndjson", example("reading/nfl/effort.ndjson"), _effort),
        Target("answers", "ndjson", lambda: [_first("answers/baseline.ndjson")], _answers(read_answers), 2),
        Target("gold", "ndjson", lambda: [_first("gold/v2.ndjson")], _answers(read_gold), 2),
        Target("reading submission", "ndjson", lambda: [_first("answers/baseline.ndjson")], _submission, 60),
        *(
            Target(f"package {name}", kind, example(f"annotation/protests/{name}"), _package(name), 12)
            for name, kind in _PARTS
        ),
    ]


_PARTS = (
    ("package.toml", "text"), ("annotations/train.ndjson", "ndjson"), ("corpus/train.sha256", "text"),
    ("queries/queries.yaml", "text"), ("rules/protests.rules", "text"),
)  # fmt: skip


@cache
def _nfl() -> Package:
    found = read_package(NFL, Findings())
    assert found is not None
    return found


@cache
def _known() -> Known:
    package = _nfl()
    queries = {query.id: tuple(str(one).lstrip("?") for one in query.select) for query in package.queries}
    documents = frozenset(name for part in ("train", "test") for name in package.documents(part))
    return Known(queries, documents, package.manifest.prefixes)


def _first(name: str) -> bytes:
    return b"\n".join((NFL / name).read_bytes().split(b"\n")[:40]) + b"\n"


def _written(name: str) -> Callable[[], list[bytes]]:
    def made() -> list[bytes]:
        rows, out = list(parse_rdf((SMALL / "ontology.ttl").read_bytes(), "turtle", "o", Findings())), io.BytesIO()
        write_rdf(rows[:30], out, name, prefixes={"x": "urn:x:"})
        return [out.getvalue()]

    return made


def _rdf(name: str) -> Read:
    def read(data: bytes, place: Path) -> None:
        findings = Findings()
        for _ in parse_rdf(data, name, "file", findings):
            pass
        shown(findings)

    return read


def _file(name: str, read_path: Callable[[Path, Findings], object]) -> Read:
    def read(data: bytes, place: Path) -> None:
        findings = Findings()
        (place / name).write_bytes(data)
        read_path(place / name, findings)
        shown(findings)

    return read


def _rules(ending: str) -> Read:
    return _file(f"some{ending}", lambda path, findings: read_rules(path, findings, prefixes=_nfl().manifest.prefixes))


def _graph(data: bytes, place: Path) -> None:
    findings = Findings()
    graph_statements(data.decode("utf-8", "replace"), "some.graph", findings, _nfl().manifest.prefixes)
    shown(findings)


def _patterns(data: bytes, place: Path) -> None:
    text = data.decode("utf-8", "replace")
    for parse in (parse_pattern, parse_term):
        try:
            parse(text, _nfl().manifest.prefixes)
        except PatternError as error:
            str(error).encode("utf-8", "replace")


_given = _file("some.graph", lambda path, findings: read_statements(path, _nfl().manifest.prefixes, findings))
_ontology = _file("ontology.ttl", lambda path, findings: read_ontology(path, _nfl().manifest.prefixes, findings))
_queries = _file("queries.yaml", lambda path, findings: read_queries(path, _nfl().ontology, frozenset(), findings))
_theory = _file("theory.toml", read_theory)
_effort = _file("effort.ndjson", read_effort)


def _answers(read_path: Callable[..., object]) -> Read:
    return _file("answers.ndjson", lambda path, findings: read_path(path, _known(), findings))


def _submission(data: bytes, place: Path) -> None:
    (place / "sent.ndjson").write_bytes(data)
    shown(basanite.validate("reading", submission=place / "sent.ndjson", reference=NFL))


def _package(name: str) -> Read:
    def read(data: bytes, place: Path) -> None:
        root, findings = place / "package", Findings()
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(SMALL, root)
        (root / name).write_bytes(data)
        check_package(root, findings)
        shown(findings)

    return read
