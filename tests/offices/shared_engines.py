"""Engines on SQLite that share what they have compiled, as all calls of a server do.

Every test has a database of its own, and with it an engine that would compile each statement again: a seventh of the
time of tests with an office. Here all of them have the same dialect, and a statement is compiled once in a process. Nor
do they wait for a disk: no test cuts the power.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from sqlalchemy import Engine

from basanite.campaign.store import database

STATEMENTS: Final = 20_000
"""More than there are: what is thrown out would be compiled again."""


def share_compiled_statements() -> None:
    """Let all engines on SQLite that this process makes from now on share one dialect and its statements."""
    serializer = database.KEPT["json_serializer"]
    first = database.create_engine("sqlite://", json_serializer=serializer, query_cache_size=STATEMENTS)
    first.connect().close()  # its dialect learns what it speaks to
    database.create_engine = _sharing(first, database.create_engine)
    database.PRAGMAS = (*database.PRAGMAS, "synchronous=OFF")


def _sharing(first: Engine, create: Callable[..., Engine]) -> Callable[..., Engine]:
    @wraps(create)
    def create_engine(*given: Any, **named: Any) -> Engine:
        engine = create(*given, **named)
        if engine.dialect.name == "sqlite":
            engine.dialect = engine.pool._dialect = first.dialect
            engine._compiled_cache = first._compiled_cache
        return engine

    return create_engine
