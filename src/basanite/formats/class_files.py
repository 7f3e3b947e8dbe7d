"""Classes of items from the files that people have: tables with columns of many names, a label a line, NumPy's arrays.

A table may hold the true class, the answer, or both side by side with scores of classes. Which column is which is told
by its name; a file in which two columns could be meant is refused, and so is one that looks like running text (D-4).
Items without ids are numbered, so that they can be paired by position.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from basanite.errors import UnreadableError
from basanite.formats.items import ContentError, Items, lacks_columns, take_items
from basanite.formats.records import ABSENT, ROWS, Place, Records, digest_of, read_records
from basanite.formats.stored_arrays import open_npz
from basanite.problems import Findings

Side = Literal["truth", "answers", "both"]
ID: Final = "id"
IDS: Final = (
    ID,
    "ids",
    "idx",
    "index",
    "guid",
    "uid",
    "uuid",
    "item",
    "item_id",
    "example_id",
    "sample_id",
    "image_id",
)
TRUTHS: Final = (
    *("y_true", "ytrue", "true", "truth", "target", "targets", "gold", "gold_label", "true_label", "actual"),
    *("ground_truth", "expected", "y_test"),
)
ANSWERS: Final = (
    *("y_pred", "ypred", "pred", "preds", "prediction", "predictions", "predicted", "predicted_label", "pred_label"),
    *("y_hat", "predicted_class", "system_label", "output", "hypothesis"),
)
EITHER: Final = ("label", "labels", "class", "category", "y")
"""Names that say the true class in a reference, and the answer in a submission that has no other column for it."""
KNOWN: Final = frozenset((*IDS, *TRUTHS, *ANSWERS, *EITHER))
HEADERS: Final = frozenset(form(name) for name in KNOWN for form in (str, str.upper, str.capitalize))
SCORES: Final = ("y_score", "y_scores", "y_prob", "y_proba", "scores", "probabilities", "proba", "score", "probability")
"""What an array of scores is called in a file of NumPy."""
CLASSES: Final = "classes"
POSITION: Final = "#"
"""Before the number of a column of scores that has no name."""
LONGEST: Final = 200
FEW_LINES: Final = 20
MOST_DIFFERENT: Final = 0.5
"""Lines of which more than this share differ are texts rather than classes."""
WANTED: Final = {
    "truth": "label, y_true, target or gold",
    "answers": "label, y_pred or prediction",
    "both": "y_true and y_pred",
}
SIGNS: Final = (",", "\t", ";", "|")


@dataclass(frozen=True)
class ClassItems(Items):
    """Items with their class as content, and the columns of the file that may be scores of classes."""

    others: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    truth: Items | None = None
    """The true classes, where the same file holds them."""


def read_classes(path: Path, side: Side, place: Place, findings: Findings) -> ClassItems | None:
    """The true classes or answers in a file, or the answers beside the truth; None where it could not be read."""
    records = _read_arrays(path, place, findings) if _is_arrays(path) else _read_text(path, place, findings)
    if records is None:
        return None
    columns = {_plain_name(name): name for name in records.columns}
    chosen = _chosen_columns(columns, records, side, place, findings)
    if chosen is None:
        return None
    with_ids = _with_ids(records, columns, chosen, place, findings)
    if with_ids is None:
        return None
    truth = _items(with_ids, chosen[0], chosen, place, findings) if side != "answers" else None
    answers = _items(with_ids, chosen[1], chosen, place, findings) if side != "truth" else None
    return truth if answers is None else replace(answers, truth=truth)


def class_of(found: Any) -> str:
    """A class as text: a text as it is, or a whole number or truth value."""
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool | int):
        return str(found)
    if not isinstance(found, str) or not found.strip() or len(found) > LONGEST:
        fix = f"write a class of 1 to {LONGEST} characters"
        raise ContentError(
            "label is missing, empty, too long or not text", fix, "" if found in (None, ABSENT) else found
        )
    return found


def _plain_name(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().strip('"').casefold())


def _chosen_columns(
    columns: Mapping[str, str], records: Records, side: Side, place: Place, findings: Findings
) -> tuple[str, str] | None:
    """The columns of the true class and of the answer, "" for one that is not wanted or not there."""
    truths, answers, either = (
        [columns[name] for name in names if name in columns] for names in (TRUTHS, ANSWERS, EITHER)
    )
    if side == "both":
        wanted = {"true class": truths or (either if answers else []), "answer": answers or (either if truths else [])}
    elif side == "truth":
        wanted = {"true class": [*truths, *either[:1]] if not answers else truths or either, "answer": answers[:1]}
    else:
        wanted = {"true class": truths[:1] or (either[:1] if answers else []), "answer": answers or either[:1]}
    needed = {"truth": ("true class",), "answers": ("answer",), "both": ("true class", "answer")}[side]
    for what in needed:
        if len(wanted[what]) > 1:
            names = " and ".join(map(repr, wanted[what]))
            message, fix = f"columns {names} could both be the {what}", "leave out one of them, or rename it"
            findings.add(place.problem(records.file, 1, message, fix, ", ".join(wanted[what])))
            return None
        if not wanted[what]:
            _add_missing(records, what, side, place, findings)
            return None
    first, second = (next(iter(wanted[what]), "") for what in ("true class", "answer"))
    return first, second


def _add_missing(records: Records, what: str, side: Side, place: Place, findings: Findings) -> None:
    """One problem that says which column is missing, or why all of them are (D-7)."""
    if side != "both":
        lacks_columns(records, (ID, "label"), place, findings)
        return
    message = f"there is no column for the {what}, and no reference is given"
    fix = f"give a reference, or name columns {WANTED[side]}; there are: {', '.join(records.columns)}"
    findings.add(place.problem(records.file, 1, message, fix, ", ".join(records.columns)))


def _with_ids(
    records: Records, columns: Mapping[str, str], chosen: tuple[str, str], place: Place, findings: Findings
) -> Records | None:
    """The records with a column `id`: their own, or the number of each where nothing looks like one."""
    named = next((columns[name] for name in IDS if name in columns and columns[name] not in chosen), None)
    if named is not None:
        left = {name: cells for name, cells in records.columns.items() if name != named}
        return replace(records, columns={ID: _as_ids(records.columns[named]), **left}, numbered=False)
    like_ids = (name for name, cells in records.columns.items() if name not in chosen and _looks_like_ids(cells))
    odd = next(like_ids, None)
    if odd is not None:
        message = f"there is no column 'id', and {odd!r} differs in every row"
        fix = "call it id if it names the items, else leave it out: rows without ids are paired by position"
        findings.add(place.problem(records.file, 1, message, fix, odd))
        return None
    numbers = [str(at) for at in range(1, len(records) + 1)]
    return replace(records, columns={ID: numbers, **records.columns}, numbered=True)


def _as_ids(cells: Sequence[Any]) -> list[Any]:
    return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]


def _looks_like_ids(cells: Sequence[Any]) -> bool:
    """Whether all rows have a text of their own that is not just a number."""
    return (
        len(cells) > 1
        and all(isinstance(cell, str) for cell in cells)
        and len(set(cells)) == len(cells)
        and not all(map(_is_number, cells))
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _items(records: Records, column: str, chosen: tuple[str, str], place: Place, findings: Findings) -> ClassItems:
    taken = take_items(records, lambda fields: class_of(fields.get(column)), place, findings, used=chosen)
    others = {name: cells for name, cells in records.columns.items() if name not in (ID, *chosen)}
    parts = {name: getattr(taken, name) for name in Items.__dataclass_fields__}
    return ClassItems(**parts, others=others if len(taken.ids) == len(records) else {})


def _read_text(path: Path, place: Place, findings: Findings) -> Records | None:
    """A table, JSON lines or Parquet, or a text with one label per line."""
    records = read_records(path, place, findings, headers=HEADERS, plain=True)
    if records is None:
        return None
    if records.numbered:
        return _of_lines(records, place, findings)
    header = list(records.columns)
    alone = len(header) == 1 and not re.search(r"[;|\t]", header[0]) and min(records.lines, default=2) > 1
    if alone and _plain_name(header[0]) not in KNOWN:  # a column of labels without a header
        cells = [header[0], *records.columns[header[0]]]
        return replace(records, lines=[1, *records.lines], columns={"label": cells})
    return records


def _of_lines(records: Records, place: Place, findings: Findings) -> Records | None:
    """The lines of a text as labels, unless they are sentences; a header line is none of them."""
    texts, lines = [text.strip() for text in records.columns["text"]], list(records.lines)
    name = "label"
    if texts and _plain_name(texts[0]) in KNOWN:
        name, texts, lines = texts[0], texts[1:], lines[1:]
    if not texts:
        findings.add(place.problem(records.file, None, "there is no label in it", "write one label per line"))
        return None
    sign = next((sign for sign in SIGNS if texts[0].count(sign) and len({text.count(sign) for text in texts}) == 1), "")
    if sign:
        message = f"every line has {texts[0].count(sign) + 1} cells separated by {sign!r}, and no header names them"
        fix = f"begin with a line of column names, such as id,label or {WANTED['both'].replace(' and ', ',')}"
        findings.add(place.problem(records.file, lines[0], message, fix, texts[0]))
        return None
    different = len(set(texts))
    if len(texts) > FEW_LINES and different > MOST_DIFFERENT * len(texts):
        message = f"{different} of {len(texts)} lines differ: this looks like plain text, not like one label per line"
        fix = f"write one label per line, or a table with columns id and {WANTED['answers']}"
        findings.add(place.problem(records.file, lines[0], message, fix, texts[0]))
        return None
    return replace(records, lines=lines, columns={name: texts}, numbered=False)


def _is_arrays(path: Path) -> bool:
    """Whether a file is an archive of NumPy's arrays, whatever it is called."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return False
    return bool(names) and all(name.endswith(".npy") for name in names)


def _read_arrays(path: Path, place: Place, findings: Findings) -> Records | None:
    """The arrays of a file by name, one row per item; scores have a column for each class."""
    try:
        found = open_npz(path, {*KNOWN, *SCORES, CLASSES})
    except UnreadableError as error:
        findings.add(place.problem(path.name, None, str(error), "write it with numpy.savez"))
        return None
    arrays = {name: array[:] for name, array in found.items() if array is not None}
    named = {name: array for name, array in arrays.items() if name in KNOWN and array.ndim == 1}
    if not named:
        message = "no array in it is called y_true, y_pred, y or labels and has one dimension"
        fix = f"name arrays {WANTED['both']}; there are: {', '.join(arrays) or 'others'}"
        findings.add(place.problem(path.name, None, message, fix))
        return None
    sizes = {name: len(array) for name, array in arrays.items() if array.ndim and name != CLASSES}
    if len(set(sizes.values())) > 1 or max(sizes.values()) > ROWS:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        findings.add(place.problem(path.name, None, f"arrays differ in length: {told}", "give each one row per item"))
        return None
    columns: dict[str, Sequence[Any]] = {name: _cells(array) for name, array in named.items()}
    columns |= dict(chain.from_iterable(_score_columns(name, arrays) for name in SCORES if name in arrays))
    size = next(iter(sizes.values()))
    return Records(path.name, range(1, size + 1), columns, digest_of([(path.name, path.read_bytes())]))


def _cells(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind == "S":
        return [cell.decode("utf-8", "replace") for cell in array.tolist()]
    return list(array.tolist())


def _score_columns(name: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The columns of an array of scores: named by `classes`, or by position where there is no such array."""
    scores = arrays[name]
    if scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] == 1):
        yield name, scores.reshape(-1).tolist()
        return
    if scores.ndim != 2:
        return
    classes = _cells(arrays[CLASSES]) if CLASSES in arrays and arrays[CLASSES].ndim == 1 else []
    fits = len(classes) == scores.shape[1]
    for at, column in enumerate(scores.T):
        yield (f"score_{class_of(classes[at])}" if fits else f"{POSITION}{at}"), column.tolist()
