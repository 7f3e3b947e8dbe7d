"""Organisers and adjudicators at a real server; one office, one server and one browser for all tests of a module."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import CHEAP, TOKEN, Browser
from tests.server.conftest import fresh_office
from tests.server.live import live
from tests.server.panels.staging import Bench

from basanite.campaign.office import utc_now
from basanite.server.app import make_app
from basanite.testing import season, small_campaign_text

DESK = "/campaigns/small/organise/judging"
QUEUES = "/campaigns/small/adjudicate"


class Reader(Browser):
    """A browser without scripts."""

    def page(self, address):
        answer = self.get(address)
        assert answer.status_code == 200, (address, answer.status_code, answer.text[:600])
        return answer.text

    def upload(self, page, to, content, filename="file.csv", **fields):
        """Send a form with a file."""
        data = {"csrf": TOKEN.search(self.page(page))[1], **fields}
        return self.client.post(to, data=data, files={"file": (filename, content)}, headers={"Accept": "text/html"})


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    office = fresh_office(tmp_path_factory.mktemp("panels"), utc_now, accounts=CHEAP)
    made = Bench(office, season(office, small_campaign_text()))
    made.adjudicator()
    yield made
    office.close()


@pytest.fixture(scope="module")
def app(bench):
    return make_app(bench.office)


@pytest.fixture
def visit(bench, app):
    """A browser without scripts in which somebody is signed in: `visit("eva")`, `visit("zoe")`."""

    def opened(who):
        reader = Reader(TestClient(app))
        reader.client.cookies.set(*(bench.eva() if who == "eva" else bench.cookie(who)))
        return reader

    return opened


@pytest.fixture(scope="module")
def server(bench):
    with live(bench.office) as address:
        yield address


@pytest.fixture
def opened(chrome, server, bench):
    """A page in a browser of its own: `opened("zoe", "/campaigns/…")`."""
    contexts = []

    def page(who, address, **options):
        context = chrome.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        name, held = bench.eva() if who == "eva" else bench.cookie(who)
        context.add_cookies([{"name": name, "value": held, "url": server}])
        tab = context.new_page()
        tab.complaints = []
        tab.on("console", lambda said: tab.complaints.append(said.text) if said.type == "error" else None)
        tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.goto(server + address)
        return tab

    yield page
    for context in contexts:
        context.close()
