"""A season with a reading package, fresh for each test."""

import pytest
from tests.campaign.work.reading.season import reading_season

from basanite.testing import SetClock


@pytest.fixture
def reading(tmp_path):
    made = reading_season(tmp_path, SetClock())
    yield made
    made.office.close()
