"""What an answer says, in one form for files, tables and digests: equal answers have equal digests (R-20)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from basanite.metrics.answers import Bindings


def plain(bindings: Bindings) -> list[Any]:
    """Variables with a sorted list of names, or a literal.

    >>> plain((("G", frozenset({"b", "a"})), ("N", "5")))
    [['G', ['a', 'b']], ['N', '5']]
    """
    return [[name, sorted(bound) if isinstance(bound, frozenset) else bound] for name, bound in bindings]


def bound(found: Sequence[Any]) -> Bindings:
    """The other way round."""
    return tuple((str(name), frozenset(value) if isinstance(value, list) else str(value)) for name, value in found)


def digest(query: str, document: str, bindings: Bindings) -> str:
    """The name of an answer, whoever gives it."""
    return hashlib.sha256(json.dumps([query, document, plain(bindings)], ensure_ascii=False).encode()).hexdigest()
