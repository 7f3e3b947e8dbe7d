"""What feedback tells and what it does not: no document, and on a ladder no value that trying often would find."""

from __future__ import annotations

import re

import pytest
from tests.server.conftest import add_reference, with_token
from tests.server.doors.sending import bearer, send_raw
from tests.server.test_routes import signed_in

from basanite.campaign.jobs.worker import running, until_idle
from basanite.server.roles import list_of_routes
from basanite.testing import season, small_campaign_text


def scored(client, office, token, *contents):
    """The submissions as their team sees them once they are scored."""
    sent = []
    with running(office, ()):
        for number, content in enumerate(contents):
            answer = send_raw(client, token, content, label=f"run{number}")
            assert answer.status_code == 201, answer.text
            assert until_idle(office, 60) == 0
            sent.append(answer.json()["url"])
    return [client.get(url, headers=bearer(token)).json() for url in sent]


@pytest.mark.req("M72")
def test_full_feedback_names_no_document_in_any_answer_or_page(client, office, small, pack, reference):
    token = with_token(office, small.ada)
    (shown,) = scored(client, office, token, pack.silent.read_bytes())
    assert (shown["state"], shown["result"]["level"]) == ("scored", "full")
    documents = set(pack.documents.read_text().split())
    relevant = {line.split("\t")[0] for path in pack.key.iterdir() for line in path.read_text().splitlines()}
    named = (documents | relevant) - {""}
    for who in (small.ada, small.eva):
        headers = signed_in(office, who) | {"Accept": "text/html"}
        for route in list_of_routes(client.app):
            if "GET" in route.methods and route.path != "/metrics":
                path = re.sub(r"{(\w+)(:\w+)?}", lambda at: VALUES.get(at[1], shown["id"]), route.path)
                answer = client.get(path, headers=headers, params={"run": shown["id"]}, follow_redirects=False)
                found = [name for name in named if re.search(rf"\b{re.escape(name)}\b", answer.text)]
                assert (route.path, found) == (route.path, [])


VALUES = {"slug": "small", "window": "dev"}


@pytest.fixture
def ladder(office):
    """The small season with a ladder on its development window."""
    text = small_campaign_text(quota=10).replace('feedback = "full"', 'feedback = "limited"\nladder = 2.0', 1)
    return season(office, text)


@pytest.mark.req("P-13")
def test_on_a_ladder_a_run_that_is_not_better_tells_nothing_of_its_own(office, ladder, pack):
    from starlette.testclient import TestClient

    from basanite.server.app import make_app

    add_reference(office, ladder, pack, "DEV")
    with TestClient(make_app(office)) as client:
        runs = (pack.perfect.read_bytes(), pack.silent.read_bytes())
        first, second = scored(client, office, with_token(office, ladder.ada), *runs)
    assert (first["result"]["level"], second["result"]["level"]) == ("ladder", "ladder")
    assert set(second["result"]["data"]["values"]) == {"aqwv"}
    assert second["result"]["data"]["values"] == first["result"]["data"]["values"]
