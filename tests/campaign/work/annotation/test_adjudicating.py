"""Adjudication: sides compared, decisions kept with their reasons, no annotator's record touched (R-15)."""

import pytest
from sqlalchemy import select

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables import AnnotationDecision, AnnotationTask
from basanite.campaign.work.annotation import adjudication, annotator_work, assignment, monitor
from basanite.campaign.work.annotation.adjudication import NONE_OF_THESE, Edit, Side
from basanite.campaign.work.annotation.annotator_work import task_events
from basanite.campaign.work.annotation.lookup import document_named
from basanite.work.annotation.events import Event

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
    return stage.ask_office(adjudication.disagreements, Actor(stage.judy), text(stage, name))


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
    assert judge(both, adjudication.accept_unanimous) == 3
    assert judge(both, adjudication.accept_unanimous) == 0
    owls = case(both, "Team")
    side = both.task(both.anna, "one")
    decision = judge(
        both,
        adjudication.decide,
        owls.aligned.key,
        adjudication.Ruling(Side(side), code="span", note="with the article?"),
    )
    assert decision.verdict == "take"
    goals = case(both, "Goals")
    judge(
        both,
        adjudication.decide,
        goals.aligned.key,
        adjudication.Ruling(Edit(fields={"value": "1"}, inferred=True), code="value"),
    )
    assert not table(both).open_cases
    made = judge(both, adjudication.finish)
    assert made.stage == "done"
    teams = {one.fields["name"] for one in made.state.of("Team")}
    assert teams == {"Foxes", "Owls"}
    (owl,) = [one for one in made.state.of("Goals") if one.inferred]
    assert owl.fields == {"value": "1"}
    assert made.state.objects[owl.parent].mentions["mention"][0].parts == ((21, 25),)


def test_none_of_these_is_a_decision_and_what_lies_in_it_needs_none(both):
    judge(both, adjudication.accept_unanimous)
    owls = case(both, "Team")
    judge(both, adjudication.decide, owls.aligned.key, adjudication.Ruling(NONE_OF_THESE, code="not-in-text"))
    goals = case(both, "Goals")
    assert goals.rejected
    with pytest.raises(RefusedError):
        judge(both, adjudication.decide, goals.aligned.key, adjudication.Ruling(NONE_OF_THESE))
    made = judge(both, adjudication.finish)
    assert {one.fields["name"] for one in made.state.of("Team")} == {"Foxes"}
    with both.office.reading() as session:
        verdicts = [row.verdict for row in session.scalars(select(AnnotationDecision))]
    assert verdicts.count("none") == 1


def test_nothing_is_finished_while_a_case_is_open_and_no_parts_before_the_whole(both):
    with pytest.raises(RefusedError) as refusal:
        judge(both, adjudication.finish)
    assert "5 cases are open" in str(refusal.value)
    goals = case(both, "Goals")
    with pytest.raises(RefusedError) as refusal:
        judge(both, adjudication.decide, goals.aligned.key, adjudication.Ruling(NONE_OF_THESE))
    assert "first decide the case that contains it" in str(refusal.value)
    with pytest.raises(RefusedError):
        judge(both, adjudication.decide, "no-such-case", adjudication.Ruling(NONE_OF_THESE))
    with pytest.raises(RefusedError):
        judge(
            both,
            adjudication.decide,
            case(both, "Match", differs=False).aligned.key,
            adjudication.Ruling(Side("nobody")),
        )
    with pytest.raises(RefusedError):
        judge(both, adjudication.decide, goals.aligned.key, adjudication.Ruling(NONE_OF_THESE, code="because"))
    with pytest.raises(RefusedError):
        judge(both, adjudication.decide, goals.aligned.key, adjudication.Ruling(NONE_OF_THESE, code="other"))


def test_a_case_is_decided_anew_or_opened_again_and_all_of_it_is_kept(both):
    judge(both, adjudication.accept_unanimous)
    key = case(both, "Team").aligned.key
    sides = [both.task(person, "one") for person in (both.anna, both.axel)]
    judge(both, adjudication.decide, key, adjudication.Ruling(Side(sides[0]), code="span"))
    judge(
        both,
        adjudication.decide,
        key,
        adjudication.Ruling(Side(sides[1]), code="span", note="the article belongs to it"),
    )
    shown = table(both)
    (owls,) = [one for one in shown.result.of("Team") if one.fields["name"] == "Owls"]
    assert owls.mentions["mention"][0].parts == ((17, 25),)
    judge(both, adjudication.reopen_case, key, note="look again")
    assert key in {one.aligned.key for one in table(both).open_cases}
    assert {one.fields["name"] for one in table(both).result.of("Team")} == {"Foxes"}
    history = both.ask(adjudication.history, Actor(both.judy), text(both))
    assert [row.verdict for row in history if row.case == key] == ["take", "take", "reopen"]
    assert {row.by for row in history} == {both.judy}
    with pytest.raises(RefusedError):
        judge(both, adjudication.reopen_case, key)


def test_a_decision_that_is_sent_twice_counts_once(both):
    judge(both, adjudication.accept_unanimous)
    key = case(both, "Team").aligned.key
    first = judge(both, adjudication.decide, key, adjudication.Ruling(NONE_OF_THESE, key="k1"))
    again = judge(both, adjudication.decide, key, adjudication.Ruling(NONE_OF_THESE, key="k1"))
    assert first.id == again.id
    with both.office.reading() as session:
        assert len([one for one in session.scalars(select(AnnotationDecision)) if one.case == key]) == 1


def test_a_slip_is_mended_without_its_annotator_whose_record_stays_as_it_is(both):
    tasks = [both.task(person, "one") for person in (both.anna, both.axel)]
    with both.office.reading() as session:
        before = [task_events(session, session.get(AnnotationTask, task)) for task in tasks]
    judge(both, adjudication.accept_unanimous)
    edit = Edit(fields={"name": "Owls"}, mentions={"mention": [[(21, 25)]]}, note="both cut it wrong")
    judge(both, adjudication.decide, case(both, "Team").aligned.key, adjudication.Ruling(edit, code="slip"))
    with both.office.reading() as session:
        assert [task_events(session, session.get(AnnotationTask, task)) for task in tasks] == before


def test_a_reading_that_the_configuration_does_not_allow_is_refused(both):
    judge(both, adjudication.accept_unanimous)
    key = case(both, "Team").aligned.key
    for wrong in (Edit(fields={"nome": "Owls"}), Edit(mentions={"mention": [[(0, 9999)]]}), Edit(inferred=True)):
        with pytest.raises(RefusedError) as refusal:
            judge(both, adjudication.decide, key, adjudication.Ruling(wrong))
        assert refusal.value.status == 422
    assert key in {one.aligned.key for one in table(both).open_cases}


def test_nobody_adjudicates_the_own_work_or_sees_it_beside_the_other(both):
    campaign = both.season.campaign_id
    both.do(grant, COMMAND, RoleGrant(person_id=both.anna, role="adjudicator", campaign_id=campaign))
    for act in (adjudication.disagreements, adjudication.begin, adjudication.accept_unanimous):
        with pytest.raises(RefusedError) as refusal:
            both.do(act, Actor(both.anna), text(both))
        assert refusal.value.status == 404
    with pytest.raises(RefusedError):
        both.do(monitor.view, Actor(both.anna), both.task(both.axel, "one"))
    mine = {one.document for one in both.do(adjudication.queue, Actor(both.anna), both.project)}
    assert mine == set()
    for person in (both.axel, both.season.ada):
        with pytest.raises(RefusedError) as refusal:
            both.do(adjudication.disagreements, Actor(person), text(both))
        assert refusal.value.status == 404
    with pytest.raises(RefusedError) as refusal:
        both.do(adjudication.begin, both.season.as_eva, text(both))
    assert refusal.value.status == 403


def test_once_adjudication_has_begun_annotators_change_nothing_any_more(both):
    judge(both, adjudication.begin)
    task = both.task(both.anna, "one")
    late = both.do(
        annotator_work.append, Actor(both.anna), task, [Event("late", "note", {"object": "", "text": "wait"})], after=0
    )
    assert set(late.refused) == {"late"}
    again = both.do(annotator_work.append, Actor(both.anna), task, [Event("done", "done", {})], after=0)
    assert again.accepted == ("done",)
    reopened = both.do(annotator_work.reopen_task, Actor(both.anna), task)
    assert reopened.stage == "done"
    assert len(reopened.refused) == 1


def test_a_text_waits_until_all_its_annotators_are_done(small_stage):
    small_stage.annotate(small_stage.anna, "one", LEFT)
    with pytest.raises(RefusedError) as refusal:
        judge(small_stage, adjudication.begin)
    assert "have not finished" in str(refusal.value)
    small_stage.do(
        assignment.withdraw, small_stage.season.as_eva, small_stage.task(small_stage.axel, "one"), reason="left"
    )
    assert judge(small_stage, adjudication.accept_unanimous) == 5


def test_the_queue_has_most_disagreements_first(both):
    for person in (both.anna, both.axel):
        both.annotate(person, "three", [("Foxes", [0, 5], 3)])
    queue = both.do(adjudication.queue, Actor(both.judy), both.project)
    ready = [(one.document, one.disagreements) for one in queue if one.stage == "ready"]
    assert ready == [("one", 2), ("three", 0)]
    assert {one.stage for one in queue} == {"ready", "waiting"}
    judge(both, adjudication.begin)
    first = both.do(adjudication.queue, Actor(both.judy), both.project)[0]
    assert (first.document, first.stage, first.mine, first.open_cases) == ("one", "begun", True, 5)


def test_another_adjudicator_goes_on_in_a_record_of_their_own(both):
    campaign = both.season.campaign_id
    both.do(grant, COMMAND, RoleGrant(person_id=both.adam, role="adjudicator", campaign_id=campaign))
    judge(both, adjudication.accept_unanimous)
    with pytest.raises(RefusedError) as refusal:
        both.do(adjudication.begin, Actor(both.adam), text(both))
    assert "another person adjudicates this text" in str(refusal.value)
    with pytest.raises(RefusedError):
        both.do(adjudication.reopen, Actor(both.adam), text(both), reason="")
    both.do(adjudication.reopen, Actor(both.adam), text(both), reason="Judy is on leave")
    shown = both.do(adjudication.disagreements, Actor(both.adam), text(both))
    assert shown.record.person_id == both.adam
    assert {one.fields["name"] for one in shown.result.of("Team")} == {"Foxes"}
    assert len(shown.open_cases) == 2
    with pytest.raises(RefusedError):
        judge(both, adjudication.accept_unanimous)


def test_things_stacked_on_the_same_words_are_all_there_side_by_side(small_stage):
    """Two annotators put two teams on one word, in another order; none of the four is lost, and all are paired."""
    small_stage.annotate(small_stage.anna, "three", [("Foxes", [0, 5], 3), ("Fox", [0, 5], None)])
    small_stage.annotate(small_stage.axel, "three", [("Fox", [0, 5], None), ("Foxes", [0, 5], 3)])
    shown = table(small_stage, "three")
    assert all(one.aligned.unanimous for one in shown.cases)
    teams = [one for one in shown.cases if one.aligned.category == "Team"]
    assert sorted(one.aligned.sides[0].fields["name"] for one in teams) == ["Fox", "Foxes"]


def test_an_adjudicated_text_is_opened_again_with_a_reason(both):
    judge(both, adjudication.accept_unanimous)
    judge(both, adjudication.decide, case(both, "Team").aligned.key, adjudication.Ruling(NONE_OF_THESE))
    judge(both, adjudication.finish)
    with pytest.raises(RefusedError):
        judge(both, adjudication.decide, case(both, "Team").aligned.key, adjudication.Ruling(NONE_OF_THESE))
    assert judge(both, adjudication.reopen, reason="new guidelines").state == "working"
    sides = [task.id for task in table(both).tasks]
    judge(both, adjudication.decide, case(both, "Team").aligned.key, adjudication.Ruling(Side(sides[1])))
    assert len(table(both).open_cases) == 1


def test_adjudication_works_alike_on_both_databases(stage):
    stage.annotate(stage.anna, "one", LEFT)
    stage.annotate(stage.axel, "one", RIGHT)
    judge(stage, adjudication.accept_unanimous)
    for _ in range(2):
        for one in table(stage).open_cases:
            if not one.hidden:
                judge(stage, adjudication.decide, one.aligned.key, adjudication.Ruling(Side(table(stage).tasks[1].id)))
    assert judge(stage, adjudication.finish).stage == "done"
