"""A package to begin with: every file that one needs, small, in order, and made to be replaced (R-37)."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Final, cast

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.reading.package.documents import LARGEST, new_sums, text_faults
from basanite.reading.package.manifest import NAME, NAME_FIX
from basanite.reading.provenance import Role, span_at

STATEMENTS: Final = "statements"
"""The key of the annotated statements, which are written as lines with positions."""
MOST_TEXTS: Final = 100_000


def start_package(folder: Path, *, name: str, title: str, texts: Path | None = None) -> tuple[str, ...]:
    """Write a new package into a folder that must not exist or be empty; the paths of its files."""
    if not NAME.fullmatch(name):
        raise SettingError(f"{name[:60]!r} is no name for a package: {NAME_FIX}. Give another one with --name.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"{folder} already exists and is not empty. Choose another name: nothing is written over.")
    content = dict(_files(name, title, None if texts is None else dict(_documents(texts))))
    try:
        for path, text in content.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
        for part in ("train", "test"):
            if lines := new_sums(folder, part):
                sums = folder / "corpus" / f"{part}.sha256"
                sums.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
                content[f"corpus/{part}.sha256"] = ""
    except OSError as error:
        raise UnreadableError(f"{folder} cannot be written: {error.strerror}. Choose another place.") from error
    return tuple(sorted(content))


def _files(name: str, title: str, own: dict[str, str] | None) -> Iterator[tuple[str, str]]:
    """The files of the package; texts of one's own take the place of the example's texts and annotations."""
    resource = files("basanite.reading.package").joinpath("starter.toml")
    given = tomllib.loads(resource.read_text(encoding="utf-8"))
    plain = " ".join(title.split()).replace("\\", "").replace('"', "'")[:200] or name
    for path, text in given.items():
        if path != STATEMENTS and not (own and path.startswith("corpus/")):
            yield path, text.replace("@name@", name).replace("@title@", plain)
    if own:
        yield from ((f"corpus/train/{document}.txt", text) for document, text in own.items())
    else:
        yield from _annotations(given)


def _annotations(given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The annotated statements of the example, with the places of their words."""
    lines: dict[str, list[str]] = {}
    for line in given[STATEMENTS].splitlines():
        where, said, words, *kind = (one.strip() for one in line.split("|"))
        part, document = where.split()
        text = given[f"corpus/{part}/{document}.txt"]
        spans = []
        if words:
            role, _, exact = words.partition(": ")
            match = re.search(rf"\b{re.escape(exact)}\b", text)
            assert match is not None, exact  # the starter's own words
            start = match.start()
            spans = [asdict(span_at(text, start, start + len(exact), cast(Role, role), context=12))]
        record = {
            "document": document,
            "statement": said.split(),
            "kind": "".join(kind) or "explicit",
            "provenance": spans,
        }
        lines.setdefault(part, []).append(json.dumps(record, ensure_ascii=False))
    yield from ((f"annotations/{part}.ndjson", "\n".join(found) + "\n") for part, found in lines.items())


def _documents(folder: Path) -> Iterable[tuple[str, str]]:
    """The texts of a folder as documents: with line feeds only, in the Unicode form that positions need."""
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".txt") if folder.is_dir() else []
    if not paths:
        raise UnreadableError(f"{folder} has no texts. Give a folder with files that end in .txt, in UTF-8.")
    taken: set[str] = set()
    for path in paths[:MOST_TEXTS]:
        try:
            raw = read_bounded(path, LARGEST).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnreadableError(f"{path}: byte {error.start + 1} is not UTF-8. Save it as UTF-8.") from error
        text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n").replace("\r", "\n"))
        if fault := next(text_faults(text.encode()), None):
            raise UnreadableError(f"{path}: {fault[0]}. Fix: {fault[1]}.")
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:90] or "text"
        while name in taken:
            name += "-2"
        taken.add(name)
        yield name, text
