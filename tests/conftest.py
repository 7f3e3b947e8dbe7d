"""What every test may count on: requirement marks are recorded, and browser tests find their browser or say why not.

With `BASANITE_TESTS_ON=postgres+s3` every office of a test lies there (`tests.offices.engines`).
"""

import asyncio
import gc
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

MOVED = bool(os.environ.get("BASANITE_TESTS_ON"))
ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

LONG_FIRST = (
    "tests/journeys/",
    "tests/demo/",
    "tests/doors/",
    "tests/server/",
    "tests/campaign/",
    "tests/cli/",
    "tests/test_",
    "tests/reports/",
    "tests/clusters/",
    "tests/harness/",
)
"""Where files take long. A worker is given whole files: a long one at the end would leave the others idle."""

sys.path.insert(0, str(ROOT))
# No test takes the power away, and anyone who reads sees what was written without it: waiting for a disk thousands of
# times would only make the run long. Commands and servers in processes of their own do wait.
os.fsync = lambda handle: None
if MOVED:  # nobody else waits for the server's packages
    from tests.offices import engines
# The same cases in every run, and no bound on what one takes: a busy machine and a drawn case make no test fail.
# `make test-all` draws again (DRAW_ANEW), and what it finds gets a test of its own.
settings.register_profile(
    "basanite",
    deadline=None,
    derandomize="DRAW_ANEW" not in os.environ,
    max_examples=100 if "DRAW_ANEW" in os.environ else 50,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
    print_blob=True,
)
settings.load_profile("basanite")
pytest_plugins = [
    "tools.few_cases",
    "tools.requirement_marks",
    "tools.fault_table",
    "tools.door_table",
    "tools.test_times",
]


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


@pytest.fixture(scope="session")
def browser(chromium):
    """The one browser of this process, with the event loop that it is driven by."""
    from tests.browser import launched

    with launched(chromium) as opened:
        loop = asyncio.get_running_loop()
        yield opened, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def chrome(browser):
    """The browser, for the tests of a module; each takes a context of its own.

    Its loop counts as running while they do: tests elsewhere start loops, which is refused where one runs.
    """
    opened, loop = browser
    asyncio._set_running_loop(loop)
    yield opened
    opened.close_contexts()
    asyncio._set_running_loop(None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Folders with long files first; the tests of a file stay in their order."""
    items.sort(key=lambda item: next((n for n, start in enumerate(LONG_FIRST) if item.nodeid.startswith(start)), 99))


def pytest_collection():
    """A million objects of modules and items stay for ever: nobody looks through them, neither now nor later."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


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
