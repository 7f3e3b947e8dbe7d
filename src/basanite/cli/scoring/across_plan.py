"""The file that declares a value over several tasks: which tasks and systems, which anchors and which rule (S-32)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, cast

from basanite.analysis.aggregate import MISSING, NORMALIZED, RULES, UNRANKED
from basanite.formats.bounded import read_bounded
from basanite.formats.packs.toml_document import TomlReport, parse_toml
from basanite.formats.toml.entries import Entries
from basanite.formats.toml.lines import entry_lines
from basanite.problems import Findings

RULE: Final = "S-32"
KIND: Final = "aggregate"
LARGEST: Final = 1 << 20
KEYS: Final = ("format", "title", "rule", "missing", "tasks")
TASK_KEYS: Final = (
    "name", "task", "metric", "reference", "submissions", "results", "anchors", "weight", "metadata", "queries",
    "judgements", "settings",
)  # fmt: skip
MOST: Final = 200
"""Tasks in a file, and systems of a task."""


@dataclass(frozen=True)
class PlannedTask:
    """One task of an aggregate: where its systems' answers or results are, and how its values count."""

    name: str
    task: str
    metric: str
    reference: tuple[Path, ...]
    submissions: Mapping[str, Path]
    results: Mapping[str, Path]
    comparison: Path | None
    anchors: tuple[float, float] | None
    weight: float
    metadata: tuple[Path, ...] = ()
    queries: Path | None = None
    judgements: Mapping[str, Path] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AggregatePlan:
    """A declared aggregate."""

    title: str
    rule: str
    missing: str
    tasks: tuple[PlannedTask, ...]


@dataclass(frozen=True)
class PlanEntries(Entries):
    """One table of the file."""

    rule: ClassVar[str] = RULE

    @property
    def place(self) -> str:
        """The table in words: a task by its name."""
        name = self.values.get("name")
        return f"task {name!r}" if len(self.path) == 2 and isinstance(name, str) and name else super().place

    def paths(self, key: str, folder: Path) -> dict[str, Path]:
        """A table of paths by name, each from the folder of the file."""
        value = self.values.get(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(path, str) and path for path in value.values()):
            fix = f'write [tasks.{key}] and under it a line for each system: Alpha = "…"'
            self.add(f"`{key}` of {self.place} is no table of files", fix, key=key, found=value)
            return {}
        if len(value) > MOST:
            self.add(f"{len(value)} entries in `{key}` of {self.place}", f"at most {MOST} are read", key=key)
        return {str(name): folder / path for name, path in value.items()}

    def files(self, key: str, folder: Path) -> tuple[Path, ...]:
        """One path or a list of them."""
        value = self.values.get(key, [])
        value = [value] if isinstance(value, str) else value
        if isinstance(value, list) and all(isinstance(path, str) and path for path in value):
            return tuple(folder / path for path in value)
        self.add(f"`{key}` of {self.place} is no file", f'write {key} = "…"', key=key, found=value)
        return ()


def read_aggregate_plan(path: Path) -> tuple[AggregatePlan | None, Findings]:
    """The plan in a file, if nothing is wrong with it, and everything that is, by line."""
    findings = Findings()
    report = TomlReport(path.name, RULE, findings)
    try:
        text = read_bounded(path, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        report.add("bytes that are not UTF-8", "save the file as UTF-8")
        return None, findings
    document = parse_toml(text, KIND, report)
    if document is None:
        return None, findings
    top = PlanEntries(document, (), path.name, entry_lines(text), findings)
    plan = _plan(top, path.parent)
    return (plan if findings.valid else None), findings


def _plan(top: PlanEntries, folder: Path) -> AggregatePlan:
    top.known(KEYS)
    rule = top.choice("rule", RULES)
    tables = top.tables("tasks")
    if not 2 <= len(tables) <= MOST:
        top.add(f"{len(tables)} tasks", f"write [[tasks]] above each, 2 to {MOST} times", key="tasks")
    tasks = tuple(_task(table, folder, rule) for table in tables[:MOST])
    names = [task.name for task in tasks]
    for table, name in zip(tables, names, strict=False):
        if names.count(name) > 1:
            table.add(f"two tasks are called {name!r}", "give each a name of its own", key="name", found=name)
    return AggregatePlan(top.text("title", ""), rule, top.choice("missing", MISSING, UNRANKED), tasks)


def _task(table: PlanEntries, folder: Path, rule: str) -> PlannedTask:
    table.known(TASK_KEYS)
    results = table.values.get("results")
    comparison = folder / results if isinstance(results, str) and results else None
    given = table.paths("results", folder) if comparison is None else {}
    submissions = table.paths("submissions", folder)
    if sum(map(bool, (submissions, given, comparison))) != 1:
        fix = "name files under [tasks.submissions], or what `basanite score --json` wrote under [tasks.results]"
        table.add(f"{table.place} needs either submissions or results", fix)
    queries = table.files("queries", folder)
    settings = table.values.get("settings", {})
    if not isinstance(settings, Mapping):
        table.add(f"`settings` of {table.place} is no table", "write settings = {key = value}", key="settings")
        settings = {}
    if "primary" in settings and "metric" in table.values:
        fix = "write the metric that counts as metric = … alone"
        table.add(f"{table.place} names its metric twice: `metric` and `primary` in `settings`", fix, key="settings")
    return PlannedTask(
        table.text("name"),
        table.text("task"),
        table.text("metric", ""),
        table.files("reference", folder),
        submissions,
        given,
        comparison,
        _anchors(table, rule),
        cast("float", table.number("weight", 1.0, 0, 1e9)),
        table.files("metadata", folder),
        next(iter(queries), None),
        table.paths("judgements", folder),
        settings,
    )


def _anchors(table: PlanEntries, rule: str) -> tuple[float, float] | None:
    """The values that count 0 and 1: declared, for entrants must not change what others are worth."""
    value = table.values.get("anchors")
    if value is None:
        if rule == NORMALIZED:
            fix = "write anchors = {zero = …, one = …}: the values that count 0 and 1, independent of the systems"
            table.add(f"{table.place} has no anchors", fix)
        return None
    ends = [value.get(key) for key in ("zero", "one")] if isinstance(value, Mapping) and len(value) == 2 else []
    sound = [end for end in ends if isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end)]
    if len(sound) == 2 and sound[0] != sound[1]:
        return float(sound[0]), float(sound[1])
    fix = "write anchors = {zero = 0.0, one = 1.0} with two different numbers"
    table.add(f"`anchors` of {table.place} cannot be used", fix, key="anchors", found=value)
    return None
