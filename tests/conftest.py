"""What every test may count on: requirement marks are recorded, and browser tests find their browser or say why not."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

LONG = (
    "tests/test_docs.py",
    "tests/cli/test_help.py",
    "tests/server/test_base_period.py",
    "tests/cli/test_golden_commands.py",
    "tests/demo/test_building.py",
    "tests/demo/test_looking.py",
    "tests/demo/test_tutorial.py",
    "tests/campaign/faults/test_kills.py",
    "tests/campaign/faults/test_machines.py",
    "tests/campaign/faults/test_database.py",
    "tests/campaign/jobs/test_sizes.py",
    "tests/campaign/jobs/test_worker.py",
    "tests/campaign/jobs/test_stages.py",
    "tests/campaign/intake/test_racing.py",
    "tests/cli/test_admin.py",
    "tests/server/pages/test_states.py",
    "tests/server/test_season_in_browser.py",
    "tests/server/test_many_judges.py",
    "tests/server/test_blind_week.py",
    "tests/campaign/organising/test_releasing.py",
    "tests/campaign/organising/test_rescoring.py",
    "tests/campaign/results/test_boards.py",
    "tests/campaign/results/test_leaks.py",
)
"""The files that take longest. A worker is given whole files: a long one at the end would leave the others idle."""

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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Long files first; all others, and the tests of each file, in the order they were found."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONG)))


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and not any(map(shutil.which, BROWSERS)):
        _without_browser()


def _without_browser():
    reason = f"needs a browser: none of {', '.join(BROWSERS)} is on the PATH"
    if os.environ.get("BASANITE_BROWSER") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
