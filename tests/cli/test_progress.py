"""Long work tells how far it has come: people on one line, logs now and then, programs never."""

from __future__ import annotations

import io
import re
import sys

import pytest
from tests.cli.running import READING, here

from basanite.cli import terminal
from basanite.cli.terminal import SECONDS_BEFORE_PROGRESS, SECONDS_BETWEEN_LINES, Bar, Counted, Progress


class Terminal(io.StringIO):
    """Something that people look at."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Time, on a terminal of eighty columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Clock()


def watched(monkeypatch, kind):
    """Where it is told: a terminal or a log."""
    made = kind()
    monkeypatch.setattr(sys, "stderr", made)
    return made


in_both = pytest.mark.parametrize("kind", [Terminal, io.StringIO], ids=["terminal", "log"])


def test_on_a_terminal_one_line_is_written_over_and_taken_away(monkeypatch, clock):
    stream = watched(monkeypatch, Terminal)
    progress = Progress(clock)
    for files in (17, 18):
        clock.now += SECONDS_BEFORE_PROGRESS + 1
        progress("Alpha\x1b", files)
    progress.close()
    first, second, last = stream.getvalue().split("\r")[1:]
    assert (first, second, last) == (
        "Alpha\\x1b: 17 files read, 2 s\x1b[K",
        "Alpha\\x1b: 18 files read, 3 s\x1b[K",
        "\x1b[K",
    )
    assert "\n" not in stream.getvalue()


@in_both
def test_short_work_is_silent(monkeypatch, clock, kind):
    stream = watched(monkeypatch, kind)
    progress = Progress(clock)
    clock.now += SECONDS_BEFORE_PROGRESS / 2
    progress("Alpha", 1)
    progress.close()
    assert stream.getvalue() == ""


def test_a_line_is_never_wider_than_the_terminal(monkeypatch, clock):
    stream = watched(monkeypatch, Terminal)
    progress = Progress(clock)
    clock.now += 10
    progress("A" * 200, 1)
    assert len(stream.getvalue().removeprefix("\r").removesuffix("\x1b[K")) == 79


def test_a_log_gets_whole_lines_now_and_then_without_a_sign_that_acts(monkeypatch, clock):
    stream = watched(monkeypatch, io.StringIO)
    progress = Counted(clock)
    for done in range(3600):
        clock.now += 1
        progress("level", done, 3600)
    progress.close()
    lines = stream.getvalue().splitlines(keepends=True)
    assert 20 < len(lines) < 60
    assert lines[0] == f"level {SECONDS_BETWEEN_LINES - 1:.0f} of 3600, {SECONDS_BETWEEN_LINES:.0f} s\n"
    assert all(line.endswith("\n") and line[:-1].isprintable() for line in lines)


def test_a_dumb_terminal_is_a_log(monkeypatch, clock):
    stream = watched(monkeypatch, Terminal)
    monkeypatch.setenv("TERM", "dumb")
    progress = Progress(clock)
    clock.now += SECONDS_BETWEEN_LINES + 1
    progress("Alpha", 3)
    assert stream.getvalue() == "Alpha: 3 files read, 11 s\n"


@in_both
def test_what_is_sent_is_a_bar_for_people_and_a_number_for_logs(monkeypatch, clock, kind):
    stream = watched(monkeypatch, kind)
    bar = Bar("Alpha.tgz", clock)
    clock.now += SECONDS_BETWEEN_LINES + 1
    bar(50, 100)
    shown = stream.getvalue()
    assert "Alpha.tgz: " in shown
    assert " 50 % sent" in shown
    assert ("[###############               ]" in shown) is stream.isatty()


def test_nothing_goes_to_standard_output(capsys, clock):
    progress = Progress(clock)
    clock.now += 100
    progress("Alpha", 3)
    progress.close()
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


@pytest.mark.req("R-36")
def test_long_scoring_of_answers_tells_how_much_is_done_and_how_long_the_rest_takes(monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(terminal, "SHARE_BETWEEN_LINES", 0.0)
    nfl = READING / "nfl"
    words = ("score", "reading", "--reference", nfl, "--submission", nfl / "answers" / "baseline.ndjson", "--json")
    ended = here(*words, "--draws", "100")
    assert ended.code == 0, ended.stderr
    found = re.findall(r"baseline: ([\d,]+) of ([\d,]+) answers scored, about (\d+) s left", ended.stderr)
    done = [int(one.replace(",", "")) for one, _, _ in found]
    (total,) = {int(of.replace(",", "")) for _, of, _ in found}
    answers = len((nfl / "answers" / "baseline.ndjson").read_text().splitlines())
    versions = len(list((nfl / "gold").glob("v*.ndjson")))
    assert total == answers * (1 + versions), "once for the tables, and once against each version of the gold"
    assert len(done) > 10
    assert done == sorted(done)
    assert (done[0] < total / 10, done[-1]) == (True, total)


def test_the_time_left_is_that_of_what_is_done_so_far(monkeypatch, clock):
    stream = watched(monkeypatch, Terminal)
    progress = Progress(clock)
    progress.work("Alpha", 0, 1000)
    clock.now += 30
    progress.work("Alpha", 250, 1000)
    assert "Alpha: 250 of 1,000 answers scored, about 90 s left" in stream.getvalue()
