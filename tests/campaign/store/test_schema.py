"""The versions of the schema give the same tables as the program has, on both databases, and can be taken back."""

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DatabaseError

from basanite.campaign.store import schema
from basanite.campaign.store.database import Database
from basanite.campaign.store.tables import ADDED_TO, KEPT, Base


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.store)])
def empty(request, tmp_path):
    """A database with nothing in it."""
    server = request.getfixturevalue("server") if request.param == "postgresql" else None
    url = server.fresh() if server else f"sqlite:///{tmp_path}/empty.sqlite"
    database = Database(url)
    yield database
    database.close()
    if server:
        server.drop(url)


def names(database):
    return set(inspect(database.engine).get_table_names()) - {"alembic_version"}


def test_the_migrations_give_the_tables_of_the_program(empty):
    schema.upgrade(empty)
    assert schema.check(empty) == []
    assert names(empty) == set(Base.metadata.tables)
    assert schema.version(empty) == schema.newest()
    schema.require(empty)


def triggers(database):
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if not database.is_sqlite:
        query = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    with database.engine.connect() as connection:
        return {name for name in connection.execute(text(query)).scalars() if "truncate" not in name}


def test_the_migrations_set_up_the_guards(empty):
    schema.upgrade(empty)
    expected = {f"{table}_no_delete" for table in (*ADDED_TO, *KEPT)} | {f"{table}_no_update" for table in ADDED_TO}
    assert triggers(empty) == expected


def test_upgrading_twice_changes_nothing_and_tables_of_others_stay(empty):
    with empty.engine.begin() as connection:
        connection.execute(text("CREATE TABLE workflow_status (id TEXT PRIMARY KEY)"))
    schema.upgrade(empty)
    schema.upgrade(empty)
    assert schema.check(empty) == []
    schema.downgrade(empty, "base")
    assert names(empty) == {"workflow_status"}
    schema.upgrade(empty)
    assert schema.check(empty) == []


def test_a_column_that_is_missing_is_found(empty):
    schema.upgrade(empty)
    with empty.engine.begin() as connection:
        connection.execute(text("ALTER TABLE workers DROP COLUMN version"))
    assert [difference[0] for difference in schema.check(empty)] == ["add_column"]


def test_an_old_database_is_refused_with_the_cure(empty):
    with pytest.raises(schema.SchemaError, match=r"basanite serve. of this version"):
        schema.require(empty)


def test_a_database_of_a_newer_version_is_refused_with_the_cure(empty):
    schema.upgrade(empty)
    with empty.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for act in (schema.require, schema.upgrade):
        with pytest.raises(schema.SchemaError, match=r"9999.*Update Basanite"):
            act(empty)


def test_tables_made_at_once_are_those_of_the_migrations(empty):
    schema.make_tables(empty)
    made = triggers(empty)
    schema.require(empty)
    schema.upgrade(empty)
    schema.downgrade(empty, "base")
    schema.upgrade(empty)
    assert triggers(empty) == made


def test_a_failed_upgrade_leaves_nothing(empty):
    with empty.engine.begin() as connection:
        connection.execute(text("CREATE TABLE submissions (id TEXT PRIMARY KEY)"))
    with pytest.raises(DatabaseError):
        schema.upgrade(empty)
    assert names(empty) == {"submissions"}
