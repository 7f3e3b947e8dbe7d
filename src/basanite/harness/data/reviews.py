"""Reviews with ratings from CSV, JSONL or Parquet: short ones are dropped and what was found is counted (H-2, A41).

The published corpus is not public; its counts stand beside those of the file, so that everybody sees how far they lie
apart.
"""

from __future__ import annotations

import csv
import io
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.errors import InvalidInputError
from basanite.formats.bounded import check_regular, read_bounded
from basanite.formats.parquet import PYTHON_CELL, parquet_faults, read_parquet
from basanite.harness.data.dataset import Dataset, Texts
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

LARGEST: Final = 2 * 2**30
RATINGS: Final = ("overall", "food", "ambiance", "service", "noise")
SHORTEST: Final = 30
RANGE: Final = (1.0, 5.0)
RULE: Final = "H-2"
PUBLISHED: Final = {
    "reviews": 433_697,
    "restaurants": 10_066,
    "reviews_per_restaurant": 43,
    "shortest": 30,
    "longest": 750,
    "mean_characters": 248,
    "mean_words": 44,
}
Record = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
class Columns:
    """Which columns hold what."""

    text: str = "text"
    group: str = "restaurant"
    ratings: Sequence[str] = RATINGS


def read_reviews(path: Path, columns: Columns, *, shortest: int = SHORTEST) -> Dataset:
    """The reviews of a file; everything that is wrong with it is raised as one error."""
    findings = Findings()
    kept = _Kept(columns, shortest)
    for line, record in _records(path, findings):
        kept.take(line, record, path.name, findings)
    if not findings.rejected and not kept.texts:
        findings.add(_problem(path.name, None, "no review is left", f"give reviews of {shortest} characters or more"))
    if findings.rejected:
        raise InvalidInputError("reviews", findings)
    return kept.dataset()


def text_of(raw: str) -> str:
    """A review as it is counted and used: NFC and stripped (A41).

    >>> len(text_of("  cafe\\u0301 "))
    4
    """
    return unicodedata.normalize("NFC", raw).strip()


class _Kept:
    """The reviews taken so far, and how many were dropped."""

    def __init__(self, columns: Columns, shortest: int) -> None:
        self.columns, self.shortest = columns, shortest
        self.texts: list[str] = []
        self.groups: list[str] = []
        self.ratings: list[list[float]] = []
        self.dropped = 0

    def take(self, line: int, record: Mapping[str, Any], file: str, findings: Findings) -> None:
        """Keep a review that is long enough; report what is missing or no rating."""
        text, wrong = record.get(self.columns.text), []
        values = [_number(record.get(name)) for name in self.columns.ratings]
        if not isinstance(text, str):
            wrong.append(_missing(file, line, self.columns.text, record))
        for name, value in zip(self.columns.ratings, values, strict=True):
            if not RANGE[0] <= value <= RANGE[1]:
                wrong.append(_bad_rating(file, line, name, record))
        findings.extend(wrong)
        if not wrong:
            self._keep(text_of(str(text)), record, values)

    def _keep(self, text: str, record: Mapping[str, Any], values: list[float]) -> None:
        if len(text) < self.shortest:  # code points, limits included (A41)
            self.dropped += 1
            return
        self.texts.append(text)
        self.groups.append(str(record.get(self.columns.group, "")))
        self.ratings.append(values)

    def dataset(self) -> Dataset:
        """What was kept as a data set."""
        names, groups = np.unique(np.array(self.groups), return_inverse=True)
        table = np.array(self.ratings, np.float64)
        targets = {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(self.columns.ratings)}
        known = len(names) > 1 or bool(names[0])
        return Dataset(
            "reviews",
            Texts.of(self.texts),
            targets,
            groups=groups.astype(np.int64) if known else None,
            range=RANGE,
            counts={**self._counts(len(names) if known else 0), "dropped": self.dropped, "published": PUBLISHED},
        )

    def _counts(self, restaurants: int) -> dict[str, Any]:
        lengths = np.array([len(text) for text in self.texts])
        words = sum(len(text.split()) for text in self.texts)
        return {
            "reviews": len(self.texts),
            "restaurants": restaurants,
            "reviews_per_restaurant": round(len(self.texts) / restaurants, 1) if restaurants else None,
            "shortest": int(lengths.min()),
            "longest": int(lengths.max()),
            "mean_characters": round(float(lengths.mean()), 1),
            "mean_words": round(words / len(self.texts), 1),
        }


def _records(path: Path, findings: Findings) -> Iterable[Record]:
    """The rows of a file with their lines, by what the file's name says it is."""
    if path.suffix == ".parquet":
        return _parquet(path, findings)
    try:
        text = read_bounded(path, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        findings.add(_problem(path.name, None, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8"))
        return ()
    return (
        _json_lines(text, path.name, findings) if path.suffix in (".jsonl", ".ndjson") else _csv(text, path, findings)
    )


def _csv(text: str, path: Path, findings: Findings) -> Iterator[Record]:
    """Rows under a header, separated by commas or, in a .tsv, by tabs."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",")
    header: list[str] = []
    try:
        header = next(reader, [])
        for cells in reader:
            if len(cells) == len(header):
                yield reader.line_num, dict(zip(header, cells, strict=True))
            elif cells:
                words = f"{len(cells)} cells under a header of {len(header)}"
                findings.add(_problem(path.name, reader.line_num, words, "quote texts with commas in them"))
    except csv.Error as error:
        findings.add(_problem(path.name, reader.line_num, f"not CSV: {error}", "mend the quoting of this line"))


def _json_lines(text: str, file: str, findings: Findings) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            findings.add(_problem(file, number, f"not JSON: {error}", "write one object a line", line))
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            findings.add(_problem(file, number, "no JSON object", 'write {"text": …, "overall": …}', line))


def _parquet(path: Path, findings: Findings) -> Iterator[Record]:
    check_regular(path)
    try:
        table = read_parquet(path, cell=PYTHON_CELL)
    except parquet_faults() as error:
        findings.add(_problem(path.name, None, f"not Parquet that can be read: {error}", "write it anew"))
        return
    yield from enumerate(table.iter_rows(named=True), start=1)


def _number(value: Any) -> float:
    """A rating as a number; nan for what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _missing(file: str, line: int, column: str, record: Mapping[str, Any]) -> Problem:
    near = suggestion(column, [str(name) for name in list(record)[:50]])
    return _problem(file, line, f"there is no text in column {column!r}", f"name the column in the plan. {near}")


def _bad_rating(file: str, line: int, name: str, record: Mapping[str, Any]) -> Problem:
    if name not in record:
        near = suggestion(name, [str(column) for column in list(record)[:50]])
        return _problem(file, line, f"there is no rating {name!r}", f"name the ratings as targets in the plan. {near}")
    return _problem(file, line, f"rating {name!r} is not from 1 to 5", "write a number from 1 to 5", str(record[name]))


def _problem(file: str, line: int | None, message: str, fix: str, found: str = "") -> Problem:
    return Problem(RULE, file, line, None, message, fix, shortened(found), where="metadata")
