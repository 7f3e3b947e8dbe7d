"""Positions and quotations guard each other, in code points, whatever characters a text has."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from basanite.reading.provenance import Assertion, Span, document_statement, nearest, sentences, span_at, span_fault
from basanite.reading.terms import Iri, Node, Statement, integer

TEXT = "The Jets – naïve 🏈 fans say – fell. The Jets lost."


@given(st.text(min_size=1, max_size=60), st.data())
def test_a_span_that_was_made_from_a_text_has_no_fault(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert span_fault(span_at(text, start, end), text) is None


@given(st.text("ab 🏈é", min_size=2, max_size=40), st.text("ab 🏈é", min_size=1, max_size=3), st.integers(0, 40))
def test_the_fix_names_the_nearest_place_of_the_quotation(text, words, start):
    assume(text[start : start + len(words)] != words)
    fault = span_fault(Span("object", start, start + len(words), words), text)
    assert fault is not None
    places = [place for place in range(len(text)) if text.startswith(words, place)]
    if places:
        best = min(places, key=lambda place: (abs(place - start), place))
        assert fault.fix == f'write "start": {best}, "end": {best + len(words)}'
    else:
        assert "do not occur" in fault.fix


def test_offsets_in_other_units_are_noticed():
    start = TEXT.index("fell")
    assert span_fault(Span("predicate", start, start + 4, "fell"), TEXT) is None
    utf16 = len(TEXT[:start].encode("utf-16-le")) // 2
    in_bytes = len(TEXT[:start].encode())
    for wrong in (utf16, in_bytes):
        fault = span_fault(Span("predicate", wrong, wrong + 4, "fell"), TEXT)
        assert fault is not None
        assert f'"start": {start}' in fault.fix


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (Span("subject", 4, 8, "Jets", prefix="A "), "before"),
        (Span("subject", 4, 8, "Jets", suffix=" won"), "after"),
        (Span("subject", 4, 4, "Jets"), "empty"),
        (Span("subject", 8, 4, "Jets"), "empty"),
        (Span("subject", -4, 8, "Jets"), "empty"),
        (Span("subject", 4, 10**9, "Jets"), "stands"),
    ],
)
def test_a_span_that_does_not_fit_its_text_has_a_fault(span, words):
    fault = span_fault(span, TEXT)
    assert fault is not None
    assert words in fault.message


def test_a_prefix_longer_than_the_text_before_is_a_fault():
    assert span_fault(Span("subject", 0, 3, "The", prefix="xx"), TEXT) is not None


def test_words_that_do_not_occur_have_no_nearest_place():
    assert nearest("", "abc", 1) is None
    assert nearest("x", "abc", 1) is None


def test_nameless_things_of_two_documents_are_different():
    statement = Statement(Node("s"), Iri("urn:p"), integer(5))
    assert document_statement(statement, "d1") != document_statement(statement, "d2")


def test_an_assertion_is_known_by_all_it_says():
    statement = Statement(Iri("urn:g"), Iri("urn:p"), integer(5))
    spans = (span_at(TEXT, 4, 8),)
    different = [
        Assertion(statement, "d1"),
        Assertion(statement, "d2"),
        Assertion(statement, "d1", "inferred"),
        Assertion(statement, "d1", spans=spans),
        Assertion(statement, "d1", annotator="A"),
        Assertion(statement, "d1", version=2),
    ]
    assert len({assertion.id for assertion in different}) == len(different)


def test_sentences_end_at_full_stops_but_not_after_short_words():
    text = 'NEW YORK, Oct. 8 - The Jets "fell." It was St. Louis vs. Dallas!\n\nno stop\n\nlast'
    assert [text[a:b] for a, b in sentences(text)] == [
        'NEW YORK, Oct. 8 - The Jets "fell."',
        "It was St. Louis vs. Dallas!",
        "no stop",
        "last",
    ]
