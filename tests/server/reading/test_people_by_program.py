"""People's part of reading by program: questions, answers, adjudication, the gold that grows, and scores."""

from __future__ import annotations

import json

import pytest
from tests.campaign.work.reading.small_package import answers_of, ndjson


def ok(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def sent(served):
    """A run of a team on the formal task, with one answer that nobody knows yet."""
    run = ok(
        served.call("ada", "POST", "/runs", json={"task": served.reading.formal, "label": "sys", "key": "k"}), 201
    )["id"]
    records = answers_of("baseline.ndjson", ("nfl-101",))
    body = ndjson([*records, LOSER])
    headers = {"Content-Type": "application/x-ndjson"}
    ok(served.call("ada", "POST", f"/runs/{run}/answers?key=a", content=body, headers=headers))
    return run


LOSER = {
    "query": "losers",
    "document": "nfl-101",
    "answer": {"?G": ["Bills v Dolphins"], "?T": ["Dolphins"]},
    "kind": "inferred",
    "provenance": [{"start": 222, "end": 239}],
}


def values_of(shown):
    return {name: json.dumps(told) for name, told in shown["values"].items()}


@pytest.mark.req("R-38", "R-39", case="good")
def test_the_loop_is_closed_by_program(served, sent):
    task = served.reading.formal
    assert task in {one["id"] for one in ok(served.call("anna", "GET", "/questions"))}
    # Two people answer: anna twice and takes one back, jude once and finishes.
    first = ok(served.call("anna", "GET", f"/questions/{task}"))
    assert (first["answers"], first["done"], first["finished"]) == ([], False, 0)
    at = {"document": "nfl-101", "query": "winners"}
    shown = ok(served.call("anna", "GET", f"/questions/{task}", params=at))
    start = shown["text"].index("Buffalo Bills")
    given = {**at, "values": {"?G": ["Bills v Dolphins"], "?T": ["Buffalo Bills"]}, "pieces": [[start, start + 13]]}
    shown = ok(served.call("anna", "POST", f"/questions/{task}/answers", json=given), 201)
    wrong = {**given, "values": {"?G": ["Bills v Dolphins"], "?T": ["Dolphins"]}}
    shown = ok(served.call("anna", "POST", f"/questions/{task}/answers", json=wrong), 201)
    taken = next(one["id"] for one in shown["answers"] if one["values"]["?T"] == ["Dolphins"])
    ok(served.call("anna", "POST", f"/questions/{task}/answers/{taken}/withdraw"))
    shown = ok(served.call("anna", "GET", f"/questions/{task}", params=at))
    assert [one["values"]["?T"] for one in shown["answers"]] == [["Buffalo Bills"]]
    assert shown["answers"][0]["provenance"][0]["exact"] == "Buffalo Bills"
    other = {**given, "values": {"?G": ["the game"], "?T": ["Bills"]}}
    ok(served.call("jude", "POST", f"/questions/{task}/answers", json=other), 201)
    following = ok(served.call("jude", "POST", f"/questions/{task}/done", json=at))
    assert following["finished"] == 1
    assert (following["document"], following["query"]) != ("nfl-101", "winners")
    # Somebody adjudicates, blind, until nothing waits.
    pool = ok(served.call("judy", "GET", "/adjudication/nfl-scoring"))
    before = pool["waiting"]
    assert before > 0
    while pool["case"]:
        case = pool["case"]
        assert "sys" not in json.dumps(case)
        right = case["query"] == "losers" and case["values"]["?T"] == ["Dolphins"]
        made = {"verdict": "right-inferred" if right else "wrong", "seen": case["seen"], "why": "by program"}
        pool = ok(served.call("judy", "POST", f"/adjudication/nfl-scoring/{case['answer']}", json=made))
        if not pool["waiting"]:
            break
    undone = ok(served.call("judy", "POST", "/adjudication/nfl-scoring/undo"))
    again = undone["case"]
    assert (again["verdict"], undone["waiting"]) == ("", 1)
    right = again["query"] == "losers" and again["values"]["?T"] == ["Dolphins"]
    final = {"verdict": "right-inferred" if right else "wrong", "seen": again["seen"]}
    stale = served.call("judy", "POST", f"/adjudication/nfl-scoring/{again['answer']}", json={**final, "seen": 0})
    assert stale.status_code == 409, "nobody overrules a decision that they have not seen"
    ok(served.call("judy", "POST", f"/adjudication/nfl-scoring/{again['answer']}", json=final))
    # The gold grows, and the run is scored again.
    proposed = ok(served.call("eva", "POST", "/gold/nfl-scoring", json={"why": "a round"}), 201)
    assert proposed["state"] == "proposed"
    change = next(one for one in proposed["runs"] if one["run"] == sent)
    assert change["after"] > change["before"]
    assert ok(served.call("eva", "GET", "/gold/nfl-scoring/proposed"))["id"] == proposed["id"]
    assert ok(served.call("eva", "POST", "/gold/nfl-scoring/apply"))["state"] == "active"
    score = ok(served.call("eva", "GET", f"/runs/{sent}/score"))
    assert score["gold"] == proposed["version"]
    people = score["result"]["values"]["human_f"]["parts"]
    assert people["readers"] == 2
    # Both readers say the same winner in other words: they agree fully, and pooled they gave one answer.
    assert people["agreement"] == 1
    assert score["result"]["values"]["human_precision"]["value"] == 1


@pytest.mark.req("R-38", case="bad")
@pytest.mark.parametrize(
    ("who", "method", "path", "status"),
    [
        ("ada", "GET", "/questions", 404),
        ("judy", "GET", "/questions", 404),
        ("ada", "GET", "/adjudication/nfl-scoring", 404),
        ("anna", "GET", "/adjudication/nfl-scoring", 404),
        ("judy", "GET", "/gold/nfl-scoring/proposed", 404),
        ("eva", "GET", "/adjudication/nowhere", 404),
        ("anna", "GET", "/questions/nowhere", 404),
    ],
)
def test_the_calls_keep_out_whom_the_pages_keep_out(served, who, method, path, status):
    assert served.call(who, method, path).status_code in (status, 403)


@pytest.mark.req("R-38", case="bad")
def test_an_answer_is_checked_as_on_the_page(served):
    task = served.reading.formal
    given = {"document": "nfl-101", "query": "winners", "values": {"?G": ["x"], "?T": ["Bills"]}}
    for more, words in (
        ({}, "no evidence"),
        ({"pieces": [[5, 10**7]]}, "outside the text"),
        ({"values": {"?G": ["x"]}, "pieces": [[0, 5]]}, "no value for T"),
    ):
        refused = served.call("anna", "POST", f"/questions/{task}/answers", json={**given, **more})
        assert refused.status_code == 422
        assert words in refused.text
    assert (
        served.call("anna", "POST", f"/questions/{task}/done", json={"document": "x", "query": "y"}).status_code == 404
    )
