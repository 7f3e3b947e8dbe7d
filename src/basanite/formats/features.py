"""Features with their labels from `.npz`, `.npy`, `.pt`, `.parquet`, zarr or a table: named arrays, checked before use.

The names are those of the contract: `features` and `labels`; optionally `source_probabilities`, `source_features`,
`source_labels`, `predictions`, `groups` and `ids`. What others call them (`X` and `y`) is known too. Features stay on
disk where they can; everything else is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError, InvalidInputError, UnreadableError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular, read_bounded
from basanite.formats.class_files import read_classes
from basanite.formats.feature_table import LISTS, column_roles, read_table, whole_numbers
from basanite.formats.parquet import ExpansionError, parquet_faults, read_parquet
from basanite.formats.records import Place
from basanite.formats.stored_arrays import MOST_BYTES, MOST_LOADED, StoredArray, open_npy, open_npz
from basanite.formats.tensor_file import ENDINGS as TENSORS
from basanite.formats.tensor_file import read_tensors
from basanite.problems import Findings, Problem, shortened

NAMES: Final = (
    "features",
    "labels",
    "source_probabilities",
    "source_features",
    "source_labels",
    "predictions",
    "groups",
    "ids",
)
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "features": ("X", "x", "embeddings"),
    "labels": ("y", "label", "target", "targets"),
    "ids": ("id",),
}
"""What other programs call the same arrays."""
STORED: Final = frozenset((*NAMES, *(name for names in ALIASES.values() for name in names)))
SUFFIXES: Final = (".npz", ".npy", *TENSORS, ".parquet", ".zarr")
TABLES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")
MAGIC: Final = {b"PK\x03\x04": ".npz", b"PK\x05\x06": ".npz", b"\x93NUMPY": ".npy", b"PAR1": ".parquet"}
RULE: Final = "F-11"
MOST_METADATA: Final = 1 << 22
BLOCK: Final = 1 << 22
"""Numbers that are looked at at a time."""
_ROWS_OF: Final[Mapping[str, str]] = {
    "labels": "features",
    "source_probabilities": "features",
    "predictions": "features",
    "groups": "features",
    "ids": "features",
    "source_labels": "source_features",
}

WANTED: Final[Mapping[str, str]] = {
    "features": "Name the table of numbers `features` (or `X`, `embeddings`).",
    "labels": "Name the labels `labels` (or `y`, `label`, `target`), or give them in a file of their own.",
}

Rows = Any
"""`[N, d]`: an array, or one that is stored and gives rows when asked."""


@dataclass(frozen=True)
class FeatureSet:
    """What one file holds; `features` can be indexed by slices and row numbers and is not read before."""

    name: str
    features: Rows
    labels: NDArray[Any]
    source_probabilities: NDArray[Any] | None = None
    source_features: Rows | None = None
    source_labels: NDArray[Any] | None = None
    predictions: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    others: tuple[str, ...] = field(default=())
    """Names in the file that mean nothing here."""

    def batches(self, rows: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Features and labels a few rows at a time, in their order."""
        for start in range(0, len(self.labels), rows):
            yield np.asarray(self.features[start : start + rows]), self.labels[start : start + rows]


def read_features(path: Path, *, labels: Path | None = None, predicted: bool = False) -> FeatureSet:
    """The features of a file of any of the formats; `labels` names a second file, for formats that hold one array.

    With `predicted` the file's `predictions` stand for labels, which it then need not have.
    """
    found = read_arrays(path)
    if labels is not None:
        found["labels"] = _labels_file(labels)
    if predicted:
        found |= {"labels": _predictions(found, path)}
    lacking = [name for name in ("features", "labels") if name not in found]
    if lacking:
        raise UnreadableError(
            f"{path} holds no {' and no '.join(lacking)}; it holds {_names_in_words(found)}. "
            + " ".join(WANTED[name] for name in lacking)
        )
    return feature_set(path.name, found)


def read_arrays(path: Path) -> dict[str, Any]:
    """Everything a file holds, by the names of the contract; what it is, its first bytes say before its name does."""
    kind = file_kind(path)
    if kind in TABLES:
        return _read_text(path)
    if kind not in SUFFIXES:
        endings = ", ".join((*SUFFIXES, *TABLES[:2]))
        raise UnreadableError(f"{path} is not a file of features: its name must end in {endings}.")
    return _READERS[kind](path)


def file_kind(path: Path) -> str:
    """The ending that a file of this content has; its own where the content says nothing."""
    own = path.suffix.lower()
    if not path.is_file():
        return own
    if own in TENSORS:
        return own  # an archive too, so that its first bytes are those of NumPy's
    with path.open("rb") as file:
        start = file.read(8)
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), own)


def _by_contract(found: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The same arrays under the names of the contract; two that could be the same one are refused."""
    made = dict(found)
    for name, others in ALIASES.items():
        present = [other for other in (name, *others) if other in made]
        if len(present) > 1:
            several = " and ".join(map(repr, present))
            raise UnreadableError(f"{file}: {several} could each be the {name}. Keep one of them.")
        if present:
            made[name] = made.pop(present[0])
    return made


def _read_text(path: Path) -> dict[str, Any]:
    """The arrays of a table of text; its first problem is raised, and a task lists all of them."""
    findings = Findings()
    found = read_table(path, Place("submission", RULE), findings)
    if found is None or not findings.valid:
        raise InvalidInputError("measure", findings)
    return found


def _predictions(found: Mapping[str, Any], path: Path) -> Any:
    if "predictions" not in found:
        raise UnreadableError(f"{path} holds no predictions to take for labels; it holds {_names_in_words(found)}.")
    return found["predictions"]


def check(found: FeatureSet) -> Findings:
    """Every problem of the arrays: shapes that do not fit, missing labels, and nan or inf by row (F-11)."""
    findings = Findings()
    findings.extend(_shape_problems(found))
    if findings.valid:
        for name in ("features", "source_features", "source_probabilities"):
            _add_bad_rows(findings, found.name, name, getattr(found, name))
        for name in ("labels", "source_labels"):
            _add_missing(findings, found.name, name, getattr(found, name))
    return findings


def check_labels(found: FeatureSet) -> Findings:
    """Every problem of labels that stand alone, with the ids and groups of their rows; features are not looked at."""
    findings = Findings()
    rows = 0 if found.labels is None else len(found.labels)
    for name in ("labels", "groups", "ids"):
        value = getattr(found, name)
        if value is not None and (value.ndim != 1 or len(value) != rows):
            wrong = f"{name} has the shape {value.shape}, and there are {rows} labels"
            findings.add(_problem(found.name, wrong, "store one entry for each row"))
    if findings.valid:
        _add_missing(findings, found.name, "labels", found.labels)
    return findings


def feature_set(name: str, found: Mapping[str, Any]) -> FeatureSet:
    """The arrays of a file as one value; all but the features are read into memory."""
    kept: dict[str, Any] = {key: found.get(key) for key in NAMES}
    small = {key: _in_memory(value, f"{name}:{key}") for key, value in kept.items() if not key.endswith("features")}
    others = tuple(sorted(set(found) - set(NAMES)))
    return FeatureSet(name, **{**kept, **small}, others=others)


def _in_memory(value: Any, name: str) -> NDArray[Any] | None:
    if value is None:
        return None
    if isinstance(value, StoredArray) and value.dtype.itemsize * int(np.prod(value.shape)) > MOST_LOADED:
        raise UnreadableError(f"{name} is larger than {MOST_LOADED >> 30} GiB.")
    return np.asarray(value[...])


def _read_npy(path: Path) -> dict[str, Any]:
    """One array; its labels lie beside it as `NAME.labels.npy` or `labels.npy`, if they are not named."""
    found: dict[str, Any] = {"features": open_npy(path)}
    beside = (path.with_suffix(".labels.npy"), path.with_name("labels.npy"))
    labels = next((name for name in beside if name.is_file() and name != path), None)
    return found if labels is None else {**found, "labels": open_npy(labels)}


def _read_npz(path: Path) -> dict[str, Any]:
    return _by_contract(open_npz(path, STORED), path.name)


def _read_pt(path: Path) -> dict[str, Any]:
    return _by_contract(read_tensors(path), path.name)


def _labels_file(path: Path) -> Any:
    """Labels of their own: an `.npy` array, one with `labels`, a table, or one label per line."""
    kind = file_kind(path)
    if kind == ".npy":
        return open_npy(path)
    if kind not in _READERS:
        return _written_labels(path)
    found = _READERS[kind](path)
    if "labels" not in found:
        raise UnreadableError(f"{path} holds no labels. Give an .npy file, or one with an array `labels`.")
    return found["labels"]


def _written_labels(path: Path) -> NDArray[Any]:
    """The labels of a table or of a text with one per line, in the order of the rows."""
    findings = Findings()
    items = read_classes(path, "truth", Place("reference", RULE), findings)
    if items is None or not findings.valid:
        raise InvalidInputError("measure", findings)
    return whole_numbers(items.content)


def _read_parquet(path: Path) -> dict[str, Any]:
    """A column `features` of lists, or every number column that has no other meaning; `label` or `labels`."""
    check_regular(path)
    try:
        table = read_parquet(path, most=MOST_LOADED)
    except ExpansionError as error:
        raise UnreadableError(f"{path} cannot be read: {error}. Store it as .npy or zarr.") from error
    except parquet_faults() as error:
        raise UnreadableError(
            f"{path.name} is not a Parquet file that can be read: {shortened(str(error))}."
        ) from error
    return _from_columns(table, path.name)


def _from_columns(table: Any, name: str) -> dict[str, Any]:
    import polars as pl

    roles, doubts = column_roles(table.columns)
    if doubts:
        raise UnreadableError(f"{name}: {doubts[0][0]}. Keep one of them.")
    renamed = table.rename({old: new for new, old in roles.items()})
    lists = next((one for one in LISTS if one in table.columns and renamed.schema[one].is_nested()), None)
    renamed = renamed if lists is None else renamed.rename({lists: "features"})
    nested = {
        key: _listed_column(renamed[key], f"{name}:{key}")
        for key, kind in renamed.schema.items()
        if isinstance(kind, (pl.List, pl.Array))
    }
    plain = {key: renamed[key].to_numpy() for key in renamed.columns if key in NAMES and key not in nested}
    rest = [key for key, kind in renamed.schema.items() if key not in NAMES and kind.is_numeric()]
    if "features" not in nested and rest:
        nested["features"] = renamed.select(rest).to_numpy()
    return {**plain, **nested}


def _listed_column(column: Any, name: str) -> NDArray[Any]:
    import polars as pl

    if column.is_null().any():
        row = int(column.is_null().arg_max())
        raise UnreadableError(f"{name}: row {row} (counted from 0) is missing. Leave the row out.")
    lengths = column.list.len() if isinstance(column.dtype, pl.List) else None
    if lengths is not None and lengths.n_unique() > 1:
        row = int((lengths != lengths[0]).arg_max())
        raise UnreadableError(f"{name}: row {row} (counted from 0) has {lengths[row]} values, row 0 has {lengths[0]}.")
    width = column.dtype.size if lengths is None else (int(lengths[0]) if len(column) else 0)
    return np.asarray(column.explode().to_numpy()).reshape(len(column), width)


@dataclass(frozen=True)
class ZarrRows:
    """Rows of a zarr array, opened again wherever it is needed."""

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, rows: Any, /) -> NDArray[Any]:
        whole = isinstance(rows, slice) or rows is Ellipsis
        with _zarr_faults(self.path):
            array = _zarr_group(self.path)[self.key]
            return np.asarray(array[rows] if whole else array.oindex[rows])

    def __len__(self) -> int:
        return self.shape[0]


def _read_zarr(path: Path) -> dict[str, Any]:
    """The arrays of a zarr group; codecs that would run code are refused before anything is read."""
    _refuse_pickles(path)
    with _zarr_faults(path):
        group = _zarr_group(path)
        found = {name: _zarr_rows(path, name, group[name]) for name in sorted(STORED) if name in group}
    return _by_contract(found, path.name)


def _zarr_rows(path: Path, name: str, array: Any) -> ZarrRows:
    shape, dtype = tuple(array.shape), np.dtype(array.dtype)
    chunk = int(np.prod(array.chunks, dtype=np.float64)) * dtype.itemsize
    if dtype.kind not in "fiubUST" or dtype.itemsize * float(np.prod(shape, dtype=np.float64)) > MOST_BYTES:
        raise UnreadableError(f"{path.name}:{name} has the type {dtype} and shape {shape}, which is not read here.")
    if chunk > MOST_LOADED >> 3:
        raise UnreadableError(f"{path.name}:{name} has chunks of {chunk >> 20} MiB. Write it with smaller ones.")
    return ZarrRows(path, name, shape, dtype)


def _zarr_group(path: Path) -> Any:
    zarr = required_module("zarr")
    return zarr.open_group(str(path), mode="r")


@contextmanager
def _zarr_faults(path: Path) -> Iterator[None]:
    """Whatever the library makes of a stranger's metadata and chunks is one refusal (X-8)."""
    try:
        yield
    except BasaniteError:
        raise
    except Exception as error:  # zarr raises errors of many libraries for broken metadata and chunks
        raise UnreadableError(f"{path} is not a zarr group that can be read: {shortened(str(error))}.") from error


def _refuse_pickles(path: Path) -> None:
    folders = (path, *(path / name for name in STORED))
    files = [folder / name for folder in folders for name in (".zarray", ".zmetadata", "zarr.json")]
    for file in files:
        if file.is_file() and b"pickle" in read_bounded(file, MOST_METADATA).lower():
            raise UnreadableError(f"{path.name} is stored with a codec that runs code (pickle): it is not read.")


_READERS: Final = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".pt": _read_pt,
    ".pth": _read_pt,
    ".parquet": _read_parquet,
    ".zarr": _read_zarr,
}


def _shape_problems(found: FeatureSet) -> Iterator[Problem]:
    for name in ("features", "source_features", "source_probabilities"):
        value = getattr(found, name)
        if value is not None and (
            len(value.shape) != 2 or 0 in value.shape or np.dtype(value.dtype).kind not in "fiub"
        ):
            wrong = f"{name} have the shape {tuple(value.shape)} and the type {value.dtype}"
            yield _problem(found.name, wrong, "store a table of numbers, rows by dimensions")
    for name, of in _ROWS_OF.items():
        value, rows = getattr(found, name), getattr(found, of)
        if value is not None and (rows is None or len(value) != len(rows)):
            wrong = f"{name} has {len(value)} entries and {of} {0 if rows is None else len(rows)} rows"
            yield _problem(found.name, wrong, "give one entry for each row")
    for name in ("labels", "source_labels", "predictions", "groups", "ids"):
        value = getattr(found, name)
        if value is not None and value.ndim != 1:
            yield _problem(found.name, f"{name} has the shape {value.shape}", "store one entry for each row")


def _add_bad_rows(findings: Findings, file: str, name: str, value: Rows | None) -> None:
    if value is None or np.dtype(value.dtype).kind != "f":
        return
    step = max(1, BLOCK // max(1, value.shape[1]))
    for start in range(0, value.shape[0], step):
        block = np.asarray(value[start : start + step])
        for row in np.flatnonzero(~np.isfinite(block).all(axis=1)).tolist():
            kind = "nan" if np.isnan(block[row]).any() else "infinity"
            findings.add(
                _problem(file, f"{name}: row {start + row} (counted from 0) holds {kind}", "correct or remove it")
            )


def _add_missing(findings: Findings, file: str, name: str, value: NDArray[Any] | None) -> None:
    if value is None:
        return
    missing = np.isnan(value) if value.dtype.kind == "f" else np.array([label is None for label in value], bool)
    for row in np.flatnonzero(missing).tolist():
        findings.add(_problem(file, f"{name}: row {row} (counted from 0) has no label", "give one, or remove the row"))


def _problem(file: str, message: str, fix: str) -> Problem:
    return Problem(rule=RULE, file=file, line=None, field=None, message=message, fix=fix)


def _names_in_words(found: Mapping[str, Any]) -> str:
    return ", ".join(shortened(name, 30) for name in sorted(found)[:10]) or "nothing"
