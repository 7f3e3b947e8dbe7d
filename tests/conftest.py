"""What every test may count on: requirement marks are recorded, and browser tests find their browser or say why not."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

sys.path.insert(0, str(ROOT))
pytest_plugins = ["tools.requirement_marks"]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; without one the test is skipped, or fails where a browser is required."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        _without_browser()
    return str(found)


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and not any(map(shutil.which, BROWSERS)):
        _without_browser()


def _without_browser():
    reason = f"needs a browser: none of {', '.join(BROWSERS)} is on the PATH"
    if os.environ.get("BASANITE_BROWSER") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
