"""Queries: all that the ontology makes possible, chosen, worded, answered; SPARQL on another engine agrees."""

import random

import pyoxigraph
import pytest
from tests.reading.packages import NFL, PREFIXES, goals, nfl_ontology, said

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.package.manifest import CAPABILITIES
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.queries import (
    COMPARISONS,
    Choice,
    QueryLimitError,
    StatementIndex,
    all_queries,
    answerable,
    answers,
    choose,
    class_named,
    has_answer,
    read_queries,
)
from basanite.reading.query import FILTERS, Query, question, sparql
from basanite.reading.terms import Iri, integer

ONTOLOGY = nfl_ontology()
ALL = all_queries(ONTOLOGY)
BY_ID = {query.id: query for query in ALL}
TABLE_3 = Query("periods", goals("?G type NFLGame", "?G numberOfPeriods ?N"))


def test_the_published_query_finds_the_published_answer():
    (answer,) = answers(TABLE_3, said("Game-1 type NFLGame", "Game-1 numberOfPeriods 5", "Game-2 type NFLGame"))
    assert {name: PREFIXES.short(term) for name, term in answer.bindings} == {"G": "nfl:Game-1", "N": "5"}
    assert answer.statements == tuple(said("Game-1 type NFLGame", "Game-1 numberOfPeriods 5"))


def test_every_class_and_property_is_asked_about_and_every_pair_that_meets():
    owned = [p for p in ONTOLOGY.properties.values() if p.mark != "query-only"]
    kinds = {kind: {query.id for query in ALL if query.type == kind} for kind in ("class", "property", "chain", "fork")}
    assert len(kinds["class"]) == len(ONTOLOGY.classes) == 10
    assert kinds["property"] == {f"property/{p.name}" for p in owned}
    chains = {
        f"chain/{first.name}/{second.name}"
        for first in owned
        for second in owned
        if first.range is not None and second.domain in ONTOLOGY.ancestors.get(first.range, ())
    }
    assert chains <= kinds["chain"]
    assert "chain/teamFinalScoreInGame/pointsScored" in kinds["chain"]
    assert "chain/gameDate/gameWinner" not in kinds["chain"]
    assert sum("fork/" in query.id for query in ALL) == 9 * 8 // 2 + 7 * 6 // 2 + 3 * 2 // 2
    assert len(BY_ID) == len(ALL)


def test_nothing_is_asked_about_what_may_stand_in_queries_only():
    assert not [query.id for query in ALL if "lessThan" in query.id]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("class/NFLGame", "Which games are mentioned?"),
        ("class/Touchdown", "Which touchdowns are mentioned?"),
        ("property/numberOfPeriods", "How many periods were played in each game mentioned?"),
        ("chain/gameWinner/teamName", "For each game mentioned, what is the name of each winner?"),
        ("fork/gameLoser/gameWinner", "For each game mentioned, what are its loser and its winner?"),
    ],
)
def test_people_are_asked_in_words(name, words):
    assert BY_ID[name].question == words


def test_every_generated_query_has_a_question():
    assert [query.id for query in ALL if not query.question] == []


def test_a_query_that_no_template_fits_has_no_question():
    assert question(Query("q", goals("?G numberOfPeriods ?N", "?N > 4")), ONTOLOGY) == ""
    three = goals("?G gameWinner ?A", "?G gameLoser ?B", "?G gameDate ?C")
    assert question(Query("q", three), ONTOLOGY) == ""


def test_queries_are_chosen_by_type_class_and_capability():
    kept = choose(
        ALL, Choice(types=frozenset({"property"}), classes=frozenset({class_named("NFLGame", ONTOLOGY)})), ONTOLOGY
    )
    owners = ONTOLOGY.ancestors[kept[0].patterns[0].object]
    owned = {one.name for one in ONTOLOGY.properties.values() if one.domain in owners}
    assert {query.id.partition("/")[2] for query in kept} == owned
    in_scope = choose(ALL, Choice(capabilities=frozenset({"anaphora"})), ONTOLOGY)
    assert "property/gameDate" not in {query.id for query in in_scope}
    assert "property/teamScoring" in {query.id for query in in_scope}


def test_a_sample_depends_on_the_seed_only():
    first = choose(ALL, Choice(sample=10, seed=1), ONTOLOGY)
    assert first == choose(ALL, Choice(sample=10, seed=1), ONTOLOGY)
    assert first != choose(ALL, Choice(sample=10, seed=2), ONTOLOGY)
    assert [query for query in ALL if query in first] == first
    assert choose(ALL, Choice(sample=10**6), ONTOLOGY) == ALL


def test_an_unknown_class_is_answered_with_the_nearest():
    assert class_named("nfl:NFLGame", ONTOLOGY) == class_named("NFLGame", ONTOLOGY)
    with pytest.raises(SettingError, match="NFLGame"):
        class_named("NFLGam", ONTOLOGY)


def test_only_queries_with_answers_in_some_document_are_kept():
    documents = [said("g type NFLGame", "g numberOfPeriods 5"), said("e type Touchdown", "e eventInGame g")]
    kept = {query.id for query in answerable(ALL, documents, ONTOLOGY)}
    assert {"class/NFLGame", "class/Event", "class/ScoringEvent", "property/numberOfPeriods"} <= kept
    assert "property/gameDate" not in kept
    assert "chain/eventInGame/numberOfPeriods" not in kept  # the two statements stand in different documents
    assert "class/Safety" not in kept


def random_query(rng):
    names = [p.iri for p in ONTOLOGY.properties.values() if p.mark != "query-only"][:4]
    terms = [Variable(name) for name in "abc"]

    def pattern():
        object_ = rng.choice([*terms, integer(rng.randrange(3)), Iri(f"urn:{rng.randrange(3)}")])
        predicate = rng.choice([*names, *names, Variable("p")])
        return Pattern(rng.choice([*terms, Iri(f"urn:{rng.randrange(3)}")]), predicate, object_)

    made = [pattern() for _ in range(rng.randrange(1, 4))]
    known = sorted({name for one in made for name in one.variables})
    if known and rng.random() < 0.5:
        name = rng.choice(sorted(FILTERS))
        things = [] if "Than" in name else ["<urn:1>", f"?{rng.choice(known)}"]  # the other engine orders equal names
        made += goals(f"?{rng.choice(known)} mrq:{name} {rng.choice(['0', '1', '2', *things])}")
    return Query("q", tuple(made))


def random_statements(rng):
    names = [p.iri for p in ONTOLOGY.properties.values() if p.mark != "query-only"][:4]
    things = [f"<urn:{number}>" for number in range(3)]
    return said(
        *{
            f"{rng.choice(things)} {rng.choice(names)} {rng.choice([*things, '0', '1', '2'])}"
            for _ in range(rng.randrange(1, 25))
        }
    )


@pytest.mark.few(30)
@pytest.mark.parametrize("seed", range(300))
def test_answers_agree_with_sparql_on_another_engine(seed):
    rng = random.Random(seed)
    query, statements = random_query(rng), random_statements(rng)
    if not query.variables:
        return
    store = pyoxigraph.Store()
    store.load("\n".join(map(str, statements)).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    theirs = {tuple(str(row[name]) for name in query.variables) for row in store.query(sparql(query, PREFIXES))}
    ours = [tuple(str(answer[name]) for name in query.variables) for answer in answers(query, statements)]
    assert set(ours) == theirs
    assert len(ours) == len(theirs)
    assert has_answer(query, StatementIndex(statements)) == bool(theirs)


def test_every_comparison_has_a_filter_in_sparql():
    assert FILTERS.keys() == COMPARISONS.keys()


def test_the_order_of_statements_does_not_change_the_answers():
    statements = said(
        "g type NFLGame", "h type NFLGame", "g numberOfPeriods 5", "h numberOfPeriods 4", "g numberOfPeriods 4"
    )
    wanted = answers(TABLE_3, statements)
    assert answers(TABLE_3, statements[::-1]) == wanted
    assert len(wanted) == 3


def test_a_query_that_tries_too_much_is_undecided():
    product = Query("all", goals("?a type ?b", "?c type ?d", "?e type ?f"))
    with pytest.raises(QueryLimitError, match="undecided"):
        answers(product, said(*(f"g{n} type NFLGame" for n in range(50))), most_tried=10_000)


def test_only_the_selected_variables_are_told_each_answer_once():
    query = Query("q", goals("?G teamInGame ?T"), select=("G",))
    found = answers(query, said("g teamInGame a", "g teamInGame b"))
    assert [answer.bindings for answer in found] == [(("G", Iri("https://nfl.example/scoring#g")),)]


def test_the_shipped_queries_are_read():
    findings = Findings()
    queries = read_queries(NFL / "queries" / "queries.yaml", ONTOLOGY, CAPABILITIES, findings)
    assert findings.problems == []
    assert {query.id: query for query in queries}["dates"].capabilities == {"temporal"}


HEAD = "format: basanite-queries/1\nqueries:\n"
FAULTS = {
    "queries: []\n": (1, "format"),
    "- a\n": (1, "format"),
    HEAD + '  - find: ["?G type NFLGame"]\n': (3, "no text under `query`"),
    HEAD + "  - query: a\n": (3, "finds nothing"),
    HEAD + '  - query: a\n    find: ["?G type NFLGam"]\n': (4, "not a class"),
    HEAD + '  - query: a\n    find: ["?G numberOfPeriod ?N"]\n': (4, "not a property"),
    HEAD + '  - query: a\n    find: ["?G numberOfPeriods"]\n': (4, "three terms"),
    HEAD + '  - query: a\n    find: ["?G numberOfPeriods ?N", "?M > 3"]\n    question: x\n': (
        3,
        "only used in a comparison",
    ),
    HEAD + '  - query: a\n    find: ["?G numberOfPeriods ?N", "?N mrq:near 3"]\n    question: x\n': (
        3,
        "not a comparison",
    ),
    HEAD + '  - query: a\n    find: ["?G numberOfPeriods ?N", "?N > 3"]\n': (3, "no question"),
    HEAD + '  - query: a\n    find: ["?G type NFLGame"]\n    select: ["?N"]\n': (5, "not a variable"),
    HEAD + '  - query: a\n    find: ["?G type NFLGame"]\n    capabilities: [tmporal]\n': (5, "capability"),
    HEAD + '  - query: a\n    find: ["?G type NFLGame"]\n    kind: x\n': (5, "key `kind`"),
    HEAD + '  - query: a\n    find: ["?G type NFLGame"]\n  - query: a\n    find: ["?G type NFLTeam"]\n': (5, "twice"),
    HEAD + "  - text\n": (3, "not a mapping"),
    HEAD + "  - query: a\n    find: [{a: b}]\n": (4, "not text"),
}


@pytest.mark.parametrize("text", FAULTS, ids=[f"{words}{i}" for i, (_, words) in enumerate(FAULTS.values())])
def test_a_faulty_file_of_queries_is_told_with_its_line(text, tmp_path):
    (tmp_path / "q.yaml").write_text(text)
    findings = Findings()
    read_queries(tmp_path / "q.yaml", ONTOLOGY, CAPABILITIES, findings)
    line, words = FAULTS[text]
    assert [problem.line for problem in findings if words in problem.message] == [line], findings.problems
