"""Every journey begins with an empty data folder."""

import pytest
from tests.journeys.world import World


@pytest.fixture
def world(tmp_path, chrome):
    """A folder with nothing in it, and a browser for everybody."""
    made = World(tmp_path, chrome)
    yield made
    assert made.complaints() == []
