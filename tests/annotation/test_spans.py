"""Words are marked in every place where they occur: whole words, with or without their case, in pieces (R-15)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.annotation.spans import MOST_FOUND, occurrences


def words(text, found):
    return [" ".join(text[a:b] for a, b in parts) for parts in found]


def test_every_occurrence_of_words_is_found():
    text = "The Jets beat the Jets' rivals; jets fly, Jetsons too. Jets!"
    assert occurrences(text, [(4, 8)]) == (((4, 8),), ((18, 22),), ((55, 59),))
    assert words(text, occurrences(text, [(4, 8)], match_case=False)) == ["Jets", "Jets", "jets", "Jets"]
    assert len(occurrences(text, [(4, 8)], whole_words=False)) == 4


def test_words_in_pieces_occur_where_the_same_pieces_come_at_the_same_distance():
    text = "turned it off, turned up off, turned in off"
    found = occurrences(text, [(0, 6), (10, 13)])
    assert words(text, found) == ["turned off"] * 3


@pytest.mark.parametrize(
    ("text", "part", "count"),
    [
        ("Ana and Anä and Ana\u0308 and Ana", (0, 3), 2),  # a letter with a mark is another word
        ("לנו ולנו לנו", (0, 3), 2),
        ("😀😀 😀", (0, 1), 3),
        ("a.b a.b axb", (0, 3), 2),
        ("aaa", (0, 1), 0),
    ],
)
def test_scripts_marks_and_signs_are_minded(text, part, count):
    assert len(occurrences(text, [part])) == count


def test_the_number_of_places_is_bounded_and_overlaps_are_found():
    assert len(occurrences("ab " * (MOST_FOUND + 50), [(0, 2)])) == MOST_FOUND
    assert occurrences("anana", [(0, 3)], whole_words=False) == (((0, 3),), ((2, 5),))
    assert occurrences("abc", []) == ()


@given(st.text("ab ", max_size=30), st.data())
def test_whole_words_are_what_a_regular_expression_finds(text, data):
    places = [match.span() for match in re.finditer(r"\w+", text)]
    if places:
        start, end = data.draw(st.sampled_from(places))
        wanted = [(span,) for span in places if text[span[0] : span[1]] == text[start:end]]
        assert list(occurrences(text, [(start, end)])) == wanted
