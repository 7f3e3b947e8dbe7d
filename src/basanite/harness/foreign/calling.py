"""One call of a program: a fresh process with its inputs in files, and what it wrote, checked (H-12, X-5)."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from basanite.harness.foreign.exchange import write_call
from basanite.harness.foreign.programs import Program
from basanite.harness.foreign.surroundings import Surroundings
from basanite.harness.sandbox.box import Box, Ended, Limits
from basanite.harness.sandbox.running import NoSandboxError, run_boxed, run_open
from basanite.harness.steps.layout import ModuleError

DEEPEST: Final = 64
CAUSES: Final = {
    "time": "took longer than its time limit of {seconds:g} s",
    "memory": "used more than its {memory_mib:.0f} MiB of memory",
    "log": "printed far too much",
    "processes": "started more than its {processes} processes",
    "start": "could not be started",
}


class OutOfTimeError(ModuleError):
    """A program took longer than it may; a system that its team trained may stand in (H-28)."""


class Call:
    """A call in the making: its folders, what it is about, and how it is run."""

    def __init__(self, program: Program, words: Sequence[str], around: Surroundings) -> None:
        self.program, self.words, self.around = program, tuple(words), around
        self.held = tempfile.TemporaryDirectory(prefix="basanite-call-")
        self.root = Path(self.held.name)
        self.given, self.out = self.root / "in", self.root / "out"
        for folder in (self.root, self.given, self.out):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.held.cleanup()

    @property
    def maker(self) -> str:
        """The program and command in words."""
        return f"{self.program.name} {self.words[0]}"

    def run(self, state: Path, told: Mapping[str, Any], *, learns: bool = False, limits: Limits | None = None) -> Ended:
        """Run it; whoever did not end well is told of with what stopped it, and its output is in the log."""
        write_call(self.given, {"command": self.words[0], **told})
        for path in self.given.iterdir():
            path.chmod(0o644)
        command = (*self.program.command, *self.words)
        box = Box(
            command, self.program.folder, self.given, self.out, state, learns, self.program.reads,
            limits or self.around.limits,
        )  # fmt: skip
        ended = self._ran(box)
        kept = self._kept(ended)
        if not ended.good:
            raise self._failure(ended, box.limits, kept)
        return ended

    def _ran(self, box: Box) -> Ended:
        if self.around.boxed:
            return run_boxed(box, environment=self.program.environment)
        if self.around.sealed:
            raise NoSandboxError("A sealed evaluation runs no program without a box.")
        return run_open(box, environment=self.program.environment)

    def _failure(self, ended: Ended, limits: Limits, kept: str) -> ModuleError:
        """What went wrong, without a word of the program's own: on sealed data that stays in the log (X-5)."""
        words = {"memory_mib": limits.memory / 2**20, "processes": limits.processes, "seconds": limits.seconds}
        said = CAUSES[ended.cause].format(**words) if ended.cause else f"ended with exit code {ended.code}"
        fault = f": {ended.fault}" if ended.fault else ""
        kind = OutOfTimeError if ended.cause == "time" else ModuleError
        own = "" if self.around.sealed or ended.cause else _last_line(ended.stderr)
        return kind(f"{self.maker} {said}{fault}{own}{kept}")

    def _kept(self, ended: Ended) -> str:
        """Keep what it printed; gives where, in words."""
        if self.around.logs is None:
            return ""
        inputs = hashlib.sha256(b"".join(sorted(_digest(path) for path in self.given.iterdir())))
        name = f"{_slug(self.program.name)}-{self.words[0]}-{inputs.hexdigest()[:12]}.log"
        self.around.logs.mkdir(parents=True, exist_ok=True)
        told = f"exit {ended.code} {ended.cause}\n".encode() + b"".join(
            f"not taken over: {line}\n".encode("utf-8", "replace") for line in ended.refused
        )
        (self.around.logs / name).write_bytes(told + b"--- stdout\n" + ended.stdout + b"\n--- stderr\n" + ended.stderr)
        return f" (its output is in {self.around.logs.name}/{name})"


def answered(maker: str, raw: bytes) -> list[Any]:
    """The JSON lines that a program printed as its answer."""
    try:
        lines = [line for line in raw.decode().splitlines() if line.strip()]
        return [json.loads(line, parse_constant=_refused) for line in lines]
    except (ValueError, RecursionError) as error:
        raise ModuleError(f"{maker} printed no JSON, one value a line: {error}") from error


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "backslashreplace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {said[:200]}" if said else ""


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.name.encode() + path.read_bytes()).digest()
