"""The files between us and a program: numbers and texts in formats that a shell can read, checked on their way back.

    tsv      one row a line, numbers between tabs
    sparse   one row a line, `column:value` between blanks, columns numbered from 1; zeros are left out
    npy      NumPy's file of one array, never with pickled objects (X-5)

Texts stand one per line with backslash, tab, line feed and carriage return written
as \\\\ \\t \\n \\r, or as JSON strings.

What a program says about itself when it is asked to `describe` is checked here too: every mistake in it at once.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.stored_arrays import HEADER_FAULTS
from basanite.harness.modules.interfaces import Form, Learner, Role
from basanite.harness.steps.layout import ModuleError
from basanite.harness.steps.store import Sequences

MATRIX_FORMATS: Final = ("npy", "sparse", "tsv")
FORMATS: Final = (*MATRIX_FORMATS, "jsonl")
LARGEST: Final = 2**32
ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def write_call(folder: Path, told: Mapping[str, Any]) -> None:
    """Write what a call is about, as JSON and, for programs that read no JSON, as a table of names and values."""
    (folder / "call.json").write_text(json.dumps(told, sort_keys=True) + "\n", encoding="utf-8")
    lines = [f"{name}\t{_cell(value)}\n" for name, value in _flat(told)]
    (folder / "call.tsv").write_text("".join(lines), encoding="utf-8")


def _flat(told: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in sorted(told.items()):
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _cell(value: Any) -> str:
    return escape(value) if isinstance(value, str) else json.dumps(value)


def escape(text: str) -> str:
    """A text on one line.

    >>> escape("two" + chr(10) + "lines")
    'two\\\\nlines'
    """
    return "".join(ESCAPES.get(char, char) for char in text)


def write_items(folder: Path, items: Sequence[Any], formats: Sequence[str]) -> None:
    """Write items of a data set: texts, or rows of numbers."""
    if len(items) and isinstance(items[0], str):
        if "jsonl" in formats:
            _write_lines(folder / "items.jsonl", (json.dumps(text, ensure_ascii=False) for text in items))
        else:
            _write_lines(folder / "items.txt", map(escape, items))
    else:
        write_matrix(folder, "items", items, formats)


def write_matrix(folder: Path, name: str, matrix: Any, formats: Sequence[str]) -> None:
    """Write a matrix in the first format that the program reads."""
    kind = next((kind for kind in formats if kind in MATRIX_FORMATS), "tsv")
    path = folder / f"{name}.{kind}"
    if kind == "sparse":
        _write_lines(path, _sparse_lines(scipy.sparse.csr_array(matrix)))
        return
    dense = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    if kind == "npy":
        np.save(path, np.ascontiguousarray(dense), allow_pickle=False)
    else:
        _write_lines(path, ("\t".join(map(repr, row)) for row in dense.astype(np.float64).tolist()))


def write_numbers(path: Path, values: NDArray[Any]) -> None:
    """Write one number a line."""
    _write_lines(path, map(repr, np.asarray(values, np.float64).tolist()))


def _sparse_lines(matrix: Any) -> Iterator[str]:
    for row in range(matrix.shape[0]):
        start, end = matrix.indptr[row], matrix.indptr[row + 1]
        pairs = zip(matrix.indices[start:end].tolist(), matrix.data[start:end].tolist(), strict=True)
        yield " ".join(f"{column + 1}:{value!r}" for column, value in pairs)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def read_matrix(folder: Path, name: str, rows: int, maker: str) -> Any:
    """The matrix that a program wrote, in whichever format; it must have as many rows as were given."""
    kind = next((kind for kind in MATRIX_FORMATS if _is_file(folder / f"{name}.{kind}")), None)
    if kind is None:
        raise ModuleError(f"{maker} wrote no out/{name}.tsv (nor .sparse or .npy)")
    path = folder / f"{name}.{kind}"
    if kind == "npy":
        found: Any = read_array(path, maker)
    elif kind == "tsv":
        found = _read_tsv(path, maker)
    else:
        found = _read_sparse(path, _columns(folder, maker), maker)
    if found.shape[0] != rows:
        raise ModuleError(f"{maker} wrote {found.shape[0]} rows to out/{path.name} where {rows} are needed")
    return found


def read_numbers(folder: Path, name: str, rows: int, maker: str) -> NDArray[np.float64]:
    """Numbers that a program wrote, one per line or as an array."""
    text, binary = folder / f"{name}.txt", folder / f"{name}.npy"
    found = read_array(binary, maker) if _is_file(binary) else _numbers(_lines(text, maker), text, maker)
    if found.shape != (rows,):
        raise ModuleError(f"{maker} wrote numbers of shape {found.shape} to out/{name} where {rows} are needed")
    return np.asarray(found, np.float64)


def read_array(path: Path, maker: str) -> NDArray[Any]:
    """An array of numbers from a .npy file of a stranger's: no pickle, and no more than the file really holds (X-5)."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("error")
            version = np.lib.format.read_magic(file)
            reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = reader(file)
            held = os.fstat(file.fileno()).st_size - file.tell()
            if dtype.hasobject or dtype.kind not in "fiub" or held != dtype.itemsize * _product(shape):
                raise ValueError("it is not a plain array of numbers, or its size is not what it says")
            array = np.fromfile(file, dtype)
    except (*HEADER_FAULTS, Warning) as error:
        raise ModuleError(f"{maker} wrote {path.name}, which cannot be read: {error}") from error
    return array.reshape(shape, order="F" if fortran else "C")


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _lines(path: Path, maker: str) -> list[str]:
    if not _is_file(path):
        raise ModuleError(f"{maker} wrote no out/{path.name}")
    try:
        return read_bounded(path, LARGEST).decode("ascii").splitlines()
    except (UnreadableError, ValueError) as error:
        raise ModuleError(f"{maker} wrote out/{path.name}, which cannot be read: {error}") from error


def _read_tsv(path: Path, maker: str) -> NDArray[np.float64]:
    cells = [line.split("\t") for line in _lines(path, maker)]
    width = len(cells[0]) if cells else 0
    for number, row in enumerate(cells, start=1):
        if len(row) != width:
            raise ModuleError(f"{maker}: line {number} of out/{path.name} has {len(row)} numbers, the first {width}")
    flat = _numbers([cell for row in cells for cell in row], path, maker, width)
    return flat.reshape(len(cells), width)


def _numbers(cells: Sequence[str], path: Path, maker: str, width: int = 1) -> NDArray[np.float64]:
    found = np.empty(len(cells))
    for at, cell in enumerate(cells):
        try:
            found[at] = float(cell)
        except ValueError:
            line = at // max(width, 1) + 1
            raise ModuleError(f"{maker}: line {line} of out/{path.name} holds {cell[:40]!r}, no number") from None
    return found


def _columns(folder: Path, maker: str) -> int:
    text = _lines(folder / "columns.txt", maker)
    if len(text) == 1 and text[0].strip().isdigit() and len(text[0].strip()) < 10:
        return int(text[0])
    raise ModuleError(f"{maker} must say in out/columns.txt how many columns its sparse rows have")


def _read_sparse(path: Path, columns: int, maker: str) -> Any:
    values: list[float] = []
    places: list[int] = []
    ends = [0]
    for number, line in enumerate(_lines(path, maker), start=1):
        for pair in line.split():
            place, _, value = pair.partition(":")
            try:
                places.append(int(place) - 1)
                values.append(float(value))
            except ValueError:
                raise ModuleError(f"{maker}: line {number} of out/{path.name} holds {pair[:40]!r}") from None
        ends.append(len(places))
    if places and not 0 <= min(places) <= max(places) < columns:
        raise ModuleError(f"{maker}: out/{path.name} has columns outside 1 to {columns}")
    return scipy.sparse.csr_array(
        (np.array(values), np.array(places, np.int64), np.array(ends)), (len(ends) - 1, columns)
    )


def hidden_order(items: Any, salt: int) -> NDArray[np.int64]:
    """An order of rows that tells nothing: by a hash of each row's own content (A26).

    The order of a split tells who is in which fold, and in a fold who has which label. A random order would make last
    digits depend on dice; this one is the same every time, and shows a program only what it sees anyway.
    """
    key = salt.to_bytes(8, "little")
    digests = [blake2b(content, digest_size=16, key=key).digest() for content in _contents(items)]
    return np.array(sorted(range(len(digests)), key=digests.__getitem__), np.int64)


def _contents(items: Any) -> Iterator[bytes]:
    if scipy.sparse.issparse(items):
        yield from (line.encode() for line in _sparse_lines(scipy.sparse.csr_array(items)))
    elif isinstance(items, Sequences):
        yield from (b"".join(_contents(items[at : at + 1].rows)) for at in range(len(items)))
    elif len(items) and isinstance(items[0], str):
        yield from (text.encode() for text in items)
    else:
        yield from (row.tobytes() for row in np.ascontiguousarray(items))


FORMAT: Final = "basanite-foreign/1"
SCALES: Final = ("margin", "probability", "rating")
FEWEST_LAYERS: Final = 3
KEYS: Final[Mapping[str, type]] = {
    "format": str,
    "name": str,
    "role": str,
    "summary": str,
    "version": str,
    "needs": str,
    "gives": str,
    "scale": str,
    "formats": list,
    "schema": dict,
    "random": bool,
    "greedy": bool,
    "declares": dict,
}
NEEDED: Final = ("format", "name", "role")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "format": (FORMAT,),
    "role": get_args(Role),
    "needs": get_args(Form),
    "gives": get_args(Form),
    "scale": SCALES,
}


@dataclass(frozen=True)
class Description:
    """What is known of a program before it runs."""

    name: str
    role: Role
    summary: str = ""
    version: str = "1"
    needs: Form | None = None
    gives: Form = "dense"
    scale: Any = "margin"
    formats: tuple[str, ...] = ("tsv",)
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "additionalProperties": False})
    random: bool = True
    greedy: bool = False
    declares: Mapping[str, Any] = field(default_factory=dict)
    """Whatever the evaluation team must know, such as patches that are sampled inside (A33)."""


def parse_description(answer: list[Any], maker: str) -> Description:
    """The description in a program's answer; if anything is wrong with it, all of that is reported."""
    if len(answer) != 1 or not isinstance(answer[0], dict):
        raise ModuleError(f"{maker} must print one JSON object on one line")
    told = answer[0]
    wrong = list(_faults(told))
    if wrong:
        raise ModuleError(f"{maker}: {'; '.join(wrong)}")
    plain = {name: value for name, value in told.items() if name not in ("format", "formats")}
    return Description(**plain, formats=tuple(told.get("formats", ("tsv",))))


def _faults(told: Mapping[str, Any]) -> list[str]:
    wrong = [f"`{name}` is missing" for name in NEEDED if name not in told]
    wrong += [f"`{name}` is unknown" for name in told if name not in KEYS]
    known = {name: value for name, value in told.items() if name in KEYS}
    wrong += [f"`{name}` is no {KEYS[name].__name__}" for name, value in known.items() if type(value) is not KEYS[name]]
    for name, allowed in CHOICES.items():
        if isinstance(told.get(name), str) and told[name] not in allowed:
            wrong.append(f"`{name}` is {told[name]!r} and not one of {', '.join(allowed)}")
    formats = told.get("formats", [])
    if isinstance(formats, list):
        wrong += [
            f"the format {kind!r} is unknown: use {', '.join(FORMATS)}" for kind in formats if kind not in FORMATS
        ]
    return wrong + _schema_faults(told.get("schema", {}))


def _schema_faults(schema: Any) -> list[str]:
    """The schema is a stranger's too: it must be one, and may not point elsewhere."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, dict):
        return []
    if "$ref" in str(schema) or "$dynamicRef" in str(schema):
        return ["`schema` may not use $ref"]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return [f"`schema` is not a JSON Schema: {error.message[:200]}"]
    return []


def layer_faults(learner: Learner, sample: Any) -> list[str]:
    """What is wrong with the layers of a fitted deep learner, seen on some rows; nothing if all is well."""
    states = list(learner.states())
    wrong = _structure_faults(learner.layers, states)
    if wrong:
        return wrong
    codes = [_dense(learner.transform(sample, layer)) for layer in range(1, learner.layers + 1)]
    wrong += [
        f"layer {at} gives {len(code)} rows for {sample.shape[0]}"
        for at, code in enumerate(codes, 1)
        if len(code) != sample.shape[0]
    ]
    wrong += [
        f"layer {at} gives the same code for every row"
        for at, code in enumerate(codes, 1)
        if len(code) > 1 and (code == code[0]).all()
    ]
    for (first, one), (second, other) in combinations(enumerate(codes, 1), 2):
        if one.shape == other.shape and np.array_equal(one, other):
            wrong.append(f"layers {first} and {second} give the same codes")
    return wrong


def _structure_faults(layers: int, states: Sequence[Any]) -> list[str]:
    wrong = [] if layers >= FEWEST_LAYERS else [f"it has {layers} layers where {FEWEST_LAYERS} are needed"]
    if len(states) != layers:
        return [*wrong, f"it shows weights of {len(states)} layers and says it has {layers}"]
    names = [sorted(layer) for layer in states]
    wrong += [f"layer {at} has no weights" for at, found in enumerate(names, 1) if not found]
    wrong += [
        f"layer {at} has {', '.join(found)} where layer 1 has {', '.join(names[0])}: one algorithm for all layers"
        for at, found in enumerate(names, 1)
        if found != names[0]
    ]
    return wrong


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
