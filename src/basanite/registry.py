"""Named plug-ins, found through entry points: built-ins come in by the same door as a stranger's.

Nothing is imported before it is asked for by name, so a plug-in with a missing or heavy dependency costs nobody else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from basanite.errors import MissingExtraError, NameClashError, UnknownNameError

GROUPS = ("tasks", "metrics", "formats", "outputs", "modules", "backends", "embeddings")


_trusted: set[str] | None = None
"""The packages whose plug-ins this process loads; None: all that are installed."""


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
    entry = entries[name][0]
    _refuse_clash(group, name, entries[name])
    try:
        return entry.load()
    except ModuleNotFoundError as missing:
        package = _package(entry)
        raise MissingExtraError(
            f"{name!r} needs the module {missing.name!r}, which is not installed. Install it, or the extra of "
            f"{package} that brings it."
        ) from missing
    except (ImportError, AttributeError, TypeError, ValueError) as fault:  # also a metric without a range
        raise MissingExtraError(f"{name!r} of {_package(entry)} cannot be loaded: {fault}.") from fault


def trust_only(packages: Iterable[str]) -> None:
    """From now on this process knows the plug-ins of these packages alone: what a server's settings name (X-15)."""
    global _trusted
    _trusted = {canonical(package) for package in packages}
    _entries.cache_clear()


def canonical(package: str) -> str:
    """A package's name as installers compare it.

    >>> canonical("My_Tasks")
    'my-tasks'
    """
    return package.lower().replace("_", "-").replace(".", "-")


def plugins() -> tuple[Plugin, ...]:
    """Every plug-in of every group, sorted by group and name; a name that two packages claim stands there twice."""
    found = {
        Plugin(group, entry.name, entry.value, _package(entry), entry.dist.version if entry.dist else "")
        for group in GROUPS
        for entry in _registered(group)
    }
    return tuple(sorted(found, key=lambda plugin: (GROUPS.index(plugin.group), plugin.name, plugin.package)))


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
def _entries(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name, read once; a name that two packages claim has two, so that it is listed."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in _registered(group):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def _registered(group: str) -> Iterator[EntryPoint]:
    """What the packages that are trusted register in a group."""
    for entry in entry_points(group=f"basanite.{group}"):
        if _trusted is None or canonical(_package(entry)) in _trusted:
            yield entry


def _refuse_clash(group: str, name: str, entries: Iterable[EntryPoint]) -> None:
    """Two packages that claim one name are an error for whoever asks for that name, and for nobody else."""
    claims = {entry.value: entry for entry in entries}
    if len(claims) > 1:
        who = " and ".join(f"{_package(entry)} ({value})" for value, entry in sorted(claims.items()))
        raise NameClashError(f"Two packages register {name!r} in basanite.{group}: {who}. Remove one of them.")


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "a package without a name"
