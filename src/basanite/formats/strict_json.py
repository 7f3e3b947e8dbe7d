"""JSON from strangers: size and depth are checked before anything is parsed, and what is ambiguous is refused (X-8)."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

DEEPEST = 64
SYNTAX = {
    "property name": "expected the name of a property in double quotes",
    "trailing comma": "there is a comma after the last value",
    "':'": "expected a colon",
    "','": "expected a comma, or the end",
    "Unterminated": "a string is never closed",
    "control": "a string contains a tab, line end or other control character",
    "escape": "a backslash begins an unknown escape sequence",
    "Extra": "there is more text after the value",
}
"""What Python's parser says, by a part of its words, and what we say."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(rb"[][{}]")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value, or why there is none."""

    value: Any = None
    rule: str = ""
    fault: str = ""
    line: int | None = None
    column: int | None = None


class _RefusedError(ValueError):
    """The text is JSON, but says one thing twice or has a number that is none. Never leaves this module."""


def parse(data: bytes, *, limit: int, rule: str) -> Parsed:
    """The value of a JSON text of at most `limit` bytes; syntax faults go by `rule`, dangers by X-8. Never raises."""
    if len(data) > limit:
        return Parsed(rule="X-8", fault=f"{len(data)} bytes; at most {limit} are read")
    if too_deep(data):
        return Parsed(rule="X-8", fault=f"nested more than {DEEPEST} deep")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        if _SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return Parsed(value)
    except json.JSONDecodeError as error:
        return Parsed(rule=rule, fault=f"not JSON: {_words(error)}", line=error.lineno, column=error.colno)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Parsed(rule=rule, fault=f"byte {error.start + 1} of the file is not UTF-8", line=line)
    except UnicodeEncodeError:
        return Parsed(rule=rule, fault="half of a character (a lone surrogate) is escaped in a string")
    except _RefusedError as error:
        return Parsed(rule=rule, fault=str(error))
    except ValueError:
        return Parsed(rule="X-8", fault="a number of thousands of digits")


def _words(error: json.JSONDecodeError) -> str:
    """What the parser found, in words of ours."""
    return next((words for part, words in SYNTAX.items() if part in error.msg), "expected a value")


def too_deep(data: bytes) -> bool:
    """Whether objects and arrays are nested deeper than we let a parser go; brackets inside strings do not count.

    >>> too_deep(b"[" * 65), too_deep(b'["' + b"[" * 65 + b'"]')
    (True, False)
    """
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    level = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", data)):
        level += 1 if bracket in b"[{" else -1
        if level > DEEPEST:
            return True
    return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _RefusedError(f"the property {json.dumps(twice)[:60]} appears twice in one object")
    return made


def _no_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is not a number of JSON")
