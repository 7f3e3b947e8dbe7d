"""A program's archive made into a folder, in a limited child: what strangers packed is never opened elsewhere (X-8).

The child writes plain files into its folder of results, and these are taken over without following a link. Links in an
archive are refused; every file may be executed, so that `run` can be whatever it is.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Final

from basanite.problems import Problem, shortened
from basanite.programs.contract import DEEPEST, ENTRY
from basanite.sandbox.box import INODES, Box, Ended, Limits
from basanite.sandbox.child import GIVEN, ONE_THREAD, OUT, PYTHON, interpreter, make_call_folders

COMMAND: Final = (PYTHON, "-I", "-m", "basanite.programs.unpack")
SECONDS: Final = 300.0
MEMORY: Final = 512 * 2**20
LONGEST_NAME: Final = 200
PACKED: Final = "program"
IMAGE: Final = ("oci-layout", "manifest.json", "index.json")
"""Files that tell an image archive from a program's own."""
FIX: Final = "pack the folder's content: tar -czf program.tgz -C FOLDER ."
Entry = tuple[str, int, bool, Callable[[], IO[bytes] | None]]
"""A file's name, size, whether it is a plain file, and how it is opened."""


class BadArchiveError(Exception):
    """An archive that is no program: message, cure, and what was found."""

    def __init__(self, message: str, fix: str = FIX, found: str = "") -> None:
        super().__init__(message)
        self.message, self.fix, self.found = message, fix, found


class UnpackFaultError(Exception):
    """The child that unpacks could not do its work by our fault."""


def unpack_program(
    archive: Path, folder: Path, most: int, run: Callable[..., Ended], name: str = "program"
) -> Problem | None:
    """Make an archive into a folder with `run` in it; gives what is wrong with the archive, if anything is."""
    with tempfile.TemporaryDirectory(prefix="basanite-unpack-") as scratch:
        root = Path(scratch)
        given = make_call_folders(root)
        _lay(archive, given / PACKED)
        (given / "most").write_text(str(most))
        system, out, state = (root / part for part in ("system", "out", "state"))
        limits = Limits(SECONDS, MEMORY + most, most + 2**20, depth=DEEPEST + 1)
        box = Box(COMMAND, system, given, out, state, reads=interpreter(), limits=limits)
        ended = run(box, environment=ONE_THREAD)
        told = _problems_of_child(ended)
        if told is not None:
            return _problem(name, **told)
        if ended.cause in ("memory", "time"):
            return _problem(name, f"unpacking it exceeded the limit on {ended.cause}", "send a smaller program", "")
        if ended.refused:
            return _problem(name, "it holds too many files, or folders too deep", f"pack at most {INODES} files", "")
        if not ended.good:
            raise UnpackFaultError(ended.fault or f"exit code {ended.code}")
        (out / PACKED).rename(folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    return None


def _lay(archive: Path, target: Path) -> None:
    with archive.open("rb") as source, target.open("xb") as file:
        while piece := source.read(2**20):
            file.write(piece)
    target.chmod(0o444)


def _problems_of_child(ended: Ended) -> dict[str, str] | None:
    """What the child says is wrong with the archive; it is believed as far as words go."""
    if ended.code != 1 or ended.cause:
        return None
    try:
        told = json.loads(ended.stdout)
        return {key: str(told[key])[:500] for key in ("message", "fix", "found")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _problem(name: str, message: str, fix: str, found: str) -> Problem:
    return Problem("G-1", name, None, None, message, fix, found)


def main() -> int:
    """The child: unpack, or say what is wrong."""
    most = int((GIVEN / "most").read_text())
    try:
        _unpack(GIVEN / PACKED, OUT / PACKED, most)
    except BadArchiveError as error:
        told = {"message": error.message, "fix": error.fix, "found": shortened(error.found)}
        os.write(1, json.dumps(told).encode())
        return 1
    return 0


def _unpack(archive: Path, folder: Path, most: int) -> None:
    folder.mkdir()
    left, seen = most, 0
    try:
        for name, size, plain, opened in _entries(archive):
            seen += 1
            left -= size
            place = folder / _inside(name, plain=plain)
            if seen > INODES - DEEPEST or left < 0:
                raise BadArchiveError(f"it has more than {INODES} files or {most} bytes", "send a smaller program")
            _write(opened(), place, size, name)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise BadArchiveError(f"it cannot be unpacked: {shortened(str(error))}") from error
    _expect_program(folder)


def _entries(archive: Path) -> Iterator[Entry]:
    """The files of a tar, packed or not, or of a zip."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    link = stat.S_ISLNK(info.external_attr >> 16)
                    yield info.filename, info.file_size, not link, partial(packed.open, info)
        return
    with tarfile.open(archive) as packed:
        for entry in packed:
            if not entry.isdir():
                yield entry.name, entry.size, entry.isreg(), partial(packed.extractfile, entry)


def _inside(name: str, *, plain: bool) -> PurePosixPath:
    """The place of a file below the folder; what leads elsewhere is refused."""
    place = PurePosixPath(name)
    wrong = place.is_absolute() or ".." in place.parts or "\0" in name or "\\" in name or not place.parts
    if wrong or len(name) > LONGEST_NAME or len(place.parts) > DEEPEST:
        raise BadArchiveError("a name in it leads elsewhere, or is too long", FIX, name)
    if not plain:
        fix = "pack the files themselves: tar -czhf program.tgz -C FOLDER ."
        raise BadArchiveError("it holds a link or a device", fix, name)
    return place


def _write(source: IO[bytes] | None, place: Path, size: int, name: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source is None or place.exists():
        raise BadArchiveError("a name stands in it twice", FIX, name)
    with source, place.open("xb") as file:
        while piece := source.read(2**20):
            size -= len(piece)
            if size < 0:
                raise BadArchiveError("a file is longer than the archive says", FIX, name)
            file.write(piece)


def _expect_program(folder: Path) -> None:
    if (folder / ENTRY).is_file():
        return
    names = sorted(path.name for path in folder.iterdir())
    if any(name in IMAGE for name in names):
        raise BadArchiveError(
            "it is an image archive, and this window runs programs", f"send an archive with `{ENTRY}`"
        )
    inner = [path for path in folder.iterdir() if (path / ENTRY).is_file()]
    fix = f"pack from inside: tar -czf program.tgz -C {inner[0].name} ." if inner else FIX
    raise BadArchiveError(f"there is no file `{ENTRY}` at its top", fix, ", ".join(names[:5]))


if __name__ == "__main__":
    sys.exit(main())
