"""Batches for a crowd platform: bound to what went out, workers hidden, every vote once."""

import csv
import io

import pytest
from sqlalchemy import select
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.tables import CrowdBatch, Event, Judgement
from basanite.campaign.work.panels import batches, monitor
from basanite.campaign.work.panels.judgements import counted_judgements


def results(exported, workers=("W1", "W2"), verdict="R", change=None):
    """What the platform gives back for a batch; `change` may spoil a row."""
    rows = list(csv.DictReader(io.StringIO(exported.table.decode())))
    lines = [
        {
            "HITId": f"H{at}",
            "AssignmentId": f"{at}-{worker}",
            "WorkerId": worker,
            "AssignmentStatus": "Approved",
            "WorkTimeInSeconds": "12",
            **{f"Input.{name}": value for name, value in row.items()},
            "Answer.verdict": verdict,
        }
        for at, row in enumerate(rows)
        for worker in workers
    ]
    if change is not None:
        lines[0] |= change
    held = io.StringIO()
    writer = csv.DictWriter(held, list(lines[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(lines)
    return held.getvalue().encode()


def sent_out(bench, **options):
    panel = bench.panel(verdict_scheme(), pairs(3, system="alpha-run", team="Alpha"), **options)
    return panel, bench.do(batches.export_batch, bench.season.as_eva, panel)


def test_results_of_a_batch_become_judgements_once_and_workers_stay_hidden(both):
    panel, exported = sent_out(both)
    assert (exported.rows, exported.assignments) == (3, 2)
    assert "HTMLQuestion" in exported.template
    for hidden in ("alpha-run", "Alpha", "MATERIAL"):
        assert hidden not in exported.table.decode()
    raw = results(exported, ("WORKER-ONE", "WORKER-TWO"))
    first = both.do(batches.import_batch, both.season.as_eva, exported.batch_id, raw)
    again = both.do(batches.import_batch, both.season.as_eva, exported.batch_id, raw)
    assert (first.votes, first.repeated, again.votes, again.repeated) == (6, 0, 0, 6)
    with both.office.reading() as session:
        rows = session.scalars(select(Judgement)).all()
        log = session.scalars(select(Event.data)).all()
        batch = session.get_one(CrowdBatch, exported.batch_id)
        found = counted_judgements(session, panel)
    assert len(rows) == len(found) == 6
    assert {one.answers["verdict"] for one in found} == {"R"}
    everything = repr([(row.person_id, row.key) for row in rows]) + repr(log) + repr(batch.hits) + repr(batch.known)
    assert "WORKER" not in everything
    assert {row.person_id[:6] for row in rows} == {"judge-"}
    assert len({row.person_id for row in rows}) == 2
    progress = both.ask(monitor.progress, panel)
    assert {line.group for line in progress.judges} == {"crowd"}


def test_the_file_as_it_came_is_kept_encrypted(bench):
    _, exported = sent_out(bench)
    raw = results(exported, ("WORKER-ONE",))
    bench.do(batches.import_batch, bench.season.as_eva, exported.batch_id, raw)
    for path in bench.office.settings.data.rglob("*"):
        if path.is_file():
            assert b"WORKER-ONE" not in path.read_bytes(), path.name
    assert bench.do(batches.raw_results, bench.season.as_eva, exported.batch_id) == [raw]


@pytest.mark.parametrize(
    "change",
    [
        {"Input.item": "another"},
        {"Input.seal": "0" * 64},
        {"Input.query": "another query"},
        {"Input.text": "another text"},
        {"HITId": "H1"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_results_that_were_not_sent_out_like_this_are_refused_as_a_whole(bench, change):
    panel, exported = sent_out(bench)
    with pytest.raises(RefusedError) as refusal:
        bench.do(batches.import_batch, bench.season.as_eva, exported.batch_id, results(exported, change=change))
    assert {problem.rule for problem in refusal.value.problems} >= {"X-18"}
    with bench.office.reading() as session:
        assert counted_judgements(session, panel) == []


def test_a_batch_of_another_panel_does_not_fit(bench):
    _, first = sent_out(bench, name="first")
    _, second = sent_out(bench, name="second")
    with pytest.raises(RefusedError):
        bench.do(batches.import_batch, bench.season.as_eva, second.batch_id, results(first))


def test_a_batch_can_be_downloaded_again_as_it_was(bench):
    _, exported = sent_out(bench)
    again = bench.ask(lambda session, office: batches.batch_files(session, exported.batch_id))
    assert again == exported


def test_only_organisers_export_and_import(bench):
    panel, exported = sent_out(bench)
    for act, about in ((batches.export_batch, panel), (batches.raw_results, exported.batch_id)):
        with pytest.raises(RefusedError):
            bench.do(act, bench.season.as_ada, about)
    with pytest.raises(RefusedError):
        bench.do(batches.import_batch, bench.season.as_ada, exported.batch_id, results(exported))
