"""`basanite harness`: evaluation plans from seal to report; each command is loaded only when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from basanite.cli.options import example
from basanite.registry import suggestion

RUN, FROZEN, REPORT = "run", "frozen", "report"
HARNESS: Final = {
    "run": (RUN, "Run a plan: every condition for every team, and write the result folder."),
    "status": (RUN, "Tell how far a run has come, and how each of its parts ended."),
    "seal": (RUN, "Draw the secret seed of a plan and print the commitment to it."),
    "unseal": (RUN, "Check a commitment now that its seal is given out."),
    "freeze": (FROZEN, "Write down the hashes of a system's code or parameters, and sign changes off."),
    "export": (FROZEN, "Write the preprocessed sets of a plan for teams."),
    "bundle": (FROZEN, "Make a bundle that runs a plan at a team's site."),
    "sign": (FROZEN, "Sign the result of a bundle, so that nobody can change it unseen."),
    "verify": (FROZEN, "Check a result folder that came back from a team."),
    "analyse": (REPORT, "Test the claims of a plan on a result folder."),
    "compare": (REPORT, "List where two result folders of one plan differ."),
    "progress": (REPORT, "Compare two evaluations of the same teams, run by run."),
    "report": (REPORT, "Write the report of a result folder as HTML or slides."),
}
"""By the name of the command: the file it is in, and its line in the list."""


class HarnessGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(HARNESS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest."""
        if cmd_name not in HARNESS:
            ctx.fail(f"There is no command 'harness {cmd_name}'. {suggestion(cmd_name, tuple(HARNESS))}")
        command: click.Command = getattr(import_module(f"basanite.cli.harness.{HARNESS[cmd_name][0]}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in HARNESS.items()])


@click.group(
    cls=HarnessGroup,
    epilog=example("basanite harness run quick.toml"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def harness() -> None:
    """Run evaluation plans: data, sealed splits, six conditions, teams' systems, claims."""
