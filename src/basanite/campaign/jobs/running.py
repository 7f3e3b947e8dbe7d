"""Running the child: its inputs by hard link, a box around it, and what came of it.

The box is that of the harness: no network, no other process, no environment, nothing of the machine but the
interpreter and this package, both read-only. Where none can be made, a child that limits itself does for references
that are not sealed; for sealed ones only if the settings say `box = "best"` (X-8).
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import basanite
from basanite.campaign.jobs.child import CHECKED, ORDER, OUT_OF_MEMORY, REFUSED, STARTED
from basanite.campaign.office import Office
from basanite.campaign.store.files import Files
from basanite.harness.sandbox.box import Box, Ended, Limits
from basanite.harness.sandbox.running import NoSandboxError, capability, run_boxed, run_open

Work = Literal["validate", "score", "examine", "compare", "summaries", "rank", "start"]
"""`examine` validates and, if there is nothing wrong, scores: the submission is read once. `summaries` and `rank`
prepare what judges see. `start` imports everything and does nothing."""
PYTHON: Final = os.path.abspath(sys.executable)  # noqa: PTH100 (links stay: they lead into the virtual environment)
COMMAND: Final = (PYTHON, "-I", "-m", "basanite.campaign.jobs.child")
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Submissions are scored side by side; libraries that take all cores for one would slow down the others."""
OWN_LIMITS: Final = {OUT_OF_MEMORY: "memory", -signal.SIGXCPU: "time", 128 + signal.SIGXCPU: "time"}
"""How a child ends that reaches a limit which the kernel holds for it."""
START_ERROR: Final = re.compile(
    r"^.*(?:No module named|ImportError|ModuleNotFoundError|SyntaxError|which is not installed|cannot be loaded).*$",
    re.MULTILINE,
)
"""How Python, and our registry of plug-ins, say that something could not be imported."""
log = logging.getLogger("basanite.jobs")

KEPT: Final = (0o440, 0o444)
"""Modes of files in our own store, which nobody writes to: they may be shared with the box by a second name."""


@dataclass(frozen=True)
class Given:
    """A file for the child, under the name that it has for people: reports and formats go by it."""

    name: str
    path: Path
    store: Files | None = None
    """The store that lends it, where it may be encrypted on disk (P-12)."""


@dataclass(frozen=True)
class Order:
    """What a child is to do, with which files."""

    work: Work
    task: str
    reference: tuple[Given, ...] = ()
    submission: Given | None = None
    systems: Mapping[str, Given] = field(default_factory=dict)
    """For a comparison: the submissions by the names of their systems."""
    queries: Given | None = None
    documents: Given | None = None
    judgements: Given | None = None
    human: Given | None = None
    metadata: tuple[Given, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    draws: int | None = None
    seed: int = 0
    sealed: bool = True
    only: Mapping[str, str] = field(default_factory=dict)
    """For a comparison: the `factor` and the `level` of the units that count, if not all do (M20)."""


@dataclass(frozen=True)
class Outcome:
    """How a child ended, and the folder that holds what it wrote as long as it is looked at."""

    ended: Ended
    out: Path

    @property
    def good(self) -> bool:
        """Whether it did what it was told, and all that it wrote was taken over."""
        return self.ended.good and not self.ended.refused

    @property
    def checked(self) -> bool:
        """Whether the submission had been read and checked before it ended."""
        return CHECKED in self.ended.stdout

    @property
    def overran(self) -> str:
        """The limit that it hit, `time`, `memory` …, if it did."""
        if self.ended.cause not in ("", "start"):
            return self.ended.cause
        return OWN_LIMITS.get(self.ended.code, "")

    @property
    def start_error(self) -> str:
        """Why it could not start, in Python's own words: it had read no file that these could quote."""
        if self.ended.good or self.ended.cause or STARTED in self.ended.stdout:
            return ""
        found = START_ERROR.search(self.ended.stderr.decode(errors="replace"))
        return found[0].strip()[:300] if found else ""

    @property
    def fault(self) -> str:
        """What went wrong, in words that may be shown to anybody: nothing of any content is in them."""
        if self.overran:
            return f"the limit on {self.overran} was reached"
        if self.ended.cause == "start" or self.start_error:
            return "the limited process could not be started"
        if self.ended.refused:
            return "the limit on output was reached"
        if self.ended.code == REFUSED:
            return "the reference or the settings of this window cannot be used"
        return "the scoring process stopped unexpectedly"

    def path(self, name: str) -> Path | None:
        """A file that it wrote, if it did."""
        path = self.out / name
        return path if path.is_file() else None


@contextmanager
def carried_out(office: Office, order: Order) -> Iterator[Outcome]:
    """Run a child and look at what it wrote; all of it is gone with the end of the block."""
    scratch = office.settings.data / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        boxed = office.run is not None or box_holds(office, sealed=order.sealed)
        _lay_out(office, order, folder, boxed=boxed)
        outcome = Outcome(_run(office, folder, boxed=boxed), folder / "out")
        if not outcome.good:
            log.warning("a %s of %s ended: %s (%s)", order.work, order.task, outcome.fault, reason(outcome))
        yield outcome


def start_fault(office: Office) -> str:
    """Why no scoring process can start here, with the places of interpreter and package; nothing if one can."""
    with carried_out(office, Order("start", "", sealed=False)) as outcome:
        return "" if outcome.good else reason(outcome)


def box_holds(office: Office, *, sealed: bool) -> bool:
    """Whether children are boxed here; if not, sealed references are not scored unless the settings allow it."""
    found = capability()
    if not found.possible and sealed and office.settings.limits.box == "required":
        raise NoSandboxError(
            f"No box can be made here ({found.reason}), and the reference is sealed. Allow user namespaces, or set "
            'limits.box = "best" to score with limits but without a box.'
        )
    return found.possible


def _run(office: Office, folder: Path, *, boxed: bool) -> Ended:
    limits = office.settings.limits
    box = Box(
        COMMAND,
        folder / "system",
        folder / "in",
        folder / "out",
        folder / "state",
        reads=interpreter(),
        limits=Limits(seconds=limits.seconds, memory=limits.memory, output=limits.output),
    )
    return (office.run or (run_boxed if boxed else run_open))(box, environment=ONE_THREAD)


def interpreter() -> tuple[Path, ...]:
    """Where Python, its packages and this package lie."""
    places = (Path(sys.prefix), Path(sys.base_prefix), Path(basanite.__file__).resolve().parent.parent)
    return tuple(dict.fromkeys(places))


def _lay_out(office: Office, order: Order, folder: Path, *, boxed: bool) -> None:
    """The folders of a call, with the inputs and the order in `in/`."""
    for name in ("system", "in", "out", "state"):
        (folder / name).mkdir()
    limits = {} if boxed else office.settings.limits.model_dump(include={"seconds", "memory", "output"})
    plain: dict[str, Any] = {
        "work": order.work,
        "task": order.task,
        "settings": dict(order.settings),
        "draws": order.draws,
        "seed": order.seed,
        "only": dict(order.only),
        "plugins": list(office.settings.plugins),
        "limits": limits,
    }
    (folder / "in" / ORDER).write_text(json.dumps(plain | _laid(order, folder / "in")))


def _laid(order: Order, folder: Path) -> dict[str, Any]:
    """Put the files of an order into a folder; gives role to path below it."""
    roles = ("submission", "queries", "documents", "judgements", "human")
    laid: dict[str, Any] = {
        role: lay(given, folder, role) for role in roles if (given := getattr(order, role)) is not None
    }
    for role in ("reference", "metadata"):
        laid[role] = [lay(given, folder, f"{role}{at}") for at, given in enumerate(getattr(order, role))]
    laid["systems"] = {name: lay(given, folder, f"s{at}") for at, (name, given) in enumerate(order.systems.items())}
    return laid


def lay(given: Given, folder: Path, place: str) -> str:
    """One file in a folder of its own, by link where the disk is the same; readable for the box's own user."""
    target = folder / place / Path(given.name).name
    target.parent.mkdir(mode=0o755)
    if given.store is not None:
        given.store.lend(given.store.digest_at(given.path), target)
        target.chmod(0o444)
        return f"{place}/{target.name}"
    try:
        if given.path.stat().st_mode & 0o777 not in KEPT:
            raise PermissionError(f"{given.path} is none of ours: its mode is not for us to change")
        os.link(given.path, target)
    except OSError:
        shutil.copyfile(given.path, target)
    target.chmod(0o444)
    return f"{place}/{target.name}"


def reason(outcome: Outcome) -> str:
    """For the log of the machine: a kind of error, never a text that could quote a file's content."""
    ended = outcome.ended
    if outcome.start_error:
        return f"{outcome.start_error}; interpreter {PYTHON}, package {Path(basanite.__file__).resolve().parent}"
    if ended.fault:
        return ended.fault
    last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return f"exit code {ended.code}, {last[0].split(':')[0][:100]}" if last else f"exit code {ended.code}"
