"""The SPARQL endpoint: read-only, without network, within limits, over what its caller may see (X-3)."""

from __future__ import annotations

import csv
import io
import socket
import threading

import pytest
import rdflib
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from tests.campaign.work.reading.small_package import SEALED_WORDS, TEST, answers_of, ndjson

PREFIX = "PREFIX ts: <urn:basanite:reading:> PREFIX nfl: <https://nfl.example/scoring#> "
PACKAGE = {"package": "nfl-scoring"}


def asked(served, query, who="ada", accept="application/sparql-results+json", package="nfl-scoring", **more):
    params = {"query": PREFIX + query, "package": package}
    return served.call(who, "GET", "/sparql", params=params, headers={"Accept": accept}, **more)


def rows(answer):
    assert answer.status_code == 200, answer.text
    return [{name: one["value"] for name, one in row.items()} for row in answer.json()["results"]["bindings"]]


@pytest.fixture
def listener():
    """Something on loopback that must never be called; gives its port and who came."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stop = threading.Event()

        def listen():
            while not stop.is_set():
                try:
                    came.append(server.accept()[1])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], came
        stop.set()
        thread.join()


@pytest.mark.req("R-23", "X-3", case="good")
def test_a_team_asks_about_annotated_examples(served):
    found = rows(
        asked(served, "SELECT ?winner { GRAPH <urn:basanite:document:nfl-001> { ?g nfl:gameWinner ?winner } }")
    )
    assert found == [{"winner": "https://nfl.example/scoring#ChicagoBears"}]
    nested = rows(asked(served, "SELECT ?t { ?g nfl:teamFinalScoreInGame/nfl:teamScoringAll ?t } LIMIT 3"))
    assert len(nested) == 3, "property paths work"


@pytest.mark.req("R-23", "X-3", case="good")
def test_a_library_that_speaks_the_protocol_can_ask(served):
    for method in ("GET", "POST", "POST_FORM"):
        store = SPARQLStore(f"{served.base}/sparql", method=method, headers=served.headers("ada"), params=dict(PACKAGE))
        graph = rdflib.Graph(store)
        found = list(graph.query(PREFIX + "SELECT ?n { ?d a ts:Document ; ts:name ?n } ORDER BY ?n"))
        assert str(found[0][0]) == "nfl-001"


def test_every_form_of_answer_is_given(served):
    query = 'SELECT ?n { ?d a ts:Document ; ts:name ?n ; ts:part "train" } ORDER BY ?n'
    table = asked(served, query, accept="text/csv").text
    assert next(csv.DictReader(io.StringIO(table)))["n"] == "nfl-001"
    assert '"nfl-001"' in asked(served, query, accept="text/tab-separated-values").text
    assert "<literal>nfl-001</literal>" in asked(served, query, accept="application/sparql-results+xml").text
    truth = asked(served, "ASK { ?d a ts:Document }").json()
    assert truth["boolean"] is True
    for accept, form in (("text/turtle", "turtle"), ("application/n-triples", "nt"), ("application/rdf+xml", "xml")):
        made = asked(served, "CONSTRUCT { ?d ts:name ?n } { ?d a ts:Document ; ts:name ?n }", accept=accept)
        assert made.headers["content-type"].split(";")[0] == accept
        assert len(rdflib.Graph().parse(data=made.content, format=form)) >= 6
    assert asked(served, query, accept="image/png").status_code == 406


@pytest.mark.req("R-23")
def test_a_query_can_be_the_body_of_a_call(served):
    query = PREFIX + "ASK { ?s a ts:Document }"
    answer = served.call("ada", "POST", "/sparql?package=nfl-scoring", content=query.encode(),
                         headers={"Content-Type": "application/sparql-query"})  # fmt: skip
    assert answer.json()["boolean"] is True
    form = served.call("ada", "POST", "/sparql?package=nfl-scoring", data={"query": query})
    assert form.json()["boolean"] is True


@pytest.mark.few(4)
@pytest.mark.req("X-3", case="bad")
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <http://127.0.0.1:{port}/> { ?s ?p ?o } }",
        "SELECT * { service silent <http://127.0.0.1:{port}/> { ?s ?p ?o } }",
        "SELECT * { { SELECT * { SERVICE ?where { ?s ?p ?o } } } BIND(<http://127.0.0.1:{port}/> AS ?where) }",
        "SELECT * { FILTER(1<2)SERVICE<http://127.0.0.1:{port}/>{?s ?p ?o} }",
        "SELECT * { \\u0053ERVICE <http://127.0.0.1:{port}/> { ?s ?p ?o } }",
        "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }",
        "SELECT * FROM NAMED <http://127.0.0.1:{port}/> { GRAPH ?g { ?s ?p ?o } }",
        "LOAD <http://127.0.0.1:{port}/>",
        "LOAD <file:///etc/passwd>",
        "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "DROP ALL",
        "CLEAR DEFAULT",
    ],
    ids=["service", "silent", "nested", "glued", "escaped", "from", "from-named", "load", "load-file", "insert",
         "delete", "drop", "clear"],
)  # fmt: skip
def test_nothing_that_reaches_out_or_changes_anything_is_asked(served, listener, query):
    port, came = listener
    answer = asked(served, query.replace("{port}", str(port)))
    assert answer.status_code == 400, answer.text
    assert answer.json()["problems"][0]["rule"] == "X-3"
    assert answer.json()["problems"][0]["fix"]
    assert came == []
    assert "root:" not in answer.text


@pytest.mark.req("X-3", case="bad")
@pytest.mark.parametrize("name", ["default-graph-uri", "named-graph-uri", "update", "using-graph-uri"])
def test_the_protocol_chooses_no_other_data_either(served, name):
    params = {"query": "ASK {}", name: "file:///etc/passwd", **PACKAGE}
    assert served.call("ada", "GET", "/sparql", params=params).status_code == 400
    assert served.call("ada", "POST", "/sparql?package=nfl-scoring", data=params).status_code == 400


@pytest.mark.req("X-3")
def test_the_child_has_no_network_even_if_a_query_slipped_through(served, listener):
    """The engine itself, in the box of the services: what the words would refuse is asked there directly."""
    from basanite.campaign.work.reading import child_sparql
    from basanite.sandbox.box import Box, Limits
    from basanite.sandbox.runner import run_boxed

    assert child_sparql.fault("SELECT * { SERVICE <http://x/> {} }")
    import sys
    import tempfile
    from pathlib import Path

    from basanite.sandbox.child import interpreter

    port, came = listener
    code = (
        "import pyoxigraph as o\n"
        f"try: list(o.Store().query('SELECT * {{ SERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}'))\n"
        "except BaseException as error: print('stopped', type(error).__name__)"
    )
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("system", "in", "out", "state")]
        for place in places:
            place.mkdir()
        box = Box((sys.executable, "-I", "-c", code), *places, reads=interpreter(), limits=Limits(seconds=30))
        ended = run_boxed(box)
    assert b"stopped" in ended.stdout, ended
    assert came == []


@pytest.mark.slow
@pytest.mark.req("X-3", "X-13")
def test_a_query_that_takes_too_long_or_gives_too_much_is_stopped(served):
    settings = served.reading.office.settings.reading
    before = settings.seconds, settings.rows
    settings.seconds, settings.rows = 4.0, 50
    try:
        many = asked(served, "SELECT * { ?a ?b ?c }")
        assert (many.status_code, many.json()["problems"][0]["rule"]) == (413, "X-3")
        assert "50 rows" in many.text
        cross = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?c != ?f && ?i != ?l) }"
        slow = asked(served, cross)
        assert (slow.status_code, slow.json()["problems"][0]["rule"]) == (422, "X-13")
        assert "undecided: the limit on time" in slow.json()["problems"][0]["message"]
    finally:
        settings.seconds, settings.rows = before


@pytest.mark.req("X-3")
def test_a_query_that_eats_memory_is_stopped(served):
    settings = served.reading.office.settings.reading
    before, settings.memory = settings.memory, 160 * 2**20
    try:
        hungry = 'SELECT (GROUP_CONCAT(CONCAT(STR(?a), STR(?c), STR(?f)); separator=" ") AS ?x) { ?a ?b ?c . ?d ?e ?f }'
        answer = asked(served, hungry)
    finally:
        settings.memory = before
    assert answer.status_code in (422, 503), answer.text
    assert "results" not in answer.json()


@pytest.mark.few(2)
@pytest.mark.req("X-3", "X-13")
@pytest.mark.parametrize("query", ["SELECT * {" * 100 + "}" * 100, "SELECT ( ((( ", "", "x" * 20_000, "SELECT \0 {}"])
def test_broken_queries_are_refused_with_a_reason(served, query):
    answer = asked(served, query)
    assert answer.status_code == 400, answer.text[:300]
    assert answer.json()["problems"][0]["message"]


def texts_and_gold(served, who, package):
    found = rows(asked(served, "SELECT ?text { ?d ts:text ?text }", who=who, package=package))
    gold = rows(asked(served, "SELECT ?d { ?a a ts:GoldAnswer ; ts:document ?d }", who=who, package=package))
    said = "SELECT DISTINCT ?d { ?a a ts:Assertion ; <http://www.w3.org/ns/prov#wasDerivedFrom> ?d }"
    spans = rows(asked(served, said, who=who, package=package))
    names = {one["d"].rpartition(":")[2] for one in (*gold, *spans)}
    return " ".join(one["text"] for one in found), names


@pytest.mark.req("X-3")
def test_a_team_sees_nothing_sealed_and_the_evaluation_team_everything(served):
    words, names = texts_and_gold(served, "ada", "nfl-later")
    assert SEALED_WORDS not in words
    assert names
    assert not names & set(TEST), "neither gold nor annotations of the sealed part"
    words, names = texts_and_gold(served, "eva", "nfl-later")
    assert SEALED_WORDS in words
    assert set(TEST) <= names


@pytest.mark.req("X-3")
def test_once_its_task_is_out_a_team_reads_sealed_texts_but_never_their_annotations_or_gold(served):
    words, names = texts_and_gold(served, "ada", "nfl-scoring")
    assert SEALED_WORDS in words, "the formal task of the open window holds it"
    assert not names & set(TEST)


@pytest.mark.req("X-3")
def test_answers_of_other_teams_are_not_there(served):
    for who in ("ada", "bea"):
        run = served.call(who, "POST", "/runs", json={"task": served.reading.hidden, "label": who, "key": "s"}).json()
        body = ndjson([one | {"kind": "inferred"} for one in answers_of("baseline.ndjson")[: 3 if who == "ada" else 5]])
        served.call(who, "POST", f"/runs/{run['id']}/answers?key=x", content=body,
                    headers={"Content-Type": "application/x-ndjson"})  # fmt: skip
    query = "SELECT ?a ?q { ?a a ts:Answer ; ts:query ?q }"
    counts = {who: len(rows(asked(served, query, who=who, package="nfl-blind"))) for who in ("ada", "bea", "eva")}
    assert counts == {"ada": 3, "bea": 5, "eva": 8}
