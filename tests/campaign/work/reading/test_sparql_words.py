"""What a SPARQL query holds is told from its tokens: the same verdict as a real parser's (X-3)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyparsing import ParseBaseException
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from basanite.campaign.work.reading.child_sparql import fault

BITS = st.sampled_from(
    [
        "?s ?p ?o .", "?service ?from ?load .", "SERVICE <http://x/> { ?s ?p ?o }", "service silent ?s { }",
        'FILTER(?a < 2 && ?b > "SERVICE")', "FILTER(?a<?b)", "?s :SERVICE ?o .", "?s ex:from 'FROM' .",
        "{ ?s a :Load } UNION { ?s ?p 5 }", "OPTIONAL { ?s ?p '''FROM \" SERVICE''' }", "# SERVICE <http://x/> {}\n",
        "BIND('it\\'s SERVICE' AS ?z)", "?s <http://x/SERVICE#FROM> ?o .", "GRAPH ?g { ?s ?p ?o }",
        "VALUES ?v { 'FROM' :service }", "FILTER NOT EXISTS { ?s :p/:q* ?o }",
    ]
)  # fmt: skip
HEADS = st.sampled_from(["SELECT *", "SELECT ?from ?service", "ASK", "SELECT * FROM <http://x/>", "ASK FROM NAMED :g"])


def holds(tree):
    """Whether a parsed query has a SERVICE or a FROM anywhere."""
    if isinstance(tree, CompValue):
        return tree.name in ("ServiceGraphPattern", "DatasetClause") or any(map(holds, tree.values()))
    return any(map(holds, tree)) if isinstance(tree, (list, tuple)) or hasattr(tree, "asList") else False


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(HEADS, st.lists(BITS, max_size=3))
def test_a_query_is_refused_exactly_if_a_parser_finds_service_or_from_in_it(head, bits):
    query = "PREFIX : <urn:e:> PREFIX ex: <urn:e:> " + head + " { " + " ".join(bits) + " }"
    try:
        tree = parseQuery(query)
    except ParseBaseException:  # some bits cannot stand beside each other
        assume(False)
    wrong = fault(query)
    reaches = wrong is not None and wrong[0] in ("SERVICE is not allowed", "FROM is not allowed")
    assert reaches == holds(tree)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("INSERT DATA { }", "INSERT"),
        ("PREFIX a: <b> DELETE WHERE {}", "DELETE"),
        ("SELECT * {} ; LOAD <x>", "LOAD"),
        ("SELECT * {} ; DROP ALL", "DROP"),
        ("WITH <g> DELETE {} WHERE {}", "WITH"),
        ("SELECT \\u002A { \\u0053ERVICE <x> {} }", "escaped"),
        ("SELECT * { " + "{" * 100 + "}" * 100 + " }", "nested"),
        ("nothing at all", "not a query"),
        ("SELECT * {} #" + "x" * 100_001, "characters"),
    ],
)
def test_what_is_no_plain_query_is_refused_with_its_reason(query, word):
    assert word in fault(query)[0]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?insert { ?load :delete 'DROP' }",
        'ASK { ?s ?p """SERVICE \'" FROM"""@en }',
        "DESCRIBE <http://x/LOAD>",
        "SELECT * { ?s ex:with\\-FROM ?o . ?s :a-FROM ?o }",
    ],
)
def test_words_in_names_strings_and_variables_are_no_keywords(query):
    assert fault(query) is None
