"""How a program ran, as far as somebody may see it: its team never learns more of sealed items than a yes or no (G-2).

Durations are whole minutes, sizes whole megabytes, and neither which item failed nor why is told: whatever a program
can choose could carry a sealed item out. What it printed on public items is its team's to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Window
from basanite.campaign.model.policy import Sight
from basanite.campaign.model.programs import rounded_megabytes, rounded_minutes
from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Office
from basanite.campaign.programs import compute
from basanite.campaign.store.tables import ProgramRun, Submission

Part = Literal["smoke", "run"]


@dataclass(frozen=True)
class SeenProgram:
    """The run of a program as somebody may see it."""

    mode: str
    """How it is asked: `files`, `pipe` or `endpoint`."""
    runner: str
    stage: str
    """`waiting`, `unpack`, `smoke`, `run`, `passed` or `failed`."""
    smoke: bool | None = None
    """Whether it passed on the public items; None before that is known."""
    minutes: int | None = None
    """How long it ran on the sealed items, rounded up; None before its team may know."""
    megabytes: int | None = None
    """The size of its answers, rounded up."""
    same: bool | None = None
    """Whether the items that were asked again were answered the same; None if none was."""
    smoke_log: bool = False
    log: bool = False
    """Whether there is something to read of what it printed, on public and on sealed items."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    exact: Mapping[str, Any] = field(default_factory=dict)
    """For the evaluation team alone: everything as it was measured."""


def program_of(session: Session, row: Submission, window: Window, sight: Sight) -> SeenProgram | None:
    """The run of a submission's program; None for answers."""
    if not row.program:
        return None
    run = session.get(ProgramRun, row.id)
    if run is None:
        return SeenProgram(row.program, window.programs.runner if window.programs else "", "waiting")
    known = sight.staff or run.due is None
    stage = _stage(row, run, known=known)
    over = stage in ("passed", "failed") and run.items > 0 and run.stage in ("answered", "failed")
    return SeenProgram(
        row.program,
        run.runner,
        stage,
        None if run.stage == "unpack" else run.stage != "smoke",
        rounded_minutes(run.seconds) if over else None,
        rounded_megabytes(run.size) if over and run.size else None,
        run.differing == 0 if over and run.checked else None,
        run.smoke_log is not None,
        over and run.log is not None and _most_of_log(window, sight) > 0,
        run.resources,
        _exact(run) if sight.staff else {},
    )


def _stage(row: Submission, run: ProgramRun, *, known: bool) -> str:
    if row.state in ("invalid", "failed") and run.stage != "answered":
        return "failed"
    if run.stage in ("answered", "failed"):
        return ("passed" if run.stage == "answered" else "failed") if known else "run"
    return "run" if run.stage == "check" else run.stage


def _exact(run: ProgramRun) -> dict[str, Any]:
    names = ("items", "done", "seconds", "compute", "peak", "size", "checked", "differing", "cause", "calls")
    return {name: getattr(run, name) for name in (*names, "inputs", "outputs")}


def _most_of_log(window: Window, sight: Sight) -> int:
    """Bytes of what a program printed on sealed items that somebody may read."""
    if sight.staff:
        return 2**20
    return (window.programs.log if window.programs else None) or 0


def program_log(session: Session, office: Office, row: Submission, window: Window, sight: Sight, part: Part) -> str:
    """What a program printed, as far as somebody may read it; 404 where that is nothing."""
    # Six arguments: who asks for what of which submission, as the desk knows it.
    run, seen = session.get(ProgramRun, row.id), program_of(session, row, window, sight)
    if run is None or seen is None or not (seen.smoke_log if part == "smoke" else seen.log):
        raise missing("log")
    if part == "smoke":
        return office.files.read(str(run.smoke_log)).decode("utf-8", "backslashreplace")
    return office.sealed.read(str(run.log))[: _most_of_log(window, sight)].decode("utf-8", "backslashreplace")


def compute_left(session: Session, campaign_id: str, window: Window, team_id: str) -> tuple[int, int] | None:
    """Minutes of computing time that a team has used, and how many it has; None where programs are not taken."""
    if window.programs is None:
        return None
    used = compute.used(session, campaign_id, window.id, team_id)
    return round(used / compute.MINUTE), rounded_minutes(window.programs.compute.total_seconds())
