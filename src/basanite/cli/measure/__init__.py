"""`basanite measure`: how well features represent data; each command is loaded only when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from basanite.cli.options import example
from basanite.registry import suggestion

MEASURE: Final = {
    "run": "Measure one set of features: every measure, by class and by group, with intervals.",
    "shift": "Mix a target into a source level by level and see which measures follow.",
    "compare": "Compare several sets or models, with and without transformations, against a proxy.",
    "monitor": "Watch batches of new data: alarms, the share of new data, and what to do.",
}


class MeasureGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(MEASURE)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest."""
        if cmd_name not in MEASURE:
            ctx.fail(f"There is no command 'measure {cmd_name}'. {suggestion(cmd_name, tuple(MEASURE))}")
        command: click.Command = getattr(import_module("basanite.cli.measure.commands"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(MEASURE.items()))


@click.group(
    cls=MeasureGroup,
    epilog=example("basanite measure run seen.npz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def measure() -> None:
    """Tell how well a model's features represent data: no training, only features and labels."""
