"""A program of a team: where its folder is, how it is started, and the hash of all that is in the folder.

In a plan it is called `program:FOLDER:COMMAND`, with the folder seen from the plan. A Python module of a stranger's
becomes such a program too where it must not run in our process: its host is `hosting`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from basanite.errors import BasaniteError
from basanite.harness.foreign.surroundings import Surroundings

PREFIX: Final = "program:"
TRAINED: Final = ("trained:", "spare:")
"""A system that its team trained: used always, or only if training takes too long (H-28)."""
SOURCE: Final = Path(__file__).resolve().parents[2]
HOST: Final = (
    "import sys; sys.path[1:1] = sys.argv[2].split(':'); "
    "from basanite.harness.foreign.hosting import main; main(sys.argv[1], sys.argv[3:])"
)
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
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
        raise ProgramError(f"There is no Python package {name!r} here. Install it, or put it beside where you stand.")
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
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    executable = "x" if path.stat().st_mode & 0o111 else "-"
    return f"{executable}\0{path.stat().st_size}\0{digest.hexdigest()}"
