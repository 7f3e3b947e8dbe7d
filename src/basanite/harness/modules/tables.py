"""Preprocessors for items that are rows of numbers already: as they are, standardised, or brought to 0..1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Form, Module, Role

Floats = NDArray[np.float64]


class Table:
    """Each column moved by its `shift` and divided by its `scale`; here by nothing, so that rows stay as they are."""

    def __init__(self) -> None:
        self.shift: Floats = np.zeros(1)
        self.scale: Floats = np.ones(1)

    def fit(self, items: ArrayLike) -> None:
        """Nothing is to be learned."""

    def transform(self, items: ArrayLike) -> Floats:
        """The rows as numbers."""
        return (_rows(items) - self.shift) / self.scale


class Scaled(Table):
    """Every column with mean 0 and deviation 1 over the rows that may be seen; a constant column becomes 0."""

    def fit(self, items: ArrayLike) -> None:
        """Learn means and deviations."""
        rows = _rows(items)
        self.shift, deviations = rows.mean(axis=0), rows.std(axis=0)
        self.scale = np.where(deviations > 0, deviations, 1.0)


class Pixels(Table):
    """All columns divided by the largest number among the rows that may be seen: never negative, mostly 0..1."""

    def fit(self, items: ArrayLike) -> None:
        """Learn the largest number."""
        rows = _rows(items)
        if rows.size and rows.min() < 0:
            raise SettingError("Pixels are never negative, and these rows have negative numbers: use 'scaled'.")
        self.scale = np.array([float(rows.max(initial=0)) or 1.0])


def _rows(items: ArrayLike) -> Floats:
    try:
        rows = np.asarray(items, np.float64)
        return rows.reshape(len(rows), -1) if rows.ndim > 2 else rows.reshape(rows.shape[0], rows.shape[1])
    except (ValueError, TypeError, IndexError) as error:
        raise SettingError(
            "These items are not rows of numbers: use a preprocessor for texts, such as 'bow'."
        ) from error


def _module(name: str, role: Role, summary: str, table: type[Table], gives: Form) -> Module:
    """A module without parameters and without dice."""
    return Module(
        name=name,
        role=role,
        summary=summary,
        make=lambda parameters, seed: table(),
        needs="items",
        gives=gives,
        schema={"type": "object", "properties": {}, "additionalProperties": False},
        random=False,
        code=(__file__,),
    )


IDENTITY = _module("identity", "preprocessor", "Rows of numbers as they are", Table, "dense")
SCALED = _module("scaled", "preprocessor", "Rows of numbers with every column standardised", Scaled, "dense")
PIXELS = _module(
    "pixels", "features", "Rows of numbers that are never negative, divided by the largest", Pixels, "nonneg"
)
