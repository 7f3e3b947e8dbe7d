"""Reviews with ratings from CSV, JSON lines or Parquet, packed or not: short ones are dropped and all is counted (H-2).

Columns are found by the names that collections of reviews use: those of the published corpus, Amazon, Yelp and
TripAdvisor. What a review lacks is refused, or the review is dropped or kept, as the plan says. The published corpus is
not public; its counts stand beside those of a file that has its columns, so that everybody sees how far they lie apart.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from basanite.errors import InvalidInputError, SettingError
from basanite.formats.records import ABSENT, Place, Records, read_records
from basanite.harness.data.dataset import Dataset, Texts
from basanite.problems import Findings
from basanite.registry import suggestion

RATINGS: Final = ("overall", "food", "ambiance", "service", "noise")
SHORTEST: Final = 30
RANGE: Final = (1.0, 5.0)
RULE: Final = "H-2"
FILE: Final = Place("metadata", RULE)
PUBLISHED: Final = {
    "reviews": 433_697,
    "restaurants": 10_066,
    "reviews_per_restaurant": 43,
    "shortest": 30,
    "longest": 750,
    "mean_characters": 248,
    "mean_words": 44,
}
CORPUS_GROUP: Final = "restaurant"
TEXTS: Final = ("text", "reviewtext", "reviewbody", "review", "reviewcontent", "content", "body", "comment")
"""What a column of texts is called, without case and signs, the likeliest first."""
GROUPS: Final = (
    *(CORPUS_GROUP, "restaurantid", "businessid", "asin", "parentasin", "hotelid", "offeringid", "hotel", "business"),
    *("productid", "product"),
)
"""What a column of what is reviewed is called."""
OVERALL: Final = "overall"
NESTED: Final = "ratings"
"""The column of TripAdvisor's files that holds all ratings of a review by name."""
SPELLED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("", "star", "stars", "total", "general"), OVERALL),
    **dict.fromkeys(("ambience", "atmosphere"), "ambiance"),
    "noiselevel": "noise",
}
"""Other names of ratings, once `rating` and `score` are taken off."""
EMPTY: Final = frozenset(("", "na", "n/a", "nan", "null", "none", "-"))
Missing = Literal["refuse", "drop", "keep"]
CHOICES: Final = get_args(Missing)


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; a text or group without a name is found, and ratings by their spelling."""

    text: str = ""
    group: str = ""
    ratings: Sequence[str] = ()
    missing: str = "refuse"
    """What becomes of a review that lacks its text or a rating."""
    range: tuple[float, float] = RANGE


def read_reviews(path: Path, columns: Columns, *, shortest: int = SHORTEST) -> Dataset:
    """The reviews of a file; everything that is wrong with it is raised as one error."""
    if columns.missing not in CHOICES:
        raise SettingError(f"missing = {columns.missing!r} cannot be used: write {', '.join(CHOICES)}.")
    read, findings = Findings(), Findings()
    records = read_records(path, FILE, read, headers=HEADERS)
    findings.extend(problem for problem in read if problem.severity == "reject")  # JSON lines are often named .json
    if records is None:
        raise InvalidInputError("reviews", findings)
    records = _without_nesting(records)
    found = _find_columns(records, columns, findings) if len(records) else None
    reviews = _Reviews.of(records, found, findings) if found is not None else None
    kept = None if reviews is None else _kept_rows(reviews, columns.missing, shortest, findings)
    if not findings.rejected and (kept is None or not kept.rows.size):
        findings.add(
            FILE.problem(path.name, None, "no review is left", f"give reviews of {shortest} characters or more")
        )
    if findings.rejected or reviews is None or kept is None or found is None:
        raise InvalidInputError("reviews", findings)
    return _dataset(reviews, kept, found)


def text_of(raw: str) -> str:
    """A review as it is counted and used: NFC and stripped (A41).

    >>> len(text_of("  cafe\\u0301 "))
    4
    """
    return unicodedata.normalize("NFC", raw).strip()


def _plain(name: str) -> str:
    """A name without case and signs.

    >>> _plain("Food & Beverages"), _plain("ReviewBody")
    ('foodbeverages', 'reviewbody')
    """
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _rating_name(name: str) -> str:
    """What a column of ratings is about, however it is spelled.

    >>> [_rating_name(name) for name in ("OverallRating", "food_rating", "stars", "Ambience", "rating")]
    ['overall', 'food', 'overall', 'ambiance', 'overall']
    """
    plain = re.sub(r"ratings?|scores?", "", _plain(name))
    return SPELLED.get(plain, plain)


HEADERS: Final = frozenset(("text", "reviewText", "ReviewBody", "review_text", "stars", "rating", *RATINGS))
"""Names by which a text is told to be a table, whatever its file is called."""


@dataclass(frozen=True)
class _Found:
    """The columns of a file: of the text, of the group if there is one, and of each rating by its name in the plan."""

    text: str
    group: str
    ratings: Mapping[str, str]
    range: tuple[float, float]
    corpus: bool
    """Whether the file has the columns of the published corpus."""


def _without_nesting(records: Records) -> Records:
    """The same records with a column for each rating that stands inside another one."""
    nested = records.columns.get(NESTED, ())
    names = dict.fromkeys(str(name) for cell in nested if isinstance(cell, dict) for name in cell)
    if not names:
        return records
    inside = {
        name: [cell.get(name, ABSENT) if isinstance(cell, dict) else ABSENT for cell in nested]
        for name in names
        if name not in records.columns
    }
    return replace(records, columns={**records.columns, **inside})


def _find_columns(records: Records, columns: Columns, findings: Findings) -> _Found | None:
    """The columns that the plan names, or those whose names say what they hold; a problem for each that is lacking."""
    there, before = tuple(records.columns), findings.total
    text = _named_column(records, columns.text, TEXTS, findings)
    if text is None:
        message = f"there is no text in column {columns.text or TEXTS[0]!r}"
        findings.add(FILE.problem(records.file, 1, message, _fix("column with the text", "text", there)))
    group = _named_column(records, columns.group, GROUPS, findings) or ""
    if columns.group and not group:
        message = f"there is no column {columns.group!r} of groups"
        findings.add(FILE.problem(records.file, 1, message, _fix("column", columns.group, there)))
    left = [name for name in there if name not in (text, group)]
    ratings = {name: _rating_column(name, left, records.file, findings) for name in columns.ratings or RATINGS}
    missing = [name for name, column in ratings.items() if column is None]
    if missing and (columns.ratings or len(missing) == len(ratings)):
        for name in missing if columns.ratings else missing[:1]:
            message = f"there is no rating {name!r}"
            findings.add(FILE.problem(records.file, 1, message, _fix("ratings as targets", name, there)))
    if findings.total > before or text is None:
        return None
    chosen = {name: column for name, column in ratings.items() if column is not None}
    corpus = _plain(group) == CORPUS_GROUP and set(RATINGS) <= {_rating_name(name) for name in there}
    return _Found(text, group, chosen, columns.range, corpus)


def _named_column(records: Records, wanted: str, usual: Sequence[str], findings: Findings) -> str | None:
    """The column that was asked for; else the one that is called as usual, the likeliest first."""
    if wanted:
        return wanted if wanted in records.columns else None
    plain: dict[str, list[str]] = {}
    for name in records.columns:
        plain.setdefault(_plain(name), []).append(name)
    found = next((plain[name] for name in usual if name in plain), [])
    if len(found) > 1:
        message = f"columns {' and '.join(map(repr, found))} have the same name but for case and signs"
        findings.add(FILE.problem(records.file, 1, message, "name the right one in the plan, or leave one out"))
    return next(iter(found), None)


def _rating_column(name: str, there: Sequence[str], file: str, findings: Findings) -> str | None:
    """The column of a rating: called so, or spelled in another way; two that could be meant are refused."""
    if name in there:
        return name
    alike = [one for one in there if _plain(one) == _plain(name)]
    found = alike or [one for one in there if one != NESTED and _rating_name(one) == _rating_name(name)]
    if len(found) > 1:
        message = f"columns {' and '.join(map(repr, found))} could each be the rating {name!r}"
        findings.add(FILE.problem(file, 1, message, "name the right one as target in the plan"))
    return next(iter(found), None)


def _fix(what: str, name: str, there: Sequence[str]) -> str:
    return f"name the {what} in the plan. {suggestion(name, there[:50])}"


@dataclass(frozen=True)
class _Reviews:
    """All reviews of a file: texts with None for one that is missing, ratings with nan."""

    records: Records
    texts: list[str | None]
    groups: list[str]
    names: tuple[str, ...]
    """Of the text and of each rating, as the plan calls them."""
    ratings: np.ndarray[Any, np.dtype[np.float64]]

    @classmethod
    def of(cls, records: Records, found: _Found, findings: Findings) -> _Reviews:
        """From the columns that were found; what is neither there nor missing is a problem with its line."""
        texts = [
            _text(cell, records, row, found.text, findings) for row, cell in enumerate(records.columns[found.text])
        ]
        table = np.full((len(records), len(found.ratings)), math.nan)
        for at, column in enumerate(found.ratings.values()):
            for row, cell in enumerate(records.columns[column]):
                if not _is_missing(cell):
                    table[row, at] = _rating(cell, records, row, column, found.range, findings)
        groups = [_group(cell) for cell in records.columns.get(found.group, [""] * len(records))]
        return cls(records, texts, groups, (found.text, *found.ratings), table)


def _is_missing(cell: Any) -> bool:
    if cell is None or cell is ABSENT or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return isinstance(cell, str) and cell.strip().casefold() in EMPTY


def _group(cell: Any) -> str:
    return "" if cell is None or cell is ABSENT else str(cell)


def _text(cell: Any, records: Records, row: int, column: str, findings: Findings) -> str | None:
    if cell is None or cell is ABSENT or cell == "":
        return None
    if not isinstance(cell, str):
        message = f"column {column!r} holds no text"
        findings.add(FILE.problem(records.file, records.lines[row], message, "write the review as a text", cell))
        return ""
    return text_of(cell)


def _rating(cell: Any, records: Records, row: int, name: str, ends: tuple[float, float], findings: Findings) -> float:
    """A rating; infinity with a problem for what is no number in the range."""
    try:
        value = math.nan if isinstance(cell, bool) or not isinstance(cell, str | int | float) else float(cell)
    except (ValueError, OverflowError):
        value = math.nan
    if ends[0] <= value <= ends[1]:
        return value
    low, high = (f"{end:g}" for end in ends)
    message, fix = f"rating {name!r} is not from {low} to {high}", f"write a number from {low} to {high}"
    findings.add(FILE.problem(records.file, records.lines[row], message, fix, cell))
    return math.inf


@dataclass(frozen=True)
class _Kept:
    """The rows that stay, and what was missing."""

    rows: np.ndarray[Any, np.dtype[np.int64]]
    short: int
    lacking: Mapping[str, int] = field(default_factory=dict)
    """By column: how many reviews lack it."""
    fate: str = ""
    """What became of those."""


def _kept_rows(reviews: _Reviews, missing: str, shortest: int, findings: Findings) -> _Kept | None:
    """The reviews that are long enough, and complete as far as the plan asks."""
    names = reviews.names
    no_text = np.array([text is None for text in reviews.texts], dtype=bool)
    lacks = np.column_stack([no_text, np.isnan(reviews.ratings)])
    lacking = {name: int(count) for name, count in zip(names, lacks.sum(axis=0), strict=True) if count}
    if lacking and missing == "refuse":
        findings.extend(_missing_problems(reviews, names, lacks))
        return None
    wrong = lacks.any(axis=1) if missing == "drop" else lacks[:, 1:].all(axis=1)
    long = np.array([text is None or len(text) >= shortest for text in reviews.texts], dtype=bool)
    fate = {"drop": "dropped", "keep": "kept"}[missing] if lacking else ""
    rows = np.flatnonzero(long & ~wrong)
    return _Kept(rows, int(np.count_nonzero(~long & ~wrong)), lacking, fate)


def _missing_problems(reviews: _Reviews, names: Sequence[str], lacks: Any) -> Iterator[Any]:
    """One problem for each column that reviews lack, with the first of them and how many there are (D-7)."""
    records = reviews.records
    for at in np.flatnonzero(lacks.any(axis=0)).tolist():
        count, line = int(lacks[:, at].sum()), records.lines[int(np.argmax(lacks[:, at]))]
        what = "there is no text" if at == 0 else f"there is no rating {names[at]!r}"
        message = what if count == 1 else f"{what} in {count} of {len(records)} reviews"
        fix = 'write it, or set missing = "drop" or missing = "keep" in the data of the plan'
        yield FILE.problem(records.file, line, message, fix)


def _dataset(reviews: _Reviews, kept: _Kept, found: _Found) -> Dataset:
    """What is kept as a data set."""
    texts = [reviews.texts[row] or "" for row in kept.rows]
    names, groups = np.unique(np.array([reviews.groups[row] for row in kept.rows]), return_inverse=True)
    known = len(names) > 1 or bool(names[0])
    targets = {name: np.ascontiguousarray(reviews.ratings[kept.rows, at]) for at, name in enumerate(found.ratings)}
    counts = _counts(texts, len(names) if known else 0, found)
    told: dict[str, Any] = {**counts, "dropped": kept.short}
    if kept.lacking:
        told |= {"missing": dict(kept.lacking), "reviews_with_missing": kept.fate}
    if found.corpus:
        told["published"] = PUBLISHED
    return Dataset(
        "reviews",
        Texts.of(texts),
        targets,
        groups=groups.astype(np.int64) if known else None,
        range=found.range,
        counts=told,
    )


def _counts(texts: Sequence[str], groups: int, found: _Found) -> dict[str, Any]:
    lengths = np.array([len(text) for text in texts])
    words = sum(len(text.split()) for text in texts)
    restaurants = _plain(found.group) == CORPUS_GROUP
    many, each = ("restaurants", "reviews_per_restaurant") if restaurants else ("groups", "reviews_per_group")
    per_group = {many: groups, each: round(len(texts) / groups, 1)} if groups else {}
    return {
        "reviews": len(texts),
        **per_group,
        "shortest": int(lengths.min()),
        "longest": int(lengths.max()),
        "mean_characters": round(float(lengths.mean()), 1),
        "mean_words": round(words / len(texts), 1),
    }
