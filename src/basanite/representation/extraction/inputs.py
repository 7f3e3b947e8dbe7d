"""What features are taken from: folders of pictures or texts by class, and tables of texts, read one at a time.

Names and labels are in memory, pictures and texts never all at once. Everything that cannot be read is collected with
its place, so that one bad picture among a million does not hide the next.
"""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from basanite.errors import FeaturesError, InvalidInputError, UnreadableError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import Findings, Problem, shortened
from basanite.representation.submission import read_labelled_rows

Kind = Literal["pictures", "texts"]
RULE: Final = "F-21"
TASK: Final = "measure"
PICTURES: Final = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
TABLES: Final = (".jsonl", ".ndjson", ".csv", ".tsv")
SPLITS: Final = {"train", "training", "val", "valid", "validation", "test", "testing", "dev"}
TEXT_NAMES: Final = ("text", "sentence", "content", "review", "reviewText", "body", "document")
LABEL_NAMES: Final = ("label", "labels", "class", "y", "target", "category")
MOST_TEXT: Final = 16 << 20
MOST_PROBLEMS: Final = 1000


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold the text and the label; found by their usual names where it is not said."""

    text: str | None = None
    label: str | None = None


@dataclass
class InputSet:
    """Inputs in a fixed order: a name and a label for each, and what reads them from the first to the last."""

    name: str
    kind: Kind
    ids: list[str]
    labels: list[str]
    read: Callable[[Findings], Iterator[Any]]
    findings: Findings = field(default_factory=Findings)

    def __len__(self) -> int:
        return len(self.ids)

    def batches(self, size: int) -> Iterator[list[Any]]:
        """Pictures or texts, so many at a time; problems are raised together after the last."""
        batch: list[Any] = []
        for one in self.read(self.findings):
            batch.append(one)
            if len(batch) == size:
                yield batch
                batch = []
        if batch:
            yield batch
        if not self.findings.valid:
            raise InvalidInputError(TASK, self.findings)


def open_inputs(path: Path, takes: Kind, *, labels: Path | None = None, columns: Columns | None = None) -> InputSet:
    """The inputs of a folder or table for a model that takes pictures or texts."""
    if not path.exists():
        raise UnreadableError(f"{path} cannot be read: No such file or directory. Fix: check the path.")
    if path.is_file():
        return _text_table(path, takes, columns or Columns())
    found = _folder(path, takes)
    if labels is not None:
        found.labels = _labels_of(labels, found.ids)
    if not all(found.labels):
        raise FeaturesError(
            f"{path} has files outside of folders of classes, so they have no label, like {found.ids[0]}. "
            "Fix: put them into one folder for each class, or give a table of ids and labels (--labels)."
        )
    return found


def _folder(path: Path, takes: Kind) -> InputSet:
    """Files in one folder for each class, as ImageNet has them; files beside these folders have no label."""
    endings = PICTURES if takes == "pictures" else (".txt", "")
    files = sorted(_files_below(path, endings), key=lambda one: one.relative_to(path).parts)
    if not files:
        raise FeaturesError(
            f"{path} holds no {takes} ({', '.join(filter(None, endings))}). Fix: give the folder that holds a folder "
            f"for each class{'' if takes == 'pictures' else ', or a table of texts (.jsonl, .csv)'}."
        )
    ids = [one.relative_to(path).as_posix() for one in files]
    labels = [name.partition("/")[0] if "/" in name else "" for name in ids]
    splits = sorted({label for label in labels if label.lower() in SPLITS})
    if splits and set(labels) <= {*splits, ""}:
        raise FeaturesError(f"{path} holds splits ({', '.join(splits)}), not classes. Fix: give {path / splits[0]}.")
    reader = read_picture if takes == "pictures" else _read_text
    return InputSet(path.resolve().name, takes, ids, labels, lambda findings: _each(files, ids, reader, findings))


def _files_below(path: Path, endings: Sequence[str]) -> Iterator[Path]:
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        yield from (
            Path(folder, name)
            for name in names
            if not name.startswith(".") and Path(name).suffix.lower() in endings and name != "README"
        )


def _each(
    files: Sequence[Path], ids: Sequence[str], reader: Callable[[Path], Any], findings: Findings
) -> Iterator[Any]:
    for path, name in zip(files, ids, strict=True):
        try:
            yield reader(path)
        except (UnreadableError, OSError, ValueError, SyntaxError, Warning) as error:
            _report(findings, name, None, f"it cannot be read: {shortened(str(error))}", "replace it, or leave it out")


def _report(findings: Findings, file: str, line: int | None, message: str, fix: str) -> None:
    findings.add(Problem(RULE, file, line, None, message, fix))
    if sum(findings.counts.values()) >= MOST_PROBLEMS:
        raise InvalidInputError(TASK, findings)


def read_picture(path: Path) -> Any:
    """A picture as Pillow holds it, in gray or in color; one that would fill the memory is refused."""
    check_regular(path)
    image = required_module("PIL.Image")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a picture that unpacks to gigabytes is only warned of
        try:
            with image.open(path) as picture:
                picture.load()
                return picture.convert("RGB") if picture.mode not in ("L", "RGB") else picture.copy()
        except image.DecompressionBombError as error:
            raise UnreadableError(str(error)) from error


def _read_text(path: Path) -> str:
    return read_bounded(path, MOST_TEXT).decode("utf-8-sig")


def _labels_of(path: Path, ids: Sequence[str]) -> list[str]:
    """The label of each input from a table; every input has one."""
    findings = Findings()
    found = read_labelled_rows(path, findings)
    if found is None or not findings.valid:
        raise InvalidInputError(TASK, findings)
    known = dict(zip(found.names, map(str, found.labels.tolist()), strict=True))
    for name in ids:
        if name not in known:
            where = f"{name!r} has no label"
            _report(findings, path.name, None, where, "give a line `id,label` for each file, by its path in the folder")
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    return [known[name] for name in ids]


# --- tables of texts ---


def _text_table(path: Path, takes: Kind, columns: Columns) -> InputSet:
    if path.suffix.lower() not in TABLES:
        raise UnreadableError(f"{path.name} is no table of texts. Fix: give a folder, or one of {', '.join(TABLES)}.")
    if takes != "texts":
        raise FeaturesError(
            f"{path.name} is a table of texts, and the model takes {takes}. Fix: give a folder of {takes}."
        )
    check_regular(path)
    findings, ids, labels = Findings(), [], []
    for line, row in _rows(path, findings):
        chosen = _chosen_columns(row, columns, path.name)
        text, label = row.get(chosen.text or ""), row.get(chosen.label or "")
        if not isinstance(text, str) or not text.strip():
            _report(findings, path.name, line, f"no text in column {chosen.text!r}", "write the text, or leave it out")
        elif label is None or label == "":
            _report(findings, path.name, line, f"no label in column {chosen.label!r}", "write the label of the text")
        ids.append(str(row.get("id") or line))
        labels.append(str(label))
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    if not ids:
        raise FeaturesError(f"{path.name} holds no texts. Fix: write one text per row, with its label.")
    return InputSet(path.stem, "texts", ids, labels, lambda later: _texts(path, columns, later))


def _texts(path: Path, columns: Columns, findings: Findings) -> Iterator[str]:
    for _, row in _rows(path, findings):
        yield str(row[_chosen_columns(row, columns, path.name).text or ""])


def _chosen_columns(row: dict[str, Any], columns: Columns, file: str) -> Columns:
    text = columns.text or next((name for name in TEXT_NAMES if name in row), None)
    label = columns.label or next((name for name in LABEL_NAMES if name in row), None)
    for what, name in (("text", text), ("label", label)):
        if name is None or name not in row:
            named = f" {name!r}" if name else ""
            raise FeaturesError(
                f"{file} has no column{named} for the {what}; it has {', '.join(list(row)[:10])}. "
                f"Fix: name the column (--{what}-column)."
            )
    return Columns(text, label)


def _rows(path: Path, findings: Findings) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table with their lines, one at a time."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() in (".csv", ".tsv"):
                table = csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
                for row in table:
                    yield table.line_num, {str(name): cell for name, cell in row.items() if name is not None}
                return
            for line, text in enumerate(iter(lambda: file.readline(MOST_TEXT), ""), 1):
                if text.strip() and (found := _object(path.name, line, text, findings)) is not None:
                    yield line, found
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path.name} is not UTF-8 near byte {error.start:,}. Fix: save it as UTF-8.") from error
    except csv.Error as error:
        raise UnreadableError(f"{path.name} is no table: {error}. Fix: save it as CSV again.") from error


def _object(file: str, line: int, text: str, findings: Findings) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        _report(findings, file, line, f"it is not JSON: {shortened(str(error))}", "write one JSON object per line")
        return None
    if not isinstance(found, dict):
        _report(findings, file, line, "it is no JSON object", "write one JSON object per line")
        return None
    return found


def label_array(labels: Sequence[str]) -> np.ndarray[Any, Any]:
    """Labels as an array: whole numbers where all of them are, else texts.

    >>> label_array(["3", "10"]).tolist(), label_array(["3", "x"]).tolist()
    ([3, 10], ['3', 'x'])
    """
    plain = all(
        label.isdecimal() and label.isascii() and len(label) < 18 and str(int(label)) == label for label in labels
    )
    return np.array([int(label) for label in labels]) if plain else np.array(labels, dtype=np.str_)
