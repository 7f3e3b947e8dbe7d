"""What all tables share: moments in UTC whatever the database, and random names for rows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, Connection, DateTime, Dialect, MetaData, TypeDecorator, event
from sqlalchemy.orm import DeclarativeBase

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Moment(TypeDecorator[datetime]):
    """A moment in UTC: SQLite keeps no zone, so it is put on again when read."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """As it is stored; a moment without a zone is a fault of ours."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """As it is used."""
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {datetime: Moment(), dict[str, Any]: JSON(), list[Any]: JSON()}


def random_id() -> str:
    """A name for a row that tells nothing and cannot be guessed."""
    return secrets.token_hex(10)


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
    "reading_effort",
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
    "program_runs",
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
