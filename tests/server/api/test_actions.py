"""Organizers' actions are declared once: the API does what the command of the same name does (P-37)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import func, select
from tests.server.test_routes import signed_in

from basanite.campaign.actions.registry import every_action
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND
from basanite.campaign.store.tables import Event
from basanite.server.roles import list_routes

pytestmark = pytest.mark.req("P-37")

ROOT = Path(__file__).parents[3]
HERE = "/api/v1/campaigns/small/actions"
OFFERED = {name: one for name, one in every_action().items() if one.programs}
LATER = {"window": "week", "closes": "2018-04-20 24:00", "reason": "a storm"}


def last_events(office, count):
    with office.reading() as session:
        rows = session.scalars(select(Event).order_by(Event.sequence.desc()).limit(count)).all()
        return [(one.kind, one.actor) for one in reversed(rows)]


def test_a_window_is_extended_by_a_program_and_logged_with_who_did_it(client, office, everybody):
    headers, eva = everybody.headers("evaluation"), everybody.people["evaluation"]
    answer = client.post(f"{HERE}/window-extend", json=LATER, headers=headers)
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert (shown["action"], shown["done"], shown["waits"]) == ("window extend", True, None)
    assert (shown["result"]["window"], shown["result"]["version"]) == ("week", 2)
    assert last_events(office, 2) == [("campaign.changed", eva), ("window.extended", eva)]
    listed = client.get(f"{HERE}/window-list", headers=headers).json()["result"]["windows"]
    assert shown["result"]["closes"] in {one["closes"] for one in listed}


def test_what_is_refused_says_why_and_changes_nothing(client, everybody):
    headers = everybody.headers("evaluation")
    no_reason = client.post(f"{HERE}/window-extend", json=LATER | {"reason": ""}, headers=headers)
    assert (no_reason.status_code, no_reason.json()["problems"][0]["rule"]) == (422, "P-27")
    unknown = client.post(f"{HERE}/window-extend", json=LATER | {"until": "x"}, headers=headers)
    assert unknown.status_code == 422
    assert client.get(f"{HERE}/campaign-show", headers=headers).json()["result"]["version"] == 1


@pytest.mark.req("P-5")
@pytest.mark.parametrize("role", ["visitor", "user", "member", "pi", "judge", "annotator", "adjudicator"])
def test_nobody_but_organizers_acts(role, client, everybody):
    headers = {} if role == "visitor" else everybody.headers(role)
    assert client.post(f"{HERE}/window-extend", json=LATER, headers=headers).status_code in (401, 403)


@pytest.mark.req("X-11")
def test_a_browser_needs_the_value_of_our_pages_and_a_second_factor(client, office, everybody):
    eva = everybody.people["evaluation"]
    strong, weak = signed_in(office, eva), signed_in(office, eva, strong=False)
    assert client.post(f"{HERE}/window-extend", json=LATER, headers=strong | {"X-CSRF-Token": "x"}).status_code == 403
    assert client.post(f"{HERE}/window-extend", json=LATER, headers=weak).status_code == 403
    assert client.post(f"{HERE}/window-extend", json=LATER, headers=strong).status_code == 200


@pytest.mark.req("X-11")
def test_a_token_without_the_scope_for_organizers_does_nothing(client, office, everybody):
    from basanite.server.accounts.tokens import NewToken, make_token

    eva = everybody.people["evaluation"]
    with office.writing() as session:
        made = make_token(
            session, office, COMMAND, NewToken(person_id=eva, label="x", scopes=("read", "submit", "download"))
        )
    headers = {"Authorization": f"Bearer {made.text}"}
    assert client.post(f"{HERE}/window-extend", json=LATER, headers=headers).status_code == 403
    assert client.get(f"{HERE}/window-list", headers=headers).status_code == 403


@pytest.mark.req("P-5")
def test_every_call_takes_the_scope_of_organizers_and_the_role_that_its_action_declares(client):
    policies = {route.path: route.policy for route in list_routes(client.app) if "/actions/" in route.path}
    wanted = {
        ("/api/v1/campaigns/{slug}/actions/" if one.in_campaign else "/api/v1/actions/") + one.slug: one
        for one in OFFERED.values()
    }
    assert policies.keys() == wanted.keys()
    assert all((policy.roles, policy.scope) == ({wanted[path].role}, "organise") for path, policy in policies.items())


def test_what_reads_changes_nothing(client, office, everybody):
    def count():
        with office.reading() as session:
            return session.scalar(select(func.count()).select_from(Event))

    before = count()
    for one in OFFERED.values():
        if one.reads and not any(info.is_required() for info in one.arguments.model_fields.values()):
            base = HERE if one.in_campaign else "/api/v1/actions"
            role = "evaluation" if one.in_campaign else "administrator"
            answer = client.get(f"{base}/{one.slug}", headers=everybody.headers(role))
            assert answer.status_code == (404 if one.name == "rescore show" else 200), (one.name, answer.text)
    assert count() == before


def test_an_action_says_what_it_logs_and_what_commands_type():
    actions = every_action().values()
    assert [one.name for one in OFFERED.values() if not one.reads and not one.logs] == []
    assert [one.name for one in actions if not one.hint or not one.help.endswith(".")] == []
    assert [one.name for one in actions if one.reads and (one.logs or one.two or one.confirm or one.ask)] == []


def test_the_reference_names_every_call():
    page = (ROOT / "docs" / "reference" / "organizers-api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(?:GET|POST) ([a-z-]+)`", page, re.M))
    assert named == {one.slug for one in OFFERED.values()}, "run `python -m tools.organizers_api`"


def test_arguments_that_do_not_fit_are_refused_all_at_once():
    with pytest.raises(RefusedError) as refused:
        every_action()["window extend"].parse({"closes": 3, "more": "x"})
    assert len(refused.value.problems) == 3
