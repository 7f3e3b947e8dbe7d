"""An office on each of the two databases: tests that ask for `office` run twice in `make test-all` (mark `store`).

`make test` runs them on SQLite alone. Where the whole run is moved to PostgreSQL (`tests.offices.engines`), they run
once, there.
"""

from contextlib import ExitStack

import pytest
from tests.children import start_quickly
from tests.offices import engines
from tests.offices.prepared import fresh_office, small_season

from basanite.testing import SetClock, small_office, small_pack

ENGINES = ("postgresql",) if "postgres" in engines.chosen() else ("sqlite", "postgresql")
MARKS = {"sqlite": [pytest.mark.store], "postgresql": [pytest.mark.store, pytest.mark.slow]}


@pytest.fixture(autouse=True)
def children(monkeypatch):
    """Ordinary scoring children do not start Python again (`tests/children.py`)."""
    start_quickly(monkeypatch)


@pytest.fixture(scope="session")
def server():
    """One PostgreSQL for each test process, started when the first test asks for it."""
    return engines.database_server()


@pytest.fixture(scope="session")
def objects():
    """One object store for each test process."""
    return engines.bucket_server()


@pytest.fixture
def buckets(objects):
    """Settings of two empty buckets."""
    return objects.fresh()


@pytest.fixture(scope="session")
def template(server):
    """The name of a database with all tables, which others begin as a copy of."""
    return engines.template()


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture(params=[pytest.param(name, marks=MARKS[name]) for name in ENGINES])
def database_url(request):
    """The address of an empty database with tables; None means where this run of the tests puts offices."""
    if request.param == "sqlite" or "postgres" in engines.chosen():
        yield None
        return
    server = request.getfixturevalue("server")
    url = server.fresh(request.getfixturevalue("template"))
    yield url
    server.drop(url)


@pytest.fixture
def office(tmp_path, clock, database_url):
    """An office with empty tables, on SQLite and on PostgreSQL."""
    with ExitStack() as stack:
        url = database_url
        made = fresh_office(tmp_path, clock) if url is None else small_office(tmp_path, clock, url)
        stack.callback(made.close)
        yield made


@pytest.fixture
def sqlite_office(tmp_path, clock):
    """An office on one database alone, for tests in which it does not matter: SQLite unless the run is moved."""
    made = fresh_office(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def small(office):
    """The small season in the office."""
    return small_season(office)


@pytest.fixture(scope="session")
def pack(tmp_path_factory):
    """The small retrieval pack: key, lists, and a perfect, a silent and an invalid archive."""
    return small_pack(tmp_path_factory.mktemp("pack"))
