"""Groups of commands that are known by name and section: a command is loaded only when it is called.

So help and completion cost no import, and a mistyped name is answered with the nearest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from basanite.registry import suggestion

Sections: TypeAlias = Mapping[str, Mapping[str, tuple[str, str]]]
"""By title and name of the command: the module below `basanite.cli` that it is in, and its line in the list."""

WORDS_OF_PYTHON = {"import"}


class LazyGroup(click.Group):
    """A group that knows its commands by name, in sections, and imports one only when it is called."""

    def __init__(self, *args: Any, sections: Sections, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections
        self.places = {name: place for section in sections.values() for name, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest, unless a shell only asks."""
        if cmd_name not in self.places and not ctx.resilient_parsing:
            typed = " ".join([*_names(ctx), cmd_name])
            ctx.fail(f"There is no command {typed!r}. {suggestion(cmd_name, tuple(self.places))}")
        return _loaded(self.places[cmd_name][0], cmd_name) if cmd_name in self.places else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section without importing any of them."""
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, words) for name, (_, words) in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell may offer: the names of commands, without importing any of them, and options."""
        known = [(name, words) for name, (_, words) in self.places.items() if name.startswith(incomplete)]
        named = [CompletionItem(name, help=words) for name, words in known]
        return named + click.Command.shell_complete(self, ctx, incomplete)


def _loaded(module: str, name: str) -> click.Command:
    attribute = f"{name}_" if name in WORDS_OF_PYTHON else name
    command: click.Command = getattr(import_module(f"basanite.cli.{module}"), attribute)
    return command


def _names(ctx: click.Context) -> list[str]:
    """The commands that were typed to get here, without the program's own name."""
    return [] if ctx.parent is None else [*_names(ctx.parent), str(ctx.info_name)]
