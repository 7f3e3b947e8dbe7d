"""What every test may count on: requirement marks are recorded, and browser tests find their browser or say why not.

With `BASANITE_TESTS_ON=postgres+s3` every office of a test lies there (`basanite.testing.engines`).
"""

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest

MOVED = bool(os.environ.get("BASANITE_TESTS_ON"))
if MOVED:  # nobody else waits for the server's packages
    from basanite.testing import engines

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

LONG = (
    "tests/threats/test_taken_out.py",
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
    "tests/campaign/faults/test_network.py",
    "tests/campaign/faults/test_clocks.py",
    "tests/campaign/faults/test_poison.py",
    "tests/campaign/faults/test_migrations.py",
    "tests/campaign/faults/test_deliveries.py",
    "tests/campaign/faults/test_scheduler.py",
    "tests/campaign/jobs/test_sizes.py",
    "tests/campaign/jobs/test_worker.py",
    "tests/campaign/jobs/test_stages.py",
    "tests/campaign/intake/test_racing.py",
    "tests/cli/test_admin.py",
    "tests/doors/test_calendar_rules.py",
    "tests/doors/test_season_rules.py",
    "tests/doors/test_sizes_and_places.py",
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
pytest_plugins = ["tools.requirement_marks", "tools.fault_table", "tools.door_table", "tools.test_times"]


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


@pytest.fixture(scope="module")
def chrome(chromium):
    """One browser for all tests of a module; each takes a context of its own."""
    from tests.browser import launched

    with launched(chromium) as opened:
        yield opened


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Long files first; all others, and the tests of each file, in the order they were found."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONG)))


def pytest_collection_finish():
    """A million objects of modules and items stay for ever: nobody looks through them again at each full collection."""
    gc.collect()
    gc.freeze()


def pytest_report_header():
    return f"offices on: {engines.title()}" if MOVED else None


def pytest_runtest_setup(item):
    if MOVED and (about := item.get_closest_marker("sqlite")):
        pytest.skip(f"is about the default places: {about.args[0]}")
    if item.get_closest_marker("browser") and not any(map(shutil.which, BROWSERS)):
        _without_browser()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """Databases and objects of a test go with its folder."""
    if MOVED and (folder := getattr(item, "funcargs", {}).get("tmp_path")):
        engines.leave(folder)


def _without_browser():
    reason = f"needs a browser: none of {', '.join(BROWSERS)} is on the PATH"
    if os.environ.get("BASANITE_BROWSER") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
