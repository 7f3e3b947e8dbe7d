"""Children without the start of Python, for tests that are about what becomes of a submission or of a call.

Most of what a child costs is its start. So the ordinary ones are split off a process that has everything loaded;
another program in a child's place, and any other limits than the usual, are run in a box as on a server. Tests of the
child itself, and one file of tests of the reading services, have a fixture `children` of their own, which changes
nothing.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache

from basanite.campaign.jobs import scoring_process
from basanite.campaign.settings import Limits, Reading
from basanite.campaign.work.reading import process
from basanite.demo.warm import warm
from basanite.sandbox.runner import run_boxed

ORDINARY = {
    (command, most.seconds, most.memory, most.output)
    for command, most in (
        (scoring_process.COMMAND, Limits()),
        (process.COMMAND, Limits()),
        (process.COMMAND, Reading()),
    )
}
"""The children of scoring and of the reading services, under the limits that a server has unless it is told others."""


@cache
def _loaded():
    """The one process of this test process that has everything loaded; it ends with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(warm(1))


def run_quickly(box, *, environment=None):
    """Run an ordinary child where everything is loaded, and anything else in a box."""
    ordinary = (box.command, box.limits.seconds, box.limits.memory, box.limits.output) in ORDINARY
    return (_loaded() if ordinary else run_boxed)(box, environment=environment)


def start_quickly(monkeypatch):
    """Let ordinary children of this process start quickly until a test ends."""
    for module in (scoring_process, process):
        monkeypatch.setattr(module, "run_boxed", run_quickly)
