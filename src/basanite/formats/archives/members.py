"""What an archive or a folder holds, and the rules that strangers' names and sizes must keep (M53, M54, M85, X-8)."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass, field

from basanite.problems import Findings, Problem, Severity, Where, shortened

KIB, MIB, GIB = 2**10, 2**20, 2**30
LITTER = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a stranger's archive may hold; a task that knows its size sets tighter ones.

    The ratio is judged only beyond `ratio_from` bytes: short files that are all alike (a system that returns
    nothing) fit in gzip's window and shrink by several hundred times without any ill will.
    """

    members: int = 200_000
    member_bytes: int = 64 * MIB
    total_bytes: int = 16 * GIB
    ratio: int = 200
    ratio_from: int = 64 * MIB
    header_bytes: int = 64 * KIB
    name_length: int = 255
    depth: int = 8


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a source: its path without `./`, and its bytes."""

    name: str
    data: bytes


@dataclass(slots=True)
class Digest:
    """The digest of a set of files: the same for a folder and its archive, whatever the order of the files.

    >>> digest = Digest()
    >>> digest.add("a.tsv", 0, member_digest(b""))
    >>> digest.value()
    'sha256:b5e40233e8e6849e2bbca572c69d4b6c6bc42a5bcc6ce213edd3f21f378535ff'
    """

    lines: list[bytes] = field(default_factory=list)

    def add(self, name: str, size: int, sha256: str) -> None:
        """Count one file in; the order does not matter, so that threads may do it."""
        self.lines.append(f"{name}\0{size}\0{sha256}\n".encode())

    def value(self) -> str:
        """`sha256:` and the hexadecimal digest of the sorted lines."""
        return "sha256:" + hashlib.sha256(b"".join(sorted(self.lines))).hexdigest()


def member_digest(data: bytes) -> str:
    """The hexadecimal SHA-256 of one file's bytes, as `Digest.add` wants it."""
    return hashlib.sha256(data).hexdigest()


class RefusedError(Exception):
    """Reading a stranger's bytes stops here. Never leaves this package: the source turns it into a problem."""

    def __init__(self, rule: str, message: str, fix: str, *, found: str = "", file: str = "") -> None:
        super().__init__(message)
        self.rule, self.message, self.fix, self.found, self.file = rule, message, fix, found, file


@dataclass(slots=True)
class Intake:
    """Judges each name and size of one source and keeps the account that the limits are held against."""

    source: str
    findings: Findings
    where: Where
    limits: Limits
    depth: int
    entries: int = 0
    total: int = 0
    seen: set[str] = field(default_factory=set)
    files: int = 0
    nested: bool = False
    littered: bool = False

    def report(
        self, rule: str, message: str, fix: str, *, file: str = "", found: str = "", severity: Severity = "reject"
    ) -> None:
        """Add a problem of this source, or of one of its files."""
        place = file or self.source
        self.findings.add(
            Problem(rule, place, None, None, message, fix, shortened(found), severity=severity, where=self.where)
        )

    def count(self) -> None:
        """Count one more entry of any kind and stop at the limit (M85)."""
        self.entries += 1
        if self.entries > self.limits.members:
            raise RefusedError(
                "M85", f"holds more than {self.limits.members} members", "send only the files that the task asks for"
            )

    def weigh(self, size: int, file: str) -> None:
        """Count a file's bytes before any is read and stop at the limits (M54)."""
        self.total += size
        if size > self.limits.member_bytes:
            raise _too_large(f"is {size} bytes; a member may have {self.limits.member_bytes}", size, file)
        if self.total > self.limits.total_bytes:
            raise _too_large(f"its files have more than {self.limits.total_bytes} bytes in all", self.total, "")

    def admit(self, raw: bytes) -> str | None:
        """The name under which a file is passed on, or None where a problem says why it is not."""
        self.files += 1
        parts = self.path(raw)
        if parts is None or self.is_litter(parts):
            return None
        if len(parts) > self.depth:
            self.nest(parts)
        return self._once("" if raw.endswith(b"/") else "/".join(parts[-self.depth :]), raw)

    def _once(self, name: str, raw: bytes) -> str | None:
        if not name or name in self.seen:
            message = f"the name {shortened(name)} appears twice" if name else "a file has no name"
            self._unsafe(raw, message, "give each file a name of its own")
            return None
        self.seen.add(name)
        return name

    def folder(self, raw: bytes) -> None:
        """Judge the entry of a directory: the source itself and levels above the files pass in silence."""
        parts = self.path(raw)
        if parts and len(parts) >= self.depth and not self.is_litter(parts):
            self.nest([*parts, ""])

    def path(self, raw: bytes) -> list[str] | None:
        """The parts of a name without `./`, or None where the name is refused."""
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            self._unsafe(raw, "a name is not UTF-8", "use plain ASCII names", rule="M85")
            return None
        wrong = _wrong_with(name, self.limits)
        if wrong:
            self._unsafe(raw, *wrong)
            return None
        return [part for part in name.split("/") if part not in ("", ".")]

    def link(self, raw: bytes, kind: str) -> None:
        """Refuse an entry that is neither file nor folder."""
        self.files += 1
        self._unsafe(raw, f"is {kind}; only plain files are taken", "pack the file itself, not a link to it")

    def nest(self, parts: list[str]) -> None:
        """Say once that the files lie too deep, with the command that packs them right (M53)."""
        if self.nested:
            return
        self.nested = True
        parent = "/".join(parts[: len(parts) - self.depth])
        fix = _packing(parent) if self.depth == 1 else f"{_packing(parent)}, or move what lies too deep one folder up"
        found, hint = shortened(parent + "/"), "or let --fix do it"
        what, more = ("the files", "") if self.depth == 1 else ("folders", ", with no folders in them")
        message = f"{what} lie in the folder {shortened(parent)}/; they belong at top level{more}"
        self.findings.add(Problem("M53", self.source, None, None, message, fix, found, where=self.where, hint=hint))

    def is_litter(self, parts: list[str]) -> bool:
        """Whether an operating system left the file behind; such files are skipped, with one warning for all."""
        litter = any(part in LITTER or part.startswith("._") for part in parts)
        if litter and not self.littered:
            self.littered = True
            name = "/".join(parts)
            message = "left behind by an operating system; such files are not read"
            self.report("M53", message, "pack with COPYFILE_DISABLE=1 tar zcf …", file=name, severity="warn")
        return litter

    def expect_files(self, fix: str) -> None:
        """Refuse a source in which there was no file at all (M53)."""
        if not self.files:
            raise RefusedError("M53", "holds no files", fix)

    def _unsafe(self, raw: bytes, message: str, fix: str, *, rule: str = "M54") -> None:
        name = shortened(raw)
        self.report(rule, message, fix, file=name, found=name)


def _wrong_with(name: str, limits: Limits) -> tuple[str, str] | None:
    """Message and cure for a name that could lead astray (M54)."""
    if len(name) > limits.name_length:
        return f"a name has {len(name)} characters", f"use names of at most {limits.name_length}"
    if name.startswith("/"):
        return "a name is an absolute path", "pack with names relative to the folder: tar zcf LABEL.tgz -C folder ."
    parts = name.split("/")
    if ".." in parts:
        return "a name leads out of the archive by ..", "pack from inside the folder: tar zcf LABEL.tgz -C folder ."
    if len(parts) > limits.depth + 1:
        return f"a name has more than {limits.depth} levels", "put the files where the task wants them"
    if "\\" in name or not name.isprintable():
        return "a name holds a backslash or a control character", "use plain names such as query00043.tsv"
    return None


def _packing(parent: str) -> str:
    """The command that packs a folder's files at top level; the folder's name is a stranger's, so it is quoted."""
    folder = shlex.quote(parent if not parent.startswith("-") else "./" + parent)
    return f"pack the files without the folder: tar zcf LABEL.tgz -C {folder} ."


def _too_large(message: str, size: int, file: str) -> RefusedError:
    return RefusedError("M54", message, "send only what the task asks for", found=str(size), file=file)
