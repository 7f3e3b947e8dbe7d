"""Reading services, called over HTTP as programs call them: tasks, answers, scores, the reasoner (R-23)."""

from __future__ import annotations

import json

import pytest
import rdflib
from tests.campaign.work.reading.small_package import NFL, SEALED_WORDS, TEST, TRAIN, answers_of, ndjson

TS = rdflib.Namespace("urn:basanite:reading:")
FORMS = {"application/n-triples": "nt", "text/turtle": "turtle", "application/rdf+xml": "xml",
         "application/ld+json": "json-ld"}  # fmt: skip
LINES = {"Content-Type": "application/x-ndjson"}
pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")


def problem(answer):
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.json()["problems"][0]


@pytest.fixture(scope="module")
def practice(served):
    """A practice task of Ada's team."""
    wanted = {"package": "nfl-scoring", "part": "train", "types": ["property"], "sample": 5, "seed": 3}
    answer = served.call("ada", "POST", "/tasks", json=wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()


def begun(served, task, key, who="ada", label="reader"):
    answer = served.call(who, "POST", "/runs", json={"task": task, "label": label, "key": key})
    assert answer.status_code == 201, answer.text
    return answer.json()


def sent(served, run, body, key, who="ada", headers=None):
    return served.call(who, "POST", f"/runs/{run}/answers?key={key}", content=body, headers=LINES | (headers or {}))


@pytest.mark.req("R-23")
def test_a_team_makes_a_task_of_the_types_it_asks_for_and_fetches_it_in_every_form(served, practice):
    assert len(practice["queries"]) == 5
    assert practice["documents"] == len(TRAIN)
    graphs = []
    for media, form in FORMS.items():
        answer = served.call("ada", "GET", f"/tasks/{practice['id']}", headers={"Accept": media})
        assert answer.headers["content-type"].split(";")[0] == media
        graphs.append(rdflib.Graph().parse(data=answer.content, format=form))
    sizes = {len(set(graph.subjects(rdflib.RDF.type, TS.Query))) for graph in graphs}
    assert sizes == {5}
    names = {str(name) for name in graphs[0].objects(None, TS.name)}
    assert set(practice["queries"]) | set(TRAIN) <= names


@pytest.mark.req("R-23")
def test_the_same_choice_is_the_same_content_and_another_seed_is_another(served, practice):
    wanted = {"package": "nfl-scoring", "part": "train", "types": ["property"], "sample": 5, "seed": 3}
    again = served.call("ada", "POST", "/tasks", json=wanted).json()
    other = served.call("ada", "POST", "/tasks", json=wanted | {"seed": 4}).json()
    assert again["content"] == practice["content"]
    assert again["id"] != practice["id"]
    assert other["content"] != practice["content"]


@pytest.mark.req("R-23")
def test_a_task_that_has_not_changed_is_not_sent_again(served, practice):
    path = f"/tasks/{practice['id']}"
    first = served.call("ada", "GET", path, headers={"Accept": "text/turtle"})
    again = served.call("ada", "GET", path, headers={"Accept": "text/turtle", "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = served.call("ada", "GET", path, headers={"Accept": "application/ld+json",
                                                     "If-None-Match": first.headers["etag"]})  # fmt: skip
    assert other.status_code == 200, "another form is another content"
    assert not first.headers["etag"].startswith("W/")


@pytest.mark.req("X-16")
def test_the_mark_of_another_teams_content_opens_nothing(served, practice):
    path = f"/tasks/{practice['id']}"
    etag = served.call("ada", "GET", path).headers["etag"]
    for headers in ({}, {"If-None-Match": etag}, {"If-None-Match": "*"}):
        answer = served.call("bea", "GET", path, headers=headers)
        assert answer.status_code == 404
        assert "etag" not in answer.headers


def test_a_form_that_nobody_has_is_said_so(served, practice):
    answer = served.call("ada", "GET", f"/tasks/{practice['id']}", headers={"Accept": "image/png"})
    assert answer.status_code == 406
    assert "text/turtle" in problem(answer)["fix"]


@pytest.mark.req("R-23")
def test_formal_tasks_are_made_by_the_evaluation_team_alone_and_fetched_by_their_id(served):
    wanted = {"package": "nfl-scoring", "part": "test", "mode": "formal"}
    assert served.call("ada", "POST", "/tasks", json=wanted).status_code == 404, "a sealed part is not there"
    open_part = wanted | {"part": "train"}
    answer = served.call("ada", "POST", "/tasks", json=open_part)
    assert answer.status_code == 403
    assert problem(answer)["rule"] == "R-23"
    made = served.call("eva", "POST", "/tasks", json=wanted | {"sample": 2})
    assert made.status_code == 201, made.text
    fetched = served.call("ada", "GET", f"/tasks/{made.json()['id']}", headers={"Accept": "text/turtle"})
    graph = rdflib.Graph().parse(data=fetched.content, format="turtle")
    assert {str(name) for name in graph.objects(None, TS.name)} >= set(TEST)
    assert not list(graph.subjects(rdflib.RDF.type, TS.Assertion)), "annotations of a sealed part are never shown"


def test_a_formal_task_is_not_there_before_its_window_opens(served):
    assert served.call("ada", "GET", f"/tasks/{served.reading.coming}").status_code == 404
    assert served.call("eva", "GET", f"/tasks/{served.reading.coming}").status_code == 200
    listed = {one["id"] for one in served.call("ada", "GET", "/tasks").json()}
    assert served.reading.formal in listed
    assert served.reading.coming not in listed


def test_a_wrong_choice_is_answered_with_the_nearest(served):
    answer = served.call("ada", "POST", "/tasks", json={"package": "nfl-scoring", "classes": ["NFLGaem"]})
    assert answer.status_code == 422
    assert "NFLGame" in answer.text


@pytest.mark.req("R-23")
def test_answers_come_in_pieces_and_each_piece_counts_once(served, practice):
    run = begun(served, practice["id"], "pieces")
    assert begun(served, practice["id"], "pieces")["id"] == run["id"], "the same key is the same run"
    lines = [one for one in answers_of("train.ndjson", TRAIN) if one["query"] in practice["queries"]]
    half = len(lines) // 2
    for key, part in (("a", lines[:half]), ("b", lines[half:]), ("a", lines[:half])):
        answer = sent(served, run["id"], ndjson(part), key)
        assert answer.status_code == 200, answer.text
        assert answer.json()["taken"] == len(part)
    assert served.call("ada", "GET", f"/runs/{run['id']}").json()["answers"] == len(lines)
    other = sent(served, run["id"], ndjson(lines[half:]), "a")
    assert other.status_code == 409, "a key stands for one content"


@pytest.mark.req("R-23")
def test_lines_that_cannot_be_read_are_told_and_the_others_are_taken(served, practice):
    run = begun(served, practice["id"], "faults")
    good = next(one for one in answers_of("train.ndjson", TRAIN) if one["query"] in practice["queries"])
    body = b"".join([ndjson([good]), b"{not json}\n", ndjson([good | {"query": "nothing"}]),
                     ndjson([good | {"document": "nfl-101"}])])  # fmt: skip
    answer = sent(served, run["id"], body, "one").json()
    assert answer["taken"] == 1
    assert [one["line"] for one in answer["problems"]] == [2, 3, 4]
    assert all(one["fix"] for one in answer["problems"])
    assert answer["counted"] == 3


@pytest.mark.req("R-23")
def test_answers_can_be_sent_as_rdf(served, practice):
    run = begun(served, practice["id"], "graph")
    record = next(one for one in answers_of("train.ndjson", TRAIN) if one["query"] in practice["queries"])
    graph, node = rdflib.Graph(), rdflib.BNode()
    graph.add((node, rdflib.RDF.type, TS.Answer))
    graph.add((node, TS.query, rdflib.Literal(record["query"])))
    graph.add((node, TS.document, rdflib.URIRef(f"urn:basanite:document:{record['document']}")))
    for name, bound in record["answer"].items():
        part = rdflib.BNode()
        graph.add((node, TS.binding, part))
        graph.add((part, TS.variable, rdflib.Literal(name[1:])))
        for text in bound if isinstance(bound, list) else [bound]:
            graph.add((part, TS.called if isinstance(bound, list) else TS.literal, rdflib.Literal(text)))
    body = graph.serialize(format="xml").encode()
    answer = sent(served, run["id"], body, "rdf", headers={"Content-Type": "application/rdf+xml"})
    assert answer.json()["taken"] == 1, answer.text
    evil = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + body[body.index(b"<rdf") :]
    refused = sent(served, run["id"], evil, "evil", headers={"Content-Type": "application/rdf+xml"})
    assert problem(refused)["rule"] == "X-8"


@pytest.mark.req("R-23", "R-30", "R-31")
def test_practice_is_scored_in_full_and_only_for_its_own_team(served, practice):
    run = begun(served, practice["id"], "score")
    lines = [one for one in answers_of("train.ndjson", TRAIN) if one["query"] in practice["queries"]]
    sent(served, run["id"], ndjson(lines), "all")
    score = served.call("ada", "GET", f"/runs/{run['id']}/score").json()
    assert (score["level"], score["gold"], score["answers"]) == ("full", "v2", len(lines))
    found = score["result"]["values"]
    assert [found[name]["value"] for name in ("f", "precision", "recall")] == [1, 1, 1], "five queries, and all answers"
    assert set(score["result"]["breakdowns"]["query"]) <= set(practice["queries"])
    assert score["result"]["task"] == "reading"
    first = served.call("ada", "GET", f"/runs/{run['id']}/score?gold=v1").json()
    assert first["gold"] == "v1"
    assert served.call("ada", "GET", f"/runs/{run['id']}/score?gold=v9").status_code == 404
    for path in ("", "/score"):
        assert served.call("bea", "GET", f"/runs/{run['id']}{path}").status_code == 404
    assert sent(served, run["id"], ndjson(lines), "theirs", who="bea").status_code == 404


@pytest.mark.req("R-30")
def test_a_formal_task_over_two_queries_is_scored_against_these_two(served):
    wanted = {"package": served.reading.package, "part": "test", "mode": "formal", "types": ["property"], "sample": 2}
    task = served.call("eva", "POST", "/tasks", json=wanted | {"seed": 1}).json()
    assert len(task["queries"]) == 2
    gold = map(json.loads, (NFL / "gold" / "v2.ndjson").read_text().splitlines())
    right = [one for one in gold if one["document"] in TEST and one.get("verdict", "correct") == "correct"]
    asked = [one for one in right if one["query"] in task["queries"]]
    assert 0 < len(asked) < len(right)
    run = begun(served, task["id"], "two", who="eva")
    assert sent(served, run["id"], ndjson(asked), "all", who="eva").json()["taken"] == len(asked)
    score = served.call("eva", "GET", f"/runs/{run['id']}/score").json()["result"]
    assert [score["values"][name]["value"] for name in ("f", "precision", "recall")] == [1, 1, 1]


@pytest.mark.req("R-32")
def test_a_service_reads_a_value_in_any_usual_form_and_tells_each_line_that_is_none(served):
    wanted = {"package": "nfl-scoring", "part": "train", "types": ["property"]}
    task = served.call("ada", "POST", "/tasks", json=wanted).json()
    run = begun(served, task["id"], "shapes")
    line = {"query": "periods", "document": "nfl-003"}
    shapes = [["5"], "five", 5, "about five", [5, 6]]
    lines = [{**line, "answer": {"?G": [f"game {at}"], "?N": shape}} for at, shape in enumerate(shapes)]
    answer = sent(served, run["id"], ndjson(lines), "shapes").json()
    assert answer["taken"] == 3
    assert [problem["line"] for problem in answer["problems"]] == [4, 5]


@pytest.mark.req("R-23", "M68")
def test_a_formal_run_shows_what_its_window_allows_and_a_blind_one_nothing(served):
    lines = ndjson(answers_of("baseline.ndjson"))
    limited, blind = (begun(served, task, "formal") for task in (served.reading.formal, served.reading.hidden))
    for run in (limited, blind):
        assert sent(served, run["id"], lines, "all").json()["taken"] > 40
    seen = served.call("ada", "GET", f"/runs/{limited['id']}/score?gold=v1").json()
    assert (seen["level"], seen["gold"]) == ("limited", "v2"), "other versions would tell more than one value"
    assert set(seen["result"]["values"]) == {"f", "precision"}
    assert served.call("ada", "GET", f"/runs/{blind['id']}/score").json()["result"] is None
    full = served.call("eva", "GET", f"/runs/{blind['id']}/score").json()
    assert full["level"] == "full"
    assert full["result"]["values"]["f"]["parts"]["unadjudicated_share"] >= 0


def test_a_team_has_so_many_formal_runs_as_its_window_says(served):
    for key in ("q1", "q2"):
        begun(served, served.reading.formal, key, who="bea")
    answer = served.call("bea", "POST", "/runs", json={"task": served.reading.formal, "label": "x", "key": "q3"})
    assert (answer.status_code, problem(answer)["rule"]) == (429, "M64")


@pytest.mark.slow
@pytest.mark.req("X-23")
def test_a_team_that_asks_for_its_score_after_every_answer_uses_up_its_looks(served):
    run = begun(served, served.reading.formal, "q1", who="bea")
    score = f"/runs/{run['id']}/score"
    lines = answers_of("baseline.ndjson")[:11]
    for at, line in enumerate(lines):
        assert sent(served, run["id"], ndjson([line]), f"one-{at}", who="bea").json()["taken"] == 1
        answer = served.call("bea", "GET", score)
        assert served.call("bea", "GET", score).status_code == answer.status_code, "the same value twice is one look"
        assert answer.status_code == (200 if at < 10 else 429)
    assert problem(answer)["rule"] == "X-23"
    assert served.call("eva", "GET", score).json()["answers"] == 11, "nothing is lost, and organizers see it"


@pytest.mark.req("X-13")
def test_a_body_that_is_too_long_is_refused_before_anything_reads_it(served, practice):
    run = begun(served, practice["id"], "long")
    most = served.reading.office.settings.reading.body
    answer = sent(served, run["id"], b"x" * (most + 1), "long")
    assert (answer.status_code, problem(answer)["rule"]) == (413, "X-13")


def reasoned(served, service, who="ada", **fields):
    return served.call(who, "POST", f"/dsrs/{service}?package=nfl-scoring", json=fields)


OVERTIME = [["g1", "hasOvertimePlay", "true"]]


@pytest.mark.req("R-23", "R-9", "R-13")
def test_the_reasoner_checks_infers_and_answers(served):
    clash = reasoned(served, "check", statements=[*OVERTIME, ["g1", "numberOfPeriods", "4"]]).json()
    assert clash["consistent"] is False
    assert clash["contradictions"][0]["rule"] == "overtime-needs-five"
    inferred = reasoned(served, "infer", statements=OVERTIME).json()
    assert ["g1", "numberOfPeriods", "5"] in inferred["derived"]
    assert len(inferred["derivations"]) == len(inferred["derived"])
    found = reasoned(served, "query", statements=OVERTIME, query="?G numberOfPeriods ?N").json()
    assert found["answers"] == [{"?G": "g1", "?N": "5"}]
    assert (found["kinds"], found["probabilities"]) == (["inferred"], [0.97])


@pytest.mark.req("R-23", "R-25", "R-11")
def test_the_reasoner_finds_contexts_and_combinations(served):
    both = [*OVERTIME, ["g1", "numberOfPeriods", "4"]]
    assert [one["size"] for one in reasoned(served, "contexts", statements=both).json()["contexts"]] == [1, 1]
    worlds = reasoned(served, "combinations", total=20, at_least={"fg": 1}).json()["worlds"]
    assert sum(world["probability"] for world in worlds) == pytest.approx(1)
    assert worlds[0]["counts"]["fg"] == 2


@pytest.mark.req("R-23")
def test_statements_can_be_sent_as_rdf_and_rules_can_be_the_callers_own(served):
    turtle = b"@prefix n: <https://nfl.example/scoring#> . n:g1 n:hasOvertimePlay true ."
    path = "/dsrs/query?package=nfl-scoring&query=%3FG%20numberOfPeriods%20%3FN"
    answer = served.call("ada", "POST", path, content=turtle, headers={"Content-Type": "text/turtle"})
    assert answer.json()["answers"] == [{"?G": "g1", "?N": "5"}]
    rules = "(rule own :if (?g hasOvertimePlay true) :then (?g numberOfPeriods 7))"
    own = reasoned(served, "infer", statements=OVERTIME, rules=rules).json()
    assert ["g1", "numberOfPeriods", "7"] in own["derived"]


@pytest.mark.few(2)
@pytest.mark.req("X-13", case="bad")
@pytest.mark.parametrize(
    ("service", "fields", "words"),
    [
        ("infer", {"statements": [[f"g{n}", "hasOvertimePlay", "true"] for n in range(50)],
                   "limits": {"statements": 20}}, "limit on statements"),
        ("infer", {"statements": OVERTIME, "limits": {"statements": 10**9}}, "cannot be"),
        ("infer", {"statements": [["g", "numberOfPeriods", "9" * 600]],
                   "rules": "(rule r :if (?g numberOfPeriods ?n) (?n mrq:times ?n ?m) :then (?g pointsScored ?m))"},
         "limit on digits"),
        ("combinations", {"total": 5000}, "limit on worlds"),
        ("infer", {"statements": OVERTIME, "rules": "(" * 100 + ")" * 100}, ""),
        ("query", {"statements": OVERTIME}, "query is missing"),
        ("infer", {"nonsense": 1}, "unknown key"),
    ],
    ids=["statements", "loosened", "digits", "worlds", "brackets", "no-query", "unknown"],
)  # fmt: skip
def test_a_limit_that_is_reached_gives_an_error_and_never_part_of_an_answer(served, service, fields, words):
    answer = reasoned(served, service, **fields)
    assert answer.status_code == 422, answer.text
    assert words in problem(answer)["message"]
    assert "derived" not in answer.text


@pytest.mark.req("X-13")
def test_rules_that_never_end_are_stopped_and_said_to_be_undecided(served):
    rules = "(rule more :if (?g numberOfPeriods ?n) (?n mrq:plus 1 ?m) :then (?g numberOfPeriods ?m))"
    answer = reasoned(served, "infer", statements=[["g", "numberOfPeriods", "1"]], rules=rules)
    assert answer.status_code == 422
    assert problem(answer)["rule"] == "X-13"
    assert "undecided" in problem(answer)["message"]


@pytest.mark.req("X-8")
@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"statements": 1, "statements": 2}', b"\xff\xfe", b"null"])
def test_hostile_bodies_are_problems_and_not_faults(served, body):
    answer = served.call("ada", "POST", "/dsrs/check?package=nfl-scoring", content=body,
                         headers={"Content-Type": "application/json"})  # fmt: skip
    assert answer.status_code == 422, answer.text
    assert problem(answer)["fix"]


@pytest.mark.req("P-5")
@pytest.mark.parametrize("who", [None, "anna", "judy", "jude"])
def test_nobody_but_teams_and_the_evaluation_team_calls_the_services(served, who):
    for method, path in (("GET", "/packages"), ("GET", "/tasks"), ("POST", "/dsrs/check"), ("GET", "/sparql?query=x")):
        assert served.call(who, method, path).status_code in (401, 403)


def test_a_team_learns_the_open_parts_and_queries_of_a_package(served):
    found = next(one for one in served.call("ada", "GET", "/packages").json() if one["name"] == "nfl-scoring")
    assert {part["name"]: part["documents"] for part in found["parts"]} == {"train": len(TRAIN), "test": None}
    assert {"games", "final-scores"} <= {query["id"] for query in found["queries"]}


def test_sealed_words_are_in_no_answer_that_a_team_gets_before_the_task_is_out(served):
    paths = ["/packages", "/tasks", "/runs", f"/tasks/{served.reading.coming}"]
    told = [served.call("ada", "GET", path).text for path in paths]
    assert not [text for text in told if SEALED_WORDS in text or "24-20" in text]
    assert json.loads(told[0])


@pytest.mark.req("X-13")
def test_who_calls_too_often_has_to_wait(served):
    settings = served.reading.office.settings.reading
    before, settings.calls = settings.calls, "1/hour"
    try:
        codes = [reasoned(served, "check", who="alan", statements=OVERTIME).status_code for _ in range(2)]
    finally:
        settings.calls = before
    assert codes == [200, 429]
