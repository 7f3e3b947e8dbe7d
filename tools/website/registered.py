"""Tasks, metrics and all other plug-ins as the registry holds them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from basanite import registry
from basanite.interface import ANALYSIS
from basanite.kernel import Metric
from basanite.spine import find_task
from basanite.tasks import Setting, Task
from tools.website.writing import cell, code, page, table

WORDS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics"
BETTER = {"high": "higher is better", "low": "lower is better", "none": "neither high nor low is better"}


def tasks_page() -> str:
    """Every task: what it asks, its unit, its metrics, its settings."""
    tasks = [find_task(name) for name in registry.names("tasks")]
    analysis = page(
        "## The analysis of every task", table(["setting", "default", "what it is"], map(_setting, ANALYSIS))
    )
    return page("# Tasks as registered", "What `basanite tasks` lists.", *map(_task, tasks), analysis)


def metrics_page() -> str:
    """Every metric by its family: what it is, which way is better, its parameters, its source."""
    metrics = [(name, registry.load("metrics", name)) for name in registry.names("metrics")]
    metrics.sort(key=lambda pair: (pair[1].family, pair[0]))
    families = [_family(family, list(members)) for family, members in groupby(metrics, lambda pair: pair[1].family)]
    intro = "What `basanite metrics` lists, with what each metric promises of itself. [The definitions](../metrics.md)."
    return page("# Metrics as registered", intro, PROMISES, *families)


PROMISES = """- *linear*: with equal counts the value is a sum over units, so that a paired test may flip signs
- *a share*: where an interval would have no width it becomes the exact binomial bound
- *optimistic*: a maximum chosen with the truth in hand, labelled so wherever it is shown
- *for each target only*: there is no value of a whole submission
- *computed anew*: no function of sums, so every draw is computed from rows and weights"""


def plugins_page() -> str:
    """Everything that is registered, group by group."""
    groups = groupby(registry.plugins(), lambda plugin: plugin.group)
    parts = [
        page(f"## {group}", table(["name", "object"], ([code(one.name), code(one.target)] for one in members)))
        for group, members in groups
    ]
    intro = """What `basanite plugins` lists: names, and the objects behind them.
[Yours](../../how-to/write-a-plugin.md) come in by the same door."""
    return page("# Plug-ins as registered", intro, *parts)


def _task(task: Task) -> str:
    facts = [
        ["unit", cell(task.unit)],
        ["primary value", code(task.primary)],
        ["values", ", ".join(code(metric.name) for metric in task.metrics)],
        ["reference", "needed" if task.needs_reference else "not needed"],
        ["source", cell(task.citation)],
    ]
    return page(f"## {task.name}", f"{cell(task.summary)}.", table(["", ""], facts), _settings(task))


def _settings(task: Task) -> str:
    return table(["setting", "default", "what it is"], map(_setting, task.settings))


def _setting(setting: Setting) -> list[str]:
    return [code(setting.name), code(_shown(setting.default)), cell(setting.help)]


def _shown(value: object) -> str:
    return {None: "", True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)


def _family(family: str, metrics: list[tuple[str, Metric]]) -> str:
    rows = ([_named(name), cell(one.summary), _promises(one), cell(one.citation)] for name, one in metrics)
    return page(f"## {family}", table(["metric", "what it is", "properties", "source"], rows))


def _named(name: str) -> str:
    plain = name.rpartition(".")[2]
    written = (WORDS / f"{plain}.md").is_file()
    return f"[{code(name)}](../metrics/{plain}.md)" if written else code(name)


def _promises(metric: Metric) -> str:
    told = {
        "linear": metric.linear,
        "a share": metric.proportion,
        "optimistic": metric.optimistic,
        "for each target only": not metric.overall,
        "computed anew": metric.compute is not None,
    }
    parts = [
        metric.possible,
        BETTER[metric.best],
        f"over {metric.unit}s",
        *(word for word, holds in told.items() if holds),
    ]
    return "; ".join([*parts, *_parameters(metric)])


def _parameters(metric: Metric) -> Iterator[str]:
    if metric.parameters:
        yield "set by " + ", ".join(map(code, metric.parameters))
