"""Small cells of breakdowns are hidden, and with them what would give them away by subtraction (X-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SMALLEST: Final = 10
Cells = Mapping[str, Mapping[str, Any]]


def without_small_cells(breakdowns: Mapping[str, Cells], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The breakdowns of a result on a sealed set, with the cells that may not be shown left out."""
    total = _size(values)
    return {factor: _safe(levels, total) for factor, levels in breakdowns.items()}


def _safe(levels: Cells, total: int) -> dict[str, Any]:
    hidden = hidden_cells({level: _size(cell) for level, cell in levels.items()}, total)
    return {level: cell for level, cell in levels.items() if level not in hidden}


def hidden_cells(sizes: Mapping[str, int], total: int = 0) -> frozenset[str]:
    """The cells to hide: the small ones, and the next larger until what is hidden together is not small either.

    `total` is the size of the whole, which is known: what it holds beyond the cells counts as hidden too.

    >>> sorted(hidden_cells({"NT": 60, "BT": 25, "CS": 3}, 88))
    ['BT', 'CS']
    """
    hidden = {name for name, size in sizes.items() if size < SMALLEST}
    rest = max(total - sum(sizes.values()), 0)
    larger = sorted((name for name in sizes if name not in hidden), key=lambda name: (sizes[name], name))
    for name in larger:
        if _covered([sizes[part] for part in hidden], rest):
            break
        hidden.add(name)
    return frozenset(hidden)


def _covered(hidden: list[int], rest: int) -> bool:
    """Whether subtraction gives nothing, or a sum over enough units that is no single cell."""
    nothing = not hidden and rest == 0
    many = sum(hidden) + rest >= SMALLEST and len(hidden) != 1
    lone = len(hidden) == 1 and rest >= SMALLEST
    return nothing or many or lone


def _size(values: Mapping[str, Any]) -> int:
    """The units behind a cell: the fewest that any of its values rests on."""
    return min((int(entry.get("units") or 0) for entry in values.values()), default=0)
