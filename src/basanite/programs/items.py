"""The items that programs are asked: lines of a file, or files of an archive, and how a call gets some of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import BasaniteError, InvalidInputError
from basanite.formats.archives.archive import open_source
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.programs.contract import FORMAT

ARCHIVES: Final = (".tgz", ".tar.gz")
LARGEST: Final = 2**30
MOST: Final = 10**6
TABLES: Final = (".tsv", ".csv")
"""Files whose first line names the columns; every call gets it."""


class ItemsError(BasaniteError):
    """Items cannot be used; the message says why."""


@dataclass(frozen=True)
class Items:
    """Items in their order, and what stands before them in every call."""

    name: str
    """What the file of items is called in a call, `items.jsonl`; a folder of files is called `items`."""
    pieces: Sequence[tuple[str, bytes]]
    """The name and the content of each; lines have no name."""
    head: bytes = b""

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def in_folder(self) -> bool:
        """Whether items are files of a folder."""
        return self.name == "items"

    def write(self, folder: Path, chosen: Sequence[int]) -> None:
        """Put some of the items into the folder of a call."""
        if self.in_folder:
            (folder / self.name).mkdir()
            for at in chosen:
                name, content = self.pieces[at]
                (folder / self.name / name).write_bytes(content)
            return
        (folder / self.name).write_bytes(self.head + b"".join(self.pieces[at][1] + b"\n" for at in chosen))


def read_items(path: Path, name: str) -> Items:
    """The items of a file that has this name for people: one a line, or one a file of a .tgz."""
    if name.endswith(ARCHIVES):
        return _check_number(Items("items", _members(path)))
    ending = Path(name).suffix.lower() or ".txt"
    lines = read_bounded(path, LARGEST).split(b"\n")
    lines = [line.removesuffix(b"\r") for line in lines]
    if lines and not lines[-1]:
        lines.pop()
    head = lines.pop(0) + b"\n" if ending in TABLES and lines else b""
    if any(not line.strip() for line in lines):
        number = next(at for at, line in enumerate(lines, 1 + bool(head)) if not line.strip())
        raise ItemsError(f"Line {number} of the items is empty. Write one item per line.")
    return _check_number(Items(f"items{ending}", [("", line) for line in lines], head))


def _check_number(items: Items) -> Items:
    if not 1 <= len(items) <= MOST:
        raise ItemsError(f"There are {len(items)} items. Give 1 to {MOST}: one per line, or one per file of a .tgz.")
    return items


def _members(path: Path) -> list[tuple[str, bytes]]:
    findings = Findings()
    found = [(one.name, one.data) for one in open_source(path, where="reference").members(findings)]
    if not findings.valid:
        raise InvalidInputError("the archive of items", findings)
    return sorted(found)


def write_call(folder: Path, about: Mapping[str, Any]) -> None:
    """Say what a call is about, as JSON and, for programs that read no JSON, as names and values between tabs."""
    told = {"format": FORMAT, **about}
    (folder / "call.json").write_text(json.dumps(told, sort_keys=True) + "\n", encoding="utf-8")
    lines = [f"{name}\t{value}\n" for name, value in sorted(told.items())]
    (folder / "call.tsv").write_text("".join(lines), encoding="utf-8")


def write_shared(path: Path, name: str, folder: Path) -> None:
    """Put what every call gets beside its items into `shared/`: a file, or the files of a .tgz."""
    place = folder / "shared"
    place.mkdir()
    if not name.endswith(ARCHIVES):
        (place / Path(name).name).write_bytes(read_bounded(path, LARGEST))
        return
    for member, content in _members(path):
        (place / member).write_bytes(content)
