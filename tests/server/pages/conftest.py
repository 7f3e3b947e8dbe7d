"""People of the small season who can sign in, and pages loaded as a browser without scripts loads them."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.server.accounts.conftest import CHEAP, PASSWORD, Browser
from tests.server.conftest import fresh_office
from tests.server.pages.every import ALL
from tests.server.pages.states import frame

from basanite.campaign.store.personal import Personal, mail_digest, seal
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import authentication
from basanite.server.app import make_app
from basanite.server.guard import HEADERS
from basanite.server.pages.frame import render
from basanite.server.pages.templates import MEDIA, assets

HOST, DESK = "http://localhost:9", {"width": 1280, "height": 900}
PEOPLE = ("ada", "alan", "bea", "eva", "otto")


def give_passwords(office, season):
    """Names, addresses and one password for the people of a season."""
    digest = authentication.hash_password(office.settings.accounts, PASSWORD)
    with office.writing() as session:
        for name in PEOPLE:
            who = getattr(season, name)
            person = session.get_one(Person, who)
            person.sealed = seal(office.vault, who, Personal(name.title(), f"{name}@example.org"))
            person.mail_digest = mail_digest(office.vault, f"{name}@example.org")
            session.merge(Account(person_id=who, password=digest, confirmed=office.clock(), zone="Europe/Paris"))


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock, accounts=CHEAP)
    yield made
    made.close()


@pytest.fixture
def stage(office, clock, pack):
    """The small season with references, in which submissions are scored for real."""
    return staged(office, clock, pack, then=give_passwords)


@pytest.fixture
def app(office):
    return make_app(office)


@pytest.fixture
def visit(app, stage):
    """A browser of somebody: `visit("ada")`, or of a visitor."""

    def opened(who=None):
        browser = Browser(TestClient(app))
        if who is not None:
            assert browser.sign_in(f"{who}@example.org").status_code == 200
        return browser

    return opened


@pytest.fixture(scope="module")
def shown(chrome):
    """Shows a page in a state, as our server sends it, and collects complaints and what is asked of others."""
    context, now = chrome.new_context(), {}
    context.route("**/*", lambda route: answer(route, now["html"]))
    tab = context.new_page()
    tab.on("console", lambda said: tab.complaints.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("request", lambda asked: None if asked.url.startswith((HOST, "data:")) else tab.outside.append(asked.url))

    def opened(page, state, *, size=DESK, scheme="light"):
        now["html"], tab.complaints, tab.outside = render(ALL[page](state), frame(state)), [], []
        tab.set_viewport_size(size)
        tab.emulate_media(color_scheme=scheme)
        tab.goto(f"{HOST}/shown")
        return tab

    yield opened
    context.close()


def answer(route, html):
    """The page, or one of the files that all pages share, with the headers of our server."""
    path = route.request.url.removeprefix(HOST).partition("?")[0]
    if path == "/shown":
        route.fulfill(body=html, content_type="text/html", headers=dict(HEADERS))
    elif path.startswith("/static/"):
        name = path.removeprefix("/static/")
        route.fulfill(body=assets()[name], headers={"Content-Type": MEDIA[name.rpartition(".")[2]]})
    else:
        route.fulfill(status=204, body="")
