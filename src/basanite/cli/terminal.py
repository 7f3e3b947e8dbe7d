"""What a terminal shows besides results: colours for people who see them, and how far long work has come (P-3).

Colours never go to a file or pipe, nor where somebody has asked for none. `NO_COLOR` with any content turns them off,
whatever else is set (no-color.org); `FORCE_COLOR` turns them on where no terminal listens, as in the logs of a build
server; a terminal that calls itself dumb gets none.

Progress is one line on standard error. On a terminal it is written over, ten times a second at most, and taken away at
the end. In a log it is a plain line now and then, more and more rarely. Short work says nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO

import click

from basanite.problems import visible

DUMB = ("dumb", "unknown")
GOOD, NOTE, BAD = "green", "yellow", "red"


def wants_colour(stream: IO[str], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether what goes to a stream is coloured.

    >>> wants_colour(sys.stdout, {"NO_COLOR": "1", "FORCE_COLOR": "1"}), wants_colour(sys.stdout, {"FORCE_COLOR": "1"})
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
    shown = wants_colour(sys.stderr if err else sys.stdout)
    start = click.style(words, fg=colour, bold=True) if shown else words
    click.echo(f"{start}{rest}", err=err, color=shown)


SECONDS_BEFORE_PROGRESS = 0.5
SECONDS_BETWEEN_FRAMES = 0.1
SECONDS_BETWEEN_LINES = 10.0
SHARE_BETWEEN_LINES = 0.1
"""Of all the time so far: an hour's work leaves some forty lines in a log, a day's not many more."""

CLEAR = "\r\x1b[K"
BAR_WIDTH = 30


class StatusLine:
    """A line that tells how far the work has come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.live = drawable(sys.stderr)
        self.start = self.last = clock()
        self.drawn = False

    @property
    def time_passed(self) -> float:
        """How long the work has taken so far."""
        return self.clock() - self.start

    def tell(self, words: str) -> None:
        """Show the words, if it is time to; no name of a stranger's can hide or act in them (X-14)."""
        if self.clock() - self.last < self._pause():
            return
        self.last = self.clock()
        self.drawn = self.live
        shown = visible(words)
        if self.live:  # a line that wraps could not be written over
            shown = f"\r{shown[: shutil.get_terminal_size().columns - 1]}\x1b[K"
        click.echo(shown, err=True, nl=not self.live, color=self.live)

    def close(self) -> None:
        """Take the line away."""
        if self.drawn:
            click.echo(CLEAR, err=True, nl=False, color=True)
        self.drawn = False

    def _pause(self) -> float:
        """How long nothing is shown after what was shown last."""
        if not self.live:
            return max(SECONDS_BETWEEN_LINES, SHARE_BETWEEN_LINES * self.time_passed)
        return SECONDS_BETWEEN_FRAMES if self.last > self.start else SECONDS_BEFORE_PROGRESS


class Progress(StatusLine):
    """Tells how many files of a submission have been read, and how far its scoring is."""

    scoring: float | None = None
    """When scoring began."""

    def __call__(self, name: str, files: int) -> None:
        """Show how many files there are so far."""
        self.tell(f"{name}: {files} files read, {self.time_passed:.0f} s")

    def work(self, name: str, done: int, total: int) -> None:
        """Show how much of a long scoring is done, and about how long the rest takes."""
        if self.scoring is None:
            self.scoring = self.clock()
        passed = self.clock() - self.scoring
        left = passed * (total - done) / done if done else 0.0
        self.tell(f"{name}: {done:,} of {total:,} answers scored, about {left:.0f} s left")


class Counted(StatusLine):
    """Tells how many of a known number of things are done."""

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show how far the work has come."""
        self.tell(f"{name} {done} of {total}, {self.time_passed:.0f} s")


class Bar(StatusLine):
    """Tells how much of a file has been sent."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.name = name

    def __call__(self, sent: int, size: int) -> None:
        """Show how much there is so far: a bar on a terminal, a number in a log."""
        part = sent / size if size else 1.0
        bar = f"[{'#' * round(BAR_WIDTH * part):<{BAR_WIDTH}}] " if self.live else ""
        self.tell(f"{self.name}: {bar}{100 * part:3.0f} % sent")
