"""One switch moves every office of the tests to PostgreSQL and S3, and copies of offices are their own."""

from contextlib import closing

import pytest
from sqlalchemy.exc import OperationalError
from tests.offices.engines import SWITCH, copied_office, empty_place, leave, open_office, place, title

from basanite.campaign.store.tables import Team
from basanite.testing import season, small_office

pytestmark = pytest.mark.store


@pytest.fixture
def moved(monkeypatch, tmp_path):
    monkeypatch.setenv(SWITCH, "postgres+s3")
    yield tmp_path
    leave(tmp_path)


def named(office, team):
    with office.reading() as session:
        return session.get_one(Team, team).name


def test_an_office_and_its_copy_lie_elsewhere_and_change_apart(moved):
    with closing(small_office(moved / "one")) as office:
        small, stored = season(office), office.files.put(b"a run")
        assert (office.database.engine.dialect.name, title()) == ("postgresql", "PostgreSQL + S3")
        assert office.files.remote.has(f"{stored.digest[:2]}/{stored.digest[2:]}")
    with closing(copied_office(moved / "one" / "data", moved / "two")) as copy:
        assert not (moved / "two" / "data" / "files").exists()
        assert copy.files.read(stored.digest) == b"a run"
        with copy.writing() as session:
            session.get_one(Team, small.alpha).name = "Changed"
        added = copy.files.put(b"another").digest
    with closing(open_office(moved / "one")) as again:
        assert named(again, small.alpha) == "Alpha"
        assert not again.files.has(added)


def test_what_is_left_is_gone(moved):
    office = small_office(moved / "one")
    small, digest = season(office), office.files.put(b"a run").digest
    leave(moved)
    assert not office.files.has(digest)
    with pytest.raises(OperationalError):
        named(office, small.alpha)
    office.close()


def test_a_place_without_tables_is_for_whoever_makes_them(moved):
    assert empty_place(moved / "new") == empty_place(moved / "new") != place(moved / "other")
    assert not (moved / "new").exists()
    assert {"BASANITE_DATABASE", "BASANITE_STORAGE__FILES"} <= set(empty_place(moved / "new").environment())


def test_a_switch_that_is_none_is_refused_and_without_it_nothing_is_moved(monkeypatch, tmp_path):
    monkeypatch.setenv(SWITCH, "oracle")
    with pytest.raises(ValueError, match=r"postgres\+s3"):
        place(tmp_path)
    monkeypatch.delenv(SWITCH)
    assert place(tmp_path).environment() == {}
    assert title() == "SQLite + local files"
