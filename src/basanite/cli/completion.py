"""`basanite completion`: what lets a shell complete commands, options, names of tasks and files.

The shell asks the program itself at every press of the key, so that what it offers is never out of date; commands are
known by name and one is loaded only when its options are asked for.
"""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from basanite.cli.options import as_json, example
from basanite.reports.formats import json_output

PROGRAM, VARIABLE = "basanite", "_BASANITE_COMPLETE"
SETUP = {
    "bash": "echo 'eval \"$(basanite completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(basanite completion zsh)\"' >> ~/.zshrc",
    "fish": "basanite completion fish > ~/.config/fish/completions/basanite.fish",
}
"""What to type once, for each shell."""


@click.command(epilog=example("basanite completion bash"))
@click.argument("shell", type=click.Choice(list(SETUP)))
@as_json
def completion(shell: str, as_json: bool) -> None:
    """Print what lets your SHELL complete commands, options, names of tasks and files.

    \b
    Once, for the shell that you use:
      echo 'eval "$(basanite completion bash)"' >> ~/.bashrc
      echo 'eval "$(basanite completion zsh)"' >> ~/.zshrc
      basanite completion fish > ~/.config/fish/completions/basanite.fish
    """
    script = script_of(shell, click.get_current_context().find_root().command)
    if as_json:
        sys.stdout.write(json_output.dumps({"script": script, "setup": SETUP[shell], "shell": shell}))
    else:
        click.echo(script, nl=False)


def script_of(shell: str, command: click.Command) -> str:
    """The script of a shell; it asks the program for what may come next."""
    known = get_completion_class(shell)
    if known is None:  # the choice above allows only those that there are
        raise click.UsageError(f"No completion is known for {shell}.")
    maker = known(command, {}, PROGRAM, VARIABLE)
    return maker.source_template % maker.source_vars()
