"""The gold that grew becomes the next reference, and what came through the door is scored again by a batch (R-21)."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select
from tests.campaign.work.reading.small_package import answers_of, ndjson, small_package
from tests.campaign.work.reading.test_adjudicating import begin, decide, first_case, losers, propose, send

from basanite.campaign.actions import moves, plans, references, rescoring
from basanite.campaign.intake import acceptance
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.results.facts import adopted_results, content
from basanite.campaign.store.tables import Batch, BatchItem, Event, ReadingPackage, Reference
from basanite.campaign.work.reading import golds
from basanite.campaign.work.reading.adjudication import Case

PLACE = references.Place("reading", "DEV", "1A", "")


def open_by_hand(reading, folder):
    """The package as it came, with human answers, as the reference of the place."""
    human = folder / "human.ndjson"
    human.write_bytes(ndjson(answers_of("human.ndjson")))
    paths = references.Paths((small_package(folder),), human=human)
    material = references.take_in(reading.office, paths)
    return reading.do(
        references.add, reading.season.as_eva, reading.season.campaign_id, references.NewVersion(PLACE, material)
    )


def submit(reading, records):
    """A scored submission to the window of the task `reading`."""
    office, season = reading.office, reading.season
    stored = office.files.put(ndjson(records))
    words = {"task": "reading", "label": "one", "type": "contrastive", "language": "1A", "dataset": "DEV"}
    said = Declared(**words, name="answers.ndjson")
    row = reading.do(acceptance.accept, season.as_ada, acceptance.Arrival(season.alpha, said, stored))
    verdict = stages.validate(office, row.id)
    stages.score(office, row.id, verdict["result"])
    return row.id


def score(reading, submission):
    with reading.office.reading() as session:
        return content(reading.office, adopted_results(session, [submission])[submission])


def grow(reading, who="judy"):
    """Let one answer that the gold did not hold be accepted, and the version hold."""
    send(reading, begin(reading), losers())
    while isinstance(case := first_case(reading), Case):
        decide(reading, case, "right-inferred" if case.document.name == "nfl-101" else "wrong", who=who)
    row = propose(reading)
    reading.do(golds.apply, reading.acts("otto"), reading.season.campaign_id, row.id)


def refer(reading, place=PLACE, who="eva", reason="adjudicated answers"):
    given = (reading.office, reading.acts(who), reading.season.campaign_id, reading.package)
    return golds.make_reference(*given, place, reason=reason)


def test_accepted_answers_reach_submissions_by_a_batch_that_is_previewed_first(reading, tmp_path):
    open_by_hand(reading, tmp_path)
    run = submit(reading, [*answers_of("baseline.ndjson"), losers()[0]])
    before = score(reading, run)
    grow(reading)
    made = refer(reading)
    assert (made.reference.version, made.reference.state, made.gold) == (2, "proposed", "v3")
    office = reading.office
    with office.reading() as session:
        items = list(session.scalars(select(BatchItem.id).where(BatchItem.batch_id == made.batch.id)))
    for one in items:
        comparison.score_item(office, one)
    with office.reading() as session:
        (move,) = moves.moves(session, session.get(Batch, made.batch.id))
    assert (move.submission_id, move.before) == (run, before["values"]["pr"]["value"])
    assert move.after != move.before
    assert score(reading, run) == before, "nothing changes before it is applied"
    reading.do(rescoring.apply, reading.season.as_eva, made.batch.id)
    after = score(reading, run)
    assert after["values"]["pr"]["value"] == move.after
    assert after["values"]["f"]["value"] > before["values"]["f"]["value"]
    assert (before["settings"]["gold"], after["settings"]["gold"]) == ("v2", "v3")
    with pytest.raises(RefusedError, match="the reference is already v3"):
        refer(reading)


def test_the_first_reference_of_a_place_opens_its_task_with_the_gold_that_holds(reading):
    grow(reading)
    made = refer(reading)
    assert (made.reference.state, made.batch) == ("active", None)
    records = [*answers_of("baseline.ndjson"), losers()[0]]
    assert score(reading, submit(reading, records))["settings"]["gold"] == "v3"
    with reading.office.reading() as session:
        (event,) = session.scalars(select(Event).where(Event.kind == "reading.gold_referred"))
    assert event.data["reference"] == made.reference.id
    assert "losers" not in json.dumps(event.data)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"place": references.Place("CLIR", "DEV", "1A", "QUERY1")}, "cannot be the reference of another task"),
        ({"place": references.Place("reading", "DEV2", "1A", "")}, "no window accepts"),
        ({"reason": "  "}, "needs a reason"),
        ({"who": "ada"}, "evaluation team"),
        ({"who": "judy"}, "evaluation team"),
    ],
    ids=["task", "place", "reason", "team", "adjudicator"],
)
def test_what_cannot_be_a_reference_is_refused_and_nothing_is_added(reading, more, words):
    with pytest.raises(RefusedError, match=words):
        refer(reading, **more)
    with reading.office.reading() as session:
        assert session.scalars(select(Reference).where(Reference.task == "reading")).all() == []


def test_the_place_of_a_packages_window_is_meant_unless_another_is_named(reading):
    with reading.office.reading() as session:
        campaign = plans.current(session, reading.season.campaign_id).campaign
        blind = session.get(ReadingPackage, reading.blind)
    assert golds.place_of(campaign, blind) == references.Place("reading", "EVAL1", "1A", "")
    assert golds.place_of(campaign, blind, dataset="DEV") == PLACE
    with pytest.raises(RefusedError, match="no window accepts"):
        golds.place_of(campaign, blind, dataset="DEV9")
