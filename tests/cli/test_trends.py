"""Annotators over time: agreement and speed by week, drift, and texts annotated once more (R-44)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.cli.running import here
from tests.offices.prepared import fresh_office

from basanite.campaign.actions.plans import add_campaign
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.work.annotation import annotator_work, quick_start
from basanite.testing import SetClock
from basanite.work.annotation.events import Event
from basanite.work.annotation.labels import read_labels
from basanite.work.annotation.source_texts import SourceText

WEEKS, TEXTS = 3, 6
LENGTH = len("Anna met Kofi in the park.")


@pytest.fixture
def world(tmp_path):
    """Two people annotate the same texts, week after week."""
    clock = SetClock()
    office = fresh_office(tmp_path, clock)
    texts = [SourceText(f"t{number:02d}", "Anna met Kofi in the park.") for number in range(WEEKS * TEXTS)]
    with office.writing() as session:
        campaign = add_campaign(session, office, COMMAND, quick_start.CAMPAIGN)
        material = quick_start.Material(texts, read_labels("Person"), "texts")
        project = quick_start.create_from_texts(session, office, COMMAND, campaign.id, material, per_document=2)
        people = quick_start.add_annotators(session, office, COMMAND, project, 2)
        made = project.id
    yield office, clock, made, people
    office.close()


def annotate(office, clock, task, person, spans, minutes):
    """Open a text, work for some minutes, finish it."""
    actor = Actor(person)
    with office.writing() as session:
        annotator_work.open_task(session, office, actor, task)
    clock.now += timedelta(minutes=minutes)
    events = []
    for at, span in enumerate(spans):
        events.append(Event(f"c{at}", "create", {"object": f"o{at}", "category": "Person", "parent": ""}))
        events.append(Event(f"s{at}", "span.add", {"object": f"o{at}", "field": "mention", "parts": [list(span)]}))
    with office.writing() as session:
        sent = annotator_work.append(session, office, actor, task, [*events, Event("d", "done")], after=0)
        assert not sent.refused


def queue(office, project, person):
    with office.reading() as session:
        waiting = annotator_work.queue(session, project, person)
        return [(one.id, one.document, one.role) for one in waiting if one.state == "waiting"]


def command(office, *words):
    ended = here("admin", "annotation", *words, "--data", office.settings.data, "--json", cwd=office.settings.data)
    assert ended.code == 0, ended.stderr
    return ended.data


@pytest.mark.req("R-44")
def test_weeks_show_agreement_and_speed_and_flag_drift(world):
    office, clock, project, people = world
    steady, drifting = people
    for week in range(WEEKS):
        for person in people:
            last = person == drifting and week == WEEKS - 1
            spans = [(0, 4)] if last else [(0, 4), (9, 13)]
            names = {f"t{number:02d}" for number in range(week * TEXTS, (week + 1) * TEXTS)}
            for task, name, _ in queue(office, project, person):
                if name in names:
                    annotate(office, clock, task, person, spans, 0.5 if last else 2)
        clock.now += timedelta(days=7)
    found = command(office, "trends", "texts")["weeks"]
    assert [(one["person"], one["texts"]) for one in found].count((steady, TEXTS)) == WEEKS
    mine = [one for one in found if one["person"] == drifting]
    assert [one["drift"] for one in mine] == [[], [], ["agreement", "faster"]]
    assert [one["agreement"]["value"] for one in mine] == pytest.approx([1.0, 1.0, 2 / 3])
    assert mine[2]["change"]["value"] == pytest.approx(2 / 3 - 1)
    assert mine[0]["minutes_per_1000"] == pytest.approx(2000 / LENGTH, abs=1e-3)
    other = [one for one in found if one["person"] == steady]
    assert "agreement" in other[2]["drift"], "agreement belongs to both; the speed tells who has changed"
    assert "faster" not in other[2]["drift"]


@pytest.mark.req("R-44")
def test_a_sample_is_annotated_once_more_without_what_was_done_before(world):
    office, clock, project, (one, _) = world
    for task, _, _ in queue(office, project, one)[:10]:
        annotate(office, clock, task, one, [(0, 4), (9, 13)], 1)
    told = command(office, "repeat", "texts", "--share", "20")
    assert (told["tasks"], told["people"]) == (2, 1)
    before = {name for _, name, _ in queue(office, project, one)}
    with office.reading() as session:
        names = [row.document for row in annotator_work.queue(session, project, one)]
    again = [entry for entry in queue(office, project, one) if names.count(entry[1]) == 2]
    assert len(again) == 2
    assert len(before) == WEEKS * TEXTS - 10 + 2
    assert {role for _, _, role in again} == {"annotator"}, "nobody is told which texts are repeated"
    for at, (task, _, _) in enumerate(again):
        with office.writing() as session:
            assert annotator_work.open_task(session, office, Actor(one), task).events == (), "blind"
        annotate(office, clock, task, one, [(0, 4)] if at else [(0, 4), (9, 13)], 1)
    found = command(office, "trends", "texts")["repeated"]
    assert found[one]["texts"] == 2
    assert found[one]["value"] == pytest.approx(2 * 3 / (4 + 3))
    progress = command(office, "show", "texts")
    assert sum(text["annotators"] for text in progress["texts"]) == 2 * WEEKS * TEXTS, "repeats count apart"
    refused = here("admin", "annotation", "repeat", "texts", "--share", "0", "--data", office.settings.data)
    assert refused.code == 2
