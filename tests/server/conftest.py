"""A server on a small season, with somebody of every role and a token for each."""

from __future__ import annotations

import io
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from tests.children import start_quickly
from tests.offices.prepared import fresh_office, small_season
from tests.server.live import calm_client

from basanite.campaign.actions.references import Material, NewVersion, Place, add
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.store.tables import Grant, Person
from basanite.server.accounts.tokens import SCOPES, NewToken, make_token
from basanite.server.telemetry import start_logging
from basanite.testing import SetClock, small_pack

JUDGING = ("judge", "annotator", "adjudicator")


@pytest.fixture(autouse=True)
def log():
    """The server's log, kept apart from what commands print; the settings of others are put back."""
    before, stream = structlog.get_config(), io.StringIO()
    start_logging(stream)
    yield stream
    structlog.configure(**before)


@pytest.fixture(autouse=True)
def children(monkeypatch):
    """Ordinary scoring children do not start Python again (`tests/children.py`)."""
    start_quickly(monkeypatch)


@pytest.fixture
def clock():
    return SetClock()


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
    return small_season(office)


def add_reference(office, small, pack, dataset, *, queryset="QUERY1"):
    """The small pack's key as the truth on a data set, which opens the task there."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "key.tgz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(pack.key, arcname=".")
        digest = office.sealed.take(archive).digest
    with office.writing() as session:
        place, material = Place("CLIR", dataset, "1A", queryset), Material((digest,), names={digest: "key.tgz"})
        return add(session, office, Actor(small.eva), small.campaign_id, NewVersion(place, material, reason="first"))


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
        return make_token(
            session, office, COMMAND, NewToken(person_id=person, label="test", scopes=scopes, **more)
        ).text


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
    with calm_client(office) as made:
        yield made
