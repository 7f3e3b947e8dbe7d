"""`basanite tasks`, `metrics` and `plugins`: what there is, each with one line and where it comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from basanite import registry
from basanite.cli.options import as_json, example
from basanite.interface import ANALYSIS
from basanite.kernel import Metric
from basanite.reports import json_output
from basanite.spine import find_task


@click.command(epilog=example("basanite tasks --json"))
@as_json
def tasks(as_json: bool) -> None:
    """List the tasks, each with its settings and its citation."""
    found = [find_task(name) for name in registry.names("tasks")]
    _show(
        "tasks",
        (
            {
                "name": task.name,
                "summary": task.summary,
                "primary": task.primary,
                "settings": {setting.name: setting.help for setting in (*task.settings, *ANALYSIS)},
                "citation": task.citation,
            }
            for task in found
        ),
        json=as_json,
    )


@click.command(epilog=example("basanite metrics --json"))
@as_json
def metrics(as_json: bool) -> None:
    """List the metrics, each with its citation."""
    found: list[Metric] = [registry.load("metrics", name) for name in registry.names("metrics")]
    _show(
        "metrics",
        (
            {"name": metric.name, "summary": metric.summary, "best": metric.best, "citation": metric.citation}
            for metric in found
        ),
        json=as_json,
    )


@click.command(epilog=example("basanite plugins --json"))
@as_json
def plugins(as_json: bool) -> None:
    """List everything that is registered, and by which package."""
    _show("plugins", (asdict(plugin) for plugin in registry.plugins()), json=as_json)


def _show(kind: str, rows: Iterable[Mapping[str, Any]], *, json: bool) -> None:
    listed = list(rows)
    if json:
        sys.stdout.write(json_output.dumps({kind: listed}))
        return
    table = Table(show_lines=True)
    for column in listed[0] if listed else ("nothing is registered",):
        table.add_column(column)
    for row in listed:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {text}" for key, text in value.items())
    return str(value)
