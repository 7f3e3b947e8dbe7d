"""Running a program in a box, and finding out once whether boxes can be made here at all.

The folders in which programs run are held for as long as their owner lives; the next owner clears away those of the
dead. Who is killed cannot tidy up, so an owner holds a lock on a file in the folder, which the kernel gives back at its
end however that comes: a lock that can be had belongs to nobody. Process numbers would not do, for they are used again
and differ from container to container.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final, get_args

from basanite.errors import BasaniteError
from basanite.sandbox.box import INODES, Box, Cause, Ended, Limits, Mode
from basanite.sandbox.collection import Room, collect, open_folder

PREFIXES: Final = ("basanite-box-", "basanite-open-")
HELD: Final = ".held"
YOUNG: Final = 60.0
"""Seconds that a folder is let alone in any case: its owner may not have got to its lock yet."""
NAMELESS: Final = 24 * 3600.0
"""The same for a folder without a lock, as earlier versions made them."""


@contextmanager
def locked_folder(prefix: str, place: Path | None = None) -> Iterator[Path]:
    """A folder of one's own that is gone at the end of the block, or found by the next one if the end never comes."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name, (Path(name) / HELD).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def clear_left_behind(
    folder: Path | None = None, *, prefixes: Sequence[str] = PREFIXES, now: float | None = None
) -> int:
    """Throw away the folders of owners that are gone; gives how many. Those of other users are not touched."""
    place, now = folder or Path(tempfile.gettempdir()), time.time() if now is None else now
    cleared = 0
    for prefix in prefixes:
        for found in place.glob(f"{prefix}*"):
            if _is_ours(found) and _is_left(found, now):
                shutil.rmtree(found, ignore_errors=True)
                cleared += 1
    return cleared


def _is_ours(found: Path) -> bool:
    return not found.is_symlink() and found.is_dir() and found.stat().st_uid == os.geteuid()


def _is_left(found: Path, now: float) -> bool:
    """Whether the owner is gone: old enough, and its lock can be had."""
    with suppress(OSError):  # somebody else clears at the same time
        age = now - found.stat().st_mtime
        if not (found / HELD).exists():
            return age > NAMELESS
        return age > YOUNG and _is_free(found / HELD)
    return False


def _is_free(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


PACKAGE: Final = str(Path(__file__).resolve().parents[2])
START: Final = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from basanite.sandbox.launcher import main; main(*map(int, sys.argv[2:]))"
)
GRACE: Final = 15.0
"""Seconds that a box may take beyond its program, to be closed and to hand over results."""
TALKATIVE: Final = 64
"""Who prints so many times more than is kept is stopped."""


REPORTED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "code": int,
    "cause": str,
    "seconds": float,
    "peak": int,
    "fault": str,
    "refused": lambda lines: tuple(map(str, lines)),
}
"""What a launcher reports, and what each part must be."""


class NoSandboxError(BasaniteError):
    """No box for strangers' programs can be made on this machine, so none is run (X-5)."""


@dataclass(frozen=True)
class Capability:
    """What this machine can do: how a box is closed ("" if it cannot be), and why not."""

    mode: Mode | str
    reason: str = ""

    @property
    def possible(self) -> bool:
        """Whether programs can be boxed."""
        return bool(self.mode)


@cache
def capability() -> Capability:
    """Close a box once and try its walls from inside; only what was seen to hold is relied on."""
    if sys.platform != "linux":
        return Capability("", f"the sandbox needs Linux, and this is {sys.platform}")
    clear_left_behind()
    reasons = []
    for mode in ("root", "user") if os.geteuid() == 0 else ("user",):
        fault = _fault_of(mode)
        if not fault:
            return Capability(mode)
        reasons.append(f"{mode}: {fault}")
    return Capability("", "; ".join(reasons))


def _fault_of(mode: str) -> str:
    """Why a box of this kind cannot be closed here; "" if it can."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / part for part in ("system", "given", "out", "state")]
        for folder in folders:
            folder.mkdir()
        ended = _launch(
            Box((), folders[0], folders[1], folders[2], folders[3], limits=Limits(seconds=10)), mode, {"unseen": name}
        )
    if ended.fault:
        return ended.fault
    return "" if ended.good else "the sandbox does not isolate"


def run_boxed(box: Box, *, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a program in a box; where none can be made the program is not run."""
    return _launch(box, required_mode(), {"environment": dict(environment or {})})


def required_mode() -> str:
    """How boxes are closed here; an error with the reason where none can be."""
    found = capability()
    if not found.possible:
        raise NoSandboxError(
            f"No sandbox can be made here ({found.reason}), so no program of a team is run. Allow user "
            'namespaces, or for an evaluation that is not sealed write sandbox = "off" into [limits] of the plan.'
        )
    return found.mode


def run_open(box: Box, *, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a program without a box, for evaluations that are not sealed and whose plan says so: it sees the machine.

    It still gets a fresh process, an empty environment, a temporary home and limits on time and printing.
    """
    with locked_folder("basanite-open-") as work:
        (work / "in").symlink_to(box.given.resolve())
        (work / "out").mkdir()
        shutil.copytree(box.state, work / "state")
        place = Path(box.command[0])
        program = str(box.system.resolve() / place) if "/" in box.command[0] else box.command[0]
        given = {"PATH": "/usr/bin:/bin", "HOME": str(work), "LC_ALL": "C.UTF-8", **(environment or {})}
        command = [program, *box.command[1:]]
        with ExitStack() as opened:
            out, state = (open_folder(work / name) for name in ("out", "state"))
            opened.callback(os.close, out)
            opened.callback(os.close, state)
            ended = _watch(command, Limits(**vars(box.limits)), cwd=work, env=given, grace=0)
            if ended.good:
                room = Room(box.limits.output, INODES)
                refused = collect(out, box.out, room) + (collect(state, box.state, room) if box.learns else [])
                ended = replace(ended, refused=tuple(refused))
    return ended


def _launch(box: Box, mode: str, more: Mapping[str, Any]) -> Ended:
    with prepared_launch(box, {**more, "mode": mode}) as launch:
        ended = _watch(launch.command, box.limits, pass_fds=launch.handles, env={}, cwd="/", grace=GRACE)
        return launch.with_report(ended)


@dataclass(frozen=True)
class Launch:
    """How a launcher is started, and where it reports."""

    command: list[str]
    handles: tuple[int, int]
    report: BinaryIO

    def with_report(self, ended: Ended) -> Ended:
        """What the launcher says about the program, with what was seen from here."""
        self.report.seek(0)
        return _with_report(ended, self.report.read())


@contextmanager
def prepared_launch(box: Box, more: Mapping[str, Any]) -> Iterator[Launch]:
    """A launcher that is ready to be started: its folder, its order, and the file that it reports to."""
    with locked_folder("basanite-box-") as stage, TemporaryFile() as told, TemporaryFile() as report:
        stage.chmod(0o755)
        told.write(json.dumps({**box.plain(), **more, "stage": str(stage.resolve())}).encode())
        told.seek(0)
        handles = told.fileno(), report.fileno()
        command = [sys.executable, "-I", "-S", "-c", START, PACKAGE, *map(str, handles)]
        yield Launch(command, handles, report)


def _with_report(ended: Ended, report: bytes) -> Ended:
    """What the launcher says about the program, with what was seen from here; what is no report is a failed start."""
    if ended.cause:
        return ended
    if not report:
        return replace(ended, code=ended.code or 1, cause="start", fault=ended.stderr.decode(errors="replace")[-500:])
    told = _report(report)
    if told is None:
        return replace(ended, code=1, cause="start", fault="the report of the sandbox cannot be read")
    return replace(ended, **told)


def _report(raw: bytes) -> dict[str, Any] | None:
    """The parts of a launcher's report, or None: no program can write there, and it is read as if one could."""
    try:
        told = json.loads(raw)
        parts = {name: kind(told[name]) for name, kind in REPORTED.items() if name in told}
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return parts if "code" in parts and parts.get("cause", "") in get_args(Cause) else None


def _watch(command: list[str], limits: Limits, *, grace: float, **how: Any) -> Ended:
    """Start a process and listen to it until it ends, its time is over, or it has printed too much."""
    start = time.monotonic()
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        process: subprocess.Popen[bytes] = subprocess.Popen(command, start_new_session=True, **pipes, **how)
    except OSError as error:
        return Ended(127, "start", fault=f"{command[0]} cannot be started: {error.strerror}")
    with process:
        heard = _Output(process, limits.log)
        cause = heard.until(start + limits.seconds + grace)
        _end(process, cause)
    return Ended(process.returncode, cause, *heard.beginnings, seconds=time.monotonic() - start)


def _end(process: subprocess.Popen[bytes], cause: str) -> None:
    """End the process and, where it has no box, whatever it started in its session."""
    try:
        if cause:
            os.killpg(process.pid, 9)
        process.wait(GRACE)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        process.kill()


class _Output:
    """What a process prints: the beginning is kept, the rest counted."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        self.most, self.total = most, 0
        self.parts: tuple[list[bytes], list[bytes]] = ([], [])
        self.left = [most, most]
        self.selector = selectors.DefaultSelector()
        for at, stream in enumerate((process.stdout, process.stderr)):
            self.selector.register(stream, selectors.EVENT_READ, at)  # type: ignore[arg-type]

    @property
    def beginnings(self) -> tuple[bytes, bytes]:
        """The beginnings of both streams."""
        return b"".join(self.parts[0]), b"".join(self.parts[1])

    def until(self, end: float) -> Cause:
        """Listen until both streams are closed or the time is over; gives what makes an end necessary."""
        with self.selector:
            while self.selector.get_map():
                if time.monotonic() > end:
                    return "time"
                for key, _ in self.selector.select(0.2):
                    self._hear(key)
                if self.total > TALKATIVE * self.most:
                    return "log"
        return ""

    def _hear(self, key: selectors.SelectorKey) -> None:
        piece = os.read(key.fd, 65536)
        if not piece:
            self.selector.unregister(key.fileobj)
        self.total += len(piece)
        if self.left[key.data] > 0:
            self.parts[key.data].append(piece[: self.left[key.data]])
            self.left[key.data] -= len(piece)
