"""`basanite send`: hand results on to formats and services of others (Y-9)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from basanite import canonical, registry
from basanite.cli.options import as_json, example, parsed_settings, say
from basanite.cli.positions import named_systems
from basanite.errors import SettingError
from basanite.problems import visible

WRITTEN: Final = ("out", "card", "file")
"""Settings that name a file to be written."""


@click.command(epilog=example("basanite send Alpha.json --to hf-model-index --set dataset=lab/benchmark"))
@click.argument("results", nargs=-1, metavar="[[NAME=]RESULT]...")
@click.option(
    "--to",
    "sink",
    metavar="SINK",
    shell_complete=lambda ctx, param, start: [name for name in registry.names("sinks") if name.startswith(start)],
    help="Where to send them; without it, the possibilities are listed.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the destination. Can be repeated."
)
@as_json
def send(results: tuple[str, ...], sink: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Send results of `score --json` to other formats and services."""
    if sink is None:
        if results or settings:
            raise click.UsageError(f"Name a destination: --to {', '.join(registry.names('sinks'))}.")
        _list_sinks(json=as_json)
        return
    if not results:
        raise click.UsageError("Give at least one file that `basanite score --json` wrote.")
    from basanite.reports.result_files import read_result

    found, given = registry.load("sinks", sink), parsed_settings(settings)
    files = named_systems(results, "result")
    for name in WRITTEN:
        if name in given and Path(given[name]).resolve() in {path.resolve() for path in files.values()}:
            raise SettingError(f"{given[name]} is an input, so nothing is written over it. Choose another {name}.")
    read = [read_result(path, name) for name, path in files.items()]
    outcomes = {result.system: found.take(result, given) for result in read}
    if as_json:
        sys.stdout.write(canonical.dumps({"sink": sink, "sent": outcomes}))
        return
    for words in outcomes.values():
        say(words)


def _list_sinks(*, json: bool) -> None:
    if json:
        sinks = {name: registry.load("sinks", name) for name in registry.names("sinks")}
        about = {
            name: {"summary": one.summary, "settings": dict(one.settings), "required": sorted(one.required)}
            for name, one in sinks.items()
        }
        sys.stdout.write(canonical.dumps({"sinks": about}))
        return
    for name in registry.names("sinks"):
        one = registry.load("sinks", name)
        click.echo(visible(f"{name}: {one.summary}"))
        for setting, words in one.settings.items():
            needed = " (required)" if setting in one.required else ""
            click.echo(visible(f"  {setting}: {words}{needed}"))
