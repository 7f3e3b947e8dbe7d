"""Preprocessors for items that are rows of numbers already: as they are, standardised, or brought to 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Module

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
            "These items are no rows of numbers: use a preprocessor for texts, such as 'bow'."
        ) from error


def make_table(parameters: Mapping[str, Any], seed: int) -> Table:
    """Rows as they are."""
    return Table()


def make_scaled(parameters: Mapping[str, Any], seed: int) -> Scaled:
    """Standardised columns."""
    return Scaled()


def make_pixels(parameters: Mapping[str, Any], seed: int) -> Pixels:
    """Numbers from 0 to 1."""
    return Pixels()


_NONE: Final = {"type": "object", "properties": {}, "additionalProperties": False}

IDENTITY = Module(
    name="identity",
    role="preprocessor",
    summary="Rows of numbers as they are",
    make=make_table,
    needs="items",
    gives="dense",
    schema=_NONE,
    random=False,
    code=(__file__,),
)
SCALED = Module(
    name="scaled",
    role="preprocessor",
    summary="Rows of numbers with every column standardised",
    make=make_scaled,
    needs="items",
    gives="dense",
    schema=_NONE,
    random=False,
    code=(__file__,),
)
PIXELS = Module(
    name="pixels",
    role="features",
    summary="Rows of numbers that are never negative, divided by the largest",
    make=make_pixels,
    needs="items",
    gives="nonneg",
    schema=_NONE,
    random=False,
    code=(__file__,),
)
