"""Transcripts on a server: sealed items are read by the evaluation team alone, and every look is logged (L-4, L-9)."""

from __future__ import annotations

import pytest
from tests.doors.stage import staged
from tests.models.loopback_model import LoopbackModel, serving
from tests.models.test_run import ITEMS, run, written

from basanite.testing import small_campaign_text

OPEN, SEALED = "DEV", "EVAL1"
WINDOWS = "".join(
    f"""
[[windows]]
id = "{name}"
title = "Questions about {dataset}"
opens = "2018-04-02 00:00"
closes = "2018-04-20 24:00"
tasks = ["questions"]
dataset = ["{dataset}"]
quota = {{ count = 9, period = "week" }}
feedback = "{feedback}"
kind = "development"
"""
    for name, dataset, feedback in (("open", OPEN, "full"), ("sealed", SEALED, "limited"))
)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transcripts")
    with serving(LoopbackModel(answer=lambda prompt: "Answer: <b>12</b>")) as model:
        written(folder, model)
        assert run(folder).code == 0
    with staged(folder / "office", small_campaign_text(more=WINDOWS), "2018-04-03 12:00") as made:
        made.folder = folder
        for dataset in (OPEN, SEALED):
            where = ("--task", "questions", "--dataset", dataset, "--reason", "first", "--as", "eva@people.example")
            made.admin("reference", "add", folder / "items.jsonl", *where)
        yield made


@pytest.fixture(scope="module")
def sent(stage):
    """The submission to each window, by the data that it is about."""
    content = (stage.folder / "run/transcripts.jsonl").read_bytes()
    found = {}
    for dataset in (OPEN, SEALED):
        more = {"task": "questions", "language": "", "filename": "transcripts.jsonl"}
        answer = stage.post("ada", content, dataset, "", **more)
        assert answer.status_code in (201, 202), answer.text
        found[dataset] = answer.json()["id"]
    stage.work()
    return found


def read(stage, who, run_id, **params):
    return stage.get(who, f"/submissions/{run_id}/transcripts", **params)


@pytest.mark.req("L-3", "L-4")
def test_transcripts_are_scored_and_found_by_words_and_state(stage, sent):
    shown = stage.get("ada", f"/submissions/{sent[OPEN]}").json()
    assert shown["result"]["data"]["values"]["accuracy"]["value"] == 0.0
    page = read(stage, "ada", sent[OPEN], words="5 plus").json()
    assert (page["system"], page["total"], page["found"]) == ("adder", ITEMS, 1)
    assert (page["calls"][0]["item"], page["calls"][0]["prompt"]) == ("q5", "[user]\nWhat is 5 plus 7?")
    assert read(stage, "ada", sent[OPEN], state="refused").json()["found"] == 0
    assert len(read(stage, "ada", sent[OPEN], after=5, limit=4).json()["calls"]) == 4


@pytest.mark.req("L-4", "L-9")
def test_sealed_items_are_shown_to_the_evaluation_team_alone_and_each_look_is_logged(stage, sent):
    refused = read(stage, "ada", sent[SEALED])
    assert (refused.status_code, "sealed" in refused.text) == (403, True)
    assert "plus 7" not in refused.text
    assert read(stage, "bea", sent[SEALED]).status_code == 404
    assert read(stage, "bea", sent[OPEN]).status_code == 404
    assert read(stage, "", sent[SEALED]).status_code == 401
    shown = read(stage, "eva", sent[SEALED], words="plus", limit=3).json()
    assert shown["found"] == ITEMS
    seen = stage.admin("events", "--kind", "items.seen")["events"]
    assert [event["data"]["items"] for event in seen] == [sorted(call["item"] for call in shown["calls"])]
    assert seen[0]["data"]["submission"] == sent[SEALED]


@pytest.mark.req("L-4")
def test_a_team_sends_nothing_to_a_panel_and_the_evaluation_team_does(stage, sent):
    flagged = {"submission": sent[OPEN], "calls": [{"item": "q1"}, {"item": "q2"}]}
    place = f"{stage.path}/panels/flagged-answers/flagged"
    assert stage.client.post(place, json=flagged, headers=stage.headers("ada")).status_code == 403
    added = stage.client.post(place, json=flagged, headers=stage.headers("eva"))
    assert added.status_code == 201, added.text
    assert added.json() == {"panel": "flagged-answers", "new": 2, "merged": 0}
    again = stage.client.post(place, json=flagged, headers=stage.headers("eva")).json()
    assert (again["new"], again["merged"]) == (0, 0)
    for wrong in ({"item": "q99"}, {"item": "q1", "repeat": 2}):
        answer = stage.client.post(place, json=flagged | {"calls": [wrong]}, headers=stage.headers("eva"))
        assert answer.status_code == 404
    assert read(stage, "eva", sent[OPEN], limit=0).status_code == 422


@pytest.mark.req("L-4", case="bad")
def test_a_file_that_holds_no_transcripts_has_none(stage):
    content = b"".join(b'{"id": "q%d", "answer": "1"}\n' % number for number in range(ITEMS))
    more = {"task": "questions", "language": "", "filename": "plain.jsonl"}
    run_id = stage.post("ada", content, OPEN, "", **more).json()["id"]
    stage.work()
    assert read(stage, "ada", run_id).status_code == 404
