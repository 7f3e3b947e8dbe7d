"""The published ontology as it was printed, and statements held against it as in a closed world."""

import random

import pytest
from tests.reading.packages import NAMESPACE, PREFIXES, nfl_ontology, said

from basanite.problems import Findings
from basanite.reading.ontology_checks import check_statements
from basanite.reading.ontology_file import MOST_ELEMENTS, read_ontology
from basanite.reading.patterns import Prefixes
from basanite.reading.terms import XSD, Iri

ONTOLOGY = nfl_ontology()
TYPES = {"Date": XSD + "date", "Boolean": XSD + "boolean", "Count": NAMESPACE + "Count"}

# The printed table, line by line: property, type, cardinality.
TABLE_2 = {
    ("NFLGame", "Event"): """
        gameDate Date <= 1
        numberOfPeriods Count <= 1
        hasOvertimePlay Boolean <= 1
        gameWinner NFLTeam <= 1
        gameLoser NFLTeam <= 1
        homeTeamInGame NFLTeam <= 1
        awayTeamInGame NFLTeam <= 1
        teamInGame NFLTeam <= 2
        teamFinalScoreInGame TeamSummaryScore <= 2""",
    ("TeamSummaryScore", ""): """
        teamScoringAll NFLTeam = 1
        pointsScored Count = 1
        touchdownCompleteCount Count <= 1
        onePointConversionCompleteCount Count <= 1
        twoPointConversionCompleteCount Count <= 1
        fieldGoalCompleteCount Count <= 1
        safetyCompleteCount Count <= 1""",
}


def nfl(name):
    return Iri(TYPES.get(name, NAMESPACE + name))


@pytest.mark.parametrize("owner", TABLE_2, ids=lambda owner: owner[0])
def test_the_published_table_is_the_ontology(owner):
    name, parent = owner
    assert ONTOLOGY.classes[nfl(name)].parents == ((nfl(parent),) if parent else ())
    printed = [line.split(maxsplit=2) for line in TABLE_2[owner].split("\n") if line.strip()]
    assert {prop.name for prop in ONTOLOGY.properties.values() if prop.domain == nfl(name)} == {
        words[0] for words in printed
    }
    for words in printed:
        found = ONTOLOGY.properties[nfl(words[0])]
        assert (found.domain, found.range) == (nfl(name), nfl(words[1]))
        assert [str(limit) for limit in ONTOLOGY.limits[found.iri]] == [words[2]]


def test_elements_say_whether_they_are_read_inferred_or_only_asked():
    marks = {found.name: found.mark for found in (*ONTOLOGY.classes.values(), *ONTOLOGY.properties.values())}
    assert {marks[name] for name in ("NFLGame", "gameDate", "pointsScored")} == {"target"}
    assert {marks[name] for name in ("touchdownCompleteCount", "safetyCompleteCount")} == {"inferred"}
    assert marks["lessThanOrEqualTo"] == "query-only"


def kinds(*texts):
    return [(fault.kind, fault.severity) for fault in check_statements(ONTOLOGY, said(*texts))]


GOOD = {
    "a game": ["g type NFLGame", "g gameDate 2005-01-15", "g numberOfPeriods 5", "g hasOvertimePlay true"],
    "two teams": ["g type NFLGame", "g teamInGame a", "g teamInGame b"],
    "nothing typed": ["g gameWinner a"],
    "a wider class": ["g type Event", "g gameWinner a"],
    "a whole score": ["_:s type TeamSummaryScore", "_:s teamScoringAll a", "_:s pointsScored 0"],
    "what is inferred": ["_:s teamScoringAll a", "_:s pointsScored 7", "_:s touchdownCompleteCount 1"],
    "one value twice": ["g numberOfPeriods 5", "g numberOfPeriods 05"],
    "one team by two names": ["g gameWinner a", "g gameWinner b", "a <http://www.w3.org/2002/07/owl#sameAs> b"],
}
BAD = {
    "unknown property": (["g periods 5"], "unknown"),
    "unknown class": (["g type Game"], "unknown"),
    "only for queries": (["g mrq:lessThan 5"], "query-only"),
    "text for a count": (['g numberOfPeriods "5"'], "range"),
    "a negative count": (["g numberOfPeriods -1"], "range"),
    "a day that is none": (['g gameDate "2005-02-30"^^xsd:date'], "range"),
    "one for true": (["g hasOvertimePlay 1"], "range"),
    "a value for a team": (["g gameWinner 5"], "range"),
    "a name for a count": (["g numberOfPeriods five"], "range"),
    "a game for a team": (["g gameWinner h", "h type NFLGame"], "range"),
    "a team with a date": (["a type NFLTeam", "a gameDate 2005-01-15"], "domain"),
    "three teams": (["g teamInGame a", "g teamInGame b", "g teamInGame c"], "too-many"),
    "two winners": (["g type NFLGame", "g gameWinner a", "g gameWinner b"], "too-many"),
    "two counts": (["g numberOfPeriods 4", "g numberOfPeriods 5"], "too-many"),
    "team and game": (["g type NFLGame", "g type NFLTeam"], "disjoint"),
    "kinds of events": (["e type Touchdown", "e type Safety", "e eventInGame g", "e teamScoring a"], "disjoint"),
    "by a superclass": (["e type Touchdown", "e type NFLTeam", "e eventInGame g", "e teamScoring a"], "disjoint"),
    "winner and loser": (["g gameWinner a", "g gameLoser a"], "disjoint"),
}


@pytest.mark.parametrize("case", GOOD)
def test_statements_that_agree_with_the_ontology_have_no_fault(case):
    assert kinds(*GOOD[case]) == []


@pytest.mark.parametrize("case", BAD)
def test_statements_that_contradict_the_ontology_are_violations(case):
    texts, kind = BAD[case]
    assert kinds(*texts) == [(kind, "violation")]


def test_a_missing_value_where_one_is_wanted_is_incomplete():
    assert kinds("_:s type TeamSummaryScore") == [("missing", "incomplete")] * 2
    assert kinds("_:s pointsScored 20") == [("missing", "incomplete")]


def test_a_fault_names_the_statements_behind_it():
    statements = said("g type NFLGame", "g gameWinner a", "a type NFLGame")
    (fault,) = check_statements(ONTOLOGY, statements)
    assert set(fault.statements) == set(statements[1:])


def test_counts_agree_with_counting_by_hand():
    rng = random.Random(5)
    limits = {
        words.split()[0]: int(words.split()[-1]) for words in TABLE_2["NFLGame", "Event"].split("\n") if words.strip()
    }
    objects = [name for name in limits if ONTOLOGY.properties[nfl(name)].range == nfl("NFLTeam")]
    for _ in range(200):
        texts = {f"g{rng.randrange(3)} {rng.choice(objects)} t{rng.randrange(3)}" for _ in range(rng.randrange(12))}
        by_hand = {}
        for text in texts:
            subject, name, _ = text.split()
            by_hand[subject, name] = by_hand.get((subject, name), 0) + 1
        wanted = {key for key, count in by_hand.items() if count > limits[key[1]]}
        found = check_statements(ONTOLOGY, said(*sorted(texts)))
        short = PREFIXES.short
        over = {(short(f.subject)[4:], short(f.element)[4:]) for f in found if f.kind == "too-many"}
        assert over == wanted


HEAD = """@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ts: <urn:basanite:reading:> . @prefix nfl: <https://nfl.example/scoring#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
nfl:A a owl:Class ; ts:mark ts:target .
"""
FAULTS = {
    "nfl:B a owl:Class .": (5, "does not say once what it is for"),
    "nfl:B a owl:Class ; ts:mark ts:other .": (5, "does not say once"),
    "\nnfl:B a owl:Class ; ts:mark ts:target ; rdfs:subClassOf nfl:C .": (6, "nfl:C, which is not a class"),
    "nfl:B a owl:Class ; ts:mark ts:target ; rdfs:subClassOf nfl:B .": (5, "below itself"),
    "nfl:p a owl:ObjectProperty ; ts:mark ts:target ; rdfs:domain nfl:X .": (5, "not a class of the ontology"),
    "nfl:p a owl:ObjectProperty ; ts:mark ts:target ; rdfs:range xsd:dat .": (5, "not a class or type"),
    "nfl:p a owl:ObjectProperty ; ts:mark ts:target ; rdfs:domain nfl:A , nfl:B .": (5, "more than one"),
    "nfl:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty nfl:p ; owl:maxCardinality 1 ] .": (
        4,
        "not a property",
    ),
    "nfl:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty nfl:p ] .": (4, "not understood"),
    "nfl:A owl:disjointWith nfl:Z .": (4, "not a class of the ontology"),
    "nfl:T a rdfs:Datatype ; owl:onDatatype nfl:A .": (5, "narrows no type"),
    "nfl:T a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ xsd:length 5 ] ) .": (
        5,
        "not underst",
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_faulty_ontology_is_told_with_the_line_of_the_element(text, tmp_path):
    (tmp_path / "o.ttl").write_text(HEAD + text)
    findings = Findings()
    read_ontology(tmp_path / "o.ttl", PREFIXES, findings)
    line, words = FAULTS[text]
    assert [(p.rule, p.line) for p in findings if words in p.message] == [("R-7", line)]


def test_an_empty_ontology_and_a_broken_one_are_told(tmp_path):
    for text, words in (("", "declares no class"), ("nfl:A a", "cannot be read")):
        (tmp_path / "o.ttl").write_text(text)
        findings = Findings()
        read_ontology(tmp_path / "o.ttl", PREFIXES, findings)
        assert words in findings.problems[0].message


def test_an_endless_list_and_very_many_disjoint_classes_come_to_an_end(tmp_path):
    loop = "_:a <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> nfl:A ; "
    loop += "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:a . [] a owl:AllDisjointClasses ; owl:members _:a ."
    (tmp_path / "o.ttl").write_text(HEAD + loop)
    findings = Findings()
    read_ontology(tmp_path / "o.ttl", PREFIXES, findings)
    assert "disjoint at once" in findings.problems[0].message


def test_superclasses_follow_from_a_stated_class():
    statements = said("e type Touchdown")
    made = {PREFIXES.short(s.object) for s in ONTOLOGY.supertypes(statements)}
    assert made == {"nfl:ScoringEvent", "nfl:Event"}


def test_a_ladder_of_classes_and_very_many_of_them_are_refused_in_time(tmp_path):
    head = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    head += "@prefix ts: <urn:basanite:reading:> . @prefix : <urn:x:> .\n"
    ladder = "".join(f":c{n} a owl:Class ; ts:mark ts:target ; rdfs:subClassOf :c{n + 1} .\n" for n in range(3000))
    many = "".join(f":c{n} a owl:Class ; ts:mark ts:target .\n" for n in range(MOST_ELEMENTS + 1))
    for text, words in ((ladder, "lies below too many classes"), (many, f"has {MOST_ELEMENTS + 1} classes")):
        (tmp_path / "o.ttl").write_text(head + text)
        findings = Findings()
        read_ontology(tmp_path / "o.ttl", Prefixes("urn:x:"), findings)
        assert any(words in problem.message for problem in findings)
        assert not findings.valid
