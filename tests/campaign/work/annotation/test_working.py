"""Annotators at work: events kept once and in one order, tabs that converge, nobody sees anybody else's (R-15)."""

from contextlib import closing

import pytest
from annotating_stage import marks, tasks
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import revoke
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import annotator_work, assignment
from basanite.campaign.work.annotation.annotator_work import MOST_AT_ONCE, task_events
from basanite.campaign.work.annotation.lookup import documents
from basanite.work.annotation.events import Event

FOXES = [("Foxes", [6, 11], 2), ("Owls", [21, 25], 1)]


def test_events_sent_twice_are_kept_once_and_everything_is_there_after_a_restart(stage):
    events = list(marks(FOXES))
    first = stage.send(stage.anna, "one", *events)
    again = stage.send(stage.anna, "one", *events)
    assert first.sequence == again.sequence == len(events)
    assert set(first.accepted) == set(again.accepted) == {event.id for event in events}
    assert again.state.objects == first.state.objects
    assert [one.sequence for one in again.events] == list(range(1, len(events) + 1))
    office = stage.office
    with closing(Office.open(office.settings, office.clock)) as restarted, restarted.writing() as session:
        opened = annotator_work.open_task(session, restarted, Actor(stage.anna), stage.task(stage.anna, "one"))
    assert opened.state.objects == first.state.objects
    assert opened.document.text.startswith("😀")
    assert opened.review.statements > 0
    assert opened.guidelines == "Mark teams.\n"


def test_two_tabs_that_know_nothing_of_each_other_come_to_the_same(stage):
    one = stage.send(stage.anna, "one", Event("a1", "create", {"object": "m1", "category": "Match", "parent": ""}))
    # The second tab saw nothing yet, and sends what it has; it gets the first tab's event back.
    two = stage.send(
        stage.anna, "one", Event("b1", "create", {"object": "m2", "category": "Match", "parent": ""}), after=0
    )
    assert [kept.event.id for kept in two.events] == ["a1", "b1"]
    again = stage.send(stage.anna, "one", after=one.sequence)
    assert [kept.event.id for kept in again.events] == ["b1"]
    assert set(again.state.objects) == {"m1", "m2"}
    # The first removes what the second fills in; both are kept, and both see the same.
    stage.send(stage.anna, "one", Event("a2", "remove", {"object": "m2"}))
    late = stage.send(
        stage.anna, "one", Event("b2", "span.add", {"object": "m2", "field": "mention", "parts": [[0, 1]]})
    )
    assert not late.refused
    assert set(late.state.objects) == {"m1"}


def test_a_malformed_event_is_refused_by_itself_and_the_others_are_kept(small_stage):
    good = Event("a1", "create", {"object": "m1", "category": "Match", "parent": ""})
    wrong = Event("a2", "create", {"object": "x", "category": "Macth", "parent": ""})
    far = Event("a3", "span.add", {"object": "m1", "field": "mention", "parts": [[0, 10_000]]})
    sent = small_stage.send(small_stage.anna, "one", good, wrong, far)
    assert sent.accepted == ("a1",)
    assert set(sent.refused) == {"a2", "a3"}
    assert all(problem.fix for problems in sent.refused.values() for problem in problems)


def test_a_task_is_there_for_its_owner_alone_and_as_long_as_the_role_is(small_stage):
    task = small_stage.task(small_stage.anna, "one")
    for stranger in (small_stage.axel, small_stage.judy, small_stage.season.eva, small_stage.season.ada):
        for act in (annotator_work.open_task, annotator_work.finish_task):
            with pytest.raises(RefusedError) as refusal:
                small_stage.do(act, Actor(stranger), task)
            assert refusal.value.status == 404
        with pytest.raises(RefusedError):
            small_stage.do(annotator_work.append, Actor(stranger), task, [], after=0)
    campaign = small_stage.season.campaign_id
    small_stage.do(
        revoke, small_stage.season.as_eva, person_id=small_stage.anna, role="annotator", campaign_id=campaign
    )
    with pytest.raises(RefusedError):
        small_stage.do(annotator_work.open_task, Actor(small_stage.anna), task)


def test_more_than_a_page_would_send_is_refused_whole(small_stage):
    many = [Event(f"e{at}", "note", {"object": "", "text": "x"}) for at in range(MOST_AT_ONCE + 1)]
    with pytest.raises(RefusedError) as refusal:
        small_stage.send(small_stage.anna, "one", *many)
    assert refusal.value.status == 413
    large = [Event(f"e{at}", "note", {"object": "", "text": "x" * 9_990}) for at in range(MOST_AT_ONCE)]
    with pytest.raises(RefusedError) as refusal:
        small_stage.send(small_stage.anna, "one", *large)
    assert refusal.value.status == 413
    for odd in ("a\0b", "\ud800"):
        sent = small_stage.send(small_stage.anna, "one", Event("odd", "note", {"object": "", "text": odd}))
        assert set(sent.refused) == {"odd"}


def test_done_is_an_event_and_can_be_taken_back(small_stage):
    task = small_stage.task(small_stage.anna, "one")
    small_stage.send(small_stage.anna, "one", *marks(FOXES))
    first = small_stage.do(annotator_work.finish_task, Actor(small_stage.anna), task, key="k1")
    again = small_stage.do(annotator_work.finish_task, Actor(small_stage.anna), task, key="k1")
    assert first.stage == again.stage == "done"
    assert first.sequence == again.sequence
    waiting = small_stage.ask(annotator_work.queue, small_stage.project, small_stage.anna)
    row = next(one for one in waiting if one.id == task)
    assert row.state == "done"
    assert row.finished is not None
    assert small_stage.do(annotator_work.reopen_task, Actor(small_stage.anna), task).stage == "working"


def test_nothing_in_the_database_itself_changes_or_deletes_an_event(stage):
    stage.send(stage.anna, "one", *marks(FOXES))
    for wrong in ("UPDATE annotation_events SET kind = 'x'", "DELETE FROM annotation_events"):
        with pytest.raises(DBAPIError), stage.office.writing() as session:
            session.execute(sql(wrong))
    with stage.office.reading() as session:
        assert len(task_events(session, session.get(AnnotationTask, stage.task(stage.anna, "one")))) == 9


def test_the_queue_of_one_person_tells_nothing_of_the_other(small_stage):
    small_stage.annotate(small_stage.axel, "one", FOXES)
    queue = small_stage.ask(annotator_work.queue, small_stage.project, small_stage.anna)
    assert {one.state for one in queue} == {"waiting"}
    opened = small_stage.do(
        annotator_work.open_task, Actor(small_stage.anna), small_stage.task(small_stage.anna, "one")
    )
    assert not opened.state.objects
    assert not opened.events
    assert small_stage.ask(annotator_work.my_tasks, small_stage.season.campaign_id, small_stage.judy) == ()
    mine = small_stage.ask(annotator_work.my_tasks, small_stage.season.campaign_id, small_stage.anna)
    assert {one.id for one in mine} == {one.id for one in queue}


def test_a_contradiction_comes_back_with_the_save_that_made_it(small_stage):
    base = list(marks([("Foxes", [6, 11], 0)]))
    won = Event("w1", "set", {"object": "t1/Won", "field": "value", "value": "yes"})
    assert not small_stage.send(small_stage.anna, "one", *base).review.contradictions
    (clash,) = small_stage.send(small_stage.anna, "one", won).review.contradictions
    assert "without a goal" in clash.message
    undone = small_stage.send(small_stage.anna, "one", Event("u1", "undo", {"events": ["w1"]}))
    assert not undone.review.contradictions


def test_an_organiser_is_no_annotator_and_withdrawn_tasks_are_gone(small_stage):
    task = small_stage.task(small_stage.anna, "two")
    small_stage.do(assignment.withdraw, small_stage.season.as_eva, task, reason="ill")
    assert task not in {one.id for one in small_stage.ask(annotator_work.queue, small_stage.project, small_stage.anna)}
    with pytest.raises(RefusedError):
        small_stage.do(annotator_work.open_task, Actor(small_stage.anna), task)
    with small_stage.office.reading() as session:
        assert len(tasks(session, small_stage.project)) == 8
        assert len(documents(session, small_stage.project)) == 5
