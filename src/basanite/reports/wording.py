"""Numbers and strangers' strings as people read them; every output uses the same words."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import datetime

from basanite.analysis.results import Value
from basanite.figures import Cell

UNDEFINED = "–"
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_HYPHEN = re.compile(r"(?<![\w.−-])-(?=[\d∞])")
_HIDDEN = frozenset({"Cc", "Cs", "Zl", "Zp"})


def moment(value: datetime | None) -> str:
    """A moment as people read it.

    >>> from datetime import UTC
    >>> moment(datetime(2018, 5, 19, 4, tzinfo=UTC)), moment(None)
    ('2018-05-19 04:00 UTC', '-')
    """
    return "-" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def printable(text: str) -> str:
    """The same text with control and direction characters escaped; joiners stay, for Indic and Arabic need them (X-14).

    >>> printable("a" + chr(0x202E) + "b" + chr(27))
    'a\\\\u202eb\\\\x1b'
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    hidden = char in _BIDI or unicodedata.category(char) in _HIDDEN
    return char.encode("unicode_escape").decode() if hidden else char


def number(cell: Cell) -> str:
    """A cell as short as its reader needs: four decimals for values near one, "–" where there is none.

    >>> [number(cell) for cell in (0.31274, 1234, 52.31, 0.00042, float("nan"), float("-inf"), None, "x")]
    ['0.3127', '1,234', '52.31', '0.00042', '–', '-∞', '–', 'x']
    """
    if cell is None or isinstance(cell, str):
        return UNDEFINED if cell is None else cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if math.isnan(cell):
        return UNDEFINED
    return _finite(cell) if math.isfinite(cell) else "∞" if cell > 0 else "-∞"


def _finite(value: float) -> str:
    size = abs(value)
    if 0 < size < 0.001:
        return f"{value:.2g}"
    return f"{value + 0.0:.4f}" if size < 10 else f"{value:.2f}" if size < 1000 else f"{value:,.1f}"


def true_minus(words: str) -> str:
    """Words with true minus signs before their numbers; hyphens inside words and ranges stay.

    >>> true_minus("AQWV -0.31 (-1 to 0.2), run-3, 1e-05")
    'AQWV −0.31 (−1 to 0.2), run-3, 1e-05'
    """
    return _HYPHEN.sub("−", words)


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.95), percent(0.001)
    ('95%', '0.1%')
    """
    return f"{100 * share:.6g}%"


def plural(noun: str, count: int) -> str:
    """A count with its noun.

    >>> plural("query", 2), plural("query", 1), plural("class", 3), plural("document", 1200)
    ('2 queries', '1 query', '3 classes', '1,200 documents')
    """
    return f"{count:,} {noun if count == 1 else many(noun)}"


def many(noun: str) -> str:
    """The plural of a unit's name.

    >>> many("query"), many("key"), many("pass")
    ('queries', 'keys', 'passes')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")


def enumeration(names: tuple[str, ...]) -> str:
    """Names in a sentence.

    >>> enumeration(("A",)), enumeration(("A", "B", "C"))
    ('A', 'A, B and C')
    """
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"


def with_interval(value: Value, level: float) -> str:
    """A value that is never naked: its interval, or that there is none.

    >>> with_interval(Value(0.3127, 0.28, 0.344, 300), 0.95)
    '0.3127 (95% CI 0.2800 to 0.3440)'
    """
    if math.isnan(value.value):
        return "undefined"
    if value.low is None or value.high is None:
        return f"{number(value.value)} (no interval)"
    return f"{number(value.value)} ({percent(level)} CI {number(value.low)} to {number(value.high)})"
