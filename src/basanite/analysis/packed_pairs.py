"""Who is significantly better than whom among many systems, in as few bytes as a board can read at every look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(order: Sequence[str], better: NDArray[np.bool_]) -> dict[str, Any]:
    """Who is better than whom, a string of bits in hexadecimal digits for each system in order."""
    return {"order": list(order), "rows": [np.packbits(row).tobytes().hex() for row in better]}


def against(stored: Mapping[str, Any], system: str) -> dict[str, int]:
    """What the packed pairs say of the others against one system: 1 better, -1 worse, 0 not significantly different.

    >>> against(packed(["a", "b", "c"], np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])), "c")
    {'a': 1, 'b': 1}
    """
    order, rows = stored["order"], [bytes.fromhex(row) for row in stored["rows"]]
    if system not in order:
        return {}
    place = order.index(system)
    own = rows[place]

    def bit(row: bytes, at: int) -> int:
        return row[at // 8] >> (7 - at % 8) & 1

    return {
        name: bit(row, place) - bit(own, at)
        for at, (name, row) in enumerate(zip(order, rows, strict=True))
        if at != place
    }
