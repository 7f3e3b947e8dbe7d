"""A season behind its doors: organizers type `basanite admin`, teams call the API, `basanite worker` does the work."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient
from tests.children import start_quickly
from tests.offices.engines import Place
from tests.offices.prepared import fresh_office, small_season
from tests.server.conftest import with_token

from basanite.cli import app
from basanite.cli.office import GivenClock
from basanite.server.app import make_app
from basanite.testing import SetClock


class Stage:
    """What people of a season do and see, at the time that is set."""

    def __init__(self, office, clock, client, people):
        self.office, self.clock, self.client, self.people = office, clock, client, people
        self.path = f"/api/v1/campaigns/{people.slug}"
        self.tokens = {}

    def headers(self, who):
        """How a program of somebody calls; a visitor has no name. A token lives for a year at most."""
        if not who:
            return {}
        year = self.clock().year
        if (who, year) not in self.tokens:
            self.tokens[who, year] = with_token(self.office, getattr(self.people, who), lasts=timedelta(days=366))
        return {"Authorization": f"Bearer {self.tokens[who, year]}"}

    def sign(self, agreement):
        """Have both teams sign an agreement, and the organizers sign it too."""
        for who in ("ada", "bea"):
            place = f"{self.path}/agreements/{agreement}/copy"
            copy = self.client.post(place, content=b"%PDF-1.7 signed", headers=self.headers(who)).json()
            done = f"{self.path}/signatures/{copy['signature']}/counter-signature"
            assert self.client.post(done, headers=self.headers("eva")).json()["state"] == "executed"

    def command(self, *words):
        """Type a command on the server's machine; gives what it printed."""
        settings = self.office.settings
        environment = Place(settings.database, settings.storage).environment()
        line = [*map(str, words), "--data", str(settings.data), "--json"]
        ended = CliRunner(env=environment).invoke(app, line, obj=GivenClock(self.clock))
        assert ended.exit_code == 0, (words, ended.output, ended.exception)
        return json.loads(ended.stdout)

    def admin(self, *words):
        """Do something as an organizer."""
        return self.command("admin", *words)

    def two_agree(self, *words):
        """Do something that takes two organizers."""
        self.admin(*words, "--as", "eva@people.example")
        return self.admin("approvals", "agree", "--as", "otto@people.example")

    def work(self):
        """Let a worker finish all jobs."""
        assert self.command("worker", "--until-idle", "--limit", "240")["left"] == 0

    def post(self, who, content, dataset, queryset="QUERY1", **more):
        """Send a file as a team; gives the answer."""
        said = {"task": "CLIR", "label": "run", "language": "1A", "queryset": queryset, "dataset": dataset}
        said |= {"sha256": hashlib.sha256(content).hexdigest()} | more
        return self.client.post(f"{self.path}/submissions", params=said, content=content, headers=self.headers(who))

    def get(self, who, path="", **params):
        """What somebody is shown at an address of the campaign."""
        return self.client.get(f"{self.path}{path}", params=params, headers=self.headers(who))


@contextmanager
def staged(folder, text, now, **settings):
    """A season with the teams Alpha (Ada) and Beta (Bea), open until the block ends; its children start quickly."""
    clock = SetClock(now)
    office = fresh_office(folder, clock, **settings)
    people = small_season(office, text)
    with pytest.MonkeyPatch.context() as patch, TestClient(make_app(office), raise_server_exceptions=False) as client:
        start_quickly(patch)
        yield Stage(office, clock, client, people)
    office.close()


def rules(answer):
    """The rules that a refusal names."""
    assert answer.status_code in (409, 422, 429), (answer.status_code, answer.text)
    return {problem["rule"] for problem in answer.json()["problems"]}
