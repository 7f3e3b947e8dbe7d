"""RDF in and out: round trips in every format, against another library, streamed; hostile files are refused first."""

import io
import subprocess
import sys

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.test_help import BLOCKED
from tests.reading.packages import small_package

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.package import read_package
from basanite.reading.prov_rdf import assertion_rows, assertions_of
from basanite.reading.rdf import ENDINGS, FORMATS, Graphed, format_of, parse_rdf, read_rdf, write_rdf
from basanite.reading.terms import OA, PROV, RDF, TS, XSD, Iri, Literal, Node, Statement, integer

PEER = {"turtle": "turtle", "rdfxml": "xml", "jsonld": "json-ld", "nquads": "nquads", "ntriples": "nt", "trig": "trig"}
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿"), max_size=12)
THING = st.one_of(
    st.text("abc", min_size=1, max_size=3).map(lambda name: Iri(f"urn:x:{name}")),
    st.text("abc", min_size=1, max_size=3).map(Node),
)
TERM = st.one_of(
    THING,
    TEXT.map(Literal),
    st.builds(Literal, st.integers().map(str), st.just(XSD + "integer")),
    st.builds(Literal, TEXT, st.just(RDF + "langString"), st.sampled_from(["en", "de-at"])),
)
NAME = st.sampled_from([Iri("urn:x:p"), Iri("urn:y:q")])
STATEMENTS = st.lists(st.builds(Statement, THING, NAME, TERM), max_size=8)


def written(rows, name):
    out = io.BytesIO()
    write_rdf(rows, out, name, prefixes={"x": "urn:x:"})
    return out.getvalue()


def read(data, name):
    findings = Findings()
    return [row.statement for row in parse_rdf(data, name, "file", findings)], findings


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(statements=STATEMENTS)
def test_statements_survive_a_round_trip(name, statements):
    found, findings = read(written(statements, name), name)
    assert findings.problems == []
    assert set(found) == set(statements)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FORMATS)
def test_another_library_reads_the_same_statements(name):
    statements = [
        Statement(Iri("urn:x:g"), Iri("urn:x:p"), Literal('a "b"\n<c> & é', XSD + "string")),
        Statement(Iri("urn:x:g"), Iri("urn:x:p"), integer(5)),
        Statement(Iri("urn:x:g"), Iri("urn:y:q"), Iri("urn:x:h")),
    ]
    graph = rdflib.Dataset().parse(data=written(statements, name), format=PEER[name])
    found = {(str(s), str(p), str(o), str(getattr(o, "datatype", None))) for s, p, o, _ in graph.quads()}
    assert found == {
        ("urn:x:g", "urn:x:p", 'a "b"\n<c> & é', "None"),
        ("urn:x:g", "urn:x:p", "5", XSD + "integer"),
        ("urn:x:g", "urn:y:q", "urn:x:h", "None"),
    }


@pytest.mark.parametrize("name", FORMATS)
def test_assertions_with_their_provenance_survive_a_round_trip(name, tmp_path):
    package = read_package(small_package(tmp_path / "p"), Findings())
    made = list(package.assertions("train", package.documents("train")))
    rows = [row for assertion in made for row in assertion_rows(assertion)]
    findings = Findings()
    found = assertions_of(parse_rdf(written(rows, name), name, "file", findings))
    assert findings.problems == []
    assert sorted(found, key=lambda a: a.id) == sorted(made, key=lambda a: a.id)


def test_provenance_uses_the_standard_selectors(tmp_path):
    package = read_package(small_package(tmp_path / "p"), Findings())
    assertion = next(a for a in package.assertions("train", package.documents("train")) if a.spans)
    graph = rdflib.Graph().parse(data=written(list(assertion_rows(assertion)), "rdfxml"), format="xml")
    asked = f"""PREFIX oa: <{OA}> PREFIX ts: <{TS}> PREFIX prov: <{PROV}>
        SELECT ?start ?end ?exact ?prefix ?suffix ?role WHERE {{
          ?piece a oa:Annotation ; oa:hasBody ?said ; ts:role ?role ; oa:hasTarget ?target .
          ?said ts:says ?statement ; prov:wasDerivedFrom ?source .
          ?target oa:hasSource ?source ; oa:hasSelector ?place, ?quote .
          ?place a oa:TextPositionSelector ; oa:start ?start ; oa:end ?end .
          ?quote a oa:TextQuoteSelector ; oa:exact ?exact ; oa:prefix ?prefix ; oa:suffix ?suffix . }}"""
    (row,) = graph.query(asked)
    span = assertion.spans[0]
    wanted = (span.start, span.end, span.exact, span.prefix, span.suffix, span.role)
    assert tuple(value.toPython() for value in row) == wanted


def test_quads_put_each_statement_into_the_graph_of_its_document(tmp_path):
    package = read_package(small_package(tmp_path / "p"), Findings())
    made = list(package.assertions("train", package.documents("train")))
    rows = parse_rdf(written([r for a in made for r in assertion_rows(a)], "nquads"), "nquads", "f", Findings())
    graphs = {row.graph.value.rpartition(":")[2]: [] for row in rows if row.graph}
    assert set(graphs) == {"d1", "d2"}


def test_a_graph_of_a_stranger_with_odd_numbers_gives_no_crash():
    rows = [Graphed(Statement(Iri("urn:a"), Iri(RDF + "type"), Iri(TS + "Assertion")))]
    assert assertions_of(rows) == []


@pytest.mark.parametrize("name", FORMATS)
def test_writing_begins_before_the_last_statement_is_made(name, tmp_path):
    seen = []

    def statements(file):
        for number in range(12_000):
            if number == 10_000:
                seen.append(file.tell())
            yield Statement(Iri(f"urn:g:{number}"), Iri("urn:p"), integer(number))

    with (tmp_path / "out").open("wb") as file:
        write_rdf(statements(file), file, name)
    assert seen[0] > 100_000


def test_reading_lines_begins_before_the_file_is_read(tmp_path):
    path = tmp_path / "many.nt"
    path.write_bytes(b"<urn:a> <urn:p> <urn:b> .\n" * 10 + b"not a triple\n")
    findings = Findings()
    rows = read_rdf(path, findings)
    next(rows)
    assert findings.problems == []
    list(rows)
    assert [problem.line for problem in findings] == [11]


DOCTYPE = b'<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "b">]>\n<rdf:RDF xmlns:rdf="%s"/>' % RDF.encode()
REFUSED = {
    "a document type": ("rdfxml", DOCTYPE, "DOCTYPE"),
    "a document type in small letters": ("rdfxml", DOCTYPE.replace(b"DOCTYPE", b"doctype"), "DOCTYPE"),
    "other encodings": ("rdfxml", DOCTYPE.decode().encode("utf-16"), "UTF-8"),
    "deep XML": ("rdfxml", b"<a b='>'>" * 70, "deep"),
    "deep Turtle": ("turtle", b"<urn:a> <urn:p> " + b"[ <urn:p> " * 70 + b"1" + b"]" * 70 + b" .", "deep"),
    "deep lists": ("trig", b"<urn:a> <urn:p> " + b"(" * 70 + b")" * 70 + b" .", "deep"),
    "deep JSON": ("jsonld", b'{"a":' * 70 + b"1" + b"}" * 70, "deep"),
    "a triple in a triple": ("turtle", b"<< <urn:a> <urn:p> <urn:b> >> <urn:p> 1 .", "inside"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_hurt_a_parser_is_refused_before_parsing(case):
    name, data, words = REFUSED[case]
    found, findings = read(data, name)
    assert found == []
    assert [(problem.rule, words in problem.message) for problem in findings] == [("X-8", True)]


def test_brackets_inside_strings_and_comments_do_not_count_as_nesting():
    strings = b'<urn:a> <urn:p> "' + b"[" * 100 + b'", """' + b"(\n" * 100 + b'""" . # ' + b"[" * 100
    assert len(read(strings, "turtle")[0]) == 2


FAULTY = {
    "turtle": (b"<urn:a> <urn:p>\n<urn:b> , .\n", 2),
    "ntriples": (b"<urn:a> <urn:p> <urn:b> .\nx\n", 2),
    "jsonld": (b'{"@context": "https://example.org/remote.jsonld", "@id": "urn:a", "urn:p": 1}', None),
    "rdfxml": (b"<rdf>", None),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_a_problem_with_its_line(name):
    data, line = FAULTY[name]
    _, findings = read(data, name)
    (problem,) = findings.problems
    assert problem.rule == "R-8"
    assert line is None or problem.line == line


def test_a_triple_term_in_lines_is_a_problem():
    _, findings = read(b"<urn:a> <urn:p> <<( <urn:a> <urn:p> <urn:b> )>> .\n", "ntriples")
    assert len(findings.problems) == 1


def test_formats_are_known_by_name_and_ending(tmp_path):
    assert {format_of(tmp_path / f"x{ending}") for ending in ENDINGS} == set(FORMATS)
    assert format_of(tmp_path / "x.nt", "turtle") == "turtle"
    with pytest.raises(SettingError, match="turtle"):
        format_of(tmp_path / "x", "turtel")
    with pytest.raises(SettingError, match="ending"):
        format_of(tmp_path / "x.doc")


def test_without_the_extra_the_line_to_type_is_told(tmp_path):
    root = small_package(tmp_path / "p")
    code = BLOCKED.format(names=("pyoxigraph",), words=["reading", "check", str(root)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert 'Fix: pip install "basanite[reading]"' in done.stderr
    assert "Traceback" not in done.stderr
