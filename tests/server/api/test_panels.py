"""Panels by programs: a judge's day over HTTP, and what others may see of it."""

import pytest
from tests.server.conftest import with_token

from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, setup
from basanite.work.items import Block, item_of

SCHEME = """format = "basanite-judging/1"
name = "key"
preset = "key-query"
break_every = 0
"""
BASE = "/api/v1/campaigns/small/panels"


def items(count):
    return [
        item_of(
            [Block("query", f"query {at}"), Block("document", f"Document {at}.")],
            {"query": f"q{at}", "document": f"d{at}", "system": "hidden-run"},
            new_id=random_id,
        )
        for at in range(count)
    ]


@pytest.fixture
def judges(office, small):
    """Two judges and an adjudicator with tokens, and an open panel `key`."""
    made = {}
    with office.writing() as session:
        for name in ("jo", "kim", "ruth"):
            made[name] = add_person(session, office, Newcomer(name=name, mail=f"{name}@judges.example")).id
        panel = setup.create(session, office, small.as_eva, small.campaign_id, setup.NewPanel(SCHEME, name="key"))
        setup.add_items(session, office, small.as_eva, panel.id, items(2))
        for name in ("jo", "kim"):
            enrolment.enrol(session, office, small.as_eva, panel.id, made[name])
        setup.open_panel(session, office, small.as_eva, panel.id)
        grant(
            session,
            office,
            small.as_eva,
            RoleGrant(person_id=made["ruth"], role="adjudicator", campaign_id=small.campaign_id),
        )
    return {name: {"Authorization": f"Bearer {with_token(office, person)}"} for name, person in made.items()}


def begin(client, headers):
    found = client.get(f"{BASE}/key/desk", headers=headers).json()
    assert found["stage"] == "consent"
    said = {"version": found["consent_version"]}
    assert client.post(f"{BASE}/key/consent", json=said, headers=headers).json()["stage"] == "declare"
    return client.post(f"{BASE}/key/declaration", json={}, headers=headers).json()


@pytest.mark.req("R-2")
@pytest.mark.req("M52")
def test_a_judges_day_over_http_stores_every_answer_once(client, judges):
    found = begin(client, judges["jo"])
    while found["stage"] == "item":
        assert "hidden-run" not in str(found)
        said = {
            "assignment": found["assignment"],
            "answers": {"relevant": "Y"},
            "key": found["assignment"],
            "seconds": 2,
        }
        first = client.post(f"{BASE}/key/answers", json=said, headers=judges["jo"])
        again = client.post(f"{BASE}/key/answers", json=said, headers=judges["jo"])
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json()["judgement"] == first.json()["judgement"]
        assert (first.json()["repeated"], again.json()["repeated"]) == (False, True)
        other = client.post(f"{BASE}/key/answers", json=said | {"answers": {"relevant": "N"}}, headers=judges["jo"])
        assert (other.status_code, other.json()["problems"][0]["rule"]) == (409, "R-2")
        found = first.json()["desk"]
    assert (found["stage"], found["done"], found["of"]) == ("done", 2, 2)
    (mine,) = client.get(f"{BASE}/mine", headers=judges["jo"]).json()
    assert (mine["name"], mine["done"]) == ("key", 2)


@pytest.mark.req("X-4")
def test_nobody_without_a_seat_sees_a_desk(client, judges, everybody):
    for role in ("judge", "annotator", "member", "evaluation"):
        answer = client.get(f"{BASE}/key/desk", headers=everybody.headers(role))
        assert answer.status_code in (403, 404), role
    assert client.get(f"{BASE}/key/desk", headers=everybody.headers("judge")).status_code == 404


@pytest.mark.req("M88")
def test_an_adjudicator_decides_over_http(client, judges, everybody):
    for name, mark in (("jo", "Y"), ("kim", "N")):
        found = begin(client, judges[name])
        while found["stage"] == "item":
            said = {"assignment": found["assignment"], "answers": {"relevant": mark}, "key": found["assignment"]}
            found = client.post(f"{BASE}/key/answers", json=said, headers=judges[name]).json()["desk"]
    cases = client.get(f"{BASE}/key/cases", headers=judges["ruth"]).json()
    assert len(cases) == 2
    one = f"{BASE}/key/cases/{cases[0]['id']}"
    seen = client.get(one, headers=judges["ruth"]).json()
    assert {voice["letter"] for voice in seen["voices"]} == {"A", "B"}
    decision = {"answers": {"relevant": "Y"}, "reason": "it says so"}
    assert client.post(f"{one}/decision", json=decision, headers=judges["jo"]).status_code == 403
    decided = client.post(f"{one}/decision", json=decision, headers=judges["ruth"]).json()
    assert (decided["state"], decided["history"][0]["reason"]) == ("decided", "it says so")
    opened = client.post(f"{one}/reopening", json={"reason": "look again"}, headers=judges["ruth"]).json()
    assert opened["state"] == "open"
    none = client.post(f"{one}/decision", json={"answers": None, "reason": "neither"}, headers=judges["ruth"]).json()
    assert none["state"] == "none"
    told = client.get(f"{BASE}/key/progress", headers=everybody.headers("evaluation")).json()
    assert (told["done"], told["of"]) == (4, 4)
    assert told["agreement"][0]["alpha"]["value"] == pytest.approx(-0.5)
    (line,) = client.get(BASE, headers=everybody.headers("evaluation")).json()
    assert line["name"] == "key"


def test_pausing_and_leaving_over_http(client, judges):
    begin(client, judges["jo"])
    assert client.post(f"{BASE}/key/pause", headers=judges["jo"]).json()["stage"] == "paused"
    assert client.post(f"{BASE}/key/go-on", headers=judges["jo"]).json()["stage"] == "item"
    assert client.post(f"{BASE}/key/withdrawal", headers=judges["jo"]).json()["why"] == "withdrawn"


def test_pictures_of_a_crowd_are_not_guessed(client):
    assert client.get("/api/v1/crowd/00000000000000000000/11111111111111111111").status_code == 404
