"""Repaired copies of what users send, and archives with the same bytes whenever they hold the same files.

The original is never touched; a copy appears under its name only when it is whole.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import Member, Source
from basanite.problems import Findings, Problem

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ARCHIVE_NAMES = (".tgz", ".tar.gz")


def repaired(data: bytes) -> bytes:
    r"""The same text without byte order mark, carriage returns and blank last lines, its last line terminated.

    >>> repaired(b"\xef\xbb\xbfa\tY\r\nb\tN\n\n")
    b'a\tY\nb\tN\n'
    """
    for step in STEPS.values():
        data = step(data)
    return data


def _without_mark(data: bytes) -> bytes:
    while data.startswith(BYTE_ORDER_MARK):
        data = data.removeprefix(BYTE_ORDER_MARK)
    return data


def _line_feeds_only(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _without_blank_end(data: bytes) -> bytes:
    """The text up to the end of its last line that is not blank; blanks within that line are its own affair."""
    end = len(data.rstrip(b" \t\n"))
    line_end = data.find(b"\n", end)
    return b"" if not end else data[: line_end + 1] if line_end >= 0 else data


def _terminated(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


STEPS = {
    "byte order mark removed": _without_mark,
    "carriage returns replaced by line feeds": _line_feeds_only,
    "blank lines at the end removed": _without_blank_end,
    "last line terminated": _terminated,
}


def write_repaired(source: Source, out: Path) -> list[str]:
    """Write a repaired copy as .tgz or folder, by the name of `out`, and say what was changed, file by file."""
    with _place_for(out, source.path) as draft:
        files, findings = draft / "files", Findings(limit=None)
        files.mkdir()
        changes = [line for member in source.members(findings) for line in _write_member(member, files)]
        if not source.complete:
            raise UnreadableError(_beyond_repair(source, findings))
        result = _packed(files, draft, out) if out.name.endswith(ARCHIVE_NAMES) else files
        put_in_place(result, out)
    return [*map(_set_right, findings), *changes]


def write_archive(
    members: Iterable[tuple[str, bytes]], out: Path, *, level: int = 6, source: Path | None = None
) -> None:
    """Write a .tgz of the files in the order given; equal files give equal bytes, without time or owner.

    `source` is the folder that the members are read from meanwhile, if any.
    """
    with _place_for(out, source) as draft:
        put_in_place(_pack(members, draft / out.name, level), out)


def place_of_draft(out: Path, source: Path | None) -> Path:
    """The folder for a draft: that of `out`, unless it lies in the source, where the draft would be read as well."""
    inside = source is not None and out.parent.resolve().is_relative_to(source.resolve())
    return Path(tempfile.gettempdir()) if inside else out.parent


def put_in_place(result: Path, out: Path) -> None:
    """Rename a whole result, from another disk by way of a folder beside `out`, so that it appears at once."""
    try:
        result.replace(out)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with tempfile.TemporaryDirectory(prefix=".basanite.", suffix=".part", dir=out.parent) as beside:
            Path(shutil.move(result, Path(beside) / "whole")).replace(out)


def _pack(members: Iterable[tuple[str, bytes]], path: Path, level: int) -> Path:
    with (
        path.open("xb") as file,
        gzip.GzipFile("", "wb", level, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, data in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def _packed(files: Path, draft: Path, out: Path) -> Path:
    names = sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
    return _pack(((name, (files / name).read_bytes()) for name in names), draft / out.name, 6)


@contextmanager
def _place_for(out: Path, source: Path | None = None) -> Iterator[Path]:
    """A folder to write in, outside the source and gone afterwards; the whole result is renamed from it at once."""
    if os.path.lexists(out):
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.")
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".part", dir=place_of_draft(out, source)))
    except OSError as error:
        raise UnreadableError(f"Nothing can be written to {out.parent}: {error.strerror}.") from error
    try:
        yield draft
    except OSError as error:
        reason = error.strerror or error
        cure = "Check the room on the disk, your rights and the length of the files' names"
        raise UnreadableError(f"{out} cannot be written: {reason}. {cure}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write_member(member: Member, folder: Path) -> list[str]:
    """Write one file below the folder, repaired if it is a table, and say what was changed in it."""
    path, data, changes = folder / member.name, member.data, []
    for words, step in STEPS.items() if member.name.endswith(".tsv") else ():
        before, data = data, step(data)
        changes += [f"{member.name}: {words}"] if data != before else []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return changes


def _set_right(problem: Problem) -> str:
    """How the copy differs because of a problem of the archive itself."""
    if problem.rule == "M53" and problem.severity == "reject":
        return f"taken out of the folder {problem.found}"
    return f"{problem.file}: left out ({problem.message})"


def _beyond_repair(source: Source, findings: Findings) -> str:
    last = findings.problems[-1]
    return f"{source.name} cannot be repaired: {last.message}. {last.fix[:1].upper()}{last.fix[1:]}."
