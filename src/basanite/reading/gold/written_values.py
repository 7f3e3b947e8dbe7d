"""Values as people write them: numbers and amounts in figures and words, dates, truth values (R-32).

What can be meant in two ways, such as `12,34` or `03/04/2024`, is no value here: its author is asked.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

from basanite.formats.texts.normalisers import SMALL, TENS
from basanite.reading.values import INTEGER_BOUNDS

NUMBERS: Final = frozenset({*INTEGER_BOUNDS, "decimal", "double", "float"})
TEXTS: Final = frozenset({"string", "langString", "anyURI", "token", "normalizedString"})
MOST_DIGITS: Final = 400

_WORDS: Final = {word: at for at, word in enumerate(SMALL)} | {word: 10 * at for at, word in enumerate(TENS, 2)}
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES: Final = _SCALES | {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tn": 10**12}
_MONEY: Final = r"(?:[$€£¥]|us\$|usd|eur|gbp|jpy|chf|dollars?|euros?|pounds?|yen)"
_WHOLE: Final = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?: [0-9]{3})+|[0-9]+)"
_FIGURES: Final = rf"[+-]?{_WHOLE}?(?:\.[0-9]*)?(?:e[+-]?[0-9]{{1,3}})?"
_SCALE: Final = "|".join(sorted(_SHORT_SCALES, key=len, reverse=True))
_AMOUNT: Final = re.compile(rf"(?:{_MONEY}\s*)?(?P<figures>{_FIGURES})\s*(?P<scale>{_SCALE})?(?:\s*{_MONEY})?")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH: Final = "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "september" else "sept?(?:ember)?" for name in _MONTHS)
_WEEKDAY: Final = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_DAY: Final = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_DATES: Final = tuple(
    re.compile(_WEEKDAY + pattern)
    for pattern in (
        r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})",
        rf"(?P<name>{_MONTH})\.?\s+{_DAY},?\s+(?P<year>[0-9]{{4}})",
        rf"(?:the\s+)?{_DAY}\.?(?:\s+of)?[\s-]+(?P<name>{_MONTH})\.?,?[\s-]+(?P<year>[0-9]{{4}})",
    )
)
_NUMBERED: Final = re.compile(r"([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4})")
_TRUTH: Final = {"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}


def written_value(text: str, range_: str) -> str | None:
    """The value that a text stands for in a range, in one form for equal values; None if it is none, or may be two.

    >>> [written_value(text, "integer") for text in ("5", "05", "five", "1,200", "two hundred and six")]
    ['5', '5', '5', '1200', '206']
    >>> written_value("Jan. 15, 2005", "date"), written_value("$3.5 million", "decimal")
    ('2005-01-15', '3500000')
    """
    words = " ".join("".join(map(_plain, unicodedata.normalize("NFKC", text).casefold())).split())
    if range_ in NUMBERS:
        return _number(words, whole=range_ in INTEGER_BOUNDS)
    if range_ == "boolean":
        return _TRUTH.get(words)
    if range_ == "date":
        return _date(words)
    return _moment(words.upper())


def expected_form(range_: str) -> str:
    """What to write for a value of a range.

    >>> expected_form("nonNegativeInteger")
    'write a whole number, as 5, "5" or "five"'
    """
    if range_ in INTEGER_BOUNDS:
        return 'write a whole number, as 5, "5" or "five"'
    if range_ in NUMBERS:
        return 'write a number, as 2.5, "1,200" or "3.5 million"'
    if range_ == "boolean":
        return "write true or false"
    if range_ == "date":
        return 'write one day, as "2005-01-15" or "January 15, 2005"'
    return 'write a day with its time, as "2005-01-15T16:30:00Z"'


def _number(words: str, *, whole: bool) -> str | None:
    found = _in_figures(words)
    number = _in_words(words) if found is None else found
    if number is None or (whole and number != number.to_integral_value()):
        return None
    plain = f"{number:f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) if number else "0"


def _in_figures(words: str) -> Decimal | None:
    match = _AMOUNT.fullmatch(words) if len(words) <= MOST_DIGITS else None
    figures = re.sub("[, ]", "", match["figures"]) if match else ""
    scale = _SHORT_SCALES[match["scale"]] if match and match["scale"] else 1
    if not re.match(r"[+-]?\.?[0-9]", figures):
        return None
    # Enough digits for everything that may be written, so that no two numbers become one by rounding.
    return (Decimal(figures) * scale) if len(figures) + 13 <= 28 else Decimal(figures) if scale == 1 else None


def _in_words(words: str) -> Decimal | None:
    """A number in words below a thousand trillion; each scale comes once, the larger one first."""
    total, group, last, seen = 0, 0, 10**15, False
    for word in words.removeprefix("minus ").replace("-", " ").split():
        if word in _WORDS and _may_follow(group, _WORDS[word]):
            group, seen = group + _WORDS[word], True
        elif word == "hundred" and 0 < group < 100:
            group *= 100
        elif word in _SCALES and group and _SCALES[word] < last:
            total, group, last = total + group * _SCALES[word], 0, _SCALES[word]
        elif not (word == "and" and (group or total)):
            return None
    number = Decimal(total + group)
    return (-number if words.startswith("minus ") else number) if seen else None


def _may_follow(group: int, value: int) -> bool:
    """Whether a word of this value may come next: twenty-one, but neither one-twenty nor ten-one.

    >>> _may_follow(20, 1), _may_follow(1, 20), _may_follow(100, 15), _may_follow(10, 1)
    (True, False, True, False)
    """
    rest = group % 100
    return rest == 0 or (rest >= 20 and rest % 10 == 0 and 0 < value < 10)


def _date(words: str) -> str | None:
    for pattern in _DATES:
        if match := pattern.fullmatch(words):
            found = match.groupdict()
            if found.get("month"):
                month = int(found["month"])
            else:
                month = next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(found["name"][:3]))
            return _day(int(found["year"]), month, int(found["day"]))
    if match := _NUMBERED.fullmatch(words):
        first, second, year = map(int, match.groups())
        both = {_day(year, first, second), _day(year, second, first)} - {None}
        return both.pop() if len(both) == 1 else None
    return None


def _moment(words: str) -> str | None:
    """A day with its time; where a zone is given, equal moments are equal."""
    if len(words) <= len("2005-01-15"):
        return None
    try:
        found = datetime.fromisoformat(words)
        return (found.astimezone(UTC) if found.tzinfo else found).isoformat()
    except (ValueError, OverflowError):  # a zone may lead out of the years that there are
        return None


def _plain(char: str) -> str:
    """Digits of any script as figures, and every minus as one."""
    return str(unicodedata.decimal(char)) if char.isdecimal() else "-" if char == "\N{MINUS SIGN}" else char


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
