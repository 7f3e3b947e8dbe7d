"""Campaigns to ask questions of: the shipped examples, read once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from basanite.campaign.model.campaign_file import load

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "campaign"


@pytest.fixture(scope="session")
def small():
    """The small season."""
    return load((EXAMPLES / "small.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def small_text():
    """The file of the small season."""
    return (EXAMPLES / "small.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def base():
    """The base period of the plan."""
    return load((EXAMPLES / "material-base.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def utc():
    """Makes moments in UTC."""
    return lambda *parts: datetime(*parts, tzinfo=UTC)
