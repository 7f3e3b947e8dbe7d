"""Tokens: shown once, kept as a digest, never stronger or longer-lived than their maker (X-11)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, text
from tests.server.conftest import with_token

from basanite.campaign.store.tables import Account, Event, Grant, Token
from basanite.server.accounts.tokens import digest

pytestmark = pytest.mark.req("X-11")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_shown_once_and_only_its_digest_is_kept(client, office, small):
    first = with_token(office, small.ada)
    made = client.post("/api/v1/tokens", json={"label": "laptop", "scopes": ["read"]}, headers=bearer(first))
    assert made.status_code == 201
    plain = made.json()["token"]
    listed = client.get("/api/v1/tokens", headers=bearer(first))
    assert plain not in listed.text
    with office.reading() as session:
        assert session.scalar(select(Token.label).where(Token.digest == digest(plain))) == "laptop"
        dump = str(session.execute(text("SELECT * FROM tokens")).all()) + str(session.scalars(select(Event.data)).all())
    assert plain not in dump


def test_a_token_of_small_scope_makes_none_of_larger_scope(client, office, small):
    small_one = with_token(office, small.ada, scopes=("submit",))
    asked = {"label": "more", "scopes": ["organise"]}
    answer = client.post("/api/v1/tokens", json=asked, headers=bearer(small_one))
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (403, "X-11")


def test_a_token_made_with_a_token_ends_with_it(client, office, small, clock):
    short = with_token(office, small.ada, lasts=timedelta(days=2))
    made = client.post("/api/v1/tokens", json={"label": "long", "days": 300}, headers=bearer(short)).json()
    clock.forward(days=1)
    assert client.get("/api/v1/tokens", headers=bearer(made["token"])).status_code == 200
    clock.forward(days=1)
    assert client.get("/api/v1/tokens", headers=bearer(made["token"])).status_code == 401


def test_a_token_needs_the_scope_of_the_call(client, office, small):
    answer = client.get("/api/v1/tokens", headers=bearer(with_token(office, small.ada, scopes=("submit",))))
    assert (answer.status_code, "scope" in answer.headers["www-authenticate"]) == (403, True)


def test_a_role_that_is_taken_away_is_taken_from_the_token_too(client, office, everybody, clock):
    headers = everybody.headers("evaluation")
    assert "evaluation" in client.get("/api/v1/campaigns/small", headers=headers).json()["roles"]
    with office.writing() as session:
        grant = session.scalars(select(Grant).where(Grant.person_id == everybody.people["evaluation"])).one()
        grant.ended = clock()
    assert "evaluation" not in client.get("/api/v1/campaigns/small", headers=headers).json()["roles"]


def test_the_token_of_a_closed_account_is_worth_nothing(client, office, small, clock):
    token = with_token(office, small.ada)
    with office.writing() as session:
        session.merge(Account(person_id=small.ada, closed=clock()))
    assert client.get("/api/v1/tokens", headers=bearer(token)).status_code == 401


def test_a_revoked_token_is_worth_nothing_and_nobody_revokes_anothers(client, office, small):
    mine, theirs = with_token(office, small.ada), with_token(office, small.bea)
    token = client.get("/api/v1/tokens", headers=bearer(mine)).json()[0]["id"]
    assert client.delete(f"/api/v1/tokens/{token}", headers=bearer(theirs)).status_code == 404
    assert client.delete(f"/api/v1/tokens/{token}", headers=bearer(mine)).status_code == 204
    assert client.get("/api/v1/tokens", headers=bearer(mine)).status_code == 401


@pytest.mark.req("P-11")
def test_who_guesses_tokens_has_to_wait_and_nobody_else_at_that_address_does(client, office, small):
    for number in range(20):
        assert client.get("/api/v1/tokens", headers=bearer(f"bsn_guess{number}")).status_code == 401
    stopped = client.get("/api/v1/tokens", headers=bearer("bsn_guess"))
    assert (stopped.status_code, int(stopped.headers["retry-after"]) > 0) == (429, True)
    assert client.get("/api/v1/tokens", headers=bearer(with_token(office, small.ada))).status_code == 200


def test_a_wrong_token_is_refused_even_where_visitors_may_look(client):
    assert client.get("/api/v1/campaigns", headers=bearer("bsn_wrong")).status_code == 401
