"""What programs of teams run in, and one call of them: where the plan lies, what they may use, where output is kept.

A step knows its module by name alone, so that its key is the same wherever the plan lies. What the name is looked up
in belongs to the process, as `sys.path` does, and is handed on to worker processes. A call is a fresh process with its
inputs in files, and what it wrote is checked (H-12, X-5).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

from basanite.errors import BasaniteError
from basanite.harness.foreign.exchange import write_call
from basanite.harness.steps.layout import ModuleError
from basanite.sandbox.box import MIB, Box, Ended, Limits
from basanite.sandbox.child import ONE_THREAD
from basanite.sandbox.runner import NoSandboxError, run_boxed, run_open

Boxing = Literal["programs", "all", "off"]
BOXING: Final[tuple[Boxing, ...]] = ("programs", "all", "off")
"""Which modules run in a box: programs; also Python modules that are not ours; or none, which is never sealed (X-5)."""


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of one plan."""

    folder: Path = field(default_factory=Path)
    boxing: Boxing = "programs"
    sealed: bool = False
    limits: Limits = field(default_factory=Limits)
    training_seconds: float | None = None
    logs: Path | None = None
    """Where the output of programs is kept; on sealed data it stays there until release (X-5)."""
    digests: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Hashes of programs' folders, each made once while a plan is read or run."""

    @property
    def hosts(self) -> bool:
        """Whether strangers' Python modules run in a box too, as they always do in a sealed evaluation."""
        return self.sealed or self.boxing == "all"

    @property
    def uses_sandbox(self) -> bool:
        """Whether programs run in a box; a sealed evaluation never goes without."""
        return self.sealed or self.boxing != "off"


_current: list[Surroundings] = [Surroundings()]


def surroundings() -> Surroundings:
    """Those of this process."""
    return _current[0]


def enter(found: Surroundings) -> None:
    """Set those of this process: called when a plan is read, and once in every worker."""
    _current[0] = found


def surroundings_of_plan(
    folder: Path, limits: Mapping[str, Any], *, sealed: bool, logs: Path | None = None
) -> Surroundings:
    """The surroundings that a plan's table of limits asks for.

    >>> surroundings_of_plan(Path(), {"memory_gib": 0.5}, sealed=True).limits.memory
    536870912
    """
    plain = Limits()
    used = Limits(
        seconds=float(limits.get("step_seconds", plain.seconds)),
        memory=int(float(limits.get("memory_gib", plain.memory / 2**30)) * 2**30),
        output=int(float(limits.get("output_mib", plain.output / MIB)) * MIB),
        processes=int(limits.get("processes", plain.processes)),
    )
    boxing: Boxing = limits.get("sandbox", "programs")
    return Surroundings(folder, boxing, sealed, used, limits.get("training_seconds"), logs)


PREFIX: Final = "program:"
TRAINED: Final = ("trained:", "spare:")
"""A system that its team trained: used always, or only if training takes too long (H-28)."""
SOURCE: Final = Path(__file__).resolve().parents[2]
HOST: Final = (
    "import sys; sys.path[1:1] = sys.argv[2].split(':'); "
    "from basanite.harness.foreign.hosting import main; main(sys.argv[1], sys.argv[3:])"
)
PYTHON: Final = {**ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


class ProgramError(BasaniteError):
    """A program that a plan names cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Program:
    """How a system is started; relative words of the command are files of its folder."""

    name: str
    folder: Path
    command: tuple[str, ...]
    reads: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    package: Path | None = None
    """Of a hosted Python module: its package, unless that lies with the interpreter's own."""

    def digest(self) -> str:
        """The hash of its command and of every file in its folder: source, weights, whatever it brings (X-5)."""
        return f"sha256:{hashlib.sha256(f'{shlex.join(self.command)}{tree_digest(self.folder)}'.encode()).hexdigest()}"


def program_name(folder: str, command: list[str]) -> str:
    """What a program is called in a plan.

    >>> program_name("alpha", ["./system.sh", "--fast"])
    'program:alpha:./system.sh --fast'
    """
    return f"{PREFIX}{folder}:{shlex.join(command)}"


def is_program(name: str) -> bool:
    """Whether a module's name is that of a program, or of one that its team trained."""
    return name.startswith((PREFIX, *TRAINED))


def found_program(name: str, around: Surroundings) -> Program:
    """The program of a name; a folder that could show it the plan or its data is refused."""
    folder, sign, command = name.removeprefix(PREFIX).partition(":")
    words = tuple(shlex.split(command)) if sign else ()
    if not words:
        raise ProgramError(f"{name!r} names no command. Write program:FOLDER:COMMAND, as in program:alpha:./system.sh.")
    place = around.folder / folder
    if not place.is_dir():
        raise ProgramError(f"There is no folder {place} with the program of {name!r}. The path starts at the plan.")
    if around.folder.resolve().is_relative_to(place.resolve()):
        raise ProgramError(
            f"The folder {folder!r} of {name!r} holds the plan itself, so the program would see the data. Give the "
            "program a folder of its own."
        )
    return Program(name, place, words)


def hosted_program(name: str) -> Program:
    """A Python module of a stranger's as a program: our host, the interpreter, and the package of the module.

    The package is looked for and not imported, for importing runs its code.
    """
    package = _package(name.partition(":")[0].partition(".")[0])
    places = {Path(sys.prefix), Path(sys.base_prefix), SOURCE, *([package] if package else [])}
    paths = ":".join(dict.fromkeys([str(SOURCE.parent), *([str(package.parent)] if package else [])]))
    words = (sys.executable, "-c", HOST, name, paths)
    return Program(name, SOURCE / "harness" / "foreign", words, tuple(sorted(places)), PYTHON, package)


def _package(name: str) -> Path | None:
    """The folder or file of a top-level package, unless it lies with the interpreter's own."""
    spec = find_spec(name)
    if spec is None:
        raise ProgramError(f"There is no Python package {name!r} here. Install it, or put it into the current folder.")
    place = next(iter(spec.submodule_search_locations or ()), None) or spec.origin
    path = Path(place).resolve() if place else None
    own = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    return path if path and not any(path.is_relative_to(root) for root in own) else None


@cache
def environment_digest() -> str:
    """The hash of Python's version and of the name and version of every package that is installed (X-5)."""
    packages = sorted({f"{found.name}=={found.version}" for found in distributions()})
    said = "\n".join([platform.python_version(), *packages])
    return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"


def tree_digest(folder: Path) -> str:
    """The hash of a folder, or of one file: sorted lines of path, size and content, with links by where they lead."""
    if folder.is_file():
        return f"sha256:{hashlib.sha256(_content(folder).encode()).hexdigest()}"
    lines = sorted(_entries(folder))
    return f"sha256:{hashlib.sha256(''.join(lines).encode('utf-8', 'surrogateescape')).hexdigest()}"


def _entries(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(root) / name
            inside = path.relative_to(folder).as_posix()
            yield f"{inside}\0{_content(path)}\n"


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"link\0{path.readlink()}"
    if not path.is_file():  # a pipe, which would have its reader wait for ever
        return "special"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    executable = "x" if path.stat().st_mode & 0o111 else "-"
    return f"{executable}\0{path.stat().st_size}\0{digest.hexdigest()}"


DEEPEST: Final = 64
CAUSES: Final = {
    "time": "exceeded its time limit of {seconds:g} s",
    "memory": "exceeded its {memory_mib:.0f} MiB of memory",
    "log": "printed too much",
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
        """Run it; the error about one that did not end well says what stopped it, and its output is in the log."""
        write_call(self.given, {"command": self.words[0], **told})
        for path in self.given.iterdir():
            path.chmod(0o644)
        command = (*self.program.command, *self.words)
        box = Box(
            command, self.program.folder, self.given, self.out, state, learns, self.program.reads,
            limits or self.around.limits,
        )  # fmt: skip
        ended = self._ran(box)
        kept = self._keep_output(ended)
        if not ended.good:
            raise self._failure(ended, box.limits, kept)
        return ended

    def _ran(self, box: Box) -> Ended:
        if self.around.uses_sandbox:
            return run_boxed(box, environment=self.program.environment)
        if self.around.sealed:
            raise NoSandboxError("A sealed evaluation runs no program outside the sandbox.")
        return run_open(box, environment=self.program.environment)

    def _failure(self, ended: Ended, limits: Limits, kept: str) -> ModuleError:
        """What went wrong, without a word of the program's own: on sealed data that stays in the log (X-5)."""
        words = {"memory_mib": limits.memory / 2**20, "processes": limits.processes, "seconds": limits.seconds}
        said = CAUSES[ended.cause].format(**words) if ended.cause else f"ended with exit code {ended.code}"
        fault = f": {ended.fault}" if ended.fault else ""
        kind = OutOfTimeError if ended.cause == "time" else ModuleError
        lines = ended.stderr.decode("utf-8", "backslashreplace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        own = f": {last[:200]}" if last and not self.around.sealed and not ended.cause else ""
        return kind(f"{self.maker} {said}{fault}{own}{kept}")

    def _keep_output(self, ended: Ended) -> str:
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


def parse_answer(maker: str, raw: bytes) -> list[Any]:
    """The JSON lines that a program printed as its answer."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    try:
        lines = [line for line in raw.decode().splitlines() if line.strip()]
        return [json.loads(line, parse_constant=refuse) for line in lines]
    except (ValueError, RecursionError) as error:
        raise ModuleError(f"{maker} printed no JSON, one value per line: {error}") from error


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.name.encode() + path.read_bytes()).digest()
