"""Stored submissions by the thousand: all rows that one real, scored submission left, copied under new names.

Of every table the rows are taken that speak of it: the submission and its attempt, result, receipts, mails and job.
The log is chained again, so that it holds. The files behind them are shared by all copies.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from itertools import cycle, islice

BLOCK = 2_000
OWN_KEYS = {"charges": "id", "messages": "id", "receipts": "id", "results": "key"}
"""Rows that have random names of their own."""
STEP = timedelta(seconds=1)


@dataclass(frozen=True)
class Kept:
    """Where a table keeps rows about a submission: by a column that is its id, or holds it."""

    table: str
    column: str
    holds: bool = False


OURS = (
    Kept("submissions", "id"),
    Kept("sketches", "submission_id"),
    Kept("charges", "submission_id"),
    Kept("results", "submission_id"),
    Kept("adoptions", "submission_id"),
    Kept("receipts", "submission_id"),
    Kept("messages", "once", holds=True),
)
JOBS = (
    Kept("workflow_status", "workflow_uuid", holds=True),
    Kept("workflow_input", "workflow_uuid", holds=True),
    Kept("workflow_output", "workflow_uuid", holds=True),
    Kept("operation_outputs", "workflow_uuid", holds=True),
)


@dataclass(frozen=True)
class Template:
    """A submission with everything that is stored about it."""

    submission: dict
    names: tuple
    """The ids that a copy has others for."""
    rows: list
    """Of each row its table, what is in it, and the columns that hold one of the names."""
    events: list
    """The same for its events, without a table."""


def template_of(office, submission_id):
    """Everything that is stored about a submission."""
    from sqlalchemy import select

    from basanite.campaign.store.tables import Base, Event

    tables = [(kept, Base.metadata.tables[kept.table]) for kept in OURS] + _job_tables(office)
    with office.reading() as session:
        rows = [
            (table, dict(row))
            for kept, table in tables
            for row in session.execute(select(table).where(_about(table, kept, submission_id))).mappings()
        ]
        happened = session.scalars(select(Event).where(Event.subject == submission_id).order_by(Event.sequence))
        events = [{name: getattr(one, name) for name in ("kind", "actor", "data", "campaign_id")} for one in happened]
    submission = rows[0][1]
    names = submission["id"], submission["team_id"], submission["person_id"]
    placed = [(table, row, _places(row, names)) for table, row in rows]
    return Template(submission, names, placed, [(row, _places(row, names)) for row in events])


def _about(table, kept, submission_id):
    column = table.c[kept.column]
    return column.contains(submission_id) if kept.holds else column == submission_id


def _job_tables(office):
    """The tables of the jobs, as they are in the database."""
    from sqlalchemy import MetaData, Table, inspect

    engine = office.database.engine
    schema = None if office.database.is_sqlite else "dbos"
    there = set(inspect(engine).get_table_names(schema=schema))
    known = [kept for kept in JOBS if kept.table in there]
    return [(kept, Table(kept.table, MetaData(), schema=schema, autoload_with=engine)) for kept in known]


def fill(office, template, members, count, *, fresh=None):
    """So many copies of a submission, the members' teams in turn, each a second later than the one before.

    `fresh` is what a copy of the submission's own row has otherwise.
    """
    from sqlalchemy import func, select

    from basanite.campaign.store import looks
    from basanite.campaign.store.tables import Submission

    with office.reading() as session:
        newest, number = session.execute(select(func.max(Submission.received), func.max(Submission.number))).one()
    whose = islice(cycle(members), count)
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        copies = [_named(member, number + start + at + 1) for at, member in enumerate(islice(whose, size))]
        with office.writing() as session:
            _insert(session, template, copies, newest - (count - start) * STEP, fresh or {})
    with office.writing() as session:
        looks.recount(session, template.submission["campaign_id"])


def _named(member, number):
    from basanite.campaign.store.tables.base import random_id

    return (random_id(), member.team, member.person), number


def _insert(session, template, copies, first, fresh):
    """Some copies at once, table by table."""
    from sqlalchemy import insert

    blocks = [(table, []) for table, _, _ in template.rows]
    for at, (names, number) in enumerate(copies):
        own = {"number": number, "received": first + at * STEP, "sha256": secrets.token_hex(32)} | fresh
        for (_, rows), copy in zip(blocks, _copied(template, names, own), strict=True):
            rows.append(copy)
    for table, rows in blocks:
        session.execute(insert(table), rows)
    _chain(session, template, [names for names, _ in copies], first)


def _copied(template, names, own):
    """The rows of one copy, in the order of the template."""
    from basanite.campaign.store.tables.base import random_id

    result = random_id()
    changes = {"submissions": own, "charges": {"key": "an earlier period", "period": "2020"}}
    for table, row, places in template.rows:
        copy = _renamed(row, template.names, names, places) | changes.get(table.name, {})
        if table.name in OWN_KEYS:
            copy[OWN_KEYS[table.name]] = result if table.name == "results" else random_id()
        if copy.get("result_key"):
            copy["result_key"] = result
        if table.name == "sketches":
            copy["value"] = secrets.token_hex(12)
        if table.name == "adoptions":
            del copy["sequence"]
        yield copy


def _renamed(row, old, new, places):
    """A row with other names in the texts that hold any."""
    return row | {name: _exchanged(row[name], old, new) for name in places}


def _places(row, names):
    """The columns that hold one of these names."""
    others = tuple("?" * len(name) for name in names)
    return [name for name, value in row.items() if _exchanged(value, names, others) != value]


def _exchanged(value, old, new):
    if isinstance(value, dict):
        return json.loads(_exchanged(json.dumps(value), old, new)) if value else value
    if isinstance(value, bytes):
        return _exchanged(value.decode(), old, new).encode()
    if not isinstance(value, str) or len(value) < len(old[0]):
        return value
    for before, after in zip(old, new, strict=True):
        if before in value:
            value = value.replace(before, after)
    return value


def _chain(session, template, names, at):
    """The events of all copies, each with the digest of the one before."""
    from sqlalchemy import insert

    from basanite.campaign.store import events
    from basanite.campaign.store.tables import Event

    sequence, previous = events.head(session)
    rows = []
    for new in names:
        for event, places in template.events:
            sequence += 1
            said = _renamed(event, template.names, new, places)
            values = {"sequence": sequence, "at": at, "campaign_id": said["campaign_id"], "actor": said["actor"]}
            values |= {"kind": said["kind"], "subject": new[0], "data": said["data"]}
            digest = events._digest(previous, events._content(Event(**values)))
            rows.append(values | {"previous": previous, "digest": digest})
            previous = digest
    session.execute(insert(Event), rows)
