"""A browser without a screen, people with passwords, and an office whose hashes are cheap."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import fresh_office

from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.settings import Accounts
from basanite.campaign.store.tables import Account, Message
from basanite.server.accounts import authentication
from basanite.server.app import make_app

CHEAP = Accounts(time_cost=1, memory_kib=64, lanes=1, tries="1000/minute")
PASSWORD = "correct horse battery"
TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Browser:
    """Loads pages and sends their forms, token included, as a browser without scripts does."""

    client: TestClient

    def get(self, path, **more):
        return self.client.get(path, headers={"Accept": "text/html"}, **more)

    def send(self, page, path=None, follow=True, **fields):
        """Fill in the form of a page and send it."""
        token = TOKEN.search(self.get(page).text)
        assert token, f"{page} has no form"
        data = {"csrf": token[1], **fields}
        return self.client.post(path or page, data=data, headers={"Accept": "text/html"}, follow_redirects=follow)

    def sign_in(self, mail, password=PASSWORD, then="/", follow=True):
        return self.send("/sign-in", follow=follow, mail=mail, password=password, then=then)


@pytest.fixture
def accounts():
    """Settings of accounts; a module may set others."""
    return CHEAP


@pytest.fixture
def office(tmp_path, clock, accounts):
    made = fresh_office(tmp_path, clock, accounts=accounts)
    yield made
    made.close()


def add_user(office, name="Ada", mail="ada@example.org", password=PASSWORD):
    """A confirmed account; gives the person's id."""
    with office.writing() as session:
        person = add_person(session, office, Newcomer(name=name, mail=mail))
        account = session.get_one(Account, person.id)
        account.password = authentication.hash_password(office.settings.accounts, password)
        account.confirmed = office.clock()
        return person.id


@pytest.fixture
def ada(office):
    return add_user(office)


@pytest.fixture
def client(office):
    with TestClient(make_app(office)) as made:
        yield made


@pytest.fixture
def browser(client):
    return Browser(client)


@pytest.fixture
def another(client):
    """A second browser at the same server."""
    return Browser(TestClient(client.app))


def link_in_mail(office, template):
    """The address in the newest mail of a kind, as its reader sees it."""
    from basanite.campaign.notices.messages import letter

    with office.reading() as session:
        found = [row for row in session.query(Message).order_by(Message.made) if row.template == template]
        text = letter(session, office, found[-1]).body
    return re.search(r"https?://[^/\s]+(/\S+)", text)[1]
