"""Both sides of the task `representation`: labels of rows, and features of the same rows, by id or position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError, InvalidInputError
from basanite.formats.bounded import check_regular
from basanite.formats.class_files import class_of
from basanite.formats.feature_table import column_roles, read_table, whole_numbers
from basanite.formats.features import (
    RULE,
    SUFFIXES,
    FeatureSet,
    check,
    check_labels,
    feature_set,
    file_kind,
    read_arrays,
)
from basanite.formats.items import take_items
from basanite.formats.records import Place, read_records
from basanite.problems import Findings, Problem
from basanite.representation.data import GROUP, digest_of_path
from basanite.representation.measures.results import Numbers

REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
FEW: Final = 10
"""Missing, unknown and repeated ids that are named one by one."""
NO_LABELS: Final = "there are no labels in it"
WRITE_LABELS: Final = "store one label for each row as `labels` (or `y`), or give a table with columns id and label"
WRITE_FEATURES: Final = "store a table of numbers, rows by dimensions, as `features` (or `X`)"


@dataclass(frozen=True)
class LabelledRows:
    """What the reference says of each row."""

    file: str
    labels: NDArray[Any]
    digest: str
    ids: tuple[str, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Groups, clusters and whatever else short is known of the rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the rows, or their numbers from 0."""
        return self.ids if self.ids is not None else tuple(str(row) for row in range(len(self.labels)))


@dataclass(frozen=True)
class Answers:
    """The features of a submission, and what else was sent with them."""

    found: FeatureSet
    digest: str
    ids: tuple[str, ...] | None = None


def read_labelled_rows(path: Path, findings: Findings) -> LabelledRows | None:
    """The labels of arrays or of a table of text; at least two classes, and every row has one."""
    stored = file_kind(path) in SUFFIXES and file_kind(path) != ".parquet"
    found = _labels_of_arrays(path, findings) if stored else _labels_of_table(path, findings)
    if found is None or not findings.valid:
        return None
    number = len(np.unique(found.labels)) if len(found.labels) else 0
    if number < 2:
        message = f"the labels name {number} {'class' if number == 1 else 'classes'}; measures compare at least two"
        findings.add(REFERENCE.problem(found.file, None, message, "give rows of two classes or more"))
    return found


def read_answers(path: Path, findings: Findings) -> Answers | None:
    """The features of a file of any of the formats, checked by themselves."""
    arrays = _arrays(path, SUBMISSION, findings)
    if arrays is None:
        return None
    if arrays.get("features") is None:
        held = ", ".join(sorted(arrays)[:FEW]) or "nothing"
        findings.add(
            SUBMISSION.problem(path.name, None, f"there are no features in it; it holds {held}", WRITE_FEATURES)
        )
        return None
    try:
        found = feature_set(path.name, arrays)
        findings.merge(check(found))
    except BasaniteError as error:
        findings.add(_refusal(error, path, SUBMISSION))
    if not findings.valid:
        return None
    ids = _ids(found.ids, path.name, SUBMISSION, findings)
    return Answers(found, digest_of_path(path), ids)


def check_answers(truth: LabelledRows, answers: Answers) -> Iterator[Problem]:
    """Whether these are features of the labelled rows: as many, with the same ids, and with no other labels."""
    rows, name = len(answers.found.features), answers.found.name
    if answers.ids is not None:
        problems = list(_id_problems(truth, answers.ids, name))
        yield from problems
        if problems:
            return
    elif rows != len(truth.labels):
        message = f"{rows} rows of features, and the reference has labels of {len(truth.labels)}"
        fix = "send the features of every labelled row, in the order of the reference, or give each row its id"
        yield SUBMISSION.problem(name, None, message, fix, str(rows))
        return
    if answers.found.labels is not None:
        yield from _label_problems(truth, answers)


def alignment(truth: LabelledRows, answers: Answers) -> Numbers | None:
    """The row of the submission that belongs to each labelled row; None where both have the same order."""
    if answers.ids is None or answers.ids == truth.names:
        return None
    place = {name: row for row, name in enumerate(answers.ids)}
    return np.array([place[name] for name in truth.names], dtype=np.int64)


def _arrays(path: Path, place: Place, findings: Findings) -> dict[str, Any] | None:
    """The arrays of a file; what its reader refuses is a problem of the file, unless there is no such file."""
    if not path.is_dir():
        check_regular(path)
    try:
        return read_arrays(path) if file_kind(path) in SUFFIXES else read_table(path, place, findings)
    except InvalidInputError as error:
        findings.merge(error.findings)
    except BasaniteError as error:
        findings.add(_refusal(error, path, place))
    return None


def _refusal(error: BasaniteError, path: Path, place: Place) -> Problem:
    """What a reader refuses, with its cure apart."""
    words = str(error).replace(str(path), path.name)
    for named, instead in ((f"{path.name}: ", ""), (f"{path.name}:", ""), (path.name, "the file")):
        words = words.replace(named, instead)
    message, _, fix = words.rstrip(".").partition(". ")
    return place.problem(path.name, None, message, (fix[:1].lower() + fix[1:]) or WRITE_FEATURES)


def _labels_of_arrays(path: Path, findings: Findings) -> LabelledRows | None:
    arrays = _arrays(path, REFERENCE, findings)
    if arrays is None:
        return None
    if file_kind(path) == ".npy" and "labels" not in arrays:
        arrays = {"labels": arrays["features"]}
    if arrays.get("labels") is None:
        held = ", ".join(sorted(arrays)[:FEW]) or "nothing"
        findings.add(REFERENCE.problem(path.name, None, f"{NO_LABELS}; it holds {held}", WRITE_LABELS))
        return None
    try:
        found = feature_set(path.name, {name: arrays[name] for name in ("labels", "groups", "ids") if name in arrays})
    except BasaniteError as error:
        findings.add(_refusal(error, path, REFERENCE))
        return None
    findings.extend(replace(problem, where="reference") for problem in check_labels(found))
    labels = found.labels
    if labels is None or not findings.valid:
        return None
    columns = {} if found.groups is None else {GROUP: tuple(found.groups.astype(np.str_).tolist())}
    ids = _ids(found.ids, path.name, REFERENCE, findings)
    return LabelledRows(path.name, labels, digest_of_path(path), ids, columns)


def _labels_of_table(path: Path, findings: Findings) -> LabelledRows | None:
    """Rows with a label each; without a column of ids they are numbered in their order."""
    records = read_records(path, REFERENCE, findings)
    if records is None:
        return None
    roles, doubts = column_roles(list(records.columns))
    findings.extend(REFERENCE.problem(records.file, 1, *doubt) for doubt in doubts)
    if "labels" not in roles:
        header = ", ".join(records.columns)
        message, fix = "there is no column of labels", f"name columns id, label; there are: {header}"
        findings.add(REFERENCE.problem(records.file, 1, message, fix, header))
    if not findings.valid:
        return None
    numbered = "ids" not in roles
    ids = [str(row) for row in range(len(records))] if numbered else records.columns[roles["ids"]]
    left = {name: cells for name, cells in records.columns.items() if name not in (roles["labels"], roles.get("ids"))}
    columns = {"id": ids, "label": records.columns[roles["labels"]], **left}
    labelled = replace(records, columns=columns)
    items = take_items(labelled, lambda fields: class_of(fields.get("label")), REFERENCE, findings, used=("label",))
    labels = whole_numbers(items.content)
    return LabelledRows(items.file, labels, records.digest, None if numbered else items.ids, items.columns)


def _ids(found: NDArray[Any] | None, file: str, place: Place, findings: Findings) -> tuple[str, ...] | None:
    """The ids of rows as words; each stands once."""
    if found is None:
        return None
    if found.dtype.kind == "f":
        findings.add(place.problem(file, None, "ids are numbers with a fraction", "store whole numbers or texts"))
        return None
    ids = tuple(map(str, found.tolist()))
    names, counts = np.unique(np.array(ids, dtype=np.str_), return_counts=True)
    for name in names[counts > 1][:FEW].tolist():
        findings.add(place.problem(file, None, f"id {name!r} appears twice", "keep one row for each", name))
    return ids


def _id_problems(truth: LabelledRows, ids: tuple[str, ...], file: str) -> Iterator[Problem]:
    known, given = set(truth.names), set(ids)
    if known.isdisjoint(given):
        named = "has" if truth.ids is not None else "numbers them from 0 and has"
        message = f"none of your {len(ids)} rows is in the reference, which {named} {len(known)}"
        message += f": is this the right data set? Yours begin with {ids[0]!r}, the reference with {truth.names[0]!r}"
        yield SUBMISSION.problem(file, None, message, "send features of this data set, with ids as it has them", ids[0])
        return
    unknown, missing = [name for name in ids if name not in known], [name for name in truth.names if name not in given]
    for name in unknown:
        yield SUBMISSION.problem(file, None, f"no row of the reference is called {name!r}", "leave it out", name)
    for name in missing:
        message, fix = f"row {name!r} has no features", "send the features of every labelled row"
        yield SUBMISSION.problem(file, None, message, fix, name, kind="missing")


def _label_problems(truth: LabelledRows, answers: Answers) -> Iterator[Problem]:
    """Labels that were sent along and are not those of the reference: another order, or another data set."""
    sent, rows = answers.found.labels, alignment(truth, answers)
    assert sent is not None, "requested by the caller"
    mine = _words(sent if rows is None else sent[rows])
    wrong = np.flatnonzero(mine != _words(truth.labels))
    if not len(wrong):
        return
    first = int(wrong[0])
    found, wanted = str(mine[first]), str(_words(truth.labels)[first])
    message = (
        f"{len(wrong)} of {len(mine)} labels in it are not those of the reference; the first is {found!r} of row "
        f"{truth.names[first]!r}, where the reference has {wanted!r}"
    )
    fix = "send the rows in the order of the reference or with their ids; leave labels out if they are predicted"
    yield SUBMISSION.problem(answers.found.name, None, message, fix, found)


def _words(labels: NDArray[Any]) -> NDArray[np.str_]:
    """Labels as words, where 1.0 and 1 are one class."""
    if labels.dtype.kind == "f" and np.array_equal(labels, np.round(labels)):
        labels = labels.astype(np.int64)
    return labels.astype(np.str_)
