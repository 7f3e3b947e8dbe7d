"""The plan's sampling, exactly: stratified samples by largest remainder, folds dealt out in order of rarity.

Every function is pure: rows in, rows out, and where something is random the generator comes in.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError

Rows = NDArray[np.int64]
Values = NDArray[np.generic]


def nearest(number: float) -> int:
    """A size rounded to the nearest whole number, halves up (A8).

    >>> nearest(0.7 * 433_697) - 10_000
    293588
    """
    return int(np.floor(number + 0.5))


def quotas(counts: Sequence[int], n: int) -> list[int]:
    """How many of each class make `n` in all, by largest remainder; ties go to the earlier class (A8).

    >>> quotas([5, 3, 2], 5), quotas([1, 1, 1], 2)
    ([3, 1, 1], [1, 1, 0])
    """
    total = sum(counts)
    if not 0 <= n <= total:
        raise SettingError(f"{n} of {total} rows cannot be sampled without replacement: ask for at most {total}.")
    shares = [count * n for count in counts]  # in units of 1/total: no rounding before the decision
    found = [share // total if total else 0 for share in shares]
    rest = [share - floor * total for share, floor in zip(shares, found, strict=True)]
    order = sorted(range(len(counts)), key=lambda at: (-rest[at], at))
    for at in order[: n - sum(found)]:
        found[at] += 1
    return found


def sample_stratified(values: Values, n: int, generator: np.random.Generator) -> Rows:
    """`n` rows without replacement whose classes are as frequent as among all (H-14); rows come back in order."""
    classes, inverse = np.unique(values, return_inverse=True)
    counts = np.bincount(inverse, minlength=len(classes))
    chosen = [
        generator.permutation(np.flatnonzero(inverse == place))[:quota]
        for place, quota in enumerate(quotas(counts.tolist(), n))
    ]
    return np.sort(np.concatenate(chosen)).astype(np.int64) if chosen else np.zeros(0, np.int64)


def stratified_folds(first_labels: Values, folds: int, *, shuffle_seed: int | None = None) -> list[Rows]:
    """Rows ordered by how rare their class is and dealt out round robin (H-15, A4, A5).

    The key is (count of the first label, order of the class, order of the row). Fold i of 1..K gets items i, i+K, ….

    >>> [fold.tolist() for fold in stratified_folds(np.array([0, 0, 0, 1, 1]), 2)]
    [[3, 0, 2], [4, 1]]
    """
    if not 2 <= folds <= max(len(first_labels), 2):
        raise SettingError(f"{folds} folds cannot be made of {len(first_labels)} rows: use 2 to {len(first_labels)}.")
    _, inverse = np.unique(first_labels, return_inverse=True)
    rows = np.arange(len(first_labels))
    if shuffle_seed is not None:
        rows = np.random.default_rng(shuffle_seed).permutation(rows)
    counts = np.bincount(inverse)
    order = rows[np.lexsort((np.arange(len(rows)), inverse[rows], counts[inverse[rows]]))]
    return [order[place::folds].astype(np.int64) for place in range(folds)]


@dataclass(frozen=True)
class Partition:
    """The rows of one target (or of all, where they share a split): training in folds, extra validation, test."""

    folds: tuple[Rows, ...]
    validation: Rows
    test: Rows

    @property
    def training(self) -> Rows:
        """The rows of all folds, in order."""
        return np.sort(np.concatenate(self.folds))

    def check(self) -> None:
        """No row is in two sets: a program that breaks this must not go on."""
        everything = np.concatenate([*self.folds, self.validation, self.test])
        if len(np.unique(everything)) != len(everything):
            raise AssertionError("a row is in two sets of one partition")


@dataclass(frozen=True)
class Sizes:
    """How many rows a split has for training, and in how many folds."""

    train_share: float
    n: int
    folds: int
    shuffle_seed: int | None = None


def partition(
    values: Values, sizes: Sizes, generator: np.random.Generator, *, groups: Values | None = None
) -> Partition:
    """Training, validation and test rows of one target as the plan makes them (H-13); groups are never split (A11)."""
    everything = np.arange(len(values))
    chosen = (
        sample_stratified(values, nearest(sizes.train_share * len(values)), generator)
        if groups is None
        else _whole_groups(groups, sizes.train_share, generator)
    )
    test = np.setdiff1d(everything, chosen)
    fitted = chosen[sample_stratified(values[chosen], min(sizes.n, len(chosen)), generator)]
    dealt = stratified_folds(values[fitted], sizes.folds, shuffle_seed=sizes.shuffle_seed)
    made = Partition(tuple(fitted[fold] for fold in dealt), np.setdiff1d(chosen, fitted), test)
    made.check()
    return made


def cap_validation(partition: Partition, values: Values, cap: int | None, generator: np.random.Generator) -> Partition:
    """The same with at most `cap` extra validation rows, a stratified sample that all conditions share (A24)."""
    if cap is None or len(partition.validation) <= cap:
        return partition
    kept = partition.validation[sample_stratified(values[partition.validation], cap, generator)]
    return Partition(partition.folds, kept, partition.test)


def _whole_groups(groups: Values, train_share: float, generator: np.random.Generator) -> Rows:
    """Whole groups in random order until the share of rows is reached as nearly as it can be."""
    names, inverse = np.unique(groups, return_inverse=True)
    sizes = np.bincount(inverse)
    order = generator.permutation(len(names))
    reached = np.cumsum(sizes[order])
    taken = int(np.argmin(np.abs(reached - train_share * len(groups)))) + 1
    return np.flatnonzero(np.isin(inverse, order[:taken])).astype(np.int64)


@dataclass(frozen=True)
class Seeds:
    """The evaluation's secret or typed-in seed, as bytes, from which all others follow one way only."""

    master: bytes

    @classmethod
    def from_number(cls, number: int) -> Seeds:
        """From a number that somebody typed in; it can be guessed, so it is never called sealed (X-1)."""
        return cls(f"typed:{number}".encode())

    def derive(self, *names: str | int) -> int:
        """The 256-bit seed of a name.

        >>> one = Seeds.from_number(1)
        >>> one.derive("split", "text") == one.derive("split", "text") != one.derive("split", "video")
        True
        """
        said = json.dumps(list(names), ensure_ascii=False).encode()
        return int.from_bytes(hmac.digest(self.master, said, hashlib.sha256), "big")

    def small(self, *names: str | int) -> int:
        """The same cut to 31 bits, for modules whose libraries take no more."""
        return self.derive(*names) & 0x7FFF_FFFF

    def generator(self, *names: str | int) -> np.random.Generator:
        """Dice of their own for a name."""
        return np.random.default_rng(self.derive(*names))
