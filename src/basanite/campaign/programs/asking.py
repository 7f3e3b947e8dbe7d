"""Asking a program for answers, call by call or line by line; whose fault it is when there are none (G-2, G-5)."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from basanite.campaign.jobs.stages import FaultError
from basanite.campaign.model.programs import LONGEST_LOG, Programs
from basanite.programs.answers import AnswerError, Form
from basanite.programs.contract import Call, Runner
from basanite.programs.items import Items, write_call, write_shared
from basanite.sandbox.box import Ended
from basanite.sandbox.conversation import SilentError

CAUSES: Final[Mapping[str, str]] = {
    "": "it ended with an error",
    "time": "it exceeded its time limit",
    "memory": "it exceeded its memory",
    "processes": "it started too many processes",
    "log": "it printed too much",
    "output": "it wrote too much, or something other than files",
    "answers": "its answers cannot be used",
    "compute": "the team's computing time is used up",
    "calls": "the calls that one submission may cause are used up",
    "refused": "its address may not be called",
    "reply": "it gave no answer",
}
"""Why a program failed, in words."""


@dataclass(frozen=True)
class Answered:
    """What one call answered, and what it used."""

    first: int
    count: int
    part: bytes
    seconds: float = 0.0
    peak: int = 0
    log: bytes = b""


class ProgramError(Exception):
    """A program failed by its own fault."""

    def __init__(self, cause: str, *, seconds: float = 0.0, log: bytes = b"", words: str = "") -> None:
        super().__init__(cause)
        self.cause, self.seconds, self.log = cause, seconds, log
        self.words = words or CAUSES.get(cause, cause)


class Asker(Protocol):
    """One way of asking for answers."""

    def ask(self, items: Items, order: Sequence[int], left: float) -> Iterator[Answered]:
        """The answers to items in this order, within so many seconds of computing; ProgramError if they do not come."""


@dataclass(frozen=True)
class Surroundings:
    """What calls of one program have in common."""

    program: Path
    runner: Runner
    programs: Programs
    form: Form
    scratch: Path
    about: Mapping[str, Any] = field(default_factory=dict)
    shared: Path | None = None
    """A folder that every call gets a copy of, as `in/shared`."""
    reads: tuple[Path, ...] = ()

    def call(self, given: Path, out: Path, seconds: float) -> Call:
        """A call with these folders."""
        return Call(self.program, given, out, replace(self.programs.resources, seconds=seconds), self.reads)

    def seconds(self, left: float, most: float | None = None) -> float:
        """How long a call may take: what the plan says, and no longer than the team's computing time lasts."""
        lasts = left / self.programs.cores
        if lasts <= 0:
            raise ProgramError("compute")
        return min(self.programs.item_time.total_seconds() if most is None else most, lasts)


def laid_shared(path: Path, name: str, scratch: Path) -> Path:
    """The folder with what every call gets."""
    place = scratch / "for-all"
    place.mkdir()
    write_shared(path, name, place)
    return place / "shared"


@dataclass(frozen=True)
class ByFiles:
    """Asks by calls of a fresh process, each with a batch of items in files."""

    around: Surroundings
    batch: int

    def ask(self, items: Items, order: Sequence[int], left: float) -> Iterator[Answered]:
        """The answers to items in this order."""
        for start in range(0, len(order), self.batch):
            answered = self._call(items, order[start : start + self.batch], left)
            left -= answered.seconds * self.around.programs.cores
            yield answered

    def _call(self, items: Items, chosen: Sequence[int], left: float) -> Answered:
        seconds = self.around.seconds(left)
        with tempfile.TemporaryDirectory(prefix="call-", dir=self.around.scratch) as name:
            given, out = _folders(Path(name))
            items.write(given, chosen)
            _describe(given, self.around, len(chosen))
            ended = self.around.runner.run(self.around.call(given, out, seconds))
            if not ended.good or ended.refused:
                limited = "compute" if ended.cause == "time" and seconds < _item_time(self.around) else ""
                raise failure(ended, limited)
            try:
                part = self.around.form.take(out)
            except AnswerError as error:
                log = log_of(ended)
                raise ProgramError("answers", seconds=ended.seconds, log=log, words=str(error)) from error
        return Answered(chosen[0], len(chosen), part, ended.seconds, ended.peak, log_of(ended))


@dataclass(frozen=True)
class ByPipe:
    """Asks one process line by line, with a deadline each."""

    around: Surroundings

    def ask(self, items: Items, order: Sequence[int], left: float) -> Iterator[Answered]:
        """The answers to items in this order."""
        patience, silent, spent = _item_time(self.around), None, 0.0
        with tempfile.TemporaryDirectory(prefix="talk-", dir=self.around.scratch) as name:
            given, out = _folders(Path(name))
            _describe(given, self.around, len(order))
            whole = self.around.seconds(left, most=patience * (len(order) + 1))
            with self.around.runner.talk(self.around.call(given, out, whole)) as talk:
                for at in order:
                    begun = time.monotonic()
                    try:
                        line = talk.ask(items.pieces[at][1], patience)
                    except SilentError as error:
                        silent, spent = error, time.monotonic() - begun
                        break
                    yield Answered(at, 1, line + b"\n", time.monotonic() - begun)
        if silent is not None:
            ended = replace(talk.ended, seconds=spent)
            raise failure(ended) if talk.ended.cause else ProgramError("", seconds=spent, log=log_of(ended))


def _item_time(around: Surroundings) -> float:
    return around.programs.item_time.total_seconds()


def _folders(folder: Path) -> tuple[Path, Path]:
    folder.chmod(0o755)
    for name in ("in", "out"):
        (folder / name).mkdir()
    return folder / "in", folder / "out"


def _describe(given: Path, around: Surroundings, count: int) -> None:
    """Say what the call is about, and give it what all calls get."""
    write_call(given, {**around.about, "answers": around.form.name, "items": count})
    if around.shared is not None:
        shutil.copytree(around.shared, given / "shared", copy_function=os.link)
    for path in given.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def failure(ended: Ended, cause: str = "") -> Exception:
    """Whose fault it is that a call did not end well: the runner's if it could not start it, else the program's."""
    if ended.cause == "start":
        return FaultError("the program's sandbox could not be started")
    if ended.good and ended.refused:
        return ProgramError("output", seconds=ended.seconds, log=log_of(ended))
    return ProgramError(cause or ended.cause, seconds=ended.seconds, log=log_of(ended))


def log_of(ended: Ended) -> bytes:
    """The beginning of what a program printed: its output, then its errors."""
    return (ended.stdout + ended.stderr)[:LONGEST_LOG]
