"""Tasks, metrics and all other plug-ins as the registry holds them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from basanite import registry
from basanite.kernel import Metric
from basanite.scoring import find_task
from basanite.tasks import Setting, Task
from basanite.tasks.settings import ANALYSIS
from tools.website.writing import cell, code, page, table

WORDS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics"
BETTER = {"high": "higher is better", "low": "lower is better", "none": "neither high nor low is better"}


def tasks_page() -> str:
    """Every task: what it asks, its unit, its metrics, its settings."""
    tasks = [find_task(name) for name in registry.names("tasks")]
    analysis = page(
        "## The analysis of every task", table(["setting", "default", "what it is"], map(_setting, ANALYSIS))
    )
    return page("# All tasks", "The list of `basanite tasks`, with the settings of each.", *map(_task, tasks), analysis)


def metrics_page() -> str:
    """Every metric by its family: what it is, which way is better, its parameters, its source."""
    metrics = [(name, registry.load("metrics", name)) for name in registry.names("metrics")]
    metrics.sort(key=lambda pair: (pair[1].family, pair[0]))
    families = [_family(family, list(members)) for family, members in groupby(metrics, lambda pair: pair[1].family)]
    intro = "The list of `basanite metrics`, with declared properties. [Metrics](../metrics.md) has the definitions."
    return page("# All metrics", intro, PROMISES, *families)


PROMISES = """- *linear*: with equal counts the value is a sum over units, so a paired test may flip signs
- *a share*: an interval without width is replaced by the exact binomial bound
- *optimistic*: a maximum that uses the reference, and is labeled so wherever it is shown
- *for each target only*: there is no value of a whole submission
- *not from sums*: the value is not a function of sums, so every resample is computed from rows and weights"""


def plugins_page() -> str:
    """Everything that is registered, group by group."""
    groups = groupby(registry.plugins(), lambda plugin: plugin.group)
    parts = [
        page(f"## {group}", table(["name", "object"], ([code(one.name), code(one.target)] for one in members)))
        for group, members in groups
    ]
    intro = """The list of `basanite plugins`: names and their objects.
[Write a plug-in](../../how-to/write-a-plugin.md) explains how to add yours."""
    return page("# All plug-ins", intro, *parts)


def _task(task: Task) -> str:
    facts = [
        ["unit", cell(task.unit)],
        ["primary value", code(task.primary)],
        ["values", ", ".join(code(metric.name) for metric in task.metrics)],
        ["reference", "needed" if task.needs_reference else "not needed"],
        ["source", cell(task.citation)],
    ]
    return page(f"## {task.name}", f"{cell(task.summary)}.", table(["", ""], facts), _answers(task), _settings(task))


def _answers(task: Task) -> str:
    if task.answers is None:
        return ""
    file = f" of {code(task.answers.file)}" if task.answers.file else ""
    sample = (
        f"The first lines{file} in an example:\n\n```text\n{task.answers.example}```" if task.answers.example else ""
    )
    return page(f"Submission: {task.answers.words}", sample)


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
        "not from sums": metric.compute is not None,
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
