"""`basanite inspect`: what files are, how many items they hold, and which commands take them (T-12)."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from basanite import canonical
from basanite.cli.options import as_json, example
from basanite.cli.positions import INPUT, NAME, STANDARD_INPUT
from basanite.formats.inspection import Inspection, inspect_path
from basanite.problems import visible
from basanite.reports.wording import plural


@click.command(epilog=example("basanite inspect key Alpha.tgz queries.txt"))
@click.argument("files", nargs=-1, required=True, type=INPUT, metavar="FILE...")
@as_json
def inspect(files: tuple[Path, ...], as_json: bool) -> None:
    """Identify each FILE: its format, how many items it holds, and which commands read it.

    Files, folders and archives are recognized by their content; names are only a hint. Words in capitals stand for your
    other files. A file called - is standard input.
    """
    found = [_with_shown_path(inspect_path(path), path) for path in files]
    if as_json:
        sys.stdout.write(canonical.dumps({"files": [one.as_dict() for one in found]}))
        return
    for at, one in enumerate(found):
        if at:
            click.echo()
        _show(one)


def _with_shown_path(found: Inspection, path: Path) -> Inspection:
    """The same with the name that people know: a copy of standard input is called -."""
    if path.name != NAME or found.path in sys.argv:
        return found
    lines = tuple(line.replace(found.path, STANDARD_INPUT) for line in found.commands)
    return replace(found, path=STANDARD_INPUT, commands=lines)


def _show(found: Inspection) -> None:
    click.echo(visible(f"{found.path}: {found.name}"))
    size = (
        ""
        if found.size is None
        else f"{plural('byte', found.size)}{f', packed by {found.packed}' if found.packed else ''}"
    )
    counted = "" if found.count is None or not found.record else plural(found.record, found.count)
    members = ", ".join(f"{name} ({number})" for name, number in found.members)
    rows = (
        ("holds", counted),
        ("size", size),
        ("columns", ", ".join(found.columns)),
        ("files", members),
        ("why", found.sign),
        *(("note", note) for note in found.notes),
        *(("read by", command) for command in found.commands),
        ("fix", "" if found.commands else found.fix),
    )
    for label, text in rows:
        if text:
            click.echo(visible(f"  {label:<8} {text}"))
