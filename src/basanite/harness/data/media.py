"""Clips and images as people have them: a folder for each class, or a list of files with labels (H-41).

Folders stand below `train` and `test` or `val`, as ImageNet has them, or directly below the top, as in UCF and
KTH. Lists are CSV with names of columns (Kinetics), or lines of a path and a label. The people or scenes that clips
of UCF and KTH share by their names become groups.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.data.dataset import Dataset, Files, first_labels
from basanite.problems import Findings, Problem, shortened
from basanite.reports.wording import plural

Part = Literal["", "train", "test"]
Medium = Literal["clip", "image"]
SUFFIXES: Final[Mapping[Medium, frozenset[str]]] = {
    "clip": frozenset((".avi", ".mp4", ".mkv", ".mov", ".webm", ".mpg", ".mpeg", ".m4v")),
    "image": frozenset((".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff")),
}
PARTS: Final[Mapping[str, Part]] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing"), "test"),
}
HELD_OUT: Final = ("val", "valid", "validate", "validation")
"""The test part where there is no other one, as in ImageNet; otherwise rows to learn from."""
GROUPS: Final = (re.compile(r"(v_.+_g\d+)_c\d+"), re.compile(r"(person\d+)_.+"))
"""Names of clips of UCF and KTH, in which several clips share what is in brackets."""
FILE_COLUMNS: Final = ("path", "video_path", "video", "file_path", "file", "filename", "file_name", "image", "clip")
ID_COLUMNS: Final = ("youtube_id", "video_id", "id", "name")
LABEL_COLUMNS: Final = ("label", "class", "class_name", "category", "action", "target")
PART_COLUMNS: Final = ("split", "subset", "part", "partition")
RULE: Final = "H-41"
LARGEST_LIST: Final = 256 * 2**20
IGNORED: Final = ("__MACOSX",)


@dataclass(frozen=True)
class Entry:
    """One file below the folder of a set: its name there, its labels, and the part it belongs to."""

    name: str
    labels: tuple[str, ...]
    part: Part = ""


@dataclass(frozen=True)
class Lists:
    """How a list is read: where its files are, and what becomes of those that are not there."""

    folder: Path
    missing: str = "refuse"


def read_media(path: Path, medium: Medium, lists: Lists) -> Dataset:
    """The clips or images of a folder or list; everything that is wrong with it is raised as one error."""
    findings, lost = Findings(), 0
    if path.is_dir():
        folder, entries = path, list(_in_folders(path, medium, findings))
    elif path.is_file():
        folder = lists.folder
        entries, lost = _in_list(path, medium, lists, findings)
    else:
        raise UnreadableError(f"{path} does not exist. Name a folder with a folder for each class, or a CSV list.")
    names = sorted({label for entry in entries for label in entry.labels})
    if not findings.rejected and len(names) < 2:
        found = f"only {names[0]!r}" if names else "none"
        fix = f"give a folder of {medium}s for each class, or a list with a column of labels"
        findings.add(_problem(path.name, None, f"two classes are needed, and there is {found}", fix))
    if findings.rejected:
        raise InvalidInputError("media", findings)
    return _dataset(folder, entries, names, medium, lost)


def _in_folders(path: Path, medium: Medium, findings: Findings) -> Iterator[Entry]:
    """Every file of every class folder, in the order of names."""
    parts = {child: _part_of(child.name) for child in _folders(path)}
    trained = any(part == "train" for part in parts.values()) and any(part == "test" for part in parts.values())
    held = [child for child in parts if child.name.casefold() in HELD_OUT]
    if not trained and held and any(part == "train" for part in parts.values()):
        trained, parts = True, {**parts, **dict.fromkeys(held, "test")}
    elif trained:
        parts = {**parts, **dict.fromkeys(held, "train")}
    for top in [child for child, part in parts.items() if part] if trained else [path]:
        for folder in _folders(top):
            names = sorted(_files(folder, medium))
            if not names:
                message, fix = f"folder {folder.name!r} holds no {medium}", "fill it, or take it out"
                findings.add(_problem(str(folder.relative_to(path)), None, message, fix))
            for name in names:
                part: Part = parts[top] if trained else ""
                yield Entry((folder / name).relative_to(path).as_posix(), (folder.name,), part)


def _part_of(name: str) -> Part:
    return PARTS.get(name.casefold(), "")


def _folders(path: Path) -> list[Path]:
    found = (child for child in path.iterdir() if child.is_dir() and child.name not in IGNORED)
    return sorted(child for child in found if not child.name.startswith("."))


def _files(folder: Path, medium: Medium) -> Iterator[str]:
    """The files of a medium below a folder, as paths from there; links to folders are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in IGNORED and not name.startswith(".")]
        for name in names:
            if Path(name).suffix.lower() in SUFFIXES[medium] and not name.startswith("."):
                yield (Path(place) / name).relative_to(folder).as_posix()


@dataclass(frozen=True)
class _Line:
    number: int
    names: tuple[str, ...]
    """The names that the file may have, the likeliest first."""
    label: str
    part: str


def _in_list(path: Path, medium: Medium, lists: Lists, findings: Findings) -> tuple[list[Entry], int]:
    """The entries of a list, and how many of its files are not there."""
    if not lists.folder.is_dir():
        raise UnreadableError(f'{lists.folder} is no folder. Name the folder of the {medium}s: media = "…".')
    lines = list(_lines(path, findings))
    places: dict[str, str] = {}
    for name in sorted(_files(lists.folder, medium)):
        places.setdefault(name, name)
        places.setdefault(PurePosixPath(name).name, name)
        places.setdefault(PurePosixPath(name).stem, name)
    found = [(line, next((places[name] for name in line.names if name in places), None)) for line in lines]
    lost = [line for line, place in found if place is None]
    if lost and (lists.missing != "drop" or len(lost) == len(lines)):
        message = f"{len(lost)} of {plural(medium, len(lines))} are not in {lists.folder.name}"
        fix = 'name their folder: media = "…"; or leave them out: missing = "drop"'
        findings.add(_problem(path.name, lost[0].number, message, fix, lost[0].names[0]))
    labels: dict[str, list[str]] = {}
    parts: dict[str, Part] = {}
    held = {line.part for line in lines}
    for line, place in found:
        if place is not None:
            labels.setdefault(place, []).append(line.label)
            parts[place] = _listed_part(line.part, held)
    entries = [Entry(name, tuple(dict.fromkeys(each)), parts[name]) for name, each in labels.items()]
    return entries, len(lost)


def _listed_part(part: str, every: set[str]) -> Part:
    if part in HELD_OUT and "test" not in {_part_of(one) for one in every}:
        return "test"
    return "train" if part in HELD_OUT else _part_of(part)


def _lines(path: Path, findings: Findings) -> Iterator[_Line]:
    try:
        text = read_bounded(path, LARGEST_LIST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        findings.add(_problem(path.name, None, f"byte {error.start + 1} is not UTF-8", "save the list as UTF-8"))
        return
    rows = [(number, cells) for number, cells in _rows(text) if cells]
    if not rows:
        findings.add(_problem(path.name, None, "the list is empty", "write a file and its label on each line"))
        return
    header = [cell.strip().casefold() for cell in rows[0][1]]
    file, label = _column(header, (*FILE_COLUMNS, *ID_COLUMNS)), _column(header, LABEL_COLUMNS)
    if file is None or label is None:
        yield from _plain_lines(path, rows, findings)
        return
    part, start, end = (_column(header, names) for names in (PART_COLUMNS, ("time_start",), ("time_end",)))
    for number, cells in rows[1:]:
        if len(cells) <= max(file, label):
            findings.add(_problem(path.name, number, "columns are missing", f"write {len(header)} columns", *cells[:1]))
            continue
        name, times = cells[file].strip(), [_cell(cells, at) for at in (start, end)]
        cut = [f"{name}_{int(times[0]):06}_{int(times[1]):06}"] if all(one.isdigit() for one in times) else []
        yield _Line(number, (*cut, *_names(name)), cells[label].strip(), _cell(cells, part).casefold())


def _plain_lines(path: Path, rows: Sequence[tuple[int, list[str]]], findings: Findings) -> Iterator[_Line]:
    """Lines without a header: a path and a label, or a path below the folder of its class."""
    for number, cells in rows:
        name, label = cells[0].strip(), cells[1].strip() if len(cells) > 1 else PurePosixPath(cells[0]).parent.name
        if not label or not PurePosixPath(name).suffix:
            message, fix = "no file with its label", "write a path and a label, or a header with path and label"
            findings.add(_problem(path.name, number, message, fix, " ".join(cells)))
            continue
        yield _Line(number, _names(name), label, "")


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, at commas, semicolons or tabs, else at the last blank."""
    mark = next((mark for mark in ",;\t" if mark in text.partition("\n")[0]), None)
    if mark is None:
        yield from ((number, line.strip().rsplit(maxsplit=1)) for number, line in enumerate(text.splitlines(), start=1))
        return
    reader = csv.reader(text.splitlines(), delimiter=mark)
    yield from ((reader.line_num, cells) for cells in reader)


def _names(name: str) -> tuple[str, ...]:
    """What a file may be called: its path as it stands, and its name alone if the path begins elsewhere."""
    plain = name.replace("\\", "/").removeprefix("./")
    return tuple(dict.fromkeys((plain, PurePosixPath(plain).name)))


def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _cell(cells: Sequence[str], at: int | None) -> str:
    return cells[at].strip() if at is not None and at < len(cells) else ""


def _dataset(folder: Path, entries: Sequence[Entry], names: Sequence[str], medium: Medium, lost: int) -> Dataset:
    targets = {name: np.array([float(name in entry.labels) for entry in entries], np.float64) for name in names}
    shared = [_group(entry) for entry in entries]
    known = len({group for group in shared if group}) > 1 and all(shared)
    groups: NDArray[np.int64] | None = np.unique(np.array(shared), return_inverse=True)[1] if known else None
    parts = np.array([entry.part for entry in entries])
    split = bool((parts == "test").any() and (parts == "train").any())
    fixed = (np.flatnonzero(parts != "test"), np.flatnonzero(parts == "test")) if split else None
    counts: dict[str, Any] = {f"{medium}s": len(entries), **_counts(entries)}
    if split:
        counts |= {"training": int((parts != "test").sum()), "test": int((parts == "test").sum())}
    if groups is not None:
        counts["groups"] = int(groups.max()) + 1
    if lost:
        counts |= {"missing": {"file": lost}, "reviews_with_missing": "dropped"}
    files = Files.of(folder, [entry.name for entry in entries])
    return Dataset(
        folder.name, files, targets, groups=groups, first_labels=first_labels(targets), fixed=fixed, counts=counts
    )


def _counts(entries: Sequence[Entry]) -> dict[str, int]:
    each = Counter(label for entry in entries for label in entry.labels)
    several = sum(len(entry.labels) > 1 for entry in entries)
    told = {"classes": len(each), "fewest_of_a_class": min(each.values()), "most_of_a_class": max(each.values())}
    return {**told, **({"with_several_labels": several} if several else {})}


def _group(entry: Entry) -> str:
    stem = PurePosixPath(entry.name).stem
    return next((match[1] for pattern in GROUPS if (match := pattern.fullmatch(stem))), "")


def _problem(file: str, line: int | None, message: str, fix: str, found: str = "") -> Problem:
    return Problem(RULE, file, line, None, message, fix, shortened(found), where="reference")
