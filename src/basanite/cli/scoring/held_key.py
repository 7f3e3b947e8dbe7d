"""What commands on a key that the user holds share: a run of a task, read and found valid by the usual code.

These commands look at single documents. They work on files at home only: a server never tells which documents were hit
or missed (M72).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from basanite.errors import InvalidInputError
from basanite.interface import Work
from basanite.problems import Findings
from basanite.tasks import Inputs, Opened

Change = Callable[[Opened], Opened]


class HeldKeyWork(Work):
    """The work of one command on one submission and its key."""

    def run(self, inputs: Inputs, change: Change = lambda run: run) -> Opened:
        """The run of a valid submission; `change` may put one in its place that remembers more."""
        self.task = replace(self.task, open=_changed(self.task.open, change))
        findings = Findings()
        opened = self.validated(inputs, findings, scored=True)
        if opened is None or not findings.valid:
            raise InvalidInputError(self.task.name, findings)
        return opened


def _changed(open_run: Callable[..., Opened | None], change: Change) -> Callable[..., Opened | None]:
    def changed(inputs: Inputs, settings: Mapping[str, Any], *others: Any) -> Opened | None:
        run = open_run(inputs, settings, *others)
        return None if run is None else change(run)

    return changed
