"""Annotation by programs: own tasks, events that count once, results for who may see them (R-15)."""

import sys
from pathlib import Path

import pytest
from tests.metrics.judgement.test_unitising import by_loops
from tests.server.conftest import with_token

sys.path.insert(0, str(Path(__file__).parents[2] / "campaign" / "annotating"))

from annotating_stage import CONFIG, marks, write_package

from basanite.campaign.annotating import adjudicating, assigning, setting_up
from basanite.campaign.annotating.finding import document_named
from basanite.campaign.office import Actor
from basanite.campaign.people.persons import add_person
from basanite.campaign.people.roles import grant
from basanite.metrics.judgement.unitising import Document, Span

BASE = "/api/v1/campaigns/small/annotation"
FOXES = [("Foxes", [6, 11], 2)]


@pytest.fixture
def people(office, small, tmp_path):
    """Two annotators and an adjudicator with tokens, and the text `one` for both."""
    package, made = write_package(tmp_path / "matches"), {}
    with office.writing() as session:
        for name in ("anna", "axel", "judy"):
            made[name] = add_person(session, office, name=name, mail=f"{name}@people.example").id
        project = setting_up.create_project(session, office, small.as_eva, small.campaign_id, package, CONFIG)
        pair = [made["anna"], made["axel"]]
        assigning.assign(session, office, small.as_eva, project.id, pair, names=["one"])
        grant(session, office, small.as_eva, person_id=made["judy"], role="adjudicator", campaign_id=small.campaign_id)
        made["text"] = document_named(session, project.id, "one").id
    tokens = {n: {"Authorization": f"Bearer {with_token(office, made[n])}"} for n in ("anna", "axel", "judy")}
    return made, tokens


def sent(events, after=0):
    return {"after": after, "events": [event.as_dict() for event in events]}


@pytest.mark.req("R-15", case="good")
def test_a_text_is_annotated_over_http_and_every_event_counts_once(client, people, office, small):
    made, tokens = people
    for name in ("anna", "axel"):
        (task,) = client.get(f"{BASE}/tasks", headers=tokens[name]).json()["tasks"]
        assert (task["project"], task["document"], task["state"]) == ("matches", "one", "waiting")
        opened = client.get(f"{BASE}/tasks/{task['id']}", headers=tokens[name]).json()
        assert opened["text"].startswith("😀 The Foxes")
        assert opened["events"] == []
        events = sent([*marks(FOXES, salt=name)])
        url = f"{BASE}/tasks/{task['id']}/events"
        first, again = (client.post(url, json=events, headers=tokens[name]).json() for _ in range(2))
        assert first["sequence"] == again["sequence"] == len(events["events"])
        assert {one["id"] for one in first["objects"]} == {"m1", "t1", "t1/Goals"}
        done = client.post(url, json={"events": [{"id": "d", "kind": "done"}]}, headers=tokens[name]).json()
        assert done["state"] == "done"
    with office.writing() as session:
        adjudicating.accept_unanimous(session, office, Actor(made["judy"]), made["text"])
        adjudicating.finish(session, office, Actor(made["judy"]), made["text"])
    project = client.get(f"{BASE}/projects", headers=tokens["judy"]).json()["projects"][0]
    assert (project["done"], project["adjudicated"]) == (2, 1)
    agreed = client.get(f"{BASE}/projects/matches/agreement", headers=tokens["judy"]).json()
    assert agreed["spans"]["exact"]["value"] == 1.0
    files = client.get(f"{BASE}/projects/matches/export?format=brat", headers=tokens["judy"]).json()
    assert "Team 6 11\tFoxes" in files["files"]["one.ann"]
    assert files["not_kept"]


@pytest.mark.req("S-20")
def test_spans_have_unitising_alpha_as_its_author_defines_it(client, people):
    _, tokens = people
    marked = {"anna": [("Foxes", [6, 11], 2)], "axel": [("The Foxes", [2, 11], 2)]}
    for name, teams in marked.items():
        (task,) = client.get(f"{BASE}/tasks", headers=tokens[name]).json()["tasks"]
        text = client.get(f"{BASE}/tasks/{task['id']}", headers=tokens[name]).json()["text"]
        events = sent([*marks(teams, salt=name)])
        events["events"].append({"id": "d", "kind": "done"})
        assert client.post(f"{BASE}/tasks/{task['id']}/events", json=events, headers=tokens[name]).status_code == 200
    spans = client.get(f"{BASE}/projects/matches/agreement", headers=tokens["judy"]).json()["spans"]
    assert (spans["exact"]["value"], spans["overlap"]["value"]) == (0.0, 1.0)
    judges = [[Span(begin, end) for _, (begin, end), _ in teams] for teams in marked.values()]
    assert spans["alpha"]["value"] == pytest.approx(by_loops([Document(len(text), judges)]), rel=1e-9)


@pytest.mark.req("R-15", "P-5", case="bad")
def test_nobody_reaches_anybody_elses_task(client, people, small, office):
    _, tokens = people
    (task,) = client.get(f"{BASE}/tasks", headers=tokens["anna"]).json()["tasks"]
    url = f"{BASE}/tasks/{task['id']}"
    for name in ("axel", "judy"):
        assert client.get(url, headers=tokens[name]).status_code == 404
        assert client.post(f"{url}/events", json={"events": []}, headers=tokens[name]).status_code == 404
    ada = {"Authorization": f"Bearer {with_token(office, small.ada)}"}
    assert client.get(url, headers=ada).status_code == 403
    assert client.get(url).status_code == 401
    for path in ("projects", "projects/matches/agreement", "projects/matches/export"):
        assert client.get(f"{BASE}/{path}", headers=tokens["anna"]).status_code == 403
    assert client.get(f"{BASE}/projects/matches/export?format=word", headers=tokens["judy"]).status_code == 422
    assert client.get(f"{BASE}/projects/none/export", headers=tokens["judy"]).status_code == 404


def test_a_bad_event_comes_back_with_its_cure_and_too_many_are_refused(client, people):
    _, tokens = people
    (task,) = client.get(f"{BASE}/tasks", headers=tokens["anna"]).json()["tasks"]
    url = f"{BASE}/tasks/{task['id']}/events"
    wrong = {"events": [{"id": "x", "kind": "create", "data": {"object": "o", "category": "Macth", "parent": ""}}]}
    found = client.post(url, json=wrong, headers=tokens["anna"]).json()
    assert found["accepted"] == []
    assert "Match" in found["refused"]["x"][0]["fix"]
    many = {"events": [{"id": f"e{at}", "kind": "done"} for at in range(501)]}
    assert client.post(url, json=many, headers=tokens["anna"]).status_code == 422
