"""What is hidden from judges, for organisers: the facts of an item in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def facts_of_item(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The facts of an item in pairs, in the order of their names.

    >>> facts_of_item({"system": "A", "genre": "weblog", "topic": ""})
    (('genre', 'weblog'), ('system', 'A'))
    """
    return tuple((name, str(value)) for name, value in sorted(facts.items()) if value not in ("", None))


def facts_in_words(facts: Mapping[str, Any]) -> str:
    """The facts of an item in one line.

    >>> facts_in_words({"system": "A", "genre": "weblog"})
    'genre weblog · system A'
    """
    return " · ".join(f"{name} {value}" for name, value in facts_of_item(facts))
