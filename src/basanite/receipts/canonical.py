"""Canonical JSON: one spelling for each content, so that bytes can be signed and compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from basanite.reports.formats.json_output import rounded

DEEPEST = 32


def canonical(content: Mapping[str, Any]) -> bytes:
    """The one spelling of an object: keys sorted, no spaces, UTF-8, a line end.

    >>> canonical({"b": 1.5, "a": [True, None]})
    b'{"a":[true,null],"b":1.5}\\n'
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def parsed(data: bytes) -> dict[str, Any] | None:
    """The object whose one spelling these bytes are; None if they are anything else."""
    try:
        content = json.loads(data)
        plain = canonical(content) if isinstance(content, dict) and _shallow(content, DEEPEST) else None
    except (ValueError, RecursionError):
        return None
    return content if plain == data else None


def all_rounded(content: Any) -> Any:
    """The same content with every number to ten significant digits, undefined ones None (S-6).

    >>> all_rounded({"a": [0.123456789012345, float("nan"), 3]})
    {'a': [0.123456789, None, 3]}
    """
    if isinstance(content, float):
        return rounded(content)
    if isinstance(content, Mapping):
        return {str(key): all_rounded(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [all_rounded(value) for value in content]
    return content


def _shallow(content: Any, left: int) -> bool:
    if left == 0:
        return False
    values = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return all(_shallow(value, left - 1) for value in values)
