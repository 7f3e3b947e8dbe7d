"""Pages of long lists by key, not by number: page 400 costs what page 1 costs, and nothing is shown twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

T = TypeVar("T")

ROWS = 50


@dataclass(frozen=True)
class Paged(Generic[T]):
    """One page of a list and the addresses of its neighbours."""

    rows: tuple[T, ...]
    newer: str | None = None
    """Where the list begins again, if this is not its first page."""
    older: str | None = None


def paged(
    found: Sequence[T], *, key: Callable[[T], str], path: str, after: str | None, rows: int = ROWS, **kept: str
) -> Paged[T]:
    """One page of what was found, where one row more than the page holds was asked for.

    >>> paged([3, 2, 1], key=str, path="/runs", after=None, rows=2).older
    '/runs?after=2'
    """
    shown = tuple(found[:rows])
    chosen = {name: value for name, value in kept.items() if value}
    older = _address(path, chosen | {"after": key(shown[-1])}) if len(found) > rows else None
    return Paged(shown, _address(path, chosen) if after else None, older)


def _address(path: str, values: dict[str, str]) -> str:
    return f"{path}?{urlencode(values)}" if values else path
