"""A season whose task is open, and submissions to it."""

import pytest
from tests.offices.submitting import crowd, submit


@pytest.fixture
def teams(sqlite_office, pack):
    """Two teams in a season that is open now."""
    return prepared(sqlite_office, pack)


@pytest.fixture
def teams_anywhere(office, pack):
    """The same on each of the two databases."""
    return prepared(office, pack)


def prepared(office, pack):
    office.clock.set("2026-01-12 12:00")
    office.settings.limits.pause_seconds = 0.01
    return crowd(office, pack.key)


@pytest.fixture
def submitted(sqlite_office, teams, pack):
    """Gives a function that submits one of the pack's archives and gives the submission's id."""

    def one(name="perfect", *, member=0, dataset="DEV"):
        return submit(sqlite_office, teams.members[member], getattr(pack, name), dataset=dataset).id

    return one
