"""What literals are worth: Python values for comparisons, and whether a value lies in a type.

Terms are compared as terms everywhere else; values meet only in built-ins, ranges and cardinalities. Numbers compare
with numbers, dates with dates, text with text; anything else cannot be compared, which is neither true nor false.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from basanite.reading.terms import RDF, XSD, Literal

Value: TypeAlias = bool | int | Decimal | float | date | datetime | str

MOST_DIGITS: Final = 4_000
"""Longer numbers are not read: turning digits into a number takes time in the square of their count (X-13)."""

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)

INTEGER_BOUNDS: Final[dict[str, tuple[int | None, int | None]]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
TEXTS: Final = frozenset({XSD + "string", RDF + "langString", XSD + "anyURI", XSD + "token", XSD + "normalizedString"})


@lru_cache(maxsize=65_536)
def value_of(literal: Literal) -> Value | None:
    """The value of a literal; nothing if its text is none of its datatype, or the datatype is not known.

    >>> value_of(Literal("05", XSD + "integer")), value_of(Literal("true", XSD + "boolean"))
    (5, True)
    >>> value_of(Literal("five", XSD + "integer")) is None
    True
    """
    if literal.datatype in TEXTS:
        return literal.lexical
    name = literal.datatype.removeprefix(XSD)
    try:
        return _parse_value(literal.lexical.strip(" \t\n\r"), name)
    except ValueError:
        return None


def compare(first: Literal, second: Literal) -> int | None:
    """-1, 0 or 1 as the first value is less than, equal to or more than the second; nothing if they cannot be compared.

    >>> compare(Literal("4", XSD + "integer"), Literal("4.5", XSD + "decimal"))
    -1
    >>> compare(Literal("1", XSD + "integer"), Literal("true", XSD + "boolean")) is None
    True
    """
    a, b = value_of(first), value_of(second)
    if a is None or b is None or _family(a) != _family(b) or first.language != second.language:
        return None
    try:
        return (a > b) - (a < b) if a == a and b == b else None  # type: ignore[operator] # of one family; nan is none
    except TypeError:  # a time with a zone and one without
        return None


def same_value(first: Literal, second: Literal) -> bool:
    """Whether two literals are the same term or worth the same."""
    return first == second or compare(first, second) == 0


def is_canonical(literal: Literal) -> bool:
    """Whether a whole number or truth value is written in the shortest way, so that equal values are equal terms.

    >>> is_canonical(Literal("05", XSD + "integer")), is_canonical(Literal("5", XSD + "integer"))
    (False, True)
    """
    value = value_of(literal)
    if isinstance(value, bool):
        return literal.lexical in ("true", "false")
    return not isinstance(value, int) or literal.lexical == str(value)


def _parse_value(text: str, name: str) -> Value | None:
    if len(text) > MOST_DIGITS:
        return None
    if name in INTEGER_BOUNDS:
        return _whole(text, *INTEGER_BOUNDS[name])
    if name == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text)
    if name == "decimal":
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    if name in ("double", "float"):
        return float(text.replace("INF", "inf")) if _DOUBLE.fullmatch(text) else None
    if name == "date":
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    if name == "dateTime":
        return datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
    return None


def _whole(text: str, low: int | None, high: int | None) -> int | None:
    if not _WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if (low is None or number >= low) and (high is None or number <= high) else None


def _family(value: Value) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | Decimal | float):
        return "number"
    if isinstance(value, datetime):
        return "time"
    return "date" if isinstance(value, date) else "text"


def is_number(value: Value | None) -> bool:
    """Whether a value can be bounded by numbers: a truth value and nan cannot."""
    return isinstance(value, int | Decimal | float) and not isinstance(value, bool) and value == value
