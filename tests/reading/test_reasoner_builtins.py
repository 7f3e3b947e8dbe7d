"""Built-ins: typed comparisons, exact arithmetic, texts and dates; what cannot be calculated is no match."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given as sampled
from hypothesis import strategies as st
from tests.reading.reasoning import derived, inferred

from basanite.reading.builtins import OPERATIONS
from basanite.reading.limits import Limits
from basanite.reading.patterns import Prefixes, parse_term
from basanite.reading.terms import XSD, Iri, Literal, integer
from basanite.reading.values import value_of

NAMES = Prefixes("urn:n:")


def term(text):
    return parse_term(text, NAMES)


def holds(name, first, second):
    return OPERATIONS[name].test([term(first), term(second)])


def result(name, *texts):
    found = OPERATIONS[name].calculate([term(text) for text in texts], Limits())
    return None if found is None else found.lexical


@pytest.mark.parametrize(
    ("name", "first", "second", "wanted"),
    [
        ("lessThanOrEqualTo", "4", "4", True),
        ("lessThan", "4", "4.5", True),
        ("lessThan", "9", "10", True),
        ("lessThan", '"9"', '"10"', False),
        ("lessThanOrEqualTo", '"4"', "4", False),
        ("greaterThan", "true", "0", False),
        ("equalTo", "1", "true", False),
        ("equalTo", "05", "5", True),
        ("identicalTo", "05", "5", False),
        ("differentFrom", "05", "5", True),
        ("equalTo", "5", "5.0", True),
        ("notEqualTo", "5", '"5"', False),
        ("notEqualTo", "a", "b", True),
        ("notEqualTo", "a", "5", False),
        ("equalTo", "a", "a", True),
        ("lessThan", "2005-01-15", "2005-02-01", True),
        ("greaterThan", "100000000000000000000000000001", "100000000000000000000000000000", True),
        ("equalTo", "4294967301", "5", False),
        ("contains", '"New York Jets"', '"York"', True),
        ("startsWith", '"Jets"', '"Je"', True),
        ("endsWith", '"Jets"', '"Je"', False),
        ("isLiteral", "5", "true", True),
        ("isName", "5", "true", False),
    ],
)
def test_comparisons_know_their_types(name, first, second, wanted):
    assert holds(name, first, second) is wanted


@pytest.mark.parametrize(
    ("name", "terms", "wanted"),
    [
        ("plus", ("1", "2", "3"), "6"),
        ("plus", ("0.1", "0.2"), "0.3"),
        ("plus", ("1", "0.5"), "1.5"),
        ("plus", ("1", "true"), None),
        ("plus", ("1", '"2"'), None),
        ("plus", ("99999999999999999999", "1"), "100000000000000000000"),
        ("minus", ("2147483647", "-1"), "2147483648"),
        ("times", ("65536", "65536"), "4294967296"),
        ("dividedBy", ("6", "3"), "2"),
        ("dividedBy", ("1", "8"), "0.125"),
        ("dividedBy", ("1", "3"), "0." + "3" * 34),
        ("dividedBy", ("1", "0"), None),
        ("modulo", ("20", "7"), "6"),
        ("modulo", ("20", "0"), None),
        ("least", ("3", "2.5"), "2.5"),
        ("most", ("3", "2.5"), "3.0"),
        ("concatenate", ('"New "', '"York"'), "New York"),
        ("lowerCase", ('"JETS"',), "jets"),
        ("upperCase", ('"Jets"',), "JETS"),
        ("lengthOf", ('"Jets"',), "4"),
        ("yearOf", ("2005-01-15",), "2005"),
        ("monthOf", ("2005-01-15",), "1"),
        ("dayOf", ("2005-01-15T16:30:00Z",), "15"),
        ("yearOf", ('"2005"',), None),
        ("daysBetween", ("2004-02-28", "2004-03-01"), "2"),
        ("daysLater", ("2004-02-28", "2"), "2004-03-01"),
        ("daysLater", ("9999-12-31", "1"), None),
    ],
)
def test_calculations_are_exact_or_no_match(name, terms, wanted):
    assert result(name, *terms) == wanted


@sampled(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_whole_numbers_calculate_as_python_does(a, b):
    for name, wanted in (("plus", a + b), ("minus", a - b), ("times", a * b)):
        assert result(name, str(a), str(b)) == str(wanted)


@sampled(st.decimals(-1000, 1000, places=4), st.decimals(-1000, 1000, places=3))
def test_decimals_calculate_exactly(a, b):
    first, second = (Literal(format(value, "f"), XSD + "decimal") for value in (a, b))
    for name, wanted in (("plus", Fraction(a) + Fraction(b)), ("times", Fraction(a) * Fraction(b))):
        found = OPERATIONS[name].calculate([first, second], Limits())
        assert Fraction(value_of(found)) == wanted
        assert isinstance(value_of(found), Decimal)


def test_names_and_nodes_are_no_numbers():
    assert OPERATIONS["plus"].calculate([Iri("urn:a"), integer(1)], Limits()) is None


def test_a_result_that_is_bound_already_is_compared_by_value():
    theory = "(rule r :if (?x m ?a) (?x n ?b) (?x sum ?s) (?a mrq:plus ?b ?s) :then (?x right true))"
    given = "(x m 1) (x n 1.5) (x sum 2.50) (y m 1) (y n 1) (y sum 3)"
    assert derived(inferred(theory, given)) == ["x right true"]


def test_calculations_wait_for_their_operands_whatever_the_order():
    theory = "(rule r :if (?s mrq:times 2 ?d) (?a mrq:plus 1 ?s) (?x m ?a) :then (?x twice ?d))"
    assert derived(inferred(theory, "(x m 4)")) == ["x twice 10"]


def test_a_comparison_after_if_not_is_negated():
    theory = "(rule r :if (?x m ?a) :if-not (?a > 3) :then (?x small true))"
    assert derived(inferred(theory, "(x m 3) (y m 4)")) == ["x small true"]
