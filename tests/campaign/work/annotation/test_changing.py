"""Changing a configuration while people work: shown on copies first; old records keep their version (R-14)."""

import pytest
from annotating_stage import CONFIG

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import adjudication, annotator_work, outcome, setup
from basanite.campaign.work.annotation.annotator_work import task_events
from basanite.campaign.work.annotation.lookup import configs, document_named, find_project
from basanite.work.annotation.events import Event

NEWER = (
    CONFIG.replace("version: 1", "version: 2")
    .replace("Goals", "Score")
    .replace('choices: {y: "yes", n: "no"}', 'choices: {y: "yes", n: "no", d: "drew"}')
    + "migrate:\n  - {from: 1, rename: {Goals: Score}}\n"
)
FOXES = [("Foxes", [6, 11], 2), ("Owls", [21, 25], 1)]


@pytest.fixture
def begun(small_stage):
    small_stage.annotate(small_stage.anna, "one", FOXES, done=False)
    small_stage.annotate(small_stage.axel, "one", FOXES)
    return small_stage


def test_a_change_is_shown_first_and_then_applied_to_copies(begun):
    eva = begun.season.as_eva
    shown = begun.ask_office(setup.preview, eva, begun.project, setup.ConfigChange(NEWER))
    assert shown.records == 8
    assert {one.kind for one in shown.changes} == {"renamed"}
    assert any("Score" in one.after for one in shown.changes)
    task = begun.task(begun.anna, "one")
    with begun.office.reading() as session:
        before = task_events(session, session.get(AnnotationTask, task))
    made = begun.do(
        setup.change_config, eva, begun.project, setup.ConfigChange(NEWER, seen=shown.digest, reason="a better name")
    )
    assert (made.version, made.generation) == (2, 2)
    assert len(made.diff) == len(shown.changes)
    with begun.office.reading() as session:
        row = session.get(AnnotationTask, task)
        assert task_events(session, row, generation=1) == before
        after = task_events(session, row)
    assert {one.event.id for one in after} == {one.event.id for one in before}
    assert [one.at for one in after] == [one.at for one in before]
    opened = begun.do(annotator_work.open_task, Actor(begun.anna), task)
    assert opened.config.version == 2
    assert opened.state.objects["t1/Score"].fields == {"value": "2"}
    sent = begun.send(begun.anna, "one", Event("n", "set", {"object": "t2/Won", "field": "value", "value": "drew"}))
    assert not sent.refused
    # A tab that was offline sends again what it sent before the change: nothing is doubled.
    again = begun.send(begun.anna, "one", *(one.event for one in before))
    assert again.sequence == sent.sequence
    assert [one.generation for one in begun.ask(configs, begun.project)] == [1, 2]


def test_what_was_not_shown_is_not_applied(begun):
    eva = begun.season.as_eva
    shown = begun.ask_office(setup.preview, eva, begun.project, setup.ConfigChange(NEWER))
    begun.send(begun.anna, "one", Event("x", "set", {"object": "t1/Goals", "field": "value", "value": "7"}))
    for seen, reason in ((shown.digest, "work continued"), ("", "never looked"), (shown.digest, "")):
        with pytest.raises(RefusedError):
            begun.do(setup.change_config, eva, begun.project, setup.ConfigChange(NEWER, seen=seen, reason=reason))
    for text in (CONFIG, CONFIG + "\nnonsense: 1\n", "x" * 2_000_000):
        with pytest.raises(RefusedError):
            begun.ask_office(setup.preview, eva, begun.project, setup.ConfigChange(text))
    with pytest.raises(RefusedError):
        begun.ask_office(setup.preview, Actor(begun.anna), begun.project, setup.ConfigChange(NEWER))
    assert begun.ask(find_project, begun.project).generation == 1


def test_what_the_new_version_has_no_place_for_is_listed_before_it_is_left_out(begun):
    without = CONFIG.replace("version: 1", "version: 2").replace(
        "  Goals: {in: Team, value: count, mention: span, inferred: true}\n", ""
    )
    without = without.replace("order: [Goals, Won]", "order: [Won]")
    without = without.replace('  - {for: Goals, then: ["?t goals ?value"], provenance: {object: mention}}\n', "")
    shown = begun.ask_office(setup.preview, begun.season.as_eva, begun.project, setup.ConfigChange(without))
    assert len(shown.lost) == 4
    assert any(one.lost and "Goals" in one.what for one in shown.differences)


def test_what_is_adjudicated_keeps_its_version_and_its_result_is_brought_to_the_new_one(small_stage):
    for person in (small_stage.anna, small_stage.axel):
        small_stage.annotate(person, "one", FOXES)
    text = small_stage.ask(document_named, small_stage.project, "one").id
    judy = Actor(small_stage.judy)
    small_stage.do(adjudication.accept_unanimous, judy, text)
    small_stage.do(adjudication.finish, judy, text)
    eva = small_stage.season.as_eva
    shown = small_stage.ask_office(setup.preview, eva, small_stage.project, setup.ConfigChange(NEWER))
    small_stage.do(
        setup.change_config,
        eva,
        small_stage.project,
        setup.ConfigChange(NEWER, seen=shown.digest, reason="a better name"),
    )
    table = small_stage.ask_office(adjudication.disagreements, judy, text)
    assert table.record.generation == 1
    assert not table.open_cases
    (result,) = small_stage.ask_office(outcome.results, eva, small_stage.project).texts
    assert {one.category for one in result.state.objects.values()} == {"Match", "Team", "Score"}
