"""Every page and every answer as every role, in a blind week with planted secrets: none is in a body or a header."""

from __future__ import annotations

import json
import re

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import add_reference
from tests.server.doors.sending import send_raw
from tests.server.test_blind_week import half_right, planted
from tests.server.test_routes import headers_of

from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.results.facts import adopted_results, content
from basanite.server.app import make_app
from basanite.server.roles import ROLES, list_routes

pytestmark = [pytest.mark.req("M68", "P-5", "X-16"), pytest.mark.timeout(600)]
STAFF = {"evaluation", "administrator"}
"""Whose work is with the values of a blind week; single documents are shown to nobody (M72)."""
CLOSEST = ("pi", "evaluation", "rival")
"""Those who reach most pages of the campaign, and anyone who competes with them; `make test-all` takes all roles."""
PARAMS = {"window": "week", "task": "CLIR", "language": "1A", "campaign": "small", "of": "week|CLIR|1A|"}
LEAST_ROUTES = 60


@pytest.fixture
def week(office, clock, small, pack, everybody, tmp_path):
    """A server in a blind week, and a run that is scored."""
    clock.set("2018-04-03 12:00")
    add_reference(office, small, pack, "EVAL1")
    (tmp_path / "half.tgz").write_bytes(half_right(pack))
    with TestClient(make_app(office), raise_server_exceptions=False) as client:
        sent = send_raw(
            client, everybody.tokens["pi"], (tmp_path / "half.tgz").read_bytes(), dataset="EVAL1", type="primary"
        )
        assert sent.status_code == 201, sent.text
        with running(office, ()):
            assert until_idle(office, 60) == 0
        yield client, sent.json()["id"]


def secrets(office, submission, pack):
    """What depends on the key: its files, the result's key, every value as pages write it; and the key's documents."""
    with office.reading() as session:
        result = adopted_results(session, [submission])[submission]
        values = [one["value"] for one in content(office, result)["values"].values()]
        kept = [*planted(office), *([result.figures] if result.figures else [])]
    numbers = {f"{one:.4f}" for one in values if one is not None and len(set(f"{one:.4f}")) > 3}
    assert numbers
    documents = {line.split("\t")[0] for path in pack.key.iterdir() for line in path.read_text().splitlines()}
    return {*kept, *numbers}, documents


def answers(client, headers, submission):
    """Every question that can be asked, by a browser and by a program: bodies and headers as one text each."""
    values = {"slug": "small", "window": "week", "task": "CLIR", "language": "1A", "team": "Alpha"}
    for route in list_routes(client.app):
        if "GET" not in route.methods or route.path == "/metrics":
            continue
        path = re.sub(r"{(\w+)(:\w+)?}", lambda found: values.get(found[1], submission), route.path)
        for accept in ("text/html", "application/json"):
            asked = {"headers": {**headers, "Accept": accept}, "follow_redirects": False}
            answer = client.get(path, params={**PARAMS, "run": submission}, **asked)
            yield route.path, answer.status_code, json.dumps(dict(answer.headers)) + answer.text


@pytest.mark.parametrize(
    "roles", [CLOSEST, pytest.param((*ROLES, "rival"), marks=pytest.mark.slow)], ids=["closest", "all"]
)
def test_no_secret_is_in_any_page_or_header_for_anybody(week, office, everybody, pack, roles):
    client, submission = week
    hidden, documents = secrets(office, submission, pack)
    wrong, reached = [], set()
    for role in roles:
        unseen = documents if role in STAFF else hidden | documents
        for path, status, text in answers(client, headers_of("session", role, office, everybody), submission):
            reached |= {(role, path)} if status == 200 else set()
            wrong += [(role, path, status, secret) for secret in unseen if secret in text]
            wrong += [(role, path, status, text[-300:])] if status >= 500 else []
    assert wrong == []
    assert {
        (role, "/campaigns/{slug}/submissions/{run}") for role in {"pi", "member", "evaluation"} & {*roles}
    } <= reached
    assert ("evaluation", "/campaigns/{slug}/organise") in reached
    assert len({path for _, path in reached}) >= LEAST_ROUTES
