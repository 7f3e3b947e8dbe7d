"""The query language: every form of the plan is understood, every mistake has a column, and nothing makes it raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.formats.retrieval.query_faults import QueryFault, caret
from basanite.formats.retrieval.query_language import (
    HINTS,
    KINDS,
    LONGEST,
    SUBTYPES,
    Component,
    Element,
    Hint,
    Query,
    parse,
)

FORMS = {
    "music": ("lexical", "lexical", 1),
    "ebola": ("lexical", "lexical", 1),
    "don't": ("lexical", "lexical", 1),
    "covid-19": ("lexical", "lexical", 1),
    '"fishing boat"': ("lexical", "lexical", 2),
    '"blood pressure"[hyp:medical condition]': ("lexical", "lexical", 2),
    'bank[syn:shore],"fishing boat"': ("lexical", "lexical", 3),
    '"the (fishing boat) sank"': ("lexical", "lexical", 4),
    "<trees>": ("lexical", "morphological", 1),
    "<woke up>": ("lexical", "morphological", 2),
    '"<wearing> slippers"': ("lexical", "extended-morphological", 2),
    '"coconut <trees>"': ("lexical", "extended-morphological", 2),
    '"(three old) <boats> sank[syn:went down]"': ("lexical", "extended-morphological", 4),
    "bribing+": ("conceptual", "conceptual", 1),
    "boxing+[evf:sports]": ("conceptual", "conceptual", 1),
    '"climate change"+': ("conceptual", "conceptual", 2),
    '"a (fishing boat) sank"+[evf:accident]': ("conceptual", "conceptual", 4),
    "EXAMPLE_OF(virus)": ("conceptual", "example-of", 1),
    "EXAMPLE_OF(farm animal)[evf:farming]": ("conceptual", "example-of", 2),
    '"tongue of EXAMPLE_OF(animal)"': ("conceptual", "extended-example-of", 3),
    '"EXAMPLE_OF(fruit) juice"': ("conceptual", "extended-example-of", 2),
    '"EXAMPLE_OF(attire)[evf:clothing] red"': ("conceptual", "extended-example-of", 2),
    'bribing+,"panel of judges"': ("hybrid", "conceptual", 4),
    "boxing+[evf:sports],shoes[hyp:footwear]": ("hybrid", "conceptual", 2),
    "<trees>,EXAMPLE_OF(fruit)": ("hybrid", "example-of", 2),
}

FAULTS = {
    "": (1, "empty", "one word"),
    " music": (1, "extra space", "delete the space"),
    "music ": (6, "extra space", "delete the space"),
    'bribing+, "panel of judges"': (10, "extra space", "delete the space"),
    '"fishing  boat"': (10, "extra space", "delete the space"),
    "fishing\tboat": (8, "tab", "space"),
    "fishing boat": (8, "outside quotation marks", "quotation marks"),
    '"music"': (1, "several words", "write music without quotation marks"),
    '"music"+': (1, "several words", "write music without quotation marks"),
    '"<woke up>"': (1, "several words", "write <woke up> without"),
    '"EXAMPLE_OF(fruit)"': (1, "several words", "write EXAMPLE_OF(fruit) without"),
    '"(fishing boat)"': (1, "several words", 'write "fishing boat"'),
    '"(fishing) boat"': (2, "parentheses", "delete"),
    "bribing+,boxing+": (10, "two conceptual", "lexical"),
    "bribing+,EXAMPLE_OF(fruit)": (10, "two conceptual", "lexical"),
    "one,two,three": (9, "at most two", "delete"),
    '"<old> <boats>"': (8, "second <..>", "keep one"),
    '"(a b) (c d) e"': (8, "second (..)", "keep one"),
    '"a[syn:b] c"[hyp:d]': (13, "second hint", "keep one"),
    "music[sny:song]": (7, "not a kind of hint", "Did you mean 'syn'?"),
    "music[syn:song]+": (16, "+ is not allowed here", "before the hint"),
    "<trees>+": (8, "no morphology", "delete the +"),
    "EXAMPLE_OF(fruit)+": (18, "already", "delete the +"),
    '"old EXAMPLE_OF(boat) sank"': (23, "both sides", "before or those after"),
    '"<old> EXAMPLE_OF(boat)"': (2, "plain words", "marks"),
    '"old[syn:aged] EXAMPLE_OF(boat)"': (5, "belongs to EXAMPLE_OF", "after EXAMPLE_OF"),
    '"old EXAMPLE_OF(boat)"[syn:ship]': (23, "belongs to EXAMPLE_OF", "inside"),
    '"EXAMPLE_OF(a) EXAMPLE_OF(b)"': (16, "second EXAMPLE_OF", "keep one"),
    '"fishing boat': (14, "column 1 is not closed", "closing"),
    "<trees": (7, "< of column 1 is not closed", "write >"),
    "music[syn:song": (15, "[ of column 6 is not closed", "write ]"),
    "EXAMPLE_OF": (11, "too early", "("),
    "music,": (7, "too early", "a word"),
    "(fishing boat)": (1, "( is not allowed here", "inside quotation marks"),
    "music:Lifestyle": (6, "colon is not allowed here", "comma"),
    "café": (4, "letter 'é'", "write 'e'"),
    "“fishing boat”": (1, "not in the language", 'the plain "'),
    "don’t": (4, "not in the language", "the plain '"),
    "fishing_boat": (8, "underscore", "hyphen"),
    "músíc": (2, "letter 'ú'", "write 'u'"),
    "音楽": (1, "not in the language", "letters a-z"),
    "music\x00": (6, "U+0000", "letters a-z"),
    "--": (1, "not in the language", "letters a-z"),
}


@pytest.mark.parametrize(("text", "expected"), FORMS.items())
def test_each_form_has_its_kind_subtype_and_number_of_words(text, expected):
    query = parse(text)
    assert isinstance(query, Query)
    assert (query.kind, query.subtype, len(query.words)) == expected
    assert str(query) == text


def test_the_forms_above_cover_all_kinds_and_subtypes():
    assert {kind for kind, _, _ in FORMS.values()} == set(KINDS)
    assert {subtype for _, subtype, _ in FORMS.values()} == set(SUBTYPES)
    assert len(SUBTYPES) == 6


def test_hyphen_and_apostrophe_belong_to_words():
    query = parse("\"rock-'n'-roll isn't dead\"")
    assert isinstance(query, Query)
    assert query.words == ("rock-'n'-roll", "isn't", "dead")


@pytest.mark.parametrize(("text", "expected"), FAULTS.items())
def test_each_mistake_has_its_column_and_its_cure(text, expected):
    fault = parse(text)
    assert isinstance(fault, QueryFault)
    column, message, fix = expected
    assert fault.column == column
    assert message in fault.message
    assert fix in fault.fix


def test_the_parts_of_a_component_can_be_asked_for():
    query = parse('"(three old) <boats> sank[syn:went down]",EXAMPLE_OF(farm animal)')
    assert isinstance(query, Query)
    phrase, example = query.components
    assert phrase.constituent == ("three", "old")
    assert phrase.morphology == ("boats",)
    assert phrase.hint == Hint("syn", ("went", "down"))
    assert phrase.words == ("three", "old", "boats", "sank")
    assert (example.example, example.hint, example.kind) == (("farm", "animal"), None, "conceptual")
    assert query.subtypes == ("extended-morphological", "example-of")


WORDS = st.lists(st.from_regex(r"[a-z0-9][-'a-zA-Z0-9]{0,4}", fullmatch=True), min_size=1, max_size=3).map(tuple)
HINT = st.none() | st.builds(Hint, st.sampled_from(tuple(HINTS)), WORDS)


def plain(words):
    return [Element("word", (word,)) for word in words]


@st.composite
def phrases(draw):
    """A phrase with at most one of each mark and one hint, inside or outside."""
    elements = plain(draw(WORDS)) + plain(draw(WORDS))
    if draw(st.booleans()):
        elements.insert(draw(st.integers(0, len(elements))), Element("constituent", ("both", *draw(WORDS))))
    plus = draw(st.booleans())
    if not plus and draw(st.booleans()):
        elements.insert(draw(st.integers(0, len(elements))), Element("morphology", draw(WORDS)))
    hint, at = draw(HINT), draw(st.integers(-1, len(elements) - 1))
    if at >= 0:
        elements[at] = Element(elements[at].role, elements[at].words, hint)
    return Component(tuple(elements), quoted=True, plus=plus, outer_hint=hint if at < 0 else None)


@st.composite
def bare(draw):
    """A component without quotation marks."""
    role = draw(st.sampled_from(["word", "morphology", "example"]))
    words = draw(WORDS)[: 1 if role == "word" else None]
    plus = role == "word" and draw(st.booleans())
    return Component((Element(role, words),), plus=plus, outer_hint=draw(HINT))


@st.composite
def extended(draw):
    """A quoted phrase with EXAMPLE_OF at one end."""
    example = [Element("example", draw(WORDS), draw(HINT))]
    words = plain(draw(WORDS))
    return Component(tuple(draw(st.sampled_from([example + words, words + example]))), quoted=True)


COMPONENTS = st.one_of(phrases(), bare(), extended())
QUERIES = (
    st.lists(COMPONENTS, min_size=1, max_size=2)
    .filter(lambda components: [part.kind for part in components] != ["conceptual", "conceptual"])
    .map(lambda components: Query(tuple(components)))
)
NEAR_QUERIES = st.lists(
    st.sampled_from(["a", "b", " ", '"', "<", ">", "(", ")", "[", "]", "syn:", "+", ",", "EXAMPLE_OF", "é", "\t", ":"])
).map("".join)


@given(QUERIES)
def test_what_is_printed_is_read_as_the_same_query(query):
    assert parse(str(query)) == query


@given(st.one_of(NEAR_QUERIES, st.text()))
def test_any_text_is_a_query_printed_as_it_was_or_has_a_fault_within_it(text):
    answer = parse(text)
    if isinstance(answer, Query):
        assert str(answer) == text
    else:
        assert 1 <= answer.column <= len(text) + 1
        assert answer.message
        assert answer.fix
        assert caret(text, answer.column).endswith("^")


@pytest.mark.parametrize("piece", ["(", "<", "[", '"', ",", "a,", "EXAMPLE_OF(", "a ", "((a ", "[syn:", "é", "\t", " "])
def test_hostile_strings_are_answered_at_once(piece):
    assert isinstance(parse(piece * 1_000_000), QueryFault)
    assert isinstance(parse((piece * LONGEST)[:LONGEST]), QueryFault)


def test_a_string_of_the_greatest_length_is_read():
    text = '"' + "a " * 498 + 'bc"'
    assert len(text) == LONGEST
    query = parse(text)
    assert isinstance(query, Query)
    assert len(query.words) == 499


def test_the_caret_stands_below_the_column_even_beside_wide_and_hidden_characters():
    assert caret("音楽 x", 4) == "音楽 x\n     ^"
    assert caret("a\tb", 3) == "a\\tb\n   ^"
    assert caret("ab", 3) == "ab\n  ^"


def test_of_a_long_text_the_caret_shows_the_part_that_matters():
    shown, mark = caret("a" * 500 + "!" + "b" * 500, 501).split("\n")
    assert len(shown) < 80
    assert shown[len(mark) - 1] == "!"
    assert shown[0] == shown[-1] == "…"
