"""Submissions and references as strangers send them: archive, folder or one file, read one member at a time.

Nothing is ever unpacked to disk. What is wrong becomes a problem in the findings; after a fault that makes the rest
unreadable the members simply end (M53, M54, M85, X-8).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Literal

from basanite.errors import UnreadableError
from basanite.formats.archives.members import Digest, Intake, Limits, Member, RefusedError, member_digest
from basanite.formats.archives.tar import MAGIC, Entry, Gunzip, Tar, what_it_is
from basanite.problems import Findings, Problem, Severity, Where, shortened

__all__ = ["Digest", "Kind", "Limits", "Member", "Source", "check_archive_name", "member_digest", "open_source"]

Kind = Literal["archive", "folder", "file"]

GZIP = b"\x1f\x8b"
ARCHIVE_SUFFIXES = (".tgz", ".gz", ".tar", ".zip", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tbz", ".txz")
REPACK = "pack the files with: tar zcf LABEL.tgz *.tsv"
# A link or a pipe put in a file's place between listing and opening must neither be followed nor block.
OPENING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(slots=True)
class Source:
    """A set of files to read in one pass; `digest` and `complete` hold for the pass made last."""

    path: Path
    kind: Kind
    limits: Limits = field(default_factory=Limits)
    depth: int = 1
    where: Where = "submission"
    digest: Digest = field(default_factory=Digest, init=False)
    complete: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The name of the archive, folder or file."""
        return os.fsencode(self.path.name or self.path.resolve().name).decode(errors="backslashreplace")

    def members(self, findings: Findings, *, hashed: bool = True) -> Iterator[Member]:
        """Each file in turn; with `hashed=False` the caller adds to the digest, in threads if it likes."""
        self.digest, self.complete = Digest(), False
        intake = Intake(self.name, findings, self.where, self.limits, self.depth)
        try:
            for member in READERS[self.kind](self.path, intake):
                if hashed:
                    self.digest.add(member.name, len(member.data), member_digest(member.data))
                yield member
            self.complete = True
        except RefusedError as refusal:
            intake.report(refusal.rule, refusal.message, refusal.fix, file=refusal.file, found=refusal.found)
        except OSError as error:
            raise _unreadable(self.path, error) from error


def open_source(path: Path, *, limits: Limits | None = None, depth: int = 1, where: Where = "submission") -> Source:
    """Find out what kind of source a path is; files may lie `depth` levels deep (1: all at top level)."""
    try:
        kind = _kind(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    return Source(path, kind, limits or Limits(), depth, where)


def check_archive_name(name: str, *, severity: Severity = "warn") -> Problem | None:
    """One problem for all that is off in an archive's name; `parse_name` gives one for each part (M55-M57, M59)."""
    from basanite.formats.archives.archive_names import ArchiveName, parse_name  # here, because it loads all data sets

    found = parse_name(name, severity=severity)
    if isinstance(found, ArchiveName):
        return None
    messages, fixes = (dict.fromkeys(texts) for texts in zip(*((one.message, one.fix) for one in found), strict=True))
    return replace(found[0], message="; ".join(messages), fix="; ".join(fixes), found=shortened(name))


def _kind(path: Path) -> Kind:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return "folder"
    if not stat.S_ISREG(mode):
        raise OSError("it is neither a file nor a folder")
    with path.open("rb") as file:
        start = file.read(512)
    packed = start.startswith(tuple(MAGIC)) or start[257:262] == b"ustar"
    return "archive" if packed or path.name.lower().endswith(ARCHIVE_SUFFIXES) else "file"


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    reason = error.strerror or str(error)
    return UnreadableError(f"{path} cannot be read: {reason}. Check the path and whether you may read it.")


def _archive_members(path: Path, intake: Intake) -> Iterator[Member]:
    with path.open("rb", buffering=0) as file:
        _expect_gzip(file)
        tar = Tar(Gunzip(file, intake.limits), intake.limits)
        for entry in tar:
            name = _admit_entry(entry, intake)
            if name is None:
                tar.skip(entry)
            else:
                yield Member(name, tar.content(entry))
    intake.expect_files(REPACK)


def _expect_gzip(file: BinaryIO) -> None:
    start = file.read(512)
    if not start:
        raise RefusedError("M53", "the file is empty", REPACK)
    if not start.startswith(GZIP):
        raise RefusedError("M53", f"not a gzip-compressed tar, but {what_it_is(start)}", REPACK)
    file.seek(0)


def _admit_entry(entry: Entry, intake: Intake) -> str | None:
    """The name of a file to be read; None for folders and for what is refused."""
    intake.count()
    if entry.is_file:
        intake.weigh(entry.size, shortened(entry.name))
        return intake.admit(entry.name)
    if entry.is_folder:
        intake.folder(entry.name)
    else:
        intake.link(entry.name, entry.what)
    return None


def _folder_members(path: Path, intake: Intake) -> Iterator[Member]:
    yield from _files_below(path, b"", intake)
    intake.expect_files(REPACK)


def _files_below(path: Path, above: bytes, intake: Intake) -> Iterator[Member]:
    for item in _entries_by_name(path, intake):
        name = above + os.fsencode(item.name)
        if item.is_symlink():
            intake.link(name, "a symbolic link")
        elif item.is_dir(follow_symlinks=False):
            yield from _subfolder(item, name + b"/", intake)
        elif not item.is_file(follow_symlinks=False):
            intake.link(name, "a device or pipe")
        else:
            yield from _file_member(Path(item.path), name, intake)


def _entries_by_name(path: Path, intake: Intake) -> list[os.DirEntry[str]]:
    """The entries of a folder by name, counted while they are listed."""
    items = []
    with os.scandir(path) as listing:
        for item in listing:
            intake.count()
            items.append(item)
    return sorted(items, key=lambda item: item.name)


def _subfolder(item: os.DirEntry[str], name: bytes, intake: Intake) -> Iterator[Member]:
    parts = intake.path(name)
    if parts is None or intake.is_litter(parts):
        return
    intake.folder(name)
    yield from _files_below(Path(item.path), name, intake)


def _file_member(path: Path, raw: bytes, intake: Intake) -> Iterator[Member]:
    """One file on disk as a member, or none where its name or size is refused."""
    name = intake.admit(raw)
    if name is None:
        return
    with open(os.open(path, OPENING), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return intake.link(raw, "a device or pipe")
        intake.weigh(status.st_size, name)
        yield Member(name, _content(file, status.st_size))


def _content(file: BinaryIO, size: int) -> bytes:
    """The bytes of a file, no more than it had when it was weighed."""
    pieces = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _single_member(path: Path, intake: Intake) -> Iterator[Member]:
    intake.count()
    return _file_member(path.resolve(), os.fsencode(path.name), intake)


READERS = {"archive": _archive_members, "folder": _folder_members, "file": _single_member}
