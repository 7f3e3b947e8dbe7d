"""Running the limited child of the reading services: its files by link, a box around it, and what came of it (X-8).

The box is the one of scoring: no network, no database, nothing of the machine but the interpreter and this package.
Where none can be closed, a child that limits itself does for open parts; for sealed ones only if the settings say so.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.campaign.jobs.scoring_process import Given, box_holds, lay
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.turns import turn
from basanite.campaign.work.reading.child import REFUSED
from basanite.problems import Problem
from basanite.sandbox.box import Limits
from basanite.sandbox.child import PYTHON, Outcome, make_call_folders, run_child
from basanite.sandbox.runner import run_boxed, run_open

COMMAND: Final = (PYTHON, "-I", "-m", "basanite.campaign.work.reading.child")
log = logging.getLogger("basanite.reading")


@dataclass(frozen=True)
class Order:
    """What a child is to do, with which files."""

    work: str
    party: str
    """Who it is for, and whose turn it takes: a team, or a campaign (X-22)."""
    files: Mapping[str, Given]
    data: Mapping[str, Any] = field(default_factory=dict)
    sealed: bool = False
    """Whether something sealed is among the files."""
    patient: bool = False
    """Whether it is work of ours, with the limits of scoring, and no call that somebody waits for."""


@contextmanager
def run_reading_child(office: Office, order: Order) -> Iterator[Outcome]:
    """Run a child and look at what it wrote; what the caller can fix is refused in its words."""
    with (
        turn(office, order.party),
        tempfile.TemporaryDirectory(dir=office.sealed.scratch, ignore_cleanup_errors=True) as name,
    ):
        folder = Path(name)
        outcome = _run(office, order, folder)
        if not outcome.good or outcome.path(REFUSED) is not None:
            raise _refusal(order, outcome)
        yield outcome


def read_output(outcome: Outcome, name: str) -> Any:
    """An answer that a child wrote as JSON."""
    path = outcome.path(name)
    if path is None:
        raise refused(
            "R-23", "the limited process gave no answer", "try again; notify the operators if it happens again"
        )
    return json.loads(path.read_bytes())


def _run(office: Office, order: Order, folder: Path) -> Outcome:
    boxed = office.run is not None or box_holds(office, sealed=order.sealed)
    most = office.settings.limits if order.patient else office.settings.reading
    given = make_call_folders(folder)
    files = {role: lay(one, given, role) for role, one in order.files.items()}
    request = {"work": order.work, "files": files, "data": dict(order.data)}
    limits = Limits(seconds=most.seconds, memory=most.memory, output=most.output)
    return run_child(COMMAND, folder, request, limits, office.run or (run_boxed if boxed else run_open), boxed=boxed)


def _refusal(order: Order, outcome: Outcome) -> RefusedError:
    """Why there is no answer: what the child says, or the limit that it reached."""
    written = outcome.path(REFUSED)
    if written is not None:
        said = json.loads(written.read_bytes())
        return RefusedError([_problem(one) for one in said["problems"]], status=said["status"])
    log.warning("a %s of the reading services ended: %s", order.work, outcome.fault)
    if outcome.overran:
        words = f"undecided: the limit on {outcome.overran} was reached"
        return refused("X-13", words, "request less at once", status=422)
    words = "the limited process stopped unexpectedly"
    return refused("R-23", words, "try again; notify the operators if it happens again", status=503)


def _problem(one: Mapping[str, Any]) -> Problem:
    names = ("rule", "file", "line", "field", "message", "fix", "found", "column", "severity", "where")
    return Problem(**{name: one[name] for name in names})
