"""Why a string is no query, in words: the column, what is wrong there, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from basanite.problems import visible

PICTURE_WIDTH: Final = 72
ELLIPSIS: Final = "…"

_TOKENS: Final = {
    "WORD": "a word",
    "EXAMPLE_OF": "EXAMPLE_OF",
    "QUOTE": "a quotation mark",
    "PLUS": "+",
    "COMMA": "a comma",
    "COLON": "a colon",
    "LESSTHAN": "<",
    "MORETHAN": ">",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "_BLANK": "a space",
    "$END": "the end",
}
_LOOKALIKES: Final = {
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‘’‚‛′`´＇", "'"),
    **dict.fromkeys("‐‑‒–—―−－", "-"),
    **dict.fromkeys("\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}\N{THIN SPACE}", "a space"),
    "＋": "+",
    "，": "a comma",
    "：": "a colon",
}
_OPENED: Final = {"MORETHAN": "<", "RPAR": "(", "RSQB": "["}


@dataclass(frozen=True, slots=True)
class QueryFault:
    """Where a string stops being a query: the column (from 1), what is wrong there, and what to do."""

    column: int
    message: str
    fix: str


def caret(text: str, column: int) -> str:
    """Two lines: the text, or the part of it that matters, and a caret below the column.

    >>> print(caret('bribing+, "panel of judges"', 10))
    bribing+, "panel of judges"
             ^
    """
    first = max(0, min(column - 1, len(text)) - PICTURE_WIDTH // 2)
    part = text[first : first + PICTURE_WIDTH]
    before = (ELLIPSIS if first else "") + visible(part[: column - 1 - first])
    after = visible(part[max(0, column - 1 - first) :]) + (ELLIPSIS if len(text) > first + PICTURE_WIDTH else "")
    return f"{before}{after}\n{' ' * _cells(before)}^"


def unexpected_character(text: str, at: int) -> QueryFault:
    """A character that no query has."""
    char = text[at]
    shown = f"{visible(char)!r}" if char.isprintable() else f"character U+{ord(char):04X}"
    if char == "\t":
        return QueryFault(at + 1, "the query contains a tab", "write one space instead, or delete it")
    if char in _LOOKALIKES:
        return QueryFault(at + 1, f"{shown} is not in the language", f"write {_plain(char)} instead")
    if char == "_":
        return QueryFault(at + 1, "an underscore is allowed in EXAMPLE_OF only", "write EXAMPLE_OF(..), or a hyphen")
    base = unicodedata.normalize("NFKD", char)[0]
    if base != char and base.isascii() and base.isalnum():  # the letter below an accent
        return QueryFault(at + 1, f"the letter {shown} is not in the language", f"write {base!r} instead")
    return QueryFault(at + 1, f"{shown} is not in the language", "use letters a-z, digits, hyphen and apostrophe")


def unexpected_token(text: str, at: int, found: str, wanted: Set[str]) -> QueryFault:
    """Something that queries have, in a place where it cannot stand."""
    if not text:
        return QueryFault(1, "the query is empty", "write at least one word")
    if found == "$END":
        return _ended_early(text, wanted)
    if found == "_BLANK":
        return _stray_blank(text, at, wanted)
    message = f"{_TOKENS[found]} is not allowed here"
    if found == "LPAR":
        return QueryFault(at + 1, message, "(..) groups words inside quotation marks, once, and does not nest")
    if found == "PLUS" and text[at - 1 : at] == "]":
        return QueryFault(at + 1, message, "write the + before the hint: music+[evf:art]")
    return QueryFault(at + 1, message, f"expected here: {_tokens_in_words(wanted)}")


def _ended_early(text: str, wanted: Set[str]) -> QueryFault:
    end = len(text) + 1
    for closing, opening in _OPENED.items():
        if closing in wanted:
            place = text.rindex(opening) + 1
            return QueryFault(end, f"the {opening} of column {place} is not closed", f"write {_TOKENS[closing]}")
    if "QUOTE" in wanted and text.count('"') % 2:
        place = text.rindex('"') + 1
        return QueryFault(end, f"the quotation mark of column {place} is not closed", "write the closing one")
    return QueryFault(end, "the query ends too early", f"expected here: {_tokens_in_words(wanted)}")


def _stray_blank(text: str, at: int, wanted: Set[str]) -> QueryFault:
    following = text[at + 1 : at + 2]
    if "WORD" not in wanted and (following.isalnum() or following in ("<", "(")):
        fix = 'put several words in quotation marks, as in "fishing boat"'
        return QueryFault(at + 1, "several words are outside quotation marks", fix)
    return QueryFault(at + 1, "there is an extra space here", "delete the space")


def _tokens_in_words(wanted: Set[str]) -> str:
    return " or ".join(words for token, words in _TOKENS.items() if token in wanted)


def _plain(char: str) -> str:
    plain = _LOOKALIKES[char]
    return plain if plain.startswith("a ") else f"the plain {plain}"


def _cells(text: str) -> int:
    """How many columns a terminal gives a text."""
    shown = [char for char in text if not unicodedata.combining(char)]
    return len(shown) + sum(unicodedata.east_asian_width(char) in "WF" for char in shown)
