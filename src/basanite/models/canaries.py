"""Canaries and overlap: who a leaked pack was given to, and which test items stand in training data (L-9).

A register holds for each recipient a code that was drawn once, and stays with the evaluation team. A copy of the items
has the code in one item of its own, whose id is drawn too. What is found is claimed only for what was searched: bytes
that cannot be read as text are listed as not searched.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.canonical import canonical_line
from basanite.errors import SettingError, UnreadableError
from basanite.formats.records import Place, read_records
from basanite.formats.single_file import PackedError, read_single
from basanite.problems import Findings

FORMAT: Final = "basanite-canaries/1"
PREFIX: Final = "basanite canary"
CODE_BYTES: Final = 16
LARGEST: Final = 4 << 30
WORD: Final = re.compile(r"\w+")
PLACE: Final = Place("metadata", "L-9")


@dataclass
class Register:
    """Who got which copy, and which items are retired."""

    copies: list[dict[str, Any]] = field(default_factory=list)
    """Recipient, code, id of the canary, date, and the ids of the items that were given."""
    retired: dict[str, dict[str, str]] = field(default_factory=dict)
    """By item: when it was retired, and why."""


def read_register(path: Path) -> Register:
    """The register of a file; an empty one where there is none yet."""
    if not path.exists():
        return Register()
    try:
        found = json.loads(path.read_bytes())
        if found["format"] != FORMAT:
            raise ValueError(found["format"])
        return Register(list(found["copies"]), dict(found["retired"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableError(f"{path} is no register of canaries. Fix: name another --register.") from error


def write_register(path: Path, register: Register) -> None:
    """Write the register so that its owner alone can read it; it is whole at every moment."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    content = {"format": FORMAT, "copies": register.copies, "retired": register.retired}
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The items of a table or of JSON lines, each with an id."""
    findings = Findings(limit=20)
    records = read_records(path, PLACE, findings)
    rows = [] if records is None else [records.fields(at) for at in range(len(records))]
    if not rows or not findings.valid or any(not str(row.get("id") or "").strip() for row in rows):
        raise UnreadableError(f"{path} holds no items with ids. Fix: give JSON lines or a table with a column id.")
    return rows


def copy_for(recipient: str, rows: Sequence[Mapping[str, Any]], register: Register, column: str, date: str) -> bytes:
    """A copy of the items for a recipient, retired ones left out, with a canary; what was given is registered."""
    if not recipient.strip():
        raise SettingError("A recipient has no name. Fix: write --for NAME.")
    if any(column not in row for row in rows):
        raise SettingError(f"Not every item has a column {column!r}. Fix: name the column of the texts with --column.")
    kept = [dict(row) for row in rows if str(row["id"]) not in register.retired]
    known = next((one for one in register.copies if one["recipient"] == recipient), None)
    code = known["code"] if known else secrets.token_hex(CODE_BYTES)
    canary = known["canary"] if known else _fresh_id(rows)
    register.copies.append(
        {
            "recipient": recipient,
            "code": code,
            "canary": canary,
            "date": date,
            "items": [str(row["id"]) for row in kept],
        }
    )
    blank = dict.fromkeys(kept[0] if kept else rows[0], "")
    kept.insert(secrets.randbelow(len(kept) + 1), {**blank, "id": canary, column: f"{PREFIX} {code}"})
    return b"".join(canonical_line(row) for row in kept)


def _fresh_id(rows: Sequence[Mapping[str, Any]]) -> str:
    known = {str(row["id"]) for row in rows}
    while (name := secrets.token_hex(4)) in known:
        continue
    return name


@dataclass(frozen=True)
class Hit:
    """A canary in a file."""

    file: str
    line: int
    recipient: str


@dataclass
class Searched:
    """What was searched, and what could not be."""

    files: int = 0
    size: int = 0
    unread: list[str] = field(default_factory=list)


def files_below(paths: Sequence[Path]) -> Iterator[Path]:
    """Files as they are named, and all files of folders; links are not followed."""
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        elif path.exists():
            yield path
        else:
            raise UnreadableError(f"{path} does not exist.")


def text_lines(path: Path, searched: Searched) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, unpacked where it is one packed file; counted as searched or not."""
    try:
        data = read_single(path, LARGEST).data
    except (PackedError, UnreadableError, OSError) as error:
        searched.unread.append(f"{path} ({error})")
        return
    if b"\0" in data[: 1 << 16]:
        searched.unread.append(f"{path} (no text)")
        return
    searched.files += 1
    searched.size += len(data)
    yield from enumerate(data.decode("utf-8", "replace").split("\n"), start=1)


def canary_hits(paths: Sequence[Path], register: Register, searched: Searched) -> Iterator[Hit]:
    """Every canary in the files; case and what stands between letters do not hide one."""
    codes = {one["code"]: one["recipient"] for one in register.copies}
    for path in files_below(paths):
        for number, line in text_lines(path, searched):
            plain = "".join(char for char in line.lower() if char in "0123456789abcdef")
            for code, recipient in codes.items():
                if code in plain:
                    yield Hit(str(path), number, recipient)


@dataclass(frozen=True)
class Overlap:
    """How much of an item stands in training data."""

    item: str
    share: float
    """The share of its n-grams that were found anywhere."""
    near_copy: float
    """The largest share of them in one line or record."""
    file: str
    line: int
    """Where the first of them was found."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, as they are compared.

    >>> words_of("The cat's  hat, 1984!")
    ['the', 'cat', 's', 'hat', '1984']
    """
    return WORD.findall(text.casefold())


def grams_of(words: Sequence[str], size: int) -> set[tuple[str, ...]]:
    """The n-grams of some words; a shorter text is one gram.

    >>> sorted(grams_of(["a", "b", "c"], 2)), grams_of(["a"], 2)
    ([('a', 'b'), ('b', 'c')], {('a',)})
    """
    if len(words) < size:
        return {tuple(words)} if words else set()
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


class OverlapSearch:
    """Which n-grams of test items stand in training data."""

    def __init__(self, texts: Mapping[str, str], size: int) -> None:
        self.size = size
        self.grams = {item: grams_of(words_of(text), size) for item, text in texts.items()}
        self.owners: dict[tuple[str, ...], list[str]] = {}
        for item, grams in self.grams.items():
            for gram in grams:
                self.owners.setdefault(gram, []).append(item)
        self.sizes = sorted({len(gram) for gram in self.owners})
        self.found: dict[str, set[tuple[str, ...]]] = {item: set() for item in texts}
        self.nearest: dict[str, float] = dict.fromkeys(texts, 0.0)
        self.first: dict[str, tuple[str, int]] = {}

    def search(self, path: Path, searched: Searched) -> None:
        """Search one file; an n-gram may reach over the end of a line, a near copy is within one."""
        before: list[str] = []
        for number, line in text_lines(path, searched):
            words = words_of(line)
            self._look([*before, *words], str(path), number)
            own: dict[str, set[tuple[str, ...]]] = {}
            for gram in self._known_grams(words):
                for item in self.owners[gram]:
                    own.setdefault(item, set()).add(gram)
            for item, grams in own.items():
                self.nearest[item] = max(self.nearest[item], len(grams) / len(self.grams[item]))
            before = [*before, *words][-max(self.sizes, default=1) + 1 :] if max(self.sizes, default=1) > 1 else []

    def _look(self, words: Sequence[str], file: str, line: int) -> None:
        for gram in self._known_grams(words):
            for item in self.owners[gram]:
                self.found[item].add(gram)
                self.first.setdefault(item, (file, line))

    def _known_grams(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        for size in self.sizes:
            for at in range(len(words) - size + 1):
                gram = tuple(words[at : at + size])
                if gram in self.owners:
                    yield gram

    def overlaps(self) -> list[Overlap]:
        """The items of which anything was found, the largest share first."""
        rows = [
            Overlap(item, len(found) / len(self.grams[item]), self.nearest[item], *self.first[item])
            for item, found in self.found.items()
            if found
        ]
        return sorted(rows, key=lambda one: (-one.share, -one.near_copy, one.item))
