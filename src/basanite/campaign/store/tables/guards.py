"""What the database itself refuses: changing or deleting what is only ever added to, deleting what is kept (P-21).

Our code does neither; the guards are for mistakes, and for whoever reaches the database by another way. Who may drop a
trigger can still rewrite the past, and then the hash chain of the log and the receipts that teams hold tell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, MetaData, event

from basanite.campaign.store.tables.base import Base

ADDED_TO = (
    "adoptions",
    "annotation_configs",
    "annotation_decisions",
    "annotation_documents",
    "annotation_events",
    "events",
    "judgements",
    "panel_consents",
    "panel_decisions",
    "panel_hidden",
    "panel_images",
    "panel_round_ends",
    "panel_schemes",
    "reading_answers",
    "reading_decisions",
    "reading_pool",
    "reading_scores",
    "reading_searches",
    "reading_uploads",
    "receipts",
    "results",
)
"""Rows of these are never changed and never deleted."""
KEPT = (
    "annotation_projects",
    "annotation_tasks",
    "appeals",
    "charges",
    "crowd_batches",
    "deviations",
    "extras",
    "freezes",
    "panel_assignments",
    "panel_items",
    "panel_seats",
    "panels",
    "plans",
    "reading_golds",
    "reading_marks",
    "reading_packages",
    "reading_runs",
    "reading_tasks",
    "references",
    "releases",
    "submissions",
    "uploads",
)
"""Rows of these may change, but are never deleted."""
FUNCTION = """CREATE OR REPLACE FUNCTION basanite_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%% is kept for ever: %% refused', TG_TABLE_NAME, TG_OP; END $$"""


def statements(dialect: str, added_to: Iterable[str] = ADDED_TO, kept: Iterable[str] = KEPT) -> Iterator[str]:
    """The SQL that guards these tables on a database."""
    if dialect == "postgresql":
        yield FUNCTION
    one = _on_postgresql if dialect == "postgresql" else _on_sqlite
    for table in added_to:
        yield from one(table, "UPDATE")
    for table in (*added_to, *kept):
        yield from one(table, "DELETE")


def _on_sqlite(table: str, what: str) -> Iterator[str]:
    name = f"{table}_no_{what.lower()}"
    yield f"DROP TRIGGER IF EXISTS {name}"
    yield (
        f'CREATE TRIGGER {name} BEFORE {what} ON "{table}" '
        f"BEGIN SELECT RAISE(ABORT, '{table} is kept for ever: {what} refused'); END"
    )


def _on_postgresql(table: str, what: str) -> Iterator[str]:
    name = f"{table}_no_{what.lower()}"
    guard = f'ON "{table}" FOR EACH {{each}} EXECUTE FUNCTION basanite_refuse()'
    yield f"CREATE OR REPLACE TRIGGER {name} BEFORE {what} {guard.format(each='ROW')}"
    if what == "DELETE":
        yield f"CREATE OR REPLACE TRIGGER {table}_no_truncate BEFORE TRUNCATE {guard.format(each='STATEMENT')}"


@event.listens_for(Base.metadata, "after_create")
def install(target: MetaData, connection: Connection, **options: Any) -> None:
    """Guard tables that are made without a migration, as in tests."""
    for statement in statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
