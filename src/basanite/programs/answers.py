"""What a program answered: taken from its folder call by call, compared, and put together for scoring."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from basanite.errors import BasaniteError
from basanite.formats.archives.output import write_archive


class AnswerError(BasaniteError):
    """What a program left is no answer: the program's fault, in words for its team."""


@dataclass(frozen=True)
class Form:
    """What programs of a window write."""

    name: str
    """`answers.jsonl`, or `answers/` for a folder of files."""
    header: bool = False
    """Whether a file begins with a line of column names."""

    @property
    def in_folder(self) -> bool:
        """Whether answers are files of a folder."""
        return self.name.endswith("/")

    def take(self, out: Path) -> bytes:
        """What a call left, in one piece of bytes that is the same whenever the answers are."""
        place = out / self.name.rstrip("/")
        if self.in_folder:
            return _pack_files(place)
        if not place.is_file():
            raise AnswerError(f"the program wrote no file out/{self.name}")
        content = place.read_bytes()
        if not content.strip():
            raise AnswerError(f"the file out/{self.name} is empty")
        return content if content.endswith(b"\n") else content + b"\n"

    def holds(self, part: bytes, alone: bytes) -> bool:
        """Whether what an item alone was answered stands in a part that it belongs to (G-4).

        >>> Form("a.tsv", header=True).holds(b"id,v\\n1,2\\n3,4\\n", b"id,v\\n3,4\\n")
        True
        >>> Form("a.txt").holds(b"x1\\n", b"1\\n")
        False
        """
        if self.in_folder:
            return dict(_unpack_files(alone)).items() <= dict(_unpack_files(part)).items()
        return b"\n" + self._body(alone) in b"\n" + self._body(part)

    def _body(self, part: bytes) -> bytes:
        return part.partition(b"\n")[2] if self.header else part

    def join(self, parts: Iterable[bytes], out: Path) -> None:
        """Write the file that is scored."""
        if self.in_folder:
            write_archive(_distinct(member for part in parts for member in _unpack_files(part)), out)
            return
        with out.open("xb") as file:
            file.writelines(self._without_heads(parts))

    def _without_heads(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The parts with the line of column names once; it must be the same in all."""
        head: bytes | None = None
        for part in parts:
            first = part.partition(b"\n")[0] if self.header else b""
            if head is not None and first != head:
                raise AnswerError(f"the first line of out/{self.name} is not the same in every call")
            yield part if head is None else self._body(part)
            head = first


def _pack_files(place: Path) -> bytes:
    """The files of a folder in one piece, without time or owner."""
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else []
    if not files:
        raise AnswerError(f"the program wrote no files in out/{place.name}/")
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for path in files:
            entry = tarfile.TarInfo(path.relative_to(place).as_posix())
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                packed.addfile(entry, file)
    return held.getvalue()


def _unpack_files(part: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a piece that we packed."""
    with tarfile.open(fileobj=io.BytesIO(part)) as packed:
        for entry in packed:
            content = packed.extractfile(entry)
            if content is not None:
                yield entry.name, content.read()


def _distinct(members: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    seen = set[str]()
    for name, content in members:
        if name in seen:
            raise AnswerError("two calls of the program wrote a file of the same name")
        seen.add(name)
        yield name, content
