"""Named plug-ins, found through entry points: built-ins come in by the same door as a stranger's.

Nothing is imported before it is asked for by name, so a plug-in with a missing or heavy dependency costs nobody else.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from basanite.errors import MissingExtraError, NameClashError, UnknownNameError

GROUPS = ("tasks", "metrics", "formats", "outputs", "modules", "backends", "embeddings")


@dataclass(frozen=True)
class Plugin:
    """A name in a group, and who provides it."""

    group: str
    name: str
    target: str
    package: str
    version: str


def names(group: str) -> tuple[str, ...]:
    """The names registered in a group, sorted."""
    return tuple(sorted(_entries(group)))


def load(group: str, name: str) -> Any:
    """The object registered under this name; an unknown name is answered with the nearest ones."""
    entries = _entries(group)
    if name not in entries:
        raise UnknownNameError(f"No {group.removesuffix('s')} is called {name!r}. {suggestion(name, tuple(entries))}")
    try:
        return entries[name].load()
    except ModuleNotFoundError as missing:
        package = _package(entries[name])
        raise MissingExtraError(
            f"{name!r} needs the module {missing.name!r}, which is not installed. "
            f"Type: pip install '{package}[{group}]', or see the documentation of {package}."
        ) from missing


def plugins() -> tuple[Plugin, ...]:
    """Every plug-in of every group, sorted by group and name."""
    return tuple(
        Plugin(group, name, entry.value, _package(entry), entry.dist.version if entry.dist else "")
        for group in GROUPS
        for name, entry in sorted(_entries(group).items())
    )


def suggestion(name: str, known: Sequence[str]) -> str:
    """A sentence that helps with a name nobody has.

    >>> suggestion("clri", ["clir", "captions"])
    "Did you mean 'clir'?"
    >>> suggestion("xyz", ["clir", "captions"])
    'There are: captions, clir.'
    """
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"There are: {', '.join(sorted(known))}." if known else "None is installed."


@cache
def _entries(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=f"basanite.{group}"):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise NameClashError(
                f"Two packages register {entry.name!r} in basanite.{group}: {_package(other)} ({other.value}) and "
                f"{_package(entry)} ({entry.value}). Remove one of them."
            )
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "a package without a name"
