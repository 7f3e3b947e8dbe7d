"""Named streams of random numbers: every use of dice has a seed of its own, made from the evaluation's by name (A37).

A seed depends on its names alone, never on the order in which work is done, so runs can be added, left out or done
elsewhere without a change to any other; and hyper-parameters never come out of the same dice as data.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Seeds:
    """The evaluation's secret or typed-in seed, as bytes, from which all others follow one way only."""

    master: bytes

    @classmethod
    def typed(cls, number: int) -> Seeds:
        """From a number that somebody typed in; it can be guessed, so it is never called sealed (X-1)."""
        return cls(f"typed:{number}".encode())

    def derived(self, *names: str | int) -> int:
        """The 256-bit seed of a name.

        >>> one = Seeds.typed(1)
        >>> one.derived("split", "text") == one.derived("split", "text") != one.derived("split", "video")
        True
        """
        said = json.dumps(list(names), ensure_ascii=False).encode()
        return int.from_bytes(hmac.digest(self.master, said, hashlib.sha256), "big")

    def small(self, *names: str | int) -> int:
        """The same cut to 31 bits, for modules whose libraries take no more."""
        return self.derived(*names) & 0x7FFF_FFFF

    def generator(self, *names: str | int) -> np.random.Generator:
        """Dice of their own for a name."""
        return np.random.default_rng(self.derived(*names))
