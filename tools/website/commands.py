"""A page for every command, from the tree of commands itself: usage, help, arguments, options, example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import click

from basanite.cli import app
from tools.website.writing import cell, code, page, table

_EXAMPLE = re.compile(r"\s*Example:\s*(?P<line>basanite .*)", re.DOTALL)


def command_pages() -> Iterator[tuple[str, str]]:
    """Name and page of every command that `basanite --help` lists."""
    top = click.Context(app, info_name="basanite")
    for name in app.list_commands(top):
        command = app.get_command(top, name)
        if command is not None:
            yield name, page(f"# basanite {name}", *_described(command, click.Context(command, top, name), depth=1))


def _described(command: click.Command, context: click.Context, depth: int) -> Iterator[str]:
    """What one command says of itself, and below it what its subcommands say."""
    yield _help(command)
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
    yield table(["argument", "how often"], _arguments(command))
    yield table(["option", "default", "what it does"], _options(command, context))
    yield _example(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                inner = click.Context(below, context, name)
                yield f"{'#' * min(depth + 1, 4)} {inner.command_path.removeprefix('basanite ')}"
                yield from _described(below, inner, depth + 1)


def _help(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or "").partition("\b")[0].partition("\f")[0]
    return "\n\n".join(cell(part) for part in text.split("\n\n") if part.strip())


def _arguments(command: click.Command) -> Iterator[list[str]]:
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            often = "any number of times" if parameter.nargs == -1 else "once"
            yield [
                code(parameter.make_metavar(click.Context(command))),
                often if parameter.required else f"{often}, or not at all",
            ]


def _options(command: click.Command, context: click.Context) -> Iterator[list[str]]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield [_spelt(parameter, context), _default(parameter), cell(_said(parameter))]


def _spelt(option: click.Option, context: click.Context) -> str:
    value = "" if option.is_flag or option.count else f" {option.make_metavar(context)}"
    names = ", ".join([*option.opts, *option.secondary_opts])
    return code(names + value) + (" …" if option.multiple else "")


def _default(option: click.Option) -> str:
    if option.required:
        return "needed"
    value: Any = option.default
    silent = value is None or callable(value) or option.is_flag or "UNSET" in repr(value) or value in ((), "")
    return "" if silent else code(value)


def _said(option: click.Option) -> str:
    told = f" Also from {option.envvar}." if option.envvar else ""
    return (option.help or "") + told


def _example(command: click.Command) -> str:
    epilog = (command.epilog or "").replace("\b", "")
    found = _EXAMPLE.search(epilog) or _EXAMPLE.search((command.help or "").replace("\b", ""))
    return f"Example:\n\n```text\n{found['line'].strip()}\n```" if found else ""
