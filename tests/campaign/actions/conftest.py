"""Offices with a season whose submissions are scored for real."""

import pytest
from tests.campaign.staging import staged


@pytest.fixture
def stage(sqlite_office, clock, pack):
    """The small season with its references, on SQLite."""
    return staged(sqlite_office, clock, pack)


@pytest.fixture
def both(office, clock, pack):
    """The small season with its references, on each of the two databases."""
    return staged(office, clock, pack)
