"""No past can be rewritten unseen, and the database itself refuses to forget."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import DatabaseError, StatementError
from sqlalchemy.orm import Session

from basanite.campaign.store import events
from basanite.campaign.store.tables import ADDED_TO, KEPT, Base, Event

NUMBER = 6


@pytest.fixture
def log(office):
    """Six events, some with odd content."""
    with office.writing() as session:
        for number in range(NUMBER):
            data = {"zwölf": [number, 0.1, None, {"a": "\u202e\\'"}], "b": True}
            events.record(session, "thing.done", at=office.clock(), actor="system", subject=f"s{number}", data=data)
    return office


def without_guards(session, statements):
    """What somebody does who owns the database."""
    for what in ("update", "delete"):
        table = "" if session.get_bind().dialect.name == "sqlite" else " ON events"
        session.execute(text(f"DROP TRIGGER events_no_{what}{table}"))
    for statement in statements:
        session.execute(text(statement))


def tampered(office, *statements, anchors=()):
    """What is found after a change, which is then taken back."""
    with office.database.engine.connect().execution_options(writes=True) as connection, Session(connection) as session:
        without_guards(session, statements)
        found = list(events.broken(session, anchors))
        session.rollback()
    return found


def found(office, anchors=()):
    with office.reading() as session:
        return list(events.broken(session, anchors))


def test_a_log_that_nobody_touched_holds(log):
    with log.reading() as session:
        assert events.head(session)[0] == NUMBER
    assert found(log) == []


CHANGES = {
    "kind": "UPDATE events SET kind = 'other' WHERE sequence = 3",
    "actor": "UPDATE events SET actor = 'eva' WHERE sequence = 3",
    "subject": "UPDATE events SET subject = '' WHERE sequence = 3",
    "campaign": "UPDATE events SET campaign_id = 'x' WHERE sequence = 3",
    "data": "UPDATE events SET data = '{}' WHERE sequence = 3",
    "moment": "UPDATE events SET at = '2018-01-15 12:00:00.000001' WHERE sequence = 3",
    "digest": f"UPDATE events SET digest = '{'0' * 64}' WHERE sequence = 3",
    "previous": f"UPDATE events SET previous = '{'0' * 64}' WHERE sequence = 3",
}
SWAP = (
    "UPDATE events SET sequence = 99 WHERE sequence = 3",
    "UPDATE events SET sequence = 3 WHERE sequence = 4",
    "UPDATE events SET sequence = 4 WHERE sequence = 99",
)
COLUMNS = "campaign_id, at, actor, kind, subject, data, previous, digest"


@pytest.mark.parametrize("data", [{"value": float("nan")}, {"deep": [float("inf")]}], ids=["nan", "infinity"])
def test_what_is_no_json_is_neither_logged_nor_kept_in_another_table(log, data):
    with pytest.raises(ValueError, match="not JSON compliant"), log.writing() as session:
        events.record(session, "thing.done", at=log.clock(), actor="system", subject="s", data=data)
    with pytest.raises((StatementError, ValueError), match="not JSON compliant"), log.writing() as session:
        session.execute(update(Event).where(Event.sequence == 3).values(data=data))
    assert found(log) == []


def test_a_nan_that_somebody_writes_into_the_table_is_found_or_refused_by_the_database(log):
    statement = "UPDATE events SET data = '{\"value\": NaN}' WHERE sequence = 3"
    if log.database.engine.dialect.name == "sqlite":
        assert tampered(log, statement) == [3]
    else:
        with pytest.raises(DatabaseError, match="invalid input syntax for type json"):
            tampered(log, statement)


def test_every_manipulation_is_found(log):
    for what, statement in CHANGES.items():
        assert 3 in tampered(log, statement), what
    assert tampered(log, "DELETE FROM events WHERE sequence = 3") == [4]
    assert tampered(log, "DELETE FROM events WHERE sequence = 1") == [2]
    assert tampered(log, *SWAP) == [3, 4, 5]
    assert tampered(log, f"INSERT INTO events (sequence, {COLUMNS}) SELECT 7, {COLUMNS} FROM events LIMIT 1") == [7]
    assert found(log) == []


def test_a_log_that_was_cut_off_or_rewritten_contradicts_the_receipts(log):
    with log.reading() as session:
        anchor = events.head(session)
    assert found(log, [anchor]) == []
    assert tampered(log, "DELETE FROM events WHERE sequence > 4") == []
    assert tampered(log, "DELETE FROM events WHERE sequence > 4", anchors=[anchor]) == [NUMBER]
    with log.writing() as session:
        without_guards(session, ["DELETE FROM events WHERE sequence > 4"])
        for number in range(4, NUMBER):
            at = log.clock() + timedelta(seconds=1)
            events.record(session, "thing.done", at=at, actor="system", subject=f"s{number}")
    assert found(log) == []
    assert found(log, [anchor]) == [NUMBER]


def test_writers_at_the_same_time_make_one_chain(office):
    def write(number):
        with office.writing() as session:
            events.record(session, "thing.done", at=office.clock(), actor="system", subject=str(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert found(office) == []
    with office.reading() as session:
        assert session.query(Event).count() == 40


def refuses(office, statement):
    with pytest.raises(DatabaseError, match="kept for ever"), office.database.engine.begin() as connection:
        connection.execute(text(statement))


def test_the_database_refuses_to_change_or_delete_what_is_kept(office, small, made_rows):
    for table in (*ADDED_TO, *KEPT):
        refuses(office, f'DELETE FROM "{table}"')
    for table in ADDED_TO:
        key = next(iter(Base.metadata.tables[table].primary_key.columns)).name
        refuses(office, f'UPDATE "{table}" SET "{key}" = "{key}"')
    whole = "REPLACE INTO events SELECT * FROM events" if office.database.is_sqlite else "TRUNCATE events"
    refuses(office, whole)
