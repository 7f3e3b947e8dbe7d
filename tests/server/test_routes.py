"""Every route declares who may call it, and nobody else gets in: whatever is mounted, pages included (P-5)."""

from __future__ import annotations

import re

import pytest
from fastapi import FastAPI

from basanite.campaign.store.tables import Account
from basanite.server.accounts import sessions
from basanite.server.app import make_app
from basanite.server.roles import OPERATOR, ROLES, list_routes

IMPLIED = {"pi": {"member"}, "administrator": {"evaluation"}}
"""Who has one role has these too."""
VALUES = {"slug": "small"}
WAYS = ("token", "session")


def roles_of(role):
    """All roles of a person who was given one."""
    weaker = {"visitor"} | ({"user"} if role != "visitor" else set())
    return weaker | {role} | IMPLIED.get(role, set())


def address(path):
    """A route's path with something in place of each parameter; the campaign is the one that exists."""
    return re.sub(r"{(\w+)(:\w+)?}", lambda found: VALUES.get(found[1], "0" * 20), path)


def signed_in(office, person, *, strong=True):
    """What a browser in which somebody signed in, by default with a second factor, sends."""
    with office.writing() as session:
        session.merge(Account(person_id=person))
        cookie = sessions.start(session, office, person, strong=strong)
        session.flush()
        csrf = sessions.find(session, office, cookie).csrf
    return {"Cookie": f"{sessions.cookie_name(office)}={cookie}", "X-CSRF-Token": csrf}


def headers_of(way, role, office, everybody):
    if role == "visitor":
        return {}
    return everybody.headers(role) if way == "token" else signed_in(office, everybody.people[role])


def test_every_route_declares_its_policy(office):
    assert [route.path for route in list_routes(make_app(office)) if route.policy is None] == []


def test_a_route_without_a_policy_is_noticed():
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.get("/open")(lambda: "")
    assert [route.path for route in list_routes(app) if route.policy is None] == ["/open"]


@pytest.mark.few(9)
@pytest.mark.req("P-5")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("role", ROLES)
def test_a_route_lets_in_the_roles_that_it_declares_and_no_other(role, way, client, office, everybody):
    wrong, headers = [], headers_of(way, role, office, everybody)
    for route in walked(client.app, role, way):
        for method in route.methods:
            answer = client.request(method, address(route.path), headers=headers, follow_redirects=False)
            if answer.status_code in (500, 502) or refused(answer) == may(role, way, route.policy):
                wrong.append((method, route.path, answer.status_code, answer.text[:200]))
            if "set-cookie" in answer.headers and way == "session":  # it may have signed us out
                headers = headers_of(way, role, office, everybody)
    assert wrong == []


def walked(app, role, way):
    """All routes; but that a route without a scope takes no token is found out once, as the mightiest."""
    every = list_routes(app)
    return every if way == "session" or role == ROLES[-1] else [route for route in every if route.policy.scope]


def may(role, way, policy):
    """Whether the policy should let somebody in: a route without a scope takes no token but for visitors."""
    by_role = bool(policy.roles & roles_of(role))
    by_reach = way == "session" or role == "visitor" or "visitor" in policy.roles or policy.scope != ""
    return by_role and by_reach


def refused(answer):
    """Whether the policy itself refused: what acts refuse later comes with their problems."""
    if answer.status_code not in (401, 403):
        return False
    return answer.headers["content-type"] == "application/problem+json" and not problems(answer)


def problems(answer):
    return answer.content and answer.json()["problems"]


@pytest.mark.req("P-5")
def test_a_campaign_that_does_not_exist_is_not_found_by_anybody(client, everybody):
    paths = [route for route in list_routes(client.app) if "{slug}" in route.path and "GET" in route.methods]
    for route in paths:
        there = address(route.path).replace("/small", "/none-of-these")
        for role in ("visitor", "member", "evaluation"):
            answer = client.get(there, headers=everybody.headers(role), follow_redirects=False)
            assert answer.status_code in (303, 401, 403, 404), (route.path, answer.status_code)
    assert paths


@pytest.mark.req("X-11")
def test_without_a_second_factor_nobody_acts_for_the_evaluation_team(client, office, everybody):
    headers = signed_in(office, everybody.people["evaluation"], strong=False)
    assert client.get("/api/v1/campaigns/small/submissions", headers=headers).status_code == 403
    assert client.get("/api/v1/campaigns/small/submissions", headers=everybody.headers("evaluation")).status_code == 200


@pytest.mark.req("X-11")
def test_a_browser_changes_nothing_without_the_value_that_only_our_pages_know(client, office, everybody):
    headers = signed_in(office, everybody.people["user"])
    wrong = headers | {"X-CSRF-Token": "other"}
    assert client.post("/api/v1/tokens", json={"label": "x"}, headers=wrong).status_code == 403
    assert client.post("/api/v1/tokens", json={"label": "x"}, headers=headers).status_code == 201


def test_metrics_are_for_operators_and_administrators(client):
    (route,) = [route for route in list_routes(client.app) if route.path == "/metrics"]
    assert route.policy.roles == {OPERATOR, "administrator"}
