"""Rows drawn without replacement, from raw generator words by our own map: the same on every machine (S-6)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.results import Numbers


def source_of(seed: int, *purpose: str) -> np.random.PCG64:
    """A generator of its own for every seed and purpose."""
    name = "|".join((str(seed), *purpose)).encode()
    return np.random.PCG64(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


def drawn_rows(count: int, size: int, source: np.random.PCG64) -> Numbers:
    """So many of the numbers below `count`, each at most once, in rising order.

    >>> drawn_rows(5, 5, source_of(0, "example")).tolist()
    [0, 1, 2, 3, 4]
    """
    words = source.random_raw(count)
    return np.sort(np.argsort(words, kind="stable")[:size])


def subsamples(classes: Classes, *, draws: int, seed: int, share: float = 0.5) -> Iterator[Numbers]:
    """Row numbers of subsamples without replacement: this share of each class, but two rows at least if it has them.

    Where copies of rows would spoil a measure (Dunn, OTCE, H-score with few rows), intervals rest on these and are
    labelled so (S-5).
    """
    source = source_of(seed, "subsamples")
    sizes = [min(int(count), max(2, round(share * int(count)))) for count in classes.counts]
    for _ in range(draws):
        parts = [
            classes.members(place)[drawn_rows(int(classes.counts[place]), size, source)]
            for place, size in enumerate(sizes)
        ]
        yield np.sort(np.concatenate(parts))
