"""Archives and folders that are written: packed the same way each time, put in place whole, and repaired copies.

The original of a repaired copy is never touched.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import Member, Source
from basanite.problems import Findings, Problem

ARCHIVE_NAMES = (".tgz", ".tar.gz")


def write_archive(
    members: Iterable[tuple[str, bytes]], out: Path, *, level: int = 6, source: Path | None = None
) -> None:
    """Write a .tgz of the files in the order given; equal files give equal bytes, without time or owner.

    `source` is the folder that the members are read from meanwhile, if any.
    """
    with draft_for(out, source) as draft:
        put_in_place(pack_members(members, draft / out.name, level), out)


def write_files(members: Iterable[tuple[str, bytes]], out: Path, findings: Findings) -> None:
    """Write files into an archive or a folder, unless something was wrong."""
    refuse_to_overwrite(out)
    if not findings.valid:
        return
    if out.name.endswith(ARCHIVE_NAMES):
        write_archive(members, out)
        return
    with whole_or_absent(out) as draft:
        draft.mkdir()
        for name, content in members:
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_bytes(content)


def write_text(lines: Iterable[str], out: Path, findings: Findings, *, source: Path) -> None:
    """Write lines into a file that appears when it is whole, unless something was wrong by then."""
    refuse_to_overwrite(out)
    with whole_or_absent(out, source) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        if not findings.valid:
            draft.unlink()


@contextmanager
def whole_or_absent(out: Path, source: Path | None = None) -> Iterator[Path]:
    """A place outside the source to write at; what is there in the end is renamed, so `out` is never half written."""
    try:
        place = place_of_draft(out, source)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".part", dir=place) as folder:
            draft = Path(folder) / "draft"
            yield draft
            if draft.exists():
                put_in_place(draft, out)
    except OSError as error:
        raise UnreadableError(
            f"{out} cannot be written: {error.strerror or error}. Check the folder and your permissions."
        ) from error


def refuse_to_overwrite(out: Path) -> None:
    """Stop before anything that exists is written over."""
    if os.path.lexists(out):
        raise SettingError(f"{out} already exists. Choose another name: existing files are never overwritten.")


@contextmanager
def draft_for(out: Path, source: Path | None = None) -> Iterator[Path]:
    """A folder to write in, outside the source and gone afterwards; the whole result is renamed from it at once."""
    refuse_to_overwrite(out)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".part", dir=place_of_draft(out, source)))
    except OSError as error:
        raise UnreadableError(f"Nothing can be written to {out.parent}: {error.strerror}.") from error
    try:
        yield draft
    except OSError as error:
        reason = error.strerror or error
        cure = "Check the free disk space, your permissions and the length of the files' names"
        raise UnreadableError(f"{out} cannot be written: {reason}. {cure}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def pack_members(members: Iterable[tuple[str, bytes]], path: Path, level: int) -> Path:
    """Write a .tgz at a path where nothing is yet; time and owner are left out."""
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


BYTE_ORDER_MARKS: Final = re.compile(rb"\A(?:\xef\xbb\xbf)+")


def repair_text(data: bytes) -> bytes:
    r"""The same text without byte order mark, carriage returns and blank last lines, its last line terminated.

    >>> repair_text(b"\xef\xbb\xbfa\tY\r\nb\tN\n\n")
    b'a\tY\nb\tN\n'
    """
    for step in STEPS.values():
        data = step(data)
    return data


def _drop_blank_end(data: bytes) -> bytes:
    """The text up to the end of its last line that is not blank; blanks within that line are its own affair."""
    end = len(data.rstrip(b" \t\n"))
    line_end = data.find(b"\n", end)
    return b"" if not end else data[: line_end + 1] if line_end >= 0 else data


STEPS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "byte order mark removed": lambda data: BYTE_ORDER_MARKS.sub(b"", data),
    "carriage returns replaced by line feeds": lambda data: data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"),
    "blank lines at the end removed": _drop_blank_end,
    "last line terminated": lambda data: data if not data or data.endswith(b"\n") else data + b"\n",
}


def write_repaired(source: Source, out: Path) -> list[str]:
    """Write a repaired copy as .tgz or folder, by the name of `out`, and say what was changed, file by file."""
    with draft_for(out, source.path) as draft:
        files, findings = draft / "files", Findings(limit=None)
        files.mkdir()
        changes = [line for member in source.members(findings) for line in _write_member(member, files)]
        if not source.complete:
            last = findings.problems[-1]
            raise UnreadableError(
                f"{source.name} cannot be repaired: {last.message}. {last.fix[:1].upper()}{last.fix[1:]}."
            )
        result = _pack_folder(files, draft, out) if out.name.endswith(ARCHIVE_NAMES) else files
        put_in_place(result, out)
    return [*map(_set_right, findings), *changes]


def _pack_folder(files: Path, draft: Path, out: Path) -> Path:
    names = sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
    return pack_members(((name, (files / name).read_bytes()) for name in names), draft / out.name, 6)


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
