"""`basanite tasks`, `metrics` and `plugins`: what there is, each with one line and where it comes from."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from basanite import canonical, registry
from basanite.cli.options import as_json, example
from basanite.errors import BasaniteError
from basanite.kernel import Metric
from basanite.problems import visible
from basanite.scoring import find_task
from basanite.tasks.settings import ANALYSIS

BETTER = {"high": "higher is better", "low": "lower is better", "none": "neither high nor low is better"}


@click.command(epilog=example("basanite tasks --json"))
@as_json
def tasks(as_json: bool) -> None:
    """List the tasks, each with its settings and its citation."""
    rows = [_task(name) for name in registry.names("tasks")]
    if as_json:
        _print_json("tasks", rows)
        return
    for row in rows:
        _say(f"{row['name']}: {row['summary']}", f"{row['citation']}. Primary value: {row['primary']}.")
        if row["answers"]:
            _say("  Submission:", *(f"  {line}" for line in _shown_answers(row["answers"])))
        own = {name: text for name, text in row["settings"].items() if name not in {s.name for s in ANALYSIS}}
        _say_pairs(own)
    _say("For every task, about the analysis:")
    _say_pairs({setting.name: setting.help for setting in ANALYSIS})


@click.command(epilog=example("basanite metrics --json"))
@as_json
def metrics(as_json: bool) -> None:
    """List the metrics, each with its citation."""
    rows = [_metric(name) for name in registry.names("metrics")]
    if as_json:
        _print_json("metrics", rows)
        return
    for row in rows:
        told = "; ".join(filter(None, (row["range"], BETTER.get(row["best"], row["best"]))))
        title = f"{row['title']}. " if row["title"] not in ("", row["name"]) else ""
        _say(f"{row['name']}: {title}{row['summary']} ({told})", row["citation"])


@click.command(epilog=example("basanite plugins --json"))
@as_json
def plugins(as_json: bool) -> None:
    """List everything that is registered, with the package that registers it."""
    found = sorted(
        (*registry.plugins(), *registry.metrics_of_tasks()), key=lambda one: registry.GROUPS.index(one.group)
    )
    rows = [asdict(plugin) for plugin in found]
    if as_json:
        _print_json("plugins", rows)
        return
    for row in rows:
        click.echo(visible(f"{row['group']:8} {row['name']:20} {row['target']:50} {row['package']} {row['version']}"))


def _task(name: str) -> dict[str, Any]:
    """A task in words; one that cannot be loaded says why, and leaves the others alone."""
    try:
        task = find_task(name)
    except BasaniteError as fault:
        return {"name": name, "summary": str(fault), "primary": "", "settings": {}, "citation": "", "answers": None}
    return {
        "name": task.name,
        "summary": task.summary,
        "primary": task.primary,
        "settings": {setting.name: setting.help for setting in (*task.settings, *ANALYSIS)},
        "citation": task.citation,
        "answers": None if task.answers is None else asdict(task.answers),
    }


def _shown_answers(answers: Mapping[str, Any]) -> list[str]:
    """What a submission looks like, with the first lines of an example."""
    head = f"The first lines of {answers['file']}:" if answers["file"] else "The first lines of an example:"
    example = answers["example"].splitlines()
    return [answers["words"], *([head, *(f"  {line.expandtabs(4)}" for line in example)] if example else [])]


def _metric(name: str) -> dict[str, Any]:
    """A metric in words; one that cannot be loaded says why."""
    try:
        metric = registry.load("metrics", name)
    except BasaniteError as fault:
        return {"name": name, "title": "", "summary": str(fault), "best": "", "range": "", "citation": ""}
    if not isinstance(metric, Metric):
        summary = f"the plug-in is a {type(metric).__name__}, not a Metric"
        return {"name": name, "title": "", "summary": summary, "best": "", "range": "", "citation": ""}
    return {
        "name": name,
        "title": metric.display_name,
        "summary": metric.summary,
        "best": metric.best,
        "range": metric.possible,
        "citation": metric.citation,
    }


def _print_json(kind: str, rows: Sequence[Mapping[str, Any]]) -> None:
    sys.stdout.write(canonical.dumps({kind: rows}))


def _say(title: str, *lines: str) -> None:
    for line in (title, *(f"  {line}" for line in lines if line)):
        click.echo(visible(line))


def _say_pairs(pairs: Mapping[str, str]) -> None:
    width = max((len(name) for name in pairs), default=0)
    for name, text in pairs.items():
        click.echo(visible(f"    {name:{width}}  {text}"))
