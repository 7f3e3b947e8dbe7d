"""Named plug-ins, found through entry points: our own come in the same way as anybody's.

Nothing is imported before it is asked for by name, so a plug-in with a missing or heavy dependency costs nobody else.
A task registers its metrics by having them, so who asks for the names of all metrics loads all tasks. A metric that
joins a task of others is an entry point `TASK.METRIC`: to score one task, only the plug-ins that join it are loaded.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from basanite.errors import BasaniteError, MissingExtraError, NameClashError, UnknownNameError
from basanite.extras import error_of_extra

GROUPS = ("tasks", "metrics", "formats", "outputs", "sinks", "modules", "backends", "embeddings", "runners")
METRICS: Final = "metrics"
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

    def load(self) -> Any:
        """Import the object."""
        return EntryPoint(self.name, self.target, self.group).load()


def names(group: str) -> tuple[str, ...]:
    """The names registered in a group, sorted; the metrics of every task are among the metrics."""
    return tuple(sorted(_entries(group) | (_task_metrics() if group == METRICS else {})))


def load(group: str, name: str) -> Any:
    """The object registered under this name; an unknown name is answered with the nearest ones."""
    entries = _entries(group)
    if group == METRICS and name not in entries:
        name = _listed_name(name)
        if name in _task_metrics():
            return _metric_of_task(name)
    if name not in entries:
        raise UnknownNameError(f"No {group.removesuffix('s')} is called {name!r}. {suggestion(name, names(group))}")
    _refuse_clash(group, name, entries[name])
    return load_plugin(entries[name][0])


def load_plugin(plugin: Plugin) -> Any:
    """The object of a plug-in; one that cannot be imported is refused with what to install."""
    name = plugin.name
    try:
        return plugin.load()
    except ModuleNotFoundError as missing:
        raise error_of_extra(missing) or MissingExtraError(
            f"{name!r} needs the module {missing.name!r}, which is not installed. Install it, or the extra of "
            f"{plugin.package} that brings it."
        ) from missing
    except (ImportError, AttributeError, TypeError, ValueError) as fault:  # also a metric without a range
        raise MissingExtraError(f"{name!r} of {plugin.package} cannot be loaded: {fault}.") from fault


def joining_metrics(task: str) -> tuple[Plugin, ...]:
    """The metrics that packages add to this task: entry points called `TASK.METRIC`."""
    joining = {name: plugins for name, plugins in _entries(METRICS).items() if name.startswith(f"{task}.")}
    for name, claims in joining.items():
        _refuse_clash(METRICS, name, claims)
    return tuple(joining[name][0] for name in sorted(joining))


def trust_only(packages: Iterable[str]) -> None:
    """From now on this process knows the plug-ins of these packages alone: what a server's settings name (X-15)."""
    global _trusted
    _trusted = {package_key(package) for package in packages}
    _all_entry_points.cache_clear()
    _entries.cache_clear()
    _task_metrics.cache_clear()


def package_key(package: str) -> str:
    """A package's name as installers compare it.

    >>> package_key("My_Tasks")
    'my-tasks'
    """
    return package.lower().replace("_", "-").replace(".", "-")


def plugins() -> tuple[Plugin, ...]:
    """Every plug-in of every group, sorted by group and name; a name that two packages claim stands there twice."""
    found = {plugin for group in GROUPS for plugin in _registered_plugins(group)}
    return tuple(sorted(found, key=lambda plugin: (GROUPS.index(plugin.group), plugin.name, plugin.package)))


def metrics_of_tasks() -> tuple[Plugin, ...]:
    """The metrics that tasks register by having them, each with the target and the package of its task."""
    found = [(name, task) for name, claims in sorted(_task_metrics().items()) for task, _ in claims]
    return tuple(replace(task, group=METRICS, name=name) for name, task in found)


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
def _entries(group: str) -> dict[str, tuple[Plugin, ...]]:
    """The plug-ins of a group by name, read once; a name that two packages claim has two, so that it is listed."""
    found: dict[str, tuple[Plugin, ...]] = {}
    for plugin in _registered_plugins(group):
        found[plugin.name] = (*found.get(plugin.name, ()), plugin)
    return found


@cache
def _task_metrics() -> dict[str, tuple[tuple[Plugin, Any], ...]]:
    """Every metric of a task by the name in lists, with the plug-in of the task; tasks that do not load have none."""
    found: dict[str, tuple[tuple[Plugin, Any], ...]] = {}
    for name, claims in sorted(_entries("tasks").items()):
        try:
            task = load("tasks", name)
        except BasaniteError:
            continue  # anyone who asks for this task is told; it costs nobody else
        for metric in getattr(task, "metrics", ()):
            known = found.get(metric.listed_name, ())
            if metric.by_rows and all(metric is not other for _, other in known):
                found[metric.listed_name] = (*known, (claims[0], metric))
    return found


def _listed_name(name: str) -> str:
    """The name in lists of the metric that is called so: `f` finds `reading.f` while no other one is called `f`."""
    listed = names(METRICS)
    short = [one for one in listed if one.rpartition(".")[2] == name]
    return short[0] if name not in listed and len(short) == 1 else name


def _metric_of_task(name: str) -> Any:
    """The metric of this name; a name that several tasks give to different metrics is refused."""
    claims = _task_metrics()[name]
    if len(claims) > 1:
        who = " and ".join(f"the task {task.name!r} of {task.package}" for task, _ in claims)
        raise NameClashError(f"Two metrics are called {name!r}: of {who}. Give one of them another name or family.")
    return claims[0][1]


@cache
def _all_entry_points() -> Any:  # of two types in the versions of Python, which select alike
    """Those of every installed package, read once: they are many files."""
    return entry_points()


def _registered_plugins(group: str) -> list[Plugin]:
    """What the packages that are trusted register in a group."""
    found, packages = [], dict[int, tuple[str, str]]()
    for entry in _all_entry_points().select(group=f"basanite.{group}"):
        of = entry.dist
        if id(of) not in packages:  # a name costs the whole metadata of its package, again each time
            packages[id(of)] = (of.metadata["Name"], of.version) if of else ("a package without a name", "")
        package, version = packages[id(of)]
        found.append(Plugin(group, entry.name, entry.value, package, version))
    return [plugin for plugin in found if _trusted is None or package_key(plugin.package) in _trusted]


def _refuse_clash(group: str, name: str, entries: Iterable[Plugin]) -> None:
    """Two packages that claim one name are an error for anyone who asks for that name, and for nobody else."""
    claims = {plugin.target: plugin for plugin in entries}
    if len(claims) > 1:
        who = " and ".join(f"{plugin.package} ({target})" for target, plugin in sorted(claims.items()))
        raise NameClashError(f"Two packages register {name!r} in basanite.{group}: {who}. Remove one of them.")
