"""The work behind each run is kept with it and set against what the run scored, by API and by command (R-45)."""

from __future__ import annotations

import pytest
from tests.campaign.work.reading.small_package import answers_of, ndjson


def ok(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def runs(served):
    """Two runs of one system on the formal task: the first answers half of what the second does."""
    task, names = served.reading.formal, []
    records = answers_of("baseline.ndjson")
    for number, part in enumerate((records[::2], records)):
        wanted = {"task": task, "label": "reader", "key": f"k{number}"}
        run = ok(served.call("ada", "POST", "/runs", json=wanted), 201)["id"]
        headers = {"Content-Type": "application/x-ndjson"}
        ok(served.call("ada", "POST", f"/runs/{run}/answers?key=a", content=ndjson(part), headers=headers))
        served.reading.clock.forward(minutes=5)
        names.append(run)
    return task, names


@pytest.mark.req("R-45", case="good")
def test_work_is_kept_with_runs_and_drawn_against_their_scores(served, runs):
    task, (first, second) = runs
    line = {"activity": "rules", "minutes": 90, "rules": 4, "key": "1"}
    ok(served.call("ada", "POST", f"/runs/{first}/effort", json=line), 201)
    again = ok(served.call("ada", "POST", f"/runs/{first}/effort", json=line), 201)
    assert (again["hours"], len(again["work"])) == (1.5, 1), "the same line sent twice counts once"
    more = {"activity": "annotation", "minutes": 60, "examples": 12, "key": "1"}
    ok(served.call("ada", "POST", f"/runs/{second}/effort", json=more), 201)
    less = {"activity": "annotation", "minutes": -30, "note": "counted twice", "key": "2"}
    assert ok(served.call("ada", "POST", f"/runs/{second}/effort", json=less), 201)["hours"] == 0.5
    drawn = ok(served.call("ada", "GET", f"/tasks/{task}/adaptation"))
    rows = {one["run"].split()[1]: one for one in drawn["runs"]}
    before, after = rows[first[:8]], rows[second[:8]]
    assert (before["hours"], before["rules"], before["examples"]) == (1.5, 4, 0)
    assert (after["hours"], after["rules"], after["examples"]) == (2.0, 4, 12), "a run has all work before it"
    assert (before["value"], after["value"]) == (None, None), "drawing uses up no result that a team may see"
    scores = []
    for run in (first, second):
        score = ok(served.call("ada", "GET", f"/runs/{run}/score"))["result"]["values"]["f"]["value"]
        scores.append(pytest.approx(score, abs=0.001))  # organizers see more digits
    drawn = ok(served.call("ada", "GET", f"/tasks/{task}/adaptation"))
    assert [one["value"] for one in drawn["runs"]] == scores
    assert drawn["runs"][1]["value"] > drawn["runs"][0]["value"]
    assert [one["value"] for one in ok(served.call("eva", "GET", f"/tasks/{task}/adaptation"))["runs"]] == scores
    page = served.call("ada", "GET", f"/tasks/{task}/adaptation?form=html")
    assert page.status_code == 200
    assert "2.0 hours" in page.text


@pytest.mark.req("R-45", case="bad")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"activity": "rule"}, "Did you mean 'rules'?"),
        ({"minutes": -5}, "negative numbers without a note"),
        ({"minutes": 1e300}, "a number is too large"),
        ({"rules": 10**40}, ""),
        ({"key": ""}, ""),
    ],
)
def test_a_line_that_cannot_be_is_refused_with_its_fix(served, runs, change, words):
    _, (first, _) = runs
    line = {"activity": "rules", "minutes": 5, "key": "x", **change}
    refused = served.call("ada", "POST", f"/runs/{first}/effort", json=line)
    assert refused.status_code == 422
    assert words in refused.text


@pytest.mark.req("R-45", case="bad")
def test_another_team_sees_neither_work_nor_scores(served, runs):
    task, (first, _) = runs
    assert served.call("bea", "GET", f"/runs/{first}/effort").status_code == 404
    line = {"activity": "rules", "minutes": 5, "key": "x"}
    assert served.call("bea", "POST", f"/runs/{first}/effort", json=line).status_code == 404
    assert served.call("bea", "GET", f"/tasks/{task}/adaptation").status_code == 404
    assert served.call("ada", "GET", f"/tasks/{task}/adaptation?metric=g").status_code == 422
