"""Organisers at their pages: signed in with a second factor, as their pages demand (X-11)."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.server.accounts.conftest import TOKEN, Browser
from tests.server.pages.conftest import give_passwords

from basanite.server.accounts import sessions

DESK = "/campaigns/small/organise"
MORE = """
[[tracks]]
id = "open"
title = "Open"

[[agreements]]
id = "data"
title = "Data agreement"
version = "1"
text = "Keep it to yourselves."

[[packs]]
id = "EVAL2"
family = "eval"
released = "2018-05-01 00:00"
agreement = "data"
key_at = "2018-05-02 09:00"

[[milestones]]
id = "kickoff"
title = "Kick-off"
at = "2018-01-02 10:00"
owner = "Organisers"
"""


class Desk(Browser):
    """A browser whose reader is an organiser."""

    def page(self, part=""):
        answer = self.get(DESK + part)
        assert answer.status_code == 200, (part, answer.status_code, answer.text[:500])
        return answer.text

    def act(self, part, to=None, **fields):
        """Send the form of a page of the desk."""
        return self.send(DESK + part, DESK + (part if to is None else to), **fields)

    def upload(self, part, to, content, filename="file.tgz", **fields):
        """Send a form with a file."""
        token = TOKEN.search(self.page(part))[1]
        data = {"csrf": token, **fields}
        files = {"file": (filename, content)}
        return self.client.post(DESK + to, data=data, files=files, headers={"Accept": "text/html"})


@pytest.fixture
def campaign():
    """What the campaign's file says besides the small season; a module may say more."""
    return {"more": MORE}


@pytest.fixture
def stage(office, clock, pack, campaign):
    return staged(office, clock, pack, then=give_passwords, **campaign)


@pytest.fixture
def desk(app, stage):
    """The browser of an organiser: `desk("otto")`."""

    def opened(who="eva", strong=True):
        with stage.office.writing() as session:
            cookie = sessions.start(session, stage.office, getattr(stage.season, who), strong=strong)
        client = TestClient(app)
        client.cookies.set(sessions.cookie_name(stage.office), cookie)
        return Desk(client)

    return opened
