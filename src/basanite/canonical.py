"""Canonical JSON: one spelling for each content, so that bytes can be signed, hashed and compared."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Set
from types import NoneType
from typing import Any

DEEPEST = 32


def canonical_text(content: Any) -> str:
    """The one spelling of a content: keys sorted, no spaces, characters as they are; nan and infinity are refused.

    >>> canonical_text({"b": 1.5, "a": [True, "ä"]})
    '{"a":[true,"ä"],"b":1.5}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_line(content: Mapping[str, Any]) -> bytes:
    """The one spelling of an object as a line in UTF-8.

    >>> canonical_line({"b": 1.5, "a": [True, None]})
    b'{"a":[true,null],"b":1.5}\\n'
    """
    return (canonical_text(content) + "\n").encode()


def canonical_digest(content: Any) -> str:
    """The SHA-256 of the one spelling of a content.

    >>> canonical_digest({"b": 1, "a": 2}) == canonical_digest({"a": 2, "b": 1})
    True
    """
    # half of a pair of UTF-16, as strangers' JSON may hold it, has a digest too
    return hashlib.sha256(canonical_text(content).encode(errors="surrogatepass")).hexdigest()


def parse_canonical(data: bytes) -> dict[str, Any] | None:
    """The object whose canonical line these bytes are; None if they are anything else."""
    try:
        content = json.loads(data)
        plain = canonical_line(content) if isinstance(content, dict) and _is_shallow(content, DEEPEST) else None
    except (ValueError, RecursionError):
        return None
    return content if plain == data else None


def ten_digits(value: float | None) -> float | None:
    """A number to ten significant digits; undefined and infinite ones are null (S-6).

    >>> ten_digits(0.1 + 0.2), ten_digits(-0.0), ten_digits(float("nan"))
    (0.3, 0.0, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(format(value, ".10g")) + 0.0


def plain_values(data: Any) -> Any:
    """The same data in JSON's own types, numbers to ten digits, in an order that does not depend on the run.

    >>> plain_values({"a": (0.123456789012345, float("nan"), 3)})
    {'a': [0.123456789, None, 3]}
    """
    if type(data) in (str, int, bool, NoneType):  # most of what there is, and the tests below take their time
        return data
    if isinstance(data, Mapping):
        return {str(key): plain_values(value) for key, value in data.items()}
    if isinstance(data, Set):
        return sorted(plain_values(value) for value in data)
    if isinstance(data, list | tuple):
        return [plain_values(value) for value in data]
    if hasattr(data, "tolist"):
        return plain_values(data.tolist())
    if isinstance(data, float):
        return ten_digits(data)
    return data if data is None or isinstance(data, str | int) else str(data)


def _is_shallow(content: Any, left: int) -> bool:
    if left == 0:
        return False
    values = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return all(_is_shallow(value, left - 1) for value in values)


def dumps(data: Any) -> str:
    """One object as text: keys sorted, every character that could hide written as an escape (X-14)."""
    text = json.dumps(plain_values(data), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=2)
    return "\n".join(line if line.isprintable() else _visible(line) for line in text.split("\n")) + "\n"


def _visible(line: str) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)
