"""A server on a small season, with somebody of every role and a token for each."""

from __future__ import annotations

import functools
import io
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from starlette.testclient import TestClient

from basanite.campaign.jobs import queue
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.organising.references import Material, Place, add
from basanite.campaign.store.tables import Grant, Person
from basanite.server.app import make_app
from basanite.server.observing import start_logging
from basanite.server.tokens import SCOPES, make_token
from basanite.testing import SetClock, season, small_campaign_text, small_office, small_pack
from basanite.testing.engines import copied_office

EMPTY = tempfile.TemporaryDirectory(prefix="basanite-empty-")
JUDGING = ("judge", "annotator", "adjudicator")


@pytest.fixture(autouse=True)
def log():
    """The server's log, kept apart from what commands print; the settings of others are put back."""
    before, stream = structlog.get_config(), io.StringIO()
    start_logging(stream)
    yield stream
    structlog.configure(**before)


@pytest.fixture
def clock():
    return SetClock()


@functools.cache
def empty_data():
    """The data folder of an office in which nothing has happened, with all tables made: those of the jobs too."""
    office = small_office(Path(EMPTY.name))
    queue.prepare(office.database.url)
    office.close()
    return office.settings.data


def fresh_office(folder, clock, **settings):
    """The same as `small_office`, by copying one that was made before: making tables takes most of a test's time."""
    return copied_office(empty_data(), folder, clock, **settings)


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture(scope="session")
def pack(tmp_path_factory):
    """The small retrieval pack: key, lists, and a perfect, a silent and an invalid archive."""
    return small_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture
def small(office):
    return season(office, small_campaign_text())


def add_reference(office, small, pack, dataset, *, queryset="QUERY1"):
    """The small pack's key as the truth on a data set, which opens the task there."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "key.tgz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(pack.key, arcname=".")
        digest = office.sealed.take(archive).digest
    with office.writing() as session:
        place, material = Place("CLIR", dataset, "1A", queryset), Material((digest,), names={digest: "key.tgz"})
        return add(session, office, Actor(small.eva), small.campaign_id, place, material, reason="first")


@pytest.fixture
def reference(office, small, pack):
    """The truth on DEV and on EVAL1."""
    return [add_reference(office, small, pack, dataset) for dataset in ("DEV", "EVAL1")]


@dataclass(frozen=True)
class Everybody:
    """One person of every role, with a token of every scope."""

    people: dict[str, str]
    tokens: dict[str, str]

    def headers(self, role):
        return {} if role == "visitor" else {"Authorization": f"Bearer {self.tokens[role]}"}


def with_token(office, person, scopes=tuple(SCOPES), **more):
    """A token of a person, as text."""
    with office.writing() as session:
        return make_token(session, office, COMMAND, person_id=person, label="test", scopes=scopes, **more).text


@pytest.fixture
def everybody(office, small):
    """Somebody for each role: those of the small season, and judges and an administrator beside them."""
    people = {"member": small.alan, "pi": small.ada, "evaluation": small.eva, "rival": small.bea}
    now = office.clock()
    with office.writing() as session:
        for role in ("user", *JUDGING, "administrator"):
            person = Person(made=now)
            session.add(person)
            session.flush()
            people[role] = person.id
            if role != "user":
                where = None if role == "administrator" else small.campaign_id
                session.add(Grant(campaign_id=where, person_id=person.id, role=role, at=now, by="command"))
    return Everybody(people, {role: with_token(office, person) for role, person in people.items()})


@pytest.fixture
def client(office, small):
    with TestClient(make_app(office), raise_server_exceptions=False) as made:
        yield made
