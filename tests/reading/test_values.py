"""Literals are worth what their datatype says; what cannot be compared is neither less, equal nor more."""

import operator
from datetime import date, timedelta
from decimal import Decimal

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from basanite.reading.terms import XSD, Literal
from basanite.reading.values import compare, is_canonical, same_value, value_of

NUMBER = st.one_of(
    st.integers(-1000, 1000).map(lambda n: (str(n), "integer")),
    st.decimals(-1000, 1000, places=2).map(lambda d: (f"{d:f}", "decimal")),
)
DATE = st.integers(0, 5000).map(lambda n: ((date(2000, 1, 1) + timedelta(n)).isoformat(), "date"))


@given(st.one_of(st.tuples(NUMBER, NUMBER), st.tuples(DATE, DATE)))
def test_comparison_agrees_with_another_library(pair):
    ours = compare(*(Literal(text, XSD + kind) for text, kind in pair))
    first, second = (rdflib.Literal(text, datatype=rdflib.URIRef(XSD + kind)) for text, kind in pair)
    theirs = (first.value > second.value) - (first.value < second.value)
    assert ours == theirs


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("1", "integer"), ("true", "boolean")),
        (("4", "string"), ("4", "integer")),
        (("2005-01-15", "date"), ("2005-01-15T00:00:00", "dateTime")),
        (("2005-01-15T00:00:00", "dateTime"), ("2005-01-15T00:00:00Z", "dateTime")),
        (("NaN", "double"), ("NaN", "double")),
        (("x", "integer"), ("x", "integer")),
        (("2005-02-30", "date"), ("2005-02-30", "date")),
    ],
)
def test_what_is_not_alike_cannot_be_compared(first, second):
    assert compare(*(Literal(text, XSD + kind) for text, kind in (first, second))) is None


def test_values_are_read_by_their_datatype():
    assert value_of(Literal("2.50", XSD + "decimal")) == Decimal("2.5")
    assert value_of(Literal("-INF", XSD + "double")) == -float("inf")
    assert value_of(Literal("256", XSD + "unsignedByte")) is None
    assert value_of(Literal("٥", XSD + "integer")) is None
    assert value_of(Literal("x", "urn:unknown")) is None


def test_a_number_of_very_many_digits_is_not_read():
    assert value_of(Literal("9" * 100_000, XSD + "integer")) is None


def test_equal_values_in_different_writing():
    five, padded = Literal("5", XSD + "integer"), Literal("05", XSD + "integer")
    assert same_value(five, padded)
    assert operator.ne(five, padded)
    assert (is_canonical(five), is_canonical(padded), is_canonical(Literal("1", XSD + "boolean"))) == (
        True,
        False,
        False,
    )
