"""Metrics that plug-ins add to tasks of others: they get the task's pairs and give rows, as the task's own do (T-28).

A metric joins the task `translation` by an entry point `translation.NAME` in the group `basanite.metrics`. It is a
`Metric` whose `statistics(pairs, settings)` gets the references and answers of one system, item by item, as the task
lines them up (`basanite.tasks.items.Pairs`), and gives one row for each of `pairs.units`. Everything after that
is the same as for other metrics. What cannot be loaded or computed costs nobody else: the result says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from basanite.errors import BasaniteError, SettingError
from basanite.kernel import Metric, Rows, Scores, UnitRows
from basanite.problems import Findings
from basanite.registry import Plugin, load_plugin
from basanite.tasks import Inputs, Opened, Task
from basanite.tasks.items import Pairs

Made = tuple[UnitRows, tuple[str, ...]]
"""The table of a metric, and the flags beside its value."""


@dataclass(frozen=True)
class AddedMetric:
    """A metric that joins a task, and the package that brings it."""

    metric: Metric
    package: str


def with_added_metrics(task: Task, plugins: Iterable[Plugin]) -> Task:
    """The task with these metrics and their settings among its own."""
    added, notes = [], []
    names = {metric.name for metric in task.metrics}
    for plugin in plugins:
        try:
            metric = _joining_metric(task, plugin, names)
        except BasaniteError as fault:
            notes.append(f"{plugin.name} of {plugin.package} is left out: {fault}")
            continue
        names.add(metric.name)
        added.append(AddedMetric(metric, f"{plugin.package} {plugin.version}"))
    known = {setting.name for setting in task.settings}
    settings = {one.name: one for joined in added for one in joined.metric.own_settings if one.name not in known}
    return replace(
        task,
        metrics=(*task.metrics, *(joined.metric for joined in added)),
        settings=(*task.settings, *settings.values()),
        open=_opener(task.open, tuple(added), tuple(notes)),
    )


def _joining_metric(task: Task, plugin: Plugin, taken: set[str]) -> Metric:
    metric = load_plugin(plugin)
    if not isinstance(metric, Metric):
        raise SettingError(f"it is a {type(metric).__name__}, not a Metric")
    if plugin.name != f"{task.name}.{metric.name}":
        raise SettingError(f"its metric is called {metric.name!r}: register it as {task.name}.{metric.name}")
    if metric.name in taken:
        raise SettingError(f"{task.name} has a metric {metric.name!r} already")
    return metric


def _opener(
    open_task: Callable[..., Opened | None], added: tuple[AddedMetric, ...], notes: tuple[str, ...]
) -> Callable[[Inputs, Mapping[str, Any], Findings, Executor | None], Opened | None]:
    """The task's `open`, whose runs score the added metrics as well."""

    def open_with_added(
        inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
    ) -> Opened | None:
        opened = open_task(inputs, settings, findings, executor)
        return None if opened is None else cast(Opened, AddedRun(opened, settings, added, notes))

    return open_with_added


class AddedRun:
    """A run of a task that scores added metrics on the same pairs; in all else it is the task's own run."""

    def __init__(
        self, opened: Opened, settings: Mapping[str, Any], added: tuple[AddedMetric, ...], notes: tuple[str, ...]
    ) -> None:
        self.opened, self.settings, self.added, self.notes = opened, settings, added, notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["opened"], name)

    def scores(self, system: str) -> Scores:
        """The rows of the task's metrics and of the added ones."""
        scores = self.opened.scores(system)
        pairs_of = getattr(self.opened, "pairs", None)
        if pairs_of is None:
            note = f"{scores.task} has no pairs of references and answers, so no metric can be added to it"
            return replace(scores, notes=(*scores.notes, *self.notes, note))
        made = dict(self._added_tables(pairs_of(), scores.tables[scores.primary]))
        return replace(
            scores,
            metrics=(*scores.metrics, *(joined.metric.bind(**self.settings) for joined in self.added)),
            tables={**scores.tables, **{name: table for name, (table, _) in made.items()}},
            flags={**scores.flags, **{name: flags for name, (_, flags) in made.items() if flags}},
            signatures={**scores.signatures, **{one.metric.name: self._signature(one) for one in self.added}},
            notes=(*scores.notes, *self.notes),
        )

    def _added_tables(self, pairs: Pairs, like: UnitRows) -> Iterator[tuple[str, Made]]:
        """The table of each metric; metrics with the same statistics share one."""
        shared: dict[Any, Made] = {}
        for joined in self.added:
            key = (joined.metric.statistics, joined.metric.columns)
            if key not in shared:
                shared[key] = _table(joined, pairs, self.settings, like)
            yield joined.metric.name, shared[key]

    def _signature(self, joined: AddedMetric) -> str:
        own = joined.metric.signature
        return "; ".join([joined.package, *([own(self.settings)] if own else [])])


def _table(joined: AddedMetric, pairs: Pairs, settings: Mapping[str, Any], like: UnitRows) -> Made:
    """The rows of one metric with the factors and clusters of the task's items; no rows, and why, where none can be."""
    metric, flags = joined.metric, tuple[str, ...]()
    try:
        rows = np.asarray(metric.statistics(pairs, settings), dtype=np.float64)
        _check_rows(joined, rows, len(pairs.units))
    except SettingError as fault:
        rows, flags = np.zeros((len(pairs.units), max(len(metric.columns), 1))), (f"not computed: {fault}",)
    columns = metric.columns or tuple(f"column {at}" for at in range(1, rows.shape[1] + 1))
    if like.units != pairs.units:
        return pairs.table(columns, rows), flags
    table = replace(like, columns=columns, rows=rows, levels={}, redrawn=None, judged=None, own=None)
    return table, flags


def _check_rows(joined: AddedMetric, rows: Rows, units: int) -> None:
    """One row for each unit, one number for each column, and no nan among them."""
    columns = len(joined.metric.columns)
    whole = rows.ndim == 2 and len(rows) == units and (not columns or rows.shape[1] == columns)
    if not whole or not np.isfinite(rows).all():
        shape = " x ".join(map(str, rows.shape))
        raise SettingError(
            f"{joined.package} gave {shape} numbers for {units} units and {columns} columns, or some that are not "
            "finite: report this to its author"
        )
