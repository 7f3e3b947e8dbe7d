"""An office with a season that is open now, and processes on it that end with the test."""

import pytest
from tests.offices.machines import QUICK, Machines
from tests.offices.submitting import crowd

from basanite.testing import small_office


@pytest.fixture
def place(tmp_path, pack):
    """Gives a function that makes an office, its teams and its machines, with limits that suit the test."""
    made = []

    def make(*, url=None, teams=6, storage=None, settings=None, text=None, **limits):
        given = {**(settings or {}), **({"storage": storage} if storage else {})}
        office = small_office(tmp_path, url=url, limits={**QUICK, **limits}, **given)
        made.append(Machines(office, tmp_path))
        return office, crowd(office, pack.key, teams=teams, text=text), made[-1]

    yield make
    for machines in made:
        machines.stop_all()
        machines.office.close()
