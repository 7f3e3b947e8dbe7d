"""Triples on one line: every literal gets its type from what is written, and faults name their column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.packages import NAMESPACE, PREFIXES

from basanite.reading.patterns import (
    Builtin,
    Pattern,
    PatternError,
    Prefixes,
    Variable,
    parse_pattern,
    parse_statement,
    parse_term,
)
from basanite.reading.terms import RDF, TYPE, XSD, Iri, Literal, Node, integer

WRITTEN = {
    "NFLGame": Iri(NAMESPACE + "NFLGame"),
    "Game-1": Iri(NAMESPACE + "Game-1"),
    "nfl:NFLGame": Iri(NAMESPACE + "NFLGame"),
    "xsd:date": Iri(XSD + "date"),
    "<urn:x:y>": Iri("urn:x:y"),
    "_:score1": Node("score1"),
    "5": integer(5),
    "-3": Literal("-3", XSD + "integer"),
    "05": Literal("05", XSD + "integer"),
    "2.5": Literal("2.5", XSD + "decimal"),
    "1e3": Literal("1e3", XSD + "double"),
    "true": Literal("true", XSD + "boolean"),
    "no": Iri(NAMESPACE + "no"),
    "2005-01-15": Literal("2005-01-15", XSD + "date"),
    "2005-01-15T16:30:00Z": Literal("2005-01-15T16:30:00Z", XSD + "dateTime"),
    '"New York Jets"': Literal("New York Jets"),
    '"a \\"b\\" \\n \\u00e9"': Literal('a "b" \n é'),
    '"Hallo"@de-AT': Literal("Hallo", RDF + "langString", "de-at"),
    '"5"^^xsd:integer': integer(5),
    '"x"^^<urn:t>': Literal("x", "urn:t"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_term_is_typed_by_what_is_written(text):
    assert parse_term(text, PREFIXES) == WRITTEN[text]


@pytest.mark.parametrize("text", [text for text in WRITTEN if "^^xsd:integer" not in text])
def test_the_short_form_of_a_term_is_read_back_as_the_same_term(text):
    term = WRITTEN[text]
    assert parse_term(PREFIXES.short(term), PREFIXES) == term


@given(
    st.one_of(
        st.builds(Literal, st.text(st.characters(exclude_categories=["Cs"]), max_size=30)),
        st.builds(
            Literal, st.text(max_size=10, alphabet="0123456789-.eE+T:Z"), st.sampled_from([XSD + "integer", "urn:t"])
        ),
        st.builds(lambda local: Iri(NAMESPACE + local), st.text("abc.-_1", max_size=8)),
        st.integers().map(integer),
    )
)
def test_any_term_survives_its_short_form(term):
    if isinstance(term, Iri) and term.value == NAMESPACE:
        return
    assert parse_term(PREFIXES.short(term), PREFIXES) == term


def test_type_is_the_membership_property_only_in_its_place():
    pattern = parse_pattern("?G type NFLGame", PREFIXES)
    assert pattern == Pattern(Variable("G"), TYPE, Iri(NAMESPACE + "NFLGame"))
    assert parse_pattern("?G a NFLGame", PREFIXES) == pattern
    assert parse_pattern("type type a", PREFIXES).subject == Iri(NAMESPACE + "type")


@pytest.mark.parametrize(
    "text", ["?N mrq:lessThanOrEqualTo 4", "?N <= 4", "(?N <= 4)", "?N <urn:basanite:builtin:lessThanOrEqualTo> 4 ."]
)
def test_a_comparison_may_be_written_in_several_ways(text):
    assert parse_pattern(text, PREFIXES) == Builtin("lessThanOrEqualTo", (Variable("N"), integer(4)))


def test_a_builtin_may_take_more_than_two_terms():
    assert parse_pattern("?t mrq:sum ?a ?b 2", PREFIXES).arguments[1:] == (Variable("a"), Variable("b"), integer(2))


BAD = {
    "?g hasOvertimePlay": "three terms",
    "?g name New York": "three terms",
    '?g name "open': "nothing can be read",
    "5 numberOfPeriods ?n": "is a subject",
    '?g "p" ?n': "not a property",
    "?g _:p ?n": "not a property",
    "?g foo:bar 5": "prefix 'foo' is not known",
    "? p 5": "not a variable",
    "?g p 12:30": "prefix '12' is not known",
    '?g p "\\q"': "means nothing",
    '?g p "\\ud800"': "no character",
    "?g p <no-scheme>": "not a full IRI",
    "?g p <=": "wrong place",
    "?g p a(b": "nothing can be read",
    "": "three terms",
    "x" * 20_000: "characters",
}


@pytest.mark.parametrize("text", BAD, ids=[text[:20] for text in BAD])
def test_what_cannot_be_read_is_told_with_a_cure(text):
    with pytest.raises(PatternError, match=BAD[text]) as error:
        parse_pattern(text, PREFIXES)
    assert error.value.fix


def test_a_fault_names_its_column():
    with pytest.raises(PatternError) as error:
        parse_pattern("  (?g foo:bar 5)", PREFIXES)
    assert error.value.column == 7


def test_a_statement_has_no_variables():
    with pytest.raises(PatternError, match="is a variable"):
        parse_statement(["?g", "type", "NFLGame"], PREFIXES)


def test_variables_are_bound_and_an_unbound_one_makes_no_statement():
    pattern = parse_pattern("?g numberOfPeriods ?n", PREFIXES)
    assert str(pattern.statement({"g": Iri("urn:g"), "n": integer(5)})).startswith("<urn:g>")
    with pytest.raises(PatternError, match="not a statement"):
        pattern.statement({"g": Iri("urn:g")})
    with pytest.raises(PatternError, match="not a statement"):
        pattern.statement({"g": integer(5), "n": integer(5)})


def test_the_users_own_prefix_wins_over_a_known_one():
    assert parse_term("ts:x", Prefixes("urn:n:", {"ts": "urn:mine:"})) == Iri("urn:mine:x")


@pytest.mark.parametrize("name", ["Game", "type", "a", "5", "true", "x.y", "-x", ""])
def test_without_a_prefix_a_name_is_short_where_it_is_read_back_as_itself(name):
    prefixes, iri = Prefixes("urn:n:"), Iri(f"urn:n:{name}")
    short = prefixes.short(iri)
    assert parse_term(short, prefixes) == parse_term(short, prefixes, property_=True) == iri
    assert short == (name if name in ("Game", "x.y") else f"<urn:n:{name}>")
