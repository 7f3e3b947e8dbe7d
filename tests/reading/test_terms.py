"""Terms are the same only if they are written the same, and a statement's name is the hash of its N-Triples line."""

import hashlib

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from basanite.reading.terms import RDF, XSD, Iri, Literal, Node, Statement, boolean, integer

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_a_count_is_no_truth_value():
    assert len({integer(1), boolean(True), Literal("1"), Literal("01", XSD + "integer")}) == 4


def test_terms_of_different_kinds_with_one_text_are_different():
    assert len({Iri("x"), Node("x"), Literal("x"), Literal("x", RDF + "langString", "en")}) == 4


@given(TEXT, st.sampled_from(["string", "integer", "date"]))
def test_the_name_of_a_statement_is_the_hash_of_the_line_that_another_library_writes(text, datatype):
    statement = Statement(Iri("urn:a"), Iri("urn:p"), Literal(text, XSD + datatype))
    line = str(statement) + "\n"
    (parsed,) = pyoxigraph.parse(line, pyoxigraph.RdfFormat.N_TRIPLES)
    assert (parsed.object.value, parsed.object.datatype.value) == (text, XSD + datatype)
    assert statement.id == hashlib.sha256(line.strip("\n").encode()).hexdigest()


@given(TEXT, TEXT)
def test_equal_terms_have_equal_hashes(first, second):
    for kind in (Iri, Node, Literal):
        assert (kind(first) == kind(second)) == (first == second)
        assert hash(kind(first)) == hash(kind(str(first)))
