"""Colours are for people who see them, and anybody can turn them off."""

from __future__ import annotations

import io
import sys

import pytest
from tests.cli.running import EXAMPLE, process

from basanite.cli.options import console
from basanite.cli.terminal import drawable, wants_colour

ESCAPE = "\x1b["
SCORE = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--draws", "20", "--metric", "aqwv")


class Terminal(io.StringIO):
    """Something that people look at."""

    def isatty(self) -> bool:
        return True


CASES = {
    "terminal": (Terminal(), {"TERM": "xterm"}, True),
    "terminal without a name": (Terminal(), {}, True),
    "dumb": (Terminal(), {"TERM": "dumb"}, False),
    "none asked for": (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
    "empty NO_COLOR": (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),
    "NO_COLOR wins": (Terminal(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    "forced on dumb": (Terminal(), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    "pipe": (io.StringIO(), {"TERM": "xterm"}, False),
    "forced": (io.StringIO(), {"FORCE_COLOR": "1"}, True),
    "forced by 0": (io.StringIO(), {"FORCE_COLOR": "0"}, False),
}


@pytest.mark.parametrize("case", CASES)
def test_colours_are_shown_where_they_are_wanted(case):
    stream, environment, wanted = CASES[case]
    assert wants_colour(stream, environment) is wanted


def test_a_line_is_only_written_over_on_a_terminal_that_can():
    assert drawable(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not drawable(Terminal(), {"TERM": "dumb", "FORCE_COLOR": "1"})
    assert not drawable(io.StringIO(), {"FORCE_COLOR": "1"})


@pytest.mark.req("P-3")
@pytest.mark.parametrize(
    ("environment", "shown"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_tables_and_mistakes_of_a_command_are_coloured_alike(environment, shown):
    given = {"NO_COLOR": "", "FORCE_COLOR": ""} | environment
    tables, mistake = process(*SCORE, cwd=EXAMPLE, **given), process("scor", cwd=EXAMPLE, **given)
    assert (tables.code, ESCAPE in tables.stdout) == (0, shown)
    assert (mistake.code, ESCAPE in mistake.stderr) == (2, shown)


@pytest.mark.req("P-3")
def test_json_is_never_coloured():
    assert ESCAPE not in process(*SCORE, "--json", cwd=EXAMPLE, FORCE_COLOR="1", NO_COLOR="").stdout


@pytest.mark.parametrize(("name", "shown"), [("NO_COLOR", False), ("OTHER", True)])
def test_a_terminal_gets_its_own_width_and_colours_unless_somebody_asks_for_none(monkeypatch, name, shown):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for variable, value in (("TERM", "xterm-256color"), ("COLUMNS", "77"), (name, "1")):
        monkeypatch.setenv(variable, value)
    there = console()
    there.print("words", style="bold red")
    assert (there.width, ESCAPE in terminal.getvalue()) == (77, shown)
