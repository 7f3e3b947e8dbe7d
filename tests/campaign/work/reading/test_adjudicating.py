"""Answers are pooled, decided blind, and grow the gold; scores change once somebody has looked (R-17, R-21)."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError
from tests.campaign.work.reading.small_package import TEST, answers_of, ndjson

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.tables import ReadingDecision, ReadingGold, ReadingPackage, ReadingScore, ReceivedAnswer
from basanite.campaign.work.reading import adjudication, golds, people, runs, scoring, services
from basanite.campaign.work.reading.adjudication import Case
from basanite.campaign.work.reading.child import digest, plain
from basanite.campaign.work.reading.packages import corpus
from basanite.campaign.work.reading.runs import Arrived
from basanite.reading.gold.answers import bindings_of


def begin(reading, who="ada", label="reader", key="k"):
    """A formal run of somebody's team."""
    given = (
        reading.acts(who),
        reading.sees(who),
        reading.season.campaign_id,
        runs.RunRequest(reading.formal, label, key),
    )
    return reading.do(runs.start, *given)


def arrived(reading, record):
    """An answer as the child would have read it."""
    with reading.office.reading() as session:
        texts = corpus(reading.office, session.get(ReadingPackage, reading.package))
    asked = texts.queries[record["query"]]
    bindings = bindings_of(record["answer"], asked.variables, texts.prefixes)
    mark = digest(record["query"], record["document"], bindings)
    facts = (record["query"], record["document"], plain(bindings), mark, record.get("kind", "explicit"))
    return Arrived(*facts, provenance=tuple(record.get("provenance", ())))


def send(reading, run, records, key="a"):
    found = [arrived(reading, one) for one in records]
    digest_ = reading.office.files.put(ndjson(records)).digest
    return reading.do(runs.receive, reading.acts("ada"), run, runs.Upload(found, key, digest_, "ndjson"))


def losers():
    """Two answers about who lost, which the gold of a report does not hold."""
    return [
        {"query": "losers", "document": "nfl-101", "answer": {"?G": ["The contest"], "?T": ["Miami Dolphins"]},
         "kind": "inferred", "provenance": [{"start": 16, "end": 21, "exact": "Miami"}]},
        {"query": "losers", "document": "nfl-102", "answer": {"?G": ["that game"], "?T": ["the wrong team"]}},
    ]  # fmt: skip


def first_case(reading, pool_id=""):
    with reading.office.reading() as session:
        return adjudication.case(session, reading.office, reading.season.campaign_id, reading.package, pool_id)


def decide(reading, case, verdict, who="judy", **more):
    ruling = adjudication.Ruling(verdict, **({"seen": len(case.history)} | more))
    return reading.do(adjudication.decide, reading.acts(who), reading.season.campaign_id, case.id, ruling)


def test_equal_answers_of_all_runs_are_one_and_what_the_gold_knows_is_not_asked_again(reading):
    gold = next(
        one for one in answers_of("baseline.ndjson") if one["query"] == "games" and one["document"] == "nfl-101"
    )
    shouting = losers()[0] | {"answer": {"?G": ["THE  contest"], "?T": ["miami dolphins"]}}
    send(reading, begin(reading), [gold, *losers()])
    send(reading, begin(reading, "bea"), [shouting])
    case = first_case(reading)
    assert isinstance(case, Case)
    assert (len(case.progress.waiting), case.progress.known) == (2, 1)
    assert case.asked.question == "Which team lost each game mentioned?"
    assert dict(case.values) == {"G": ("the contest",), "T": ("miami dolphins",)}
    assert [one.exact for one in case.excerpts] == ["Miami"]


def test_nothing_that_an_adjudicator_is_shown_tells_who_answered(reading):
    send(reading, begin(reading, label="telltale-system"), losers())
    told = repr(first_case(reading))
    names = ("telltale-system", reading.season.alpha, reading.season.ada, "Alpha")
    assert not [name for name in names if name in told]


def test_a_decision_is_kept_with_who_when_and_why_and_can_be_undone_and_reopened(reading):
    send(reading, begin(reading), losers())
    case = first_case(reading)
    decide(reading, case, "right-inferred", why="two teams, one won")
    assert first_case(reading).id == case.after
    again = reading.do(adjudication.undo, reading.acts("judy"), reading.season.campaign_id, reading.package)
    assert again == case.id
    decide(reading, first_case(reading, case.id), "wrong", why="no")
    reading.do(adjudication.reopen, reading.acts("eva"), reading.season.campaign_id, case.id, why="look again")
    past = first_case(reading, case.id).history
    assert [one.verdict for one in past] == ["right-inferred", "reopened", "wrong", "reopened"]
    assert [one.by for one in past] == [reading.person("judy")] * 3 + [reading.person("eva")]
    assert past[0].why == "two teams, one won"
    with pytest.raises(RefusedError, match="is open"):
        reading.do(adjudication.reopen, reading.acts("eva"), reading.season.campaign_id, case.id)


def test_two_adjudicators_do_not_overrule_each_other_unseen(reading):
    send(reading, begin(reading), losers())
    case = first_case(reading)
    decide(reading, case, "wrong")
    with pytest.raises(RefusedError, match="in the meantime"):
        decide(reading, case, "right-explicit", who="eva")


@pytest.mark.parametrize(("verdict", "more"), [("maybe", {}), ("duplicate-of", {}), ("duplicate-of", {"same_as": "x"})])
def test_a_verdict_must_be_one_and_a_duplicate_must_say_of_what(reading, verdict, more):
    send(reading, begin(reading), losers())
    with pytest.raises(RefusedError):
        decide(reading, first_case(reading), verdict, **more)


def test_a_duplicate_names_an_answer_of_the_gold_or_of_the_pool(reading):
    other = losers()[0] | {"answer": {"?G": ["The contest"], "?T": ["Dolphins", "the Floridians"]}}
    send(reading, begin(reading), [losers()[0], other])
    case = first_case(reading)
    beside = next(one for one in case.beside if not one.gold)
    assert decide(reading, case, "duplicate-of", same_as=beside.id).same_as == beside.id


@pytest.mark.parametrize("table", ["reading_answers", "reading_decisions", "reading_uploads", "reading_pool"])
def test_what_was_received_and_decided_cannot_be_changed_or_deleted(reading, table):
    send(reading, begin(reading), losers())
    decide(reading, first_case(reading), "wrong")
    for statement in (f"UPDATE {table} SET campaign_id = campaign_id", f"DELETE FROM {table}"):
        with pytest.raises(DatabaseError, match="kept for ever"), reading.office.writing() as session:
            session.execute(text(statement))


def propose(reading, who="eva", reason="a first round"):
    given = (reading.acts(who), reading.season.campaign_id, reading.package)
    return reading.do(golds.propose, *given, reason=reason)


def test_accepted_answers_enter_the_next_gold_and_scores_change_once_it_is_applied(reading):
    run = begin(reading)
    eva = reading.sees("eva")
    body = ndjson([*answers_of("baseline.ndjson"), *losers()])
    who = (reading.office, reading.acts("ada"), reading.sees("ada"), reading.season.campaign_id, run.id)
    services.take_answers(*who, services.AnswerFile(body, "ndjson", "all"))
    before = scoring.see(reading.office, reading.acts("eva"), eva, run).result["values"]["f"]
    while isinstance(case := first_case(reading), Case):
        decide(
            reading, case, "right-inferred" if (case.asked.id, case.document.name) == ("losers", "nfl-101") else "wrong"
        )
    row = propose(reading)
    assert (row.number, row.added, row.state) == (3, 1, "proposed")
    assert scoring.see(reading.office, reading.acts("eva"), eva, run).gold == "v2", (
        "nothing changes before it is applied"
    )
    assert scoring.score_due(reading.office) > 0
    assert scoring.score_due(reading.office) == 0, "done twice it changes nothing"
    with reading.office.reading() as session:
        (change,) = scoring.changes(session, reading.office, session.get(ReadingGold, row.id))
    assert change.before["values"]["f"]["value"] == before["value"]
    reading.do(golds.apply, reading.acts("otto"), reading.season.campaign_id, row.id)
    after = scoring.see(reading.office, reading.acts("eva"), eva, run)
    assert after.gold == "v3"
    value = after.result["values"]["f"]
    assert value["value"] > before["value"]
    assert value["parts"]["without_own_gold"] < value["value"], "without what this system itself brought in"
    assert value["parts"]["unadjudicated_share"] < before["parts"]["unadjudicated_share"]
    lines = [json.loads(line) for line in reading.office.sealed.read(row.digest).splitlines()]
    new = next(one for one in lines if one.get("by") == reading.person("judy") and one["verdict"] == "correct")
    assert (new["kind"], new["system"].endswith("/reader"), bool(new["when"]), bool(new["why"])) == (
        "inferred", True, True, True,
    )  # fmt: skip


def test_an_accepted_answer_about_a_thing_without_a_name_is_about_the_thing_that_the_gold_knows(reading):
    teams = [one for one in answers_of("baseline.ndjson") if (one["query"], one["document"]) == ("teams", "nfl-101")]
    mine = [one | {"answer": one["answer"] | {"?G": ["_:game-102"]}} for one in (*teams, losers()[0])]
    run = begin(reading)
    who = (reading.office, reading.acts("ada"), reading.sees("ada"), reading.season.campaign_id, run.id)
    services.take_answers(*who, services.AnswerFile(ndjson(mine), "ndjson", "all"))
    case = first_case(reading)
    assert (case.asked.id, len(case.progress.waiting), case.progress.known) == ("losers", 1, len(teams))
    decide(reading, case, "right-inferred")
    row = propose(reading)
    lines = [json.loads(line) for line in reading.office.sealed.read(row.digest).splitlines()]
    new = next(one for one in lines if one.get("by") == reading.person("judy"))
    assert new["answer"]["?G"][0] == "_:game-101", "by its teams, whatever it was called"
    reading.do(golds.apply, reading.acts("otto"), reading.season.campaign_id, row.id)
    assert (
        scoring.see(reading.office, reading.acts("eva"), reading.sees("eva"), run).result["values"]["precision"][
            "value"
        ]
        == 1
    )
    with pytest.raises(RefusedError, match="nothing was decided"):
        propose(reading)


def test_a_version_is_proposed_once_with_a_reason_and_by_something_new(reading):
    send(reading, begin(reading), losers())
    with pytest.raises(RefusedError, match="nothing was decided"):
        propose(reading)
    decide(reading, first_case(reading), "wrong")
    with pytest.raises(RefusedError, match="needs a reason"):
        propose(reading, reason=" ")
    row = propose(reading)
    with pytest.raises(RefusedError, match="is already being previewed"):
        propose(reading)
    reading.do(golds.cancel, reading.acts("eva"), reading.season.campaign_id, row.id)
    again = propose(reading)
    assert again.number == row.number + 1, "a number is used once"
    for who in ("ada", "judy"):
        with pytest.raises(RefusedError):
            reading.do(golds.apply, reading.acts(who), reading.season.campaign_id, again.id)


def sit(reading, who="anna"):
    return reading.do(people.sit_down, reading.acts(who), reading.season.campaign_id, reading.formal)


def human_answer(reading, run, **more):
    given = {"values": {"G": ["The contest"], "T": ["Miami Dolphins"]}, "kind": "explicit", "pieces": [(16, 21)]} | more
    return reading.do(people.give, run, "nfl-101", "losers", people.Reply(**given))


def test_answers_of_people_are_pooled_with_those_of_machines_and_give_the_human_baseline(reading):
    run, machine = sit(reading), begin(reading)
    human_answer(reading, run)
    send(reading, machine, [losers()[0], *answers_of("baseline.ndjson", ("nfl-101",))])
    waiting = [first_case(reading, one) for one in first_case(reading).progress.waiting]
    decide(reading, next(one for one in waiting if one.asked.id == "losers"), "right-inferred")
    row = propose(reading)
    reading.do(golds.apply, reading.acts("eva"), reading.season.campaign_id, row.id)
    values = scoring.see(reading.office, reading.acts("eva"), reading.sees("eva"), machine).result["values"]
    assert values["human_f"]["value"] > 0
    assert values["pr"]["value"] == pytest.approx(values["f"]["value"] / values["human_f"]["value"], rel=1e-6)
    lines = [json.loads(line) for line in reading.office.sealed.read(row.digest).splitlines()]
    new = next(one for one in lines if one.get("by") == reading.person("judy"))
    assert new["system"] == "", "a person found it too, so it is not a system's own"
    with reading.office.reading() as session:
        (record,) = people.human_records(session, reading.package)
    assert record["provenance"] == [{"start": 16, "end": 21, "exact": "Miami"}]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"pieces": []}, "no evidence"),
        ({"values": {"G": ["x"]}}, "no value for T"),
        ({"values": {"G": ["x"], "T": ["  "]}}, "no value for T"),
        ({"pieces": [(5, 5)]}, "outside"),
        ({"pieces": [(0, 10**9)]}, "outside"),
    ],
    ids=["no-evidence", "missing", "blank", "empty", "beyond"],
)
def test_an_answer_of_a_person_needs_every_value_and_evidence_in_the_text(reading, more, words):
    with pytest.raises(RefusedError, match=words):
        human_answer(reading, sit(reading), **more)


def test_a_person_takes_an_answer_back_and_it_stays_in_the_log(reading):
    run = sit(reading)
    answer = human_answer(reading, run)
    reading.do(people.take_back, run, answer.id)
    with reading.office.reading() as session:
        assert runs.answers(session, run) == []
        assert len(session.scalars(select(ReceivedAnswer)).all()) == 2
    human_answer(reading, run)
    with reading.office.reading() as session:
        assert len(runs.answers(session, run)) == 1


def test_a_person_goes_through_all_questions_in_order_and_back(reading):
    run = sit(reading)
    assert sit(reading).id == run.id
    with reading.office.reading() as session:
        place = people.place(session, reading.office, run)
    assert (place.document.name, place.number, place.before) == (TEST[0], 1, None)
    reading.do(people.finish_question, run, place.document.name, place.asked.id)
    with reading.office.reading() as session:
        following = people.place(session, reading.office, run)
        assert (following.number, following.done) == (2, 1)
        assert people.next_open(session, reading.office, run, following.before) == (TEST[0], following.asked.id)
        back = people.place(session, reading.office, run, *following.before)
        assert back.state == "done"


@pytest.mark.parametrize("who", ["ada", "judy"])
def test_only_those_who_answer_sit_down(reading, who):
    with pytest.raises(RefusedError):
        sit(reading, who)


def test_every_table_of_scores_is_written_once(reading):
    run = begin(reading)
    send(reading, run, losers())
    eva = reading.sees("eva")
    first, again = (scoring.see(reading.office, reading.acts("eva"), eva, run) for _ in range(2))
    assert first == again
    with reading.office.reading() as session:
        assert len(session.scalars(select(ReadingScore)).all()) == 1
        assert session.scalars(select(ReadingDecision)).all() == []
