"""Colours of categories: eight that are known to be told apart, or any that is seen on a light and on a dark page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from basanite.annotation.config.files import Warned
from basanite.registry import suggestion
from basanite.reports.theme import DARK, LIGHT

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "amber": "series_1",
        "blue": "series_2",
        "red": "series_3",
        "green": "series_4",
        "violet": "series_5",
        "sky": "series_6",
        "wine": "series_7",
        "slate": "series_8",
    }
)
"""The colours that reports use for series; each has a light and a dark form."""
LEAST_CONTRAST: Final = 3.0
"""Of a mark against the page, as WCAG 2.2 asks of what is no text (1.4.11)."""
_HEX: Final = re.compile(r"#[0-9a-fA-F]{6}")


def checked_colour(text: str, line: int | None, faults: Warned) -> str:
    """The colour that a category has: a name of the theme or #rrggbb; "" with a problem if it cannot be seen."""
    if text in NAMES:
        return NAMES[text]
    if not _HEX.fullmatch(text):
        near = suggestion(text[:40], tuple(NAMES))
        faults.add(line, f"{text[:40]!r} is no colour", f"{near} Or write #rrggbb.", found=text)
        return ""
    for page, where in ((LIGHT.card, "light"), (DARK.card, "dark")):
        ratio = contrast(text, page)
        if ratio < LEAST_CONTRAST:
            fix = f"take a {'darker' if where == 'light' else 'lighter'} one: {LEAST_CONTRAST:g} to 1 at least"
            faults.add(line, f"{text} stands out by {ratio:.1f} to 1 only on a {where} page", fix, found=text)
            return ""
    return text.lower()


def given_colours(named: Mapping[str, str]) -> dict[str, str]:
    """A colour for every category: its own, or the next of the theme that nobody has asked for.

    >>> given_colours({"Game": "", "Team": "series_1"})
    {'Game': 'series_2', 'Team': 'series_1'}
    """
    wheel = [colour for colour in NAMES.values() if colour not in named.values()] or list(NAMES.values())
    found, turn = {}, 0
    for name, colour in named.items():
        found[name] = colour or wheel[turn % len(wheel)]
        turn += not colour
    return found


def contrast(one: str, other: str) -> float:
    """How much two colours stand out from each other, 1 to 21 (WCAG 2.2).

    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
