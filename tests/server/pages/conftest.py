"""People of the small season who can sign in, and pages loaded as a browser without scripts loads them."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.server.accounts.conftest import CHEAP, PASSWORD, Browser
from tests.server.conftest import fresh_office

from basanite.campaign.store.personal import Personal, mail_digest, seal
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import passwords
from basanite.server.app import make_app

PEOPLE = ("ada", "alan", "bea", "eva", "otto")


def give_passwords(office, season):
    """Names, addresses and one password for the people of a season."""
    digest = passwords.hashed(office.settings.accounts, PASSWORD)
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
    made = staged(office, clock, pack)
    give_passwords(office, made.season)
    return made


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
