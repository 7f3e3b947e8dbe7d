"""Annotation by programs: own tasks, events that count once, results for who may see them (R-15)."""

import sys
import time
from pathlib import Path

import pytest
from tests.metrics.judgement.test_unitising import by_loops
from tests.server.conftest import with_token

sys.path.insert(0, str(Path(__file__).parents[2] / "campaign" / "work" / "annotation"))

from annotating_stage import CONFIG, marks, write_package

from basanite.campaign.office import Actor
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.work.annotation import adjudication, assignment, setup
from basanite.campaign.work.annotation.lookup import document_named
from basanite.metrics.judgement.span_agreement import Document, Span

BASE = "/api/v1/campaigns/small/annotation"
FOXES = [("Foxes", [6, 11], 2)]


@pytest.fixture
def people(office, small, tmp_path):
    """Two annotators and an adjudicator with tokens, and the text `one` for both."""
    package, made = write_package(tmp_path / "matches"), {}
    with office.writing() as session:
        for name in ("anna", "axel", "judy"):
            made[name] = add_person(session, office, Newcomer(name=name, mail=f"{name}@people.example")).id
        project = setup.create_project(
            session, office, small.as_eva, small.campaign_id, setup.NewProject(package, CONFIG)
        )
        pair = [made["anna"], made["axel"]]
        assignment.assign(session, office, small.as_eva, project.id, pair, assignment.TextScope(names=["one"]))
        grant(
            session,
            office,
            small.as_eva,
            RoleGrant(person_id=made["judy"], role="adjudicator", campaign_id=small.campaign_id),
        )
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
        adjudication.accept_unanimous(session, office, Actor(made["judy"]), made["text"])
        adjudication.finish(session, office, Actor(made["judy"]), made["text"])
    project = client.get(f"{BASE}/projects", headers=tokens["judy"]).json()["projects"][0]
    assert (project["done"], project["adjudicated"]) == (2, 1)
    agreed = client.get(f"{BASE}/projects/matches/agreement", headers=tokens["judy"]).json()
    assert agreed["spans"]["exact"]["value"] == 1.0
    files = client.get(f"{BASE}/projects/matches/export?format=brat", headers=tokens["judy"]).json()
    assert "Team 6 11\tFoxes" in files["files"]["one.ann"]
    assert files["not_kept"]


@pytest.mark.req("R-42")
def test_a_save_in_a_text_with_thousands_of_spans_is_cheap_and_tells_what_changed(client, people):
    _, tokens = people
    (task,) = client.get(f"{BASE}/tasks", headers=tokens["anna"]).json()["tasks"]
    url, places = f"{BASE}/tasks/{task['id']}", [(start, end) for start in range(50) for end in range(start + 1, 51)]
    events = [{"id": "m", "kind": "create", "data": {"object": "m", "category": "Match", "parent": ""}}]
    for number, place in enumerate((places * 2)[:2000]):
        one = {"object": f"t{number}", "category": "Team", "parent": "m"}
        span = {"object": f"t{number}", "field": "mention", "parts": [place]}
        events += [{"id": f"c{number}", "kind": "create", "data": one}]
        events += [{"id": f"s{number}", "kind": "span.add", "data": span}]
    count = 0
    for start in range(0, len(events), 500):
        body = {"after": count, "events": events[start : start + 500]}
        count = client.post(f"{url}/events", json=body, headers=tokens["anna"]).json()["sequence"]
    assert count == len(events)
    costs = []
    for number, name in enumerate(["Foxes", "Owls", "Bears", "Wolves", "Foxes"]):
        event = {"id": f"n{number}", "kind": "set", "data": {"object": "t7", "field": "name", "value": name}}
        start = time.process_time()
        answer = client.post(f"{url}/events", json={"after": count, "events": [event]}, headers=tokens["anna"])
        costs.append(time.process_time() - start)
        found, count = answer.json(), count + 1
        assert [(one["id"], one["fields"]["name"]) for one in found["objects"]] == [("t7", name)]
        assert len(answer.content) < 2000
    assert sorted(costs)[2] < 0.05, costs
    undone = {"after": count, "events": [{"id": "u", "kind": "undo", "data": {"events": ["n4", "s7", "c7"]}}]}
    found = client.post(f"{url}/events", json=undone, headers=tokens["anna"]).json()
    assert (found["objects"], found["gone"], found["review"]) == ([], ["t7"], None)
    behind = client.post(f"{url}/events", json={"after": 0, "events": []}, headers=tokens["anna"]).json()
    assert len(behind["objects"]) == 2000, "who missed a save gets everything"
    review = client.get(f"{url}/review", headers=tokens["anna"]).json()["review"]
    assert review["statements"] > 2000, "the reasoner is asked apart"


@pytest.mark.req("R-43")
def test_a_text_with_open_contradictions_is_finished_once_somebody_has_confirmed_them(client, people, office):
    _, tokens = people
    (task,) = client.get(f"{BASE}/tasks", headers=tokens["anna"]).json()["tasks"]
    url = f"{BASE}/tasks/{task['id']}/events"
    won = {"object": "t1/Won", "field": "value", "value": "yes"}
    events = sent([*marks([("Foxes", [6, 11], 0)], salt="e")])
    events["events"] += [{"id": "won", "kind": "set", "data": won}, {"id": "d", "kind": "done"}]
    first = client.post(url, json=events, headers=tokens["anna"]).json()
    assert "won" in first["accepted"]
    assert "open contradictions: 1" in first["refused"]["d"][0]["message"]
    assert (first["refused"]["d"][0]["rule"], first["state"]) == ("R-43", "working")
    few = {"events": [{"id": "d2", "kind": "done", "data": {"contradictions": -1}}]}
    assert client.post(url, json=few, headers=tokens["anna"]).json()["refused"]["d2"]
    confirmed = {"events": [{"id": "d3", "kind": "done", "data": {"contradictions": 1}}]}
    done = client.post(url, json=confirmed, headers=tokens["anna"]).json()
    assert (done["state"], done["events"][-1]["data"]) == ("done", {"contradictions": 1})
    (project,) = client.get(f"{BASE}/projects", headers=tokens["judy"]).json()["projects"]
    (text,) = [one for one in project["texts"] if one["name"] == "one"]
    assert text["contradictions"] == 1
    reopened = {"events": [{"id": "r", "kind": "reopen"}, {"id": "u", "kind": "undo", "data": {"events": ["won"]}}]}
    client.post(url, json=reopened, headers=tokens["anna"])
    clean = client.post(url, json={"events": [{"id": "d4", "kind": "done"}]}, headers=tokens["anna"]).json()
    assert clean["state"] == "done"
    (project,) = client.get(f"{BASE}/projects", headers=tokens["judy"]).json()["projects"]
    assert sum(one["contradictions"] for one in project["texts"]) == 0


@pytest.mark.req("R-38")
def test_annotations_are_adjudicated_by_programs_with_the_checks_of_the_pages(client, people, office):
    _, tokens = people
    for name, goals in (("anna", 2), ("axel", 3)):
        (task,) = client.get(f"{BASE}/tasks", headers=tokens[name]).json()["tasks"]
        events = sent([*marks([("Foxes", [6, 11], goals)], salt=name)])
        events["events"].append({"id": "d", "kind": "done"})
        client.post(f"{BASE}/tasks/{task['id']}/events", json=events, headers=tokens[name])
    listed = client.get(f"{BASE}/projects/matches/adjudication", headers=tokens["judy"]).json()["texts"]
    (text,) = [one["id"] for one in listed if one["stage"] == "ready"]
    url, judy = f"{BASE}/adjudication/{text}", {"headers": tokens["judy"]}
    assert client.get(url, headers=tokens["anna"]).status_code == 403
    assert client.get(f"{BASE}/adjudication/none", **judy).status_code == 404
    early = client.post(f"{url}/finish", json={}, **judy)
    assert (early.status_code, "cases are open" in early.text) == (409, True)
    assert client.post(f"{url}/unanimous", **judy).json()["accepted"] == 2
    found = client.get(url, **judy).json()
    (goals,) = [one for one in found["cases"] if not one["verdict"]]
    assert (found["open_cases"], goals["category"], goals["differs"]) == (1, "Goals", ["value"])
    assert [side["fields"]["value"] for side in goals["sides"]] in (["2", "3"], ["3", "2"])
    case = f"{url}/cases/{goals['case']}"
    for wrong in ({}, {"take": 1, "edit": {}}, {"take": 7}, {"take": -1}):
        assert client.post(case, json=wrong, **judy).status_code == 422, wrong
    edited = {"edit": {"fields": {"value": "4"}}, "code": "value", "key": "k1"}
    assert client.post(case, json=edited, **judy).json()["verdict"] == "edit"
    side = [one["fields"]["value"] for one in goals["sides"]].index("2") + 1
    assert client.post(case, json={"take": side, "code": "slip"}, **judy).json()["verdict"] == "take"
    assert client.post(f"{url}/finish", json={}, **judy).json()["state"] == "done"
    lines = client.get(f"{BASE}/projects/matches/export?format=annotations", **judy).json()["files"]
    assert '"goals"' in lines["annotations.ndjson"] or "goals" in lines["annotations.ndjson"]
    assert '"2"' in lines["annotations.ndjson"]
    assert client.post(f"{url}/reopen", json={"reason": ""}, **judy).status_code == 422
    assert client.post(f"{url}/reopen", json={"reason": "a slip"}, **judy).json()["state"] == "working"


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
