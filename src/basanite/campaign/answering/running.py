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

from basanite.campaign.answering.inside.desk import ORDER, REFUSED
from basanite.campaign.jobs.running import ONE_THREAD, PYTHON, Given, Outcome, box_holds, interpreter, lay
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.turns import turn
from basanite.harness.sandbox.box import Box, Limits
from basanite.harness.sandbox.running import run_boxed, run_open
from basanite.problems import Problem

COMMAND: Final = (PYTHON, "-I", "-m", "basanite.campaign.answering.inside")
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
def worked(office: Office, order: Order) -> Iterator[Outcome]:
    """Run a child and look at what it wrote; what the caller can mend is refused in its words."""
    with (
        turn(office, order.party),
        tempfile.TemporaryDirectory(dir=_scratch(office), ignore_cleanup_errors=True) as name,
    ):
        folder = Path(name)
        outcome = _run(office, order, folder)
        if not outcome.good or outcome.path(REFUSED) is not None:
            raise _refusal(order, outcome)
        yield outcome


def told(outcome: Outcome, name: str) -> Any:
    """An answer that a child wrote as JSON."""
    path = outcome.path(name)
    if path is None:
        raise refused("R-23", "the limited process gave no answer", "try again; tell the operators if it stays")
    return json.loads(path.read_bytes())


def _scratch(office: Office) -> Path:
    """A folder beside the sealed files: nothing sealed is ever written to a shared place."""
    folder = office.sealed.folder / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(office: Office, order: Order, folder: Path) -> Outcome:
    boxed = office.run is not None or box_holds(office, sealed=order.sealed)
    most = office.settings.limits if order.patient else office.settings.reading
    for name in ("system", "in", "out", "state"):
        (folder / name).mkdir()
    files = {role: lay(given, folder / "in", role) for role, given in order.files.items()}
    limits = {} if boxed else {"seconds": most.seconds, "memory": most.memory, "output": most.output}
    plain = {"work": order.work, "files": files, "data": dict(order.data), "limits": limits}
    (folder / "in" / ORDER).write_text(json.dumps(plain), encoding="utf-8")
    box = Box(
        COMMAND,
        folder / "system",
        folder / "in",
        folder / "out",
        folder / "state",
        reads=interpreter(),
        limits=Limits(seconds=most.seconds, memory=most.memory, output=most.output),
    )
    run = office.run or (run_boxed if boxed else run_open)
    return Outcome(run(box, environment=ONE_THREAD), folder / "out")


def _refusal(order: Order, outcome: Outcome) -> RefusedError:
    """Why there is no answer: what the child says, or the limit that it reached."""
    written = outcome.path(REFUSED)
    if written is not None:
        said = json.loads(written.read_bytes())
        return RefusedError([_problem(one) for one in said["problems"]], status=said["status"])
    log.warning("a %s of the reading services ended: %s", order.work, outcome.fault)
    if outcome.overran:
        words = f"undecided: the limit on {outcome.overran} was reached"
        return refused("X-13", words, "ask for less at once", status=422)
    words = "the limited process stopped unexpectedly"
    return refused("R-23", words, "try again; tell the operators if it stays", status=503)


def _problem(one: Mapping[str, Any]) -> Problem:
    names = ("rule", "file", "line", "field", "message", "fix", "found", "column", "severity", "where")
    return Problem(**{name: one[name] for name in names})
