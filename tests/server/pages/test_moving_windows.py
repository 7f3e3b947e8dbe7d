"""A window that closes or moves while somebody is in the middle of it: a tab left open, an upload under way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, begin, send
from tests.server.pages.test_participant import HOME, SLOT, TOKEN

from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Submission

ACTIONS = f"/api/v1{HOME}/actions"


@pytest.fixture
def closes(stage):
    """The moment at which the window `dev` closes."""
    with stage.office.reading() as session:
        return in_force(session, stage.season.campaign_id).campaign.window("dev").closes.utc


@pytest.fixture
def call(app, stage):
    """A client of the API, and the tokens of Ada and of Eva."""
    with TestClient(app) as client:
        yield client, *(with_token(stage.office, who) for who in (stage.season.ada, stage.season.eva))


def runs(stage):
    with stage.office.reading() as session:
        return [(one.label, one.standing) for one in session.scalars(select(Submission).order_by(Submission.number))]


@pytest.mark.req("P-6", case="bad")
def test_a_tab_left_open_over_the_deadline_is_told_so_and_keeps_what_was_typed(visit, stage, pack, clock, closes):
    clock.set(closes - timedelta(minutes=5))
    browser = visit("ada")
    token = TOKEN.search(browser.get(f"{HOME}/submit").text)[1]
    fields = {"csrf": token, "slot": SLOT, "label": "night", "type": "primary", "description-text": "BM25 of the night"}
    clock.forward(minutes=10)
    sent = {"data": fields, "files": {"file": ("night.tgz", pack.perfect.read_bytes())}}
    answer = browser.client.post(f"{HOME}/submit", headers={"Accept": "text/html"}, **sent)
    assert answer.status_code in (409, 422)
    assert "attention" in answer.text
    assert "closed" in answer.text or "No window is open" in answer.text
    assert runs(stage) == []


@pytest.mark.req("P-6", case="good")
def test_an_upload_goes_on_while_its_window_is_extended(call, stage, pack, clock, closes):
    client, ada, eva = call
    content = pack.perfect.read_bytes()
    middle = len(content) // 2
    clock.set(closes - timedelta(minutes=5))
    place = begin(client, ada, content).headers["location"]
    assert send(client, ada, place, 0, content[:middle]).status_code == 204
    given = {"window": "dev", "closes": "2018-04-03 24:00", "reason": "a storm"}
    extended = client.post(f"{ACTIONS}/window-extend", json=given, headers=bearer(eva))
    assert extended.status_code == 200, extended.text
    clock.forward(minutes=30)
    assert send(client, ada, place, middle, content[middle:]).status_code == 204
    assert begin(client, ada, pack.silent.read_bytes(), label="later").status_code == 201, "new ones may begin"
    assert runs(stage) == [("alpha", "on time")]


@pytest.mark.req("P-6", case="bad")
def test_an_upload_that_began_in_time_is_late_only_if_it_takes_too_long(call, stage, pack, clock, closes):
    client, ada, _ = call
    content = pack.perfect.read_bytes()
    clock.set(closes - timedelta(minutes=5))
    place = begin(client, ada, content).headers["location"]
    clock.forward(minutes=20)
    assert begin(client, ada, content, label="beta").status_code == 409, "what begins now is too late"
    assert send(client, ada, place, 0, content).status_code == 204
    assert runs(stage) == [("alpha", "on time")], "its start counts"
