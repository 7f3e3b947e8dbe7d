"""The matrix of tasks and doors at the end of a test run: a pytest plug-in gathers the cells and prints them (D-2).

A test says `record_property("door", [task, door, state])`; reports carry it, also from workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

Cells = Mapping[tuple[str, str], str]


class DoorRecorder:
    """Gathers cells in the process that sees all reports."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], str] = {}

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of the cell that a test looked at, and of whether it was as it should be."""
        if report.when == "call":
            told: list[tuple[str, Any]] = list(report.user_properties)
            for task, door, state in (value for key, value in told if key == "door"):
                self.cells[task, door] = state if report.passed else f"{state}!"

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of this run, if there is one."""
        if self.cells:
            terminalreporter.section("tasks and doors")
            for line in table(self.cells):
                terminalreporter.write_line(line)


def table(cells: Cells) -> list[str]:
    """The lines of the table: a row for each task, a column for each door; `!` marks a test that failed.

    >>> print("\\n".join(table({("lm", "page"): "scored", ("lm", "command"): "scored!", ("speech", "page"): "scored"})))
    task    page    command
    lm      scored  scored!
    speech  scored  -
    """
    tasks, doors = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    rows = [["task", *doors], *([task, *(cells.get((task, door), "-") for door in doors)] for task in sorted(tasks))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def pytest_configure(config: pytest.Config) -> None:
    """Let a recorder of this run's own listen in."""
    config.pluginmanager.register(DoorRecorder(), "door-recorder")
