"""Where the time of a test run goes: a pytest plug-in prints CPU time by folder, the slowest tests, and those too slow.

CPU time is that of the process that runs the tests and of all that it started: a busy machine does not change it.
Where a system does not list the children of a process (Linux does), those still at work count for the test that ends
them. Reports carry it, also from workers.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

BOUND = 10.0
"""CPU seconds that one test may take in `make test`; a journey through the whole product may take longer."""
SHOWN = 10
JOURNEYS = ("tests/journeys/", "tests/demo/")
LONG = 0.02
"""Seconds from which on the children of a phase are looked at, since looking takes a while and there are 40,000 phases;
what they took in shorter ones counts for the next long one."""
LEAST = 60.0
"""CPU seconds of a whole run from which on the table is worth its lines."""
LIST = Path("build/test-times.tsv")
"""Every test of such a run, the slowest first: CPU seconds, seconds by the clock, name."""

TICKS = os.sysconf("SC_CLK_TCK")


class TimeRecorder:
    """Measures in the process that runs a test; adds up in the one that sees all reports."""

    def __init__(self) -> None:
        self.children = 0.0
        self.times: defaultdict[str, float] = defaultdict(float)
        self.clock: defaultdict[str, float] = defaultdict(float)
        self.slow: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Start the clock before the fixtures of a test are made."""
        self.own = time.process_time()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Hang on each phase what it took since the one before."""
        report = yield
        own, before = time.process_time(), self.children
        if report.duration >= LONG:
            self.children = seconds_of_children()
        # a process that ends with nobody to wait for it is not counted any more: no phase took less than nothing
        seconds = own - self.own + max(self.children - before, 0.0)
        report.user_properties += [("cpu", seconds), ("slow", item.get_closest_marker("slow") is not None)]
        self.own = own
        return report

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one test."""
        told = dict[str, Any](report.user_properties)
        self.times[report.nodeid] += told.get("cpu", 0.0)
        self.clock[report.nodeid] += report.duration
        if told.get("slow"):
            self.slow.add(report.nodeid)

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables of a run that took a while, and leave the whole list in a file."""
        if sum(self.times.values()) >= LEAST:
            terminalreporter.section("CPU time")
            for line in summary(self.times, self.slow):
                terminalreporter.write_line(line)
            path = terminalreporter.config.rootpath / LIST
            path.parent.mkdir(exist_ok=True)
            order = sorted(self.times, key=lambda test: -self.times[test])
            path.write_text("".join(f"{self.times[one]:.2f}\t{self.clock[one]:.2f}\t{one}\n" for one in order))


def seconds_of_children() -> float:
    """What the ended children of this process and those still at work have taken so far."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_seconds_of, _children("self")))


def _children(process: str) -> list[str]:
    with suppress(OSError):
        return [one for path in Path(f"/proc/{process}/task").glob("*/children") for one in path.read_text().split()]
    return []


def _seconds_of(process: str) -> float:
    """What a process that is still there has taken, with its own children: fields 14 to 17 of what the kernel tells."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS + sum(map(_seconds_of, _children(process)))
    return 0.0


def summary(times: Mapping[str, float], slow: set[str]) -> list[str]:
    """The lines that are printed: folders, the slowest tests, and tests that should be quicker or marked slow.

    >>> times = {"tests/cli/test_a.py::test_one": 12.0, "tests/demo/test_b.py::test_two": 30.0, "src/c.py::c": 0.5}
    >>> print("\\n".join(summary(times, set())))
      30.0 s     1 tests  tests/demo
      12.0 s     1 tests  tests/cli
       0.5 s     1 tests  src
    the slowest:
      30.0 s  tests/demo/test_b.py::test_two
      12.0 s  tests/cli/test_a.py::test_one
       0.5 s  src/c.py::c
    over 10 s and not marked slow:
      12.0 s  tests/cli/test_a.py::test_one
    """
    folders: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for test, seconds in times.items():
        folders[folder(test)] += seconds
        counts[folder(test)] += 1
    order = sorted(times, key=lambda test: -times[test])
    over = [test for test in order if times[test] > BOUND and test not in slow and not test.startswith(JOURNEYS)]
    lines = [
        f"{seconds:6.1f} s {counts[name]:5} tests  {name}"
        for name, seconds in sorted(folders.items(), key=lambda one: -one[1])
    ]
    lines += ["the slowest:", *(f"{times[test]:6.1f} s  {test}" for test in order[:SHOWN])]
    return lines + [
        f"over {BOUND:g} s and not marked slow:",
        *(f"{times[test]:6.1f} s  {test}" for test in over),
    ] * bool(over)


def folder(test: str) -> str:
    """Where a test lies, by the first two names of its path.

    >>> folder("tests/server/pages/test_states.py::test_it"), folder("tests/test_docs.py::test_it")
    ('tests/server', 'tests')
    """
    names = test.partition("::")[0].split("/")[:-1]
    return "/".join(names[:2] if names[0] == "tests" else names[:1])


def pytest_configure(config: pytest.Config) -> None:
    """Let a recorder of this run's own listen in."""
    config.pluginmanager.register(TimeRecorder(), "time-recorder")
