"""Positions of browsers and ours are turned into each other without loss, whatever stands in the text (R-15)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.work.exchange.offsets import Offsets

TEXTS = {
    "plain": "The Jets fell.",
    "emoji": "Goal 😀 by 👨‍👩‍👧 and 🏈!",
    "combining": "Vin\u0303ales said cafe\u0301",
    "right-to-left": "The לְשָׁלוֹם and لجنة الماء said 🌙",
    "crlf": "one\r\ntwo 😀\r\n\r\nthree\r",
    "empty": "",
    "astral only": "𝔸𝔹",
}


def utf16(text: str) -> int:
    """What a browser counts, by an independent way: two bytes a unit."""
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_position_goes_to_the_browser_and_comes_back(name):
    text = TEXTS[name]
    offsets = Offsets.of(text)
    for place in range(len(text) + 1):
        unit = utf16(text[:place])
        assert (offsets.to_utf16(place), offsets.start(unit), offsets.end(unit)) == (unit, place, place)
    assert offsets.units == utf16(text)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_words_of_a_selection_are_the_same_on_both_sides(name):
    text = TEXTS[name]
    shown = text.replace("\r\n", "\n")
    offsets = Offsets.of(text, line_ends=True)
    for start in range(len(shown)):
        for end in range(start + 1, len(shown) + 1):
            units = utf16(shown[:start]), utf16(shown[:end])
            a, b = offsets.start(units[0]), offsets.end(units[1])
            assert text[a:b].replace("\r\n", "\n").strip("\r\n") == shown[start:end].strip("\r\n")
            assert (offsets.to_utf16(a), offsets.to_utf16(b)) == units


def test_half_a_character_is_never_cut_off():
    offsets = Offsets.of("a😀b")
    assert (offsets.start(2), offsets.end(3)) == (1, 2)
    assert (offsets.start(0), offsets.end(2)) == (0, 2)


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_text_is_counted_as_utf_16_counts_it(text):
    offsets = Offsets.of(text)
    assert [offsets.to_utf16(place) for place in range(len(text) + 1)] == [
        utf16(text[:place]) for place in range(len(text) + 1)
    ]
