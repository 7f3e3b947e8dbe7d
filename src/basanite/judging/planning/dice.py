"""Dice that give the same on every machine: numbers from a seed and names, so that a plan can be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

Value = TypeVar("Value")


def die(seed: int | str, *names: object) -> int:
    """A number of 64 bits that looks random and depends on the seed and the names only.

    >>> die(7, "a") == die(7, "a"), die(7, "a") == die(8, "a")
    (True, False)
    """
    words = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def chance(seed: int | str, *names: object) -> float:
    """The same as a number from 0 up to and without 1."""
    return die(seed, *names) / 2**64


def shuffled(values: Iterable[Value], name: Callable[[Value], object], seed: int | str, *names: object) -> list[Value]:
    """The values in an order drawn for the seed; each is known by its name."""
    return sorted(values, key=lambda value: (die(seed, *names, name(value)), str(name(value))))
