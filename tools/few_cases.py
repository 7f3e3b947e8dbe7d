"""Pytest plug-in: of a test with many cases some run in `make test`, and all of them in `make test-all`.

A test says `@pytest.mark.few(8)`: eight of its cases, evenly spread, stay as they are, the others are marked `slow`.
A test with a parameter `seed` draws its data; of its seeds two stay, whatever its other parameters are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

SEEDS = 2
"""Random cases of a test in `make test`."""

Case = TypeVar("Case")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that are left to slow runs, before pytest leaves out what the command line does not ask for."""
    groups: defaultdict[tuple[Any, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        test, drawn = item.nodeid.partition("[")[0], getattr(getattr(item, "callspec", None), "params", {})
        if mark := item.get_closest_marker("few"):
            groups[test, mark.args[0]].append(item)
        elif "seed" in drawn:
            others = tuple(repr(value) for name, value in drawn.items() if name != "seed")
            groups[(test, others), SEEDS].append(item)
    for (_, kept), cases in groups.items():
        for item in set(cases) - set(spread(cases, kept)):
            item.add_marker("slow")


def spread(cases: Sequence[Case], kept: int) -> list[Case]:
    """So many of the cases, evenly spread, the first and the last among them.

    >>> spread("abcdefghi", 3), spread("ab", 3), spread("abc", 1)
    (['a', 'e', 'i'], ['a', 'b'], ['a'])
    """
    if kept >= len(cases):
        return list(cases)
    return [cases[round(number * (len(cases) - 1) / max(kept - 1, 1))] for number in range(kept)]
