"""Who annotates what: several people a text, evenly, blind, nobody a text twice (R-15, X-4)."""

from collections import Counter

import pytest
from annotating_stage import staged
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import annotator_work, assignment
from basanite.campaign.work.annotation.assignment import plan_assignment
from basanite.campaign.work.annotation.lookup import documents, tasks_in


def test_every_text_has_two_annotators_who_have_queues_of_their_own(stage):
    tasks = stage.ask(tasks_in, stage.project)
    assert Counter(task.document_id for task in tasks) == Counter(
        {row.id: 2 for row in stage.ask(documents, stage.project, "train")}
    )
    for person in (stage.anna, stage.axel):
        queue = stage.ask(annotator_work.queue, stage.project, person)
        assert len({one.document for one in queue}) == 4
        assert [one.position for one in queue] == [1, 2, 3, 4]
        assert "annotator" in stage.ask(viewer, stage.season.campaign_id, person).roles
    assert stage.ask(annotator_work.queue, stage.project, stage.judy) == ()


def test_annotators_meet_the_texts_in_orders_of_their_own(stage):
    with stage.office.writing() as session:
        people = [
            add_person(session, stage.office, Newcomer(name=f"A{at}", mail=f"a{at}@people.example")).id
            for at in range(10)
        ]
    stage.do(
        assignment.assign,
        stage.season.as_eva,
        stage.project,
        people,
        assignment.TextScope(part="train", per_document=12),
    )
    # Ids are drawn, so two people may share one of the 24 orders of four texts; that ten do is out of the question.
    orders = {tuple(one.document for one in stage.ask(annotator_work.queue, stage.project, who)) for who in people}
    assert all(len(order) == 4 for order in orders)
    assert len(orders) > 1


@given(
    st.integers(0, 12), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_work_is_spread_evenly_and_the_same_seed_gives_the_same_plan(texts, people, wanted, seed):
    names, persons = [f"d{at}" for at in range(texts)], [f"p{at}" for at in range(people)]
    plan = plan_assignment(dict.fromkeys(names, wanted), persons, {}, {}, seed)
    load = Counter(person for several in plan.values() for person in several)
    assert all(len(set(several)) == len(several) == min(wanted, people) for several in plan.values())
    assert not names or max(load.values()) - min(load.get(one, 0) for one in persons) <= 1
    assert plan == plan_assignment(dict.fromkeys(names, wanted), persons, {}, {}, seed)


def test_a_late_annotator_gets_what_is_missing_and_nothing_moves(small_stage):
    before = {task.id for task in small_stage.ask(tasks_in, small_stage.project)}
    eva = small_stage.season.as_eva
    made = small_stage.do(
        assignment.assign,
        eva,
        small_stage.project,
        [small_stage.adam, small_stage.anna],
        assignment.TextScope(part="train", per_document=3),
    )
    assert {task.person_id for task in made.tasks} == {small_stage.adam}
    assert len(made.tasks) == 4
    assert not made.short
    assert before < {task.id for task in small_stage.ask(tasks_in, small_stage.project)}
    again = small_stage.do(
        assignment.assign,
        eva,
        small_stage.project,
        [small_stage.adam],
        assignment.TextScope(part="train", per_document=4),
    )
    assert not again.tasks
    assert len(again.short) == 4


def test_nobody_gets_a_text_twice_not_even_after_it_was_taken_back(small_stage):
    eva, row = small_stage.season.as_eva, small_stage.ask(documents, small_stage.project, "train")[0]
    with pytest.raises(RefusedError):
        small_stage.do(assignment.assign_extra, eva, row.id, small_stage.anna)
    task = small_stage.task(small_stage.anna, row.name)
    with pytest.raises(RefusedError):
        small_stage.do(assignment.withdraw, eva, task, reason="")
    small_stage.do(assignment.withdraw, eva, task, reason="on leave")
    with pytest.raises(RefusedError):
        small_stage.do(assignment.assign_extra, eva, row.id, small_stage.anna)
    assert small_stage.do(assignment.assign_extra, eva, row.id, small_stage.adam).person_id == small_stage.adam
    made = small_stage.do(
        assignment.assign, eva, small_stage.project, [small_stage.anna], assignment.TextScope(part="train")
    )
    assert row.id not in {one.document_id for one in made.tasks}


def test_a_member_of_a_team_annotates_nothing(sqlite_office, matches):
    stage = staged(sqlite_office, matches, assigned=False)
    with pytest.raises(RefusedError) as refusal:
        stage.do(
            assignment.assign,
            stage.season.as_eva,
            stage.project,
            [stage.season.ada],
            assignment.TextScope(part="train"),
        )
    assert refusal.value.problems[0].rule == "X-4"
    assert stage.ask(tasks_in, stage.project) == ()
    with pytest.raises(RefusedError) as refusal:
        stage.do(
            assignment.assign, stage.season.as_ada, stage.project, [stage.anna], assignment.TextScope(part="train")
        )
    assert refusal.value.status == 403


def test_two_organisers_who_assign_at_once_give_nobody_a_text_twice(stage):
    """The project's row is locked; a second one finds what the first did."""
    eva = stage.season.as_eva
    with stage.office.writing() as session:
        assignment.assign(session, stage.office, eva, stage.project, [stage.adam], assignment.TextScope(part="test"))
        pairs = session.execute(select(AnnotationTask.document_id, AnnotationTask.person_id)).all()
    assert len(pairs) == len(set(pairs))


def test_a_text_that_is_not_there_cannot_be_assigned(small_stage):
    eva = small_stage.season.as_eva
    for wrong in ({"names": ["nine"]}, {"part": "none"}):
        with pytest.raises(RefusedError):
            small_stage.do(
                assignment.assign, eva, small_stage.project, [small_stage.adam], assignment.TextScope(**wrong)
            )
