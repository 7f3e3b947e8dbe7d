"""Colours for people who see them: never in a file or pipe, nor where somebody has asked for none (P-3).

`NO_COLOR` with any content turns colours off, whatever else is set (no-color.org); `FORCE_COLOR` turns them on where
no terminal listens, as in the logs of a build server; a terminal that calls itself dumb gets none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import IO

import click

DUMB = ("dumb", "unknown")
GOOD, NOTE, BAD = "green", "yellow", "red"


def coloured(stream: IO[str], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether what goes to a stream is coloured.

    >>> coloured(sys.stdout, {"NO_COLOR": "1", "FORCE_COLOR": "1"}), coloured(sys.stdout, {"FORCE_COLOR": "1"})
    (False, True)
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return drawable(stream, environment)


def drawable(stream: IO[str], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream is a terminal on which a line can be written over."""
    return stream.isatty() and environment.get("TERM", "").lower() not in DUMB


def echo(words: str, colour: str, rest: str = "", *, err: bool = False) -> None:
    """Print words in a colour, and the rest of the line plain; all plain where colours are not wanted."""
    shown = coloured(sys.stderr if err else sys.stdout)
    start = click.style(words, fg=colour, bold=True) if shown else words
    click.echo(f"{start}{rest}", err=err, color=shown)
