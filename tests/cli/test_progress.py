"""Long work tells how far it has come, to people and not to programs."""

from __future__ import annotations

import io
import sys

import pytest

from basanite.cli.options import SECONDS_BEFORE_PROGRESS, Progress


class Terminal(io.StringIO):
    """Something that people look at."""

    def isatty(self) -> bool:
        return True


def told(monkeypatch, stream, waited):
    """What is shown of work that has already taken some time."""
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress()
    progress.start -= waited
    progress("Alpha\x1b", 17)
    shown = stream.getvalue()
    progress.close()
    return shown


@pytest.mark.req("P-3")
def test_long_work_tells_how_many_files_were_read(monkeypatch):
    terminal = Terminal()
    shown = told(monkeypatch, terminal, SECONDS_BEFORE_PROGRESS + 1)
    assert "Alpha\\x1b: 17 files read" in shown
    assert terminal.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize(("stream", "waited"), [(Terminal(), 0), (io.StringIO(), 100)], ids=["short", "unseen"])
def test_short_work_and_work_that_nobody_watches_is_silent(monkeypatch, stream, waited):
    assert told(monkeypatch, stream, waited) == ""
