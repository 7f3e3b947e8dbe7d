"""An office on each of the two databases: tests that ask for `office` run twice (mark `store`)."""

from contextlib import ExitStack

import pytest

from basanite.testing import SetClock, season, small_office, small_pack
from basanite.testing.object_store import object_store
from basanite.testing.postgres import name_in, postgres

ENGINES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def server():
    """One PostgreSQL for each test process, started when the first test asks for it."""
    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def objects():
    """One object store for each test process."""
    with object_store() as running:
        yield running


@pytest.fixture
def buckets(objects):
    """Settings of two empty buckets."""
    return objects.fresh()


@pytest.fixture(scope="session")
def template(server):
    """The name of a database with all tables, which others begin as a copy of."""
    from basanite.campaign.jobs.queue import prepare
    from basanite.campaign.store.database import Database
    from basanite.campaign.store.migrating import make_tables

    url = server.fresh()
    database = Database(url)
    make_tables(database)
    database.close()
    prepare(url)
    return name_in(url)


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.store) for name in ENGINES])
def database_url(request):
    """The address of an empty database with tables; None means SQLite in the office's own folder."""
    if request.param == "sqlite":
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
        made = small_office(tmp_path, clock, database_url)
        stack.callback(made.close)
        yield made


@pytest.fixture
def sqlite_office(tmp_path, clock):
    """An office on SQLite alone, for tests in which the database does not matter."""
    made = small_office(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def small(office):
    """The small season in the office."""
    return season(office)


@pytest.fixture(scope="session")
def pack(tmp_path_factory):
    """The small retrieval pack: key, lists, and a perfect, a silent and an invalid archive."""
    return small_pack(tmp_path_factory.mktemp("pack"))
