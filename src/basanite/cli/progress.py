"""How far long work has come: one line on standard error, for people and for logs alike (P-3).

On a terminal the line is written over, ten times a second at most, and taken away at the end. In a log it is a plain
line now and then, more and more rarely. Short work says nothing, and nothing ever goes to standard output.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

import click

from basanite.cli.colour import drawable
from basanite.problems import visible

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
    def elapsed(self) -> float:
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
            return max(SECONDS_BETWEEN_LINES, SHARE_BETWEEN_LINES * self.elapsed)
        return SECONDS_BETWEEN_FRAMES if self.last > self.start else SECONDS_BEFORE_PROGRESS


class Progress(StatusLine):
    """Tells how many files of a submission have been read."""

    def __call__(self, name: str, files: int) -> None:
        """Show how many files there are so far."""
        self.tell(f"{name}: {files} files read, {self.elapsed:.0f} s")


class Counted(StatusLine):
    """Tells how many of a known number of things are done."""

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show how far the work has come."""
        self.tell(f"{name} {done} of {total}, {self.elapsed:.0f} s")


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
