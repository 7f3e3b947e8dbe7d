"""The last moment is the same at every door: an upload that starts before it is on time, one at it is not."""

from __future__ import annotations

import shutil

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.cli.running import here
from tests.offices.prepared import small_season
from tests.server.conftest import fresh_office, with_token
from tests.server.doors.sending import bearer, begin, send, send_raw, send_tus
from tests.server.doors.test_drop_folder import NAME
from tests.server.live import live
from tests.server.test_routes import signed_in

from basanite.campaign.intake.drop_folder import look
from basanite.campaign.office import Office
from basanite.campaign.store.tables import Submission
from basanite.server.app import make_app

pytestmark = pytest.mark.req("X-2", "M79")

CLOSES = "2018-04-01 04:00"
"""The end of the 31st of March in New York."""


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock, drop=tmp_path / "drop")
    yield made
    made.close()


@pytest.fixture
def small(office):
    return small_season(office)


def by_raw(office, small, pack, tmp_path):
    send_raw(TestClient(make_app(office)), with_token(office, small.ada), pack.perfect.read_bytes())


def by_tus(office, small, pack, tmp_path):
    send_tus(TestClient(make_app(office)), with_token(office, small.ada), pack.perfect.read_bytes())


def by_form(office, small, pack, tmp_path):
    """The form of the page, as a browser without scripts sends it."""
    mine = signed_in(office, small.ada)
    fields = {"csrf": mine["X-CSRF-Token"], "slot": "dev|CLIR|1A|", "label": "alpha", "type": "contrastive"}
    files = {"file": ("alpha.tgz", pack.perfect.read_bytes())}
    client = TestClient(make_app(office), headers={"Cookie": mine["Cookie"]})
    client.post("/campaigns/small/submit", data=fields, files=files)


def by_command(office, small, pack, tmp_path):
    (tmp_path / "token").write_text(with_token(office, small.ada))
    shutil.copy(pack.perfect, tmp_path / "alpha.tgz")
    words = ("--campaign", "small", "--task", "CLIR", "--label", "alpha", "--token-file", "token", "--no-wait")
    with live(office) as address:
        here("submit", "alpha.tgz", "--server", address, *words, cwd=tmp_path)


def by_drop(office, small, pack, tmp_path):
    folder = office.settings.drop / "Alpha"
    folder.mkdir(parents=True)
    shutil.copy(pack.perfect, folder / NAME.format(label="alpha"))
    look(office)


DOORS = {"raw": by_raw, "tus": by_tus, "form": by_form, "command": by_command, "drop": by_drop}


def standings(office):
    with office.reading() as session:
        return [row.standing for row in session.scalars(select(Submission))]


@pytest.mark.parametrize("door", DOORS)
def test_a_microsecond_before_the_end_is_on_time(door, office, small, pack, tmp_path, clock):
    clock.set(CLOSES)
    clock.forward(microseconds=-1)
    DOORS[door](office, small, pack, tmp_path)
    assert standings(office) == ["on time"]


@pytest.mark.parametrize("door", DOORS)
def test_at_the_end_it_is_over(door, office, small, pack, tmp_path, clock):
    clock.set(CLOSES)
    DOORS[door](office, small, pack, tmp_path)
    assert standings(office) == []


@pytest.mark.parametrize(("minutes", "standing"), [(60, "on time"), (61, "late")])
def test_what_began_in_time_has_the_grace_to_arrive(client, office, small, pack, clock, minutes, standing):
    token, content = with_token(office, small.ada), pack.perfect.read_bytes()
    clock.set(CLOSES)
    clock.forward(microseconds=-1)
    place = begin(client, token, content).headers["location"]
    clock.forward(minutes=minutes)
    answer = send(client, token, place, 0, content)
    assert client.get(answer.headers["basanite-submission"], headers=bearer(token)).json()["standing"] == standing


def test_a_form_that_begins_in_time_is_late_if_its_file_arrives_later(office, small, pack, tmp_path, clock):
    """Nobody said what the file would be, so it could have been made after the end."""
    clock.set(CLOSES)
    clock.forward(microseconds=-1)
    ticking = Office.open(office.settings, Ticking(clock))
    by_form(ticking, small, pack, tmp_path)
    assert standings(office) == []
    ticking.close()


class Ticking:
    """A clock that goes on a little each time somebody looks at it."""

    def __init__(self, clock):
        self.clock = clock

    def __call__(self):
        self.clock.forward(microseconds=1)
        return self.clock()
