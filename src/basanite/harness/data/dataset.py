"""A data set as the harness holds it: items, named targets, groups, and a digest of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from basanite.harness.protocol import Rows

Numbers = NDArray[np.float64]


class Texts(Sequence[str]):
    """Texts as one run of UTF-8 bytes with offsets: little memory, and stored as it is."""

    def __init__(self, content: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.content, self.offsets = content, offsets

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """From a list of texts."""
        raw = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(raw), np.uint8), ends)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        start, end = self.offsets[at % len(self)], self.offsets[at % len(self) + 1]
        return self.content[start:end].tobytes().decode()

    def take(self, rows: Rows) -> list[str]:
        """The texts of some rows."""
        return [self[int(row)] for row in rows]


@dataclass(frozen=True)
class Dataset:
    """Items with what is to be predicted of each; rows are numbered from 0 in the order of the file."""

    name: str
    items: Texts | NDArray[Any]
    """Texts, or one row of numbers for each item."""
    targets: Mapping[str, Numbers]
    """By name, in the declared order: 0 and 1 for a label, a number for a rating."""
    groups: NDArray[np.int64] | None = None
    """The group (restaurant, film) of each item, as a number."""
    first_labels: NDArray[np.int64] | None = None
    """Of items with labels: the place of the first label in the declared order (A6); -1 without any."""
    fixed: tuple[Rows, Rows] | None = None
    """Training and test rows, where the data come with a split of their own."""
    range: tuple[float, float] | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    """What was found, and under `published` what the evaluation plan says of its own data."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def digest(self) -> str:
        """The hash of items, targets and groups."""
        return _digest(self._parts())

    @cached_property
    def items_digest(self) -> str:
        """The hash of the items alone, which is all that preprocessors see."""
        return _digest(stored_items(self.items).items())

    def _parts(self) -> Iterator[tuple[str, NDArray[Any]]]:
        yield from stored_items(self.items).items()
        yield from ((f"target {name}", values) for name, values in self.targets.items())
        if self.groups is not None:
            yield "groups", self.groups


def _digest(parts: Iterable[tuple[str, NDArray[Any]]]) -> str:
    digest = hashlib.sha256()
    for name, part in parts:
        digest.update(json.dumps([name, part.dtype.str, part.shape]).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return f"sha256:{digest.hexdigest()}"


def stored_items(items: Texts | NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Items as arrays, for the store."""
    return {"content": items.content, "offsets": items.offsets} if isinstance(items, Texts) else {"rows": items}


def items_of(stored: Mapping[str, Any]) -> Texts | NDArray[Any]:
    """Items from what the store gives back."""
    if "rows" in stored:
        rows: NDArray[Any] = stored["rows"]
        return rows
    return Texts(stored["content"], stored["offsets"])


def taken(items: Any, rows: Rows) -> Any:
    """Some items, whatever they are: texts, rows of numbers, or rows of a sparse matrix."""
    return items.take(rows) if isinstance(items, Texts) else items[rows]
