"""A season in an office, with what it leaves behind."""

import sys
from pathlib import Path

import pytest

from basanite.testing import season

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def kept(office, fill):
    """A season with two submissions, a reference, a result and a named person."""
    return fill(office)


@pytest.fixture
def fill():
    """Fills an office with such a season."""
    from keeping_rows import filled

    return lambda office: filled(office, season(office))
