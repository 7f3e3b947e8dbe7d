"""What a run of a program is made from: its folder, the items, and everything that calls have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from basanite import registry
from basanite.campaign.jobs.scoring_process import GZIP, NoReferenceError
from basanite.campaign.jobs.stages import FaultError
from basanite.campaign.model.programs import Programs
from basanite.campaign.office import Office
from basanite.campaign.programs.asking import Asker, ByFiles, ByPipe, Surroundings, laid_shared
from basanite.campaign.store.tables import Reference, Submission
from basanite.errors import BasaniteError
from basanite.problems import Problem
from basanite.programs.answers import Form
from basanite.programs.contract import Runner
from basanite.programs.items import Items, read_items
from basanite.programs.unpack import UnpackFaultError, unpack_program
from basanite.sandbox.runner import run_boxed


@dataclass(frozen=True)
class Given:
    """The items that programs are asked in a window, as its reference has them."""

    items: Items
    samples: Items | None
    """Public items for the smoke test."""
    shared: tuple[Path, str] | None
    digest: str
    """Of the sealed items."""


def given_items(office: Office, reference: Reference, scratch: Path) -> Given:
    """The items of a reference; without sealed items there is nothing to run programs on."""
    files = reference.files
    if not files.get("inputs"):
        raise NoReferenceError("there are no inputs for programs yet")
    try:
        items = read_items(*_lent(office, files, "inputs", scratch))
        samples = read_items(*_lent(office, files, "samples", scratch)) if files.get("samples") else None
    except BasaniteError as error:
        raise FaultError("the inputs of this window cannot be used") from error
    shared = _lent(office, files, "shared", scratch) if files.get("shared") else None
    return Given(items, samples, shared, str(files["inputs"]))


def _lent(office: Office, files: Mapping[str, Any], role: str, scratch: Path) -> tuple[Path, str]:
    """A sealed file on this machine, and what it is called."""
    digest = str(files[role])
    place = scratch / f"{role}-file"
    office.sealed.lend(digest, place)
    with place.open("rb") as file:
        packed = file.read(2) == GZIP
    return place, str(files.get("names", {}).get(digest) or f"{role}{'.tgz' if packed else '.txt'}")


def usable_runner(programs: Programs) -> Runner:
    """The runner of a window, if it can do here what the window promises."""
    runner: Runner = registry.load("runners", programs.runner)
    fault = runner.fault(programs.resources)
    if fault:
        raise FaultError(f"the runner {programs.runner!r} cannot be used: {fault}")
    return runner


def unpacked(office: Office, row: Submission, programs: Programs, scratch: Path) -> Path | Problem:
    """The folder of a submitted program, or what is wrong with its archive."""
    folder, archive = scratch / "program", office.files.local(row.sha256)
    try:
        problem = unpack_program(archive, folder, programs.unpacked, office.run or run_boxed, row.name)
    except UnpackFaultError as error:
        raise FaultError("the program could not be unpacked") from error
    return folder if problem is None else problem


def asker(office: Office, row: Submission, programs: Programs, given: Given, program: Path, scratch: Path) -> Asker:
    """What asks the program of a submission."""
    # Six arguments: they are what a run consists of, and all of them differ from run to run.
    form = Form(programs.answers, programs.header)
    about = {"task": row.task.lower(), "language": row.language, "dataset": row.dataset}
    around = Surroundings(
        program,
        usable_runner(programs),
        programs,
        form,
        scratch,
        about,
        laid_shared(*given.shared, scratch) if given.shared else None,
        tuple(office.settings.program_reads),
    )
    return ByPipe(around) if programs.mode == "pipe" else ByFiles(around, programs.batch)
