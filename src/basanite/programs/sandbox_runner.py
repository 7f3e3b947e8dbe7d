"""The runner that every installation has: our own sandbox, without a daemon (G-3)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from basanite.programs.contract import ENTRY, Call, Resources, Runner
from basanite.sandbox.box import Box, Ended
from basanite.sandbox.conversation import Talk, talk_boxed
from basanite.sandbox.processors import held_processors
from basanite.sandbox.runner import capability, run_boxed


class SandboxRunner:
    """Runs programs of teams in the sandbox of this machine."""

    name = "sandbox"
    summary = "the sandbox of this machine, without a daemon"
    takes = "archive"

    def fault(self, resources: Resources) -> str:
        """Why programs with these resources cannot be run here; nothing if they can."""
        if resources.gpus:
            return "the sandbox gives programs no graphics processor"
        here = len(os.sched_getaffinity(0))
        if resources.cores > here:
            return f"programs may use {resources.cores} cores, and this machine has {here}"
        found = capability()
        return "" if found.possible else f"no sandbox can be made here ({found.reason})"

    def run(self, call: Call) -> Ended:
        """Run a program once."""
        with _box(call) as box:
            return run_boxed(box)

    @contextmanager
    def talk(self, call: Call) -> Iterator[Talk]:
        """Start a program and ask it line by line."""
        with _box(call) as box, talk_boxed(box) as talk:
            yield talk


@contextmanager
def _box(call: Call) -> Iterator[Box]:
    """The box of a call, on processors that are held as long as it runs."""
    with TemporaryDirectory(prefix="basanite-state-") as state, held_processors(call.resources.cores) as processors:
        Path(state).chmod(0o755)
        folders = call.program, call.given, call.out, Path(state)
        yield Box((f"./{ENTRY}",), *folders, reads=call.reads, limits=call.resources.limits, processors=processors)


RUNNER: Runner = SandboxRunner()
