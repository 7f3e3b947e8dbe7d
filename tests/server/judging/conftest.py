"""Judges at a real server and in a real browser; one of each for all tests of a module."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import CHEAP, Browser
from tests.server.conftest import fresh_office
from tests.server.judging.staging import Bench
from tests.server.live import live

from basanite.campaign.office import utc_now
from basanite.server.app import make_app
from basanite.testing import season, small_campaign_text


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """An office with a season; the clock is the real one, for time is measured here."""
    office = fresh_office(tmp_path_factory.mktemp("judging"), utc_now, accounts=CHEAP)
    yield Bench(office, season(office, small_campaign_text()))
    office.close()


@pytest.fixture(scope="module")
def app(bench):
    return make_app(bench.office)


@pytest.fixture
def visit(bench, app):
    """A browser without scripts in which a judge is signed in: `visit("jo")`."""

    def opened(judge):
        browser = Browser(TestClient(app))
        browser.client.cookies.set(*bench.cookie(judge))
        return browser

    return opened


@pytest.fixture(scope="module")
def server(bench):
    with live(bench.office) as address:
        yield address


@pytest.fixture
def opened(chrome, server, bench):
    """Opens a judge's desk in a browser of its own: `opened("jo", "stars")`."""
    contexts = []

    def page(judge, panel="", rest="", **options):
        context = chrome.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        name, held = bench.cookie(judge)
        context.add_cookies([{"name": name, "value": held, "url": server}])
        tab = context.new_page()
        tab.complaints = []
        tab.on("console", lambda said: tab.complaints.append(said.text) if said.type == "error" else None)
        tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.goto(server + (bench.address(panel, rest) if panel else "/judging"))
        return tab

    yield page
    for context in contexts:
        context.close()
