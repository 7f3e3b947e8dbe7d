"""A program with a later schema opens a season that this version made (ADR 34); the later version exists only here."""

from __future__ import annotations

import json
import shutil

import pytest
from sqlalchemy import inspect
from tests.cli.running import here
from tests.offices.prepared import fresh_office, small_season

from basanite.campaign.store import schema
from basanite.testing import SetClock

pytestmark = pytest.mark.sqlite("a data folder of one machine is taken from one program to the next")
LATER = '''"""A later version."""
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("teams", sa.Column("motto", sa.String(), nullable=False, server_default="none"))
    {more}


def downgrade() -> None:
    op.drop_column("teams", "motto")
'''


@pytest.fixture
def season(tmp_path):
    """The data folder of a season of this version, which nobody has open."""
    office = fresh_office(tmp_path, SetClock())
    small_season(office)
    office.close()
    return office.settings.data


@pytest.fixture
def later(tmp_path, monkeypatch):
    """Makes this process a program with a later version of the schema."""

    def make(more="pass"):
        folder = tmp_path / "migrations"
        shutil.copytree(schema.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "v0002.py").write_text(LATER.format(more=more))
        monkeypatch.setattr(schema, "FOLDER", folder)

    return make


def teams(data):
    """The teams as a command lists them, and how it ended."""
    ended = here("admin", "team", "list", "--data", data, "--json")
    return ended, json.loads(ended.stdout)["teams"] if ended.code == 0 else None


def columns(data):
    from basanite.campaign.store.database import Database

    database = Database(f"sqlite:///{data}/basanite.sqlite")
    try:
        return {one["name"] for one in inspect(database.engine).get_columns("teams")}, schema.version(database)
    finally:
        database.close()


def test_a_later_program_brings_the_season_up_to_date_and_keeps_all_of_it(season, later):
    before, listed = teams(season)
    assert (before.code, len(listed)) == (0, 2)
    later()
    after, still = teams(season)
    assert after.code == 0, after.stderr
    assert still == listed
    names, version = columns(season)
    assert ("motto" in names, version) == (True, "0002")
    assert here("admin", "events", "--verify", "--data", season).code == 0, "the log is unbroken"


def test_a_change_that_fails_leaves_the_season_as_it_was(season, later, monkeypatch):
    _, listed = teams(season)
    with monkeypatch.context() as patch:
        folder = schema.FOLDER
        later("raise RuntimeError('the disk is full')")
        assert teams(season)[0].code != 0
        patch.setattr(schema, "FOLDER", folder)
        assert columns(season)[1] == "0001"
        assert "motto" not in columns(season)[0]
        assert teams(season)[1] == listed


def test_this_program_refuses_the_season_of_a_later_one(season, later, monkeypatch):
    folder = schema.FOLDER
    later()
    assert teams(season)[0].code == 0
    monkeypatch.setattr(schema, "FOLDER", folder)
    ended, _ = teams(season)
    assert ended.code != 0
    assert "newer version" in ended.stderr
