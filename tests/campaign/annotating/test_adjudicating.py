"""Adjudication: sides compared, decisions kept with their reasons, no annotator's record touched (R-15)."""

import pytest
from sqlalchemy import select

from basanite.annotation.events import Event
from basanite.campaign.annotating import adjudicating, assigning, looking, working
from basanite.campaign.annotating.adjudicating import NONE_OF_THESE, Edit, Side
from basanite.campaign.annotating.finding import document_named
from basanite.campaign.annotating.recorded import recorded
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.roles import grant
from basanite.campaign.store.tables import AnnotationDecision, AnnotationTask

LEFT = [("Foxes", [6, 11], 2), ("Owls", [21, 25], 1)]
RIGHT = [("Foxes", [6, 11], 2), ("Owls", [17, 25], 3)]


@pytest.fixture
def both(small_stage):
    """The text `one`, annotated by two, who differ about the Owls."""
    small_stage.annotate(small_stage.anna, "one", LEFT)
    small_stage.annotate(small_stage.axel, "one", RIGHT)
    return small_stage


def text(stage, name="one"):
    return stage.ask(document_named, stage.project, name).id


def table(stage, name="one"):
    return stage.ask_office(adjudicating.disagreements, Actor(stage.judy), text(stage, name))


def judge(stage, act, *args, **kwargs):
    return stage.do(act, Actor(stage.judy), text(stage), *args, **kwargs)


def case(stage, category, differs=True, decided=None):
    found = [one for one in table(stage).cases if one.aligned.category == category]
    return next(one for one in found if one.aligned.unanimous != differs)


def test_what_annotators_say_alike_is_taken_at_once_and_the_rest_is_decided_one_by_one(both):
    shown = table(both)
    assert [(one.aligned.category, one.aligned.differs) for one in shown.cases] == [
        ("Match", ()),
        ("Team", ()),
        ("Goals", ()),
        ("Team", ("mention",)),
        ("Goals", ("value",)),
    ]
    assert judge(both, adjudicating.accept_unanimous) == 3
    assert judge(both, adjudicating.accept_unanimous) == 0
    owls = case(both, "Team")
    side = both.task(both.anna, "one")
    decision = judge(both, adjudicating.decide, owls.aligned.key, Side(side), code="span", note="with the article?")
    assert decision.verdict == "take"
    goals = case(both, "Goals")
    judge(both, adjudicating.decide, goals.aligned.key, Edit(fields={"value": "1"}, inferred=True), code="value")
    assert not table(both).open_cases
    made = judge(both, adjudicating.finish)
    assert made.stage == "done"
    teams = {one.fields["name"] for one in made.state.of("Team")}
    assert teams == {"Foxes", "Owls"}
    (owl,) = [one for one in made.state.of("Goals") if one.inferred]
    assert owl.fields == {"value": "1"}
    assert made.state.objects[owl.parent].mentions["mention"][0].parts == ((21, 25),)


def test_none_of_these_is_a_decision_and_what_lies_in_it_needs_none(both):
    judge(both, adjudicating.accept_unanimous)
    owls = case(both, "Team")
    judge(both, adjudicating.decide, owls.aligned.key, NONE_OF_THESE, code="not-in-text")
    goals = case(both, "Goals")
    assert goals.rejected
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, goals.aligned.key, NONE_OF_THESE)
    made = judge(both, adjudicating.finish)
    assert {one.fields["name"] for one in made.state.of("Team")} == {"Foxes"}
    with both.office.reading() as session:
        verdicts = [row.verdict for row in session.scalars(select(AnnotationDecision))]
    assert verdicts.count("none") == 1


def test_nothing_is_finished_while_a_case_is_open_and_no_parts_before_the_whole(both):
    with pytest.raises(RefusedError) as refusal:
        judge(both, adjudicating.finish)
    assert "5 cases are open" in str(refusal.value)
    goals = case(both, "Goals")
    with pytest.raises(RefusedError) as refusal:
        judge(both, adjudicating.decide, goals.aligned.key, NONE_OF_THESE)
    assert "lies in" in str(refusal.value)
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, "no-such-case", NONE_OF_THESE)
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, case(both, "Match", differs=False).aligned.key, Side("nobody"))
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, goals.aligned.key, NONE_OF_THESE, code="because")
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, goals.aligned.key, NONE_OF_THESE, code="other")


def test_a_case_is_decided_anew_or_opened_again_and_all_of_it_is_kept(both):
    judge(both, adjudicating.accept_unanimous)
    key = case(both, "Team").aligned.key
    sides = [both.task(person, "one") for person in (both.anna, both.axel)]
    judge(both, adjudicating.decide, key, Side(sides[0]), code="span")
    judge(both, adjudicating.decide, key, Side(sides[1]), code="span", note="the article belongs to it")
    shown = table(both)
    (owls,) = [one for one in shown.result.of("Team") if one.fields["name"] == "Owls"]
    assert owls.mentions["mention"][0].parts == ((17, 25),)
    judge(both, adjudicating.reopen_case, key, note="look again")
    assert key in {one.aligned.key for one in table(both).open_cases}
    assert {one.fields["name"] for one in table(both).result.of("Team")} == {"Foxes"}
    history = both.ask(adjudicating.history, Actor(both.judy), text(both))
    assert [row.verdict for row in history if row.case == key] == ["take", "take", "reopen"]
    assert {row.by for row in history} == {both.judy}
    with pytest.raises(RefusedError):
        judge(both, adjudicating.reopen_case, key)


def test_a_decision_that_is_sent_twice_counts_once(both):
    judge(both, adjudicating.accept_unanimous)
    key = case(both, "Team").aligned.key
    first = judge(both, adjudicating.decide, key, NONE_OF_THESE, key="k1")
    again = judge(both, adjudicating.decide, key, NONE_OF_THESE, key="k1")
    assert first.id == again.id
    with both.office.reading() as session:
        assert len([one for one in session.scalars(select(AnnotationDecision)) if one.case == key]) == 1


def test_a_slip_is_mended_without_its_annotator_whose_record_stays_as_it_is(both):
    tasks = [both.task(person, "one") for person in (both.anna, both.axel)]
    with both.office.reading() as session:
        before = [recorded(session, session.get(AnnotationTask, task)) for task in tasks]
    judge(both, adjudicating.accept_unanimous)
    edit = Edit(fields={"name": "Owls"}, mentions={"mention": [[(21, 25)]]}, note="both cut it wrong")
    judge(both, adjudicating.decide, case(both, "Team").aligned.key, edit, code="slip")
    with both.office.reading() as session:
        assert [recorded(session, session.get(AnnotationTask, task)) for task in tasks] == before


def test_a_reading_that_the_configuration_does_not_allow_is_refused(both):
    judge(both, adjudicating.accept_unanimous)
    key = case(both, "Team").aligned.key
    for wrong in (Edit(fields={"nome": "Owls"}), Edit(mentions={"mention": [[(0, 9999)]]}), Edit(inferred=True)):
        with pytest.raises(RefusedError) as refusal:
            judge(both, adjudicating.decide, key, wrong)
        assert refusal.value.status == 422
    assert key in {one.aligned.key for one in table(both).open_cases}


def test_nobody_adjudicates_the_own_work_or_sees_it_beside_the_other(both):
    campaign = both.season.campaign_id
    both.do(grant, COMMAND, person_id=both.anna, role="adjudicator", campaign_id=campaign)
    for act in (adjudicating.disagreements, adjudicating.begin, adjudicating.accept_unanimous):
        with pytest.raises(RefusedError) as refusal:
            both.do(act, Actor(both.anna), text(both))
        assert refusal.value.status == 404
    with pytest.raises(RefusedError):
        both.do(looking.view, Actor(both.anna), both.task(both.axel, "one"))
    mine = {one.document for one in both.do(adjudicating.queue, Actor(both.anna), both.project)}
    assert mine == set()
    for person in (both.axel, both.season.ada):
        with pytest.raises(RefusedError) as refusal:
            both.do(adjudicating.disagreements, Actor(person), text(both))
        assert refusal.value.status == 404
    with pytest.raises(RefusedError) as refusal:
        both.do(adjudicating.begin, both.season.as_eva, text(both))
    assert refusal.value.status == 403


def test_once_adjudication_has_begun_annotators_change_nothing_any_more(both):
    judge(both, adjudicating.begin)
    task = both.task(both.anna, "one")
    late = both.do(
        working.append, Actor(both.anna), task, [Event("late", "note", {"object": "", "text": "wait"})], after=0
    )
    assert set(late.refused) == {"late"}
    again = both.do(working.append, Actor(both.anna), task, [Event("done", "done", {})], after=0)
    assert again.accepted == ("done",)
    reopened = both.do(working.reopen, Actor(both.anna), task)
    assert reopened.stage == "done"
    assert len(reopened.refused) == 1


def test_a_text_waits_until_all_its_annotators_are_done(small_stage):
    small_stage.annotate(small_stage.anna, "one", LEFT)
    with pytest.raises(RefusedError) as refusal:
        judge(small_stage, adjudicating.begin)
    assert "not done" in str(refusal.value)
    small_stage.do(
        assigning.withdraw, small_stage.season.as_eva, small_stage.task(small_stage.axel, "one"), reason="left"
    )
    assert judge(small_stage, adjudicating.accept_unanimous) == 5


def test_the_queue_has_most_disagreements_first(both):
    for person in (both.anna, both.axel):
        both.annotate(person, "three", [("Foxes", [0, 5], 3)])
    queue = both.do(adjudicating.queue, Actor(both.judy), both.project)
    ready = [(one.document, one.disagreements) for one in queue if one.stage == "ready"]
    assert ready == [("one", 2), ("three", 0)]
    assert {one.stage for one in queue} == {"ready", "waiting"}
    judge(both, adjudicating.begin)
    first = both.do(adjudicating.queue, Actor(both.judy), both.project)[0]
    assert (first.document, first.stage, first.mine, first.open_cases) == ("one", "begun", True, 5)


def test_another_adjudicator_goes_on_in_a_record_of_their_own(both):
    campaign = both.season.campaign_id
    both.do(grant, COMMAND, person_id=both.adam, role="adjudicator", campaign_id=campaign)
    judge(both, adjudicating.accept_unanimous)
    with pytest.raises(RefusedError) as refusal:
        both.do(adjudicating.begin, Actor(both.adam), text(both))
    assert "somebody else" in str(refusal.value)
    with pytest.raises(RefusedError):
        both.do(adjudicating.reopen, Actor(both.adam), text(both), reason="")
    both.do(adjudicating.reopen, Actor(both.adam), text(both), reason="Judy is on leave")
    shown = both.do(adjudicating.disagreements, Actor(both.adam), text(both))
    assert shown.record.person_id == both.adam
    assert {one.fields["name"] for one in shown.result.of("Team")} == {"Foxes"}
    assert len(shown.open_cases) == 2
    with pytest.raises(RefusedError):
        judge(both, adjudicating.accept_unanimous)


def test_things_stacked_on_the_same_words_are_all_there_side_by_side(small_stage):
    """Two annotators put two teams on one word, in another order; none of the four is lost, and all are paired."""
    small_stage.annotate(small_stage.anna, "three", [("Foxes", [0, 5], 3), ("Fox", [0, 5], None)])
    small_stage.annotate(small_stage.axel, "three", [("Fox", [0, 5], None), ("Foxes", [0, 5], 3)])
    shown = table(small_stage, "three")
    assert all(one.aligned.unanimous for one in shown.cases)
    teams = [one for one in shown.cases if one.aligned.category == "Team"]
    assert sorted(one.aligned.sides[0].fields["name"] for one in teams) == ["Fox", "Foxes"]


def test_an_adjudicated_text_is_opened_again_with_a_reason(both):
    judge(both, adjudicating.accept_unanimous)
    judge(both, adjudicating.decide, case(both, "Team").aligned.key, NONE_OF_THESE)
    judge(both, adjudicating.finish)
    with pytest.raises(RefusedError):
        judge(both, adjudicating.decide, case(both, "Team").aligned.key, NONE_OF_THESE)
    assert judge(both, adjudicating.reopen, reason="new guidelines").state == "working"
    sides = [task.id for task in table(both).tasks]
    judge(both, adjudicating.decide, case(both, "Team").aligned.key, Side(sides[1]))
    assert len(table(both).open_cases) == 1


def test_adjudication_works_alike_on_both_databases(stage):
    stage.annotate(stage.anna, "one", LEFT)
    stage.annotate(stage.axel, "one", RIGHT)
    judge(stage, adjudicating.accept_unanimous)
    for _ in range(2):
        for one in table(stage).open_cases:
            if not one.hidden:
                judge(stage, adjudicating.decide, one.aligned.key, Side(table(stage).tasks[1].id))
    assert judge(stage, adjudicating.finish).stage == "done"
