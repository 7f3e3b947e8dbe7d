"""A worker at work: jobs of all kinds, duties, fairness between teams, and what it takes over."""

import itertools
import json
from datetime import timedelta

import pytest
from sqlalchemy import select
from tests.offices.machines import all_ended, judge, states, wait_until
from tests.offices.submitting import crowd, pack_folder, submit

from basanite.campaign.actions import references
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.jobs.queue import QUEUE, client
from basanite.campaign.jobs.worker import Watch, alive, running, see_to, take_over, until_idle
from basanite.campaign.office import COMMAND, utc_now
from basanite.campaign.store.tables import Batch, BatchItem, Board, Freeze, Receipt, Submission, Worker


@pytest.fixture
def busy(office, pack):
    """An office on each database with a season that is open now, and limits that suit a test."""
    office.clock.set("2026-01-12 12:00")
    limits = office.settings.limits
    limits.poll_seconds, limits.silent_seconds, limits.duty_seconds, limits.pause_seconds = 0.1, 3.0, 0.5, 0.01
    return office, crowd(office, pack.key)


def test_a_worker_does_what_is_in_the_queue_and_what_is_due(busy, pack):
    office, teams = busy
    good = submit(office, teams.members[0], pack.perfect).id
    submit(office, teams.members[1], pack.invalid)
    with running(office):
        assert until_idle(office, 60) == 0
    assert states(office) == {"scored": 1, "invalid": 1}
    assert judge(office).wrong == ()
    with office.reading() as session:
        kinds = session.scalars(select(Receipt.kind).where(Receipt.submission_id == good)).all()
        assert sorted(kinds) == ["intake", "score"]
        assert session.scalars(select(Freeze.window).order_by(Freeze.window)).all() == ["dev", "week"]
        assert session.scalars(select(Worker)).one().stopped is not None


def test_a_duty_that_fails_does_not_keep_others_from_being_done(sqlite_office, caplog):
    done = []

    def stumble(office):
        raise ZeroDivisionError

    see_to(sqlite_office, (stumble, done.append))
    assert done == [sqlite_office]
    assert "stumble" in caplog.text


def test_jobs_of_one_team_leave_room_for_those_of_another(sqlite_office, teams, submitted):
    """With two places a team that asks for four takes one of them, and the other team's comes at once."""
    sqlite_office.settings.workers = 2
    sqlite_office.settings.limits.poll_seconds = 0.1
    many = [submitted("silent") for _ in range(4)]
    one = submitted("silent", member=1)
    with running(sqlite_office, ()):
        assert wait_until(lambda: all_ended(sqlite_office), 60)
    jobs = client(sqlite_office).list_workflows(queue_name=QUEUE, load_input=False)
    began = {job.workflow_id.split(":")[1]: job.dequeued_at for job in jobs}
    ended = {job.workflow_id.split(":")[1]: job.completed_at for job in jobs}
    assert began[one] <= min(ended[run] for run in many)  # the engine counts in seconds on SQLite
    in_order = sorted(many, key=lambda run: (began[run], ended[run]))
    assert all(ended[first] <= began[then] for first, then in itertools.pairwise(in_order))


@pytest.mark.slow
def test_only_the_oldest_worker_takes_over_and_only_from_the_dead(sqlite_office, teams, submitted):
    one = submitted("silent")
    now = utc_now()
    with running(sqlite_office, ()) as engine:
        assert wait_until(lambda: all_ended(sqlite_office), 60)
        with sqlite_office.writing() as session:
            session.add(Worker(id="older", started=now - timedelta(days=1), seen=now, process=1))
        assert take_over(engine, Watch(3.0)) == ()
        assert next(worker.id for worker in pulse_alive(sqlite_office, now)) == "older"
        assert pulse_alive(sqlite_office, now + timedelta(hours=1)) == ()
    assert stages.validate(sqlite_office, one)["state"] == "scored"


def pulse_alive(office, now):
    with office.reading() as session:
        return alive(session, now, office.settings.limits.silent_seconds)


def test_work_whose_job_broke_is_asked_for_again(sqlite_office, teams, submitted):
    one = submitted("silent")
    client(sqlite_office).cancel_workflow(f"process_submission:{one}")
    sqlite_office.settings.limits.poll_seconds, sqlite_office.settings.limits.duty_seconds = 0.1, 0.2
    with running(sqlite_office, ()):
        assert wait_until(lambda: all_ended(sqlite_office), 60)
    assert judge(sqlite_office).wrong == ()


def scored(office, *submissions):
    for one in submissions:
        checked = stages.validate(office, one)
        assert stages.score(office, one, checked["result"]) == "scored"


def test_scoring_again_changes_nothing_but_its_batch(sqlite_office, teams, submitted, pack, tmp_path):
    one = submitted("perfect")
    scored(sqlite_office, one)
    with sqlite_office.writing() as session:
        batch = _batch(session, sqlite_office, teams, one, pack)
        item = session.scalars(select(BatchItem)).one().id
    assert [comparison.score_item(sqlite_office, item) for _ in range(2)] == ["scored", "scored"]
    with sqlite_office.reading() as session:
        assert session.get_one(Batch, batch).state == "ready"
        row = session.get_one(BatchItem, item)
        assert row.new_key not in (None, row.old_key)
        assert session.get_one(Submission, one).state == "scored"


def _batch(session, office, teams, submission, pack):
    digest = office.sealed.put(pack_folder(pack.key) + b"").digest
    place = references.Place("CLIR", "DEV", "1A", "QUERY1")
    material = references.Material((digest,), names={digest: "key.tgz"})
    new = references.add(
        session, office, COMMAND, teams.campaign_id, references.NewVersion(place, material, reason="a new version")
    )
    batch = Batch(campaign_id=teams.campaign_id, reference_id=new.id, reason="x", by="command", made=office.clock())
    session.add(batch)
    session.flush()
    session.add(BatchItem(batch_id=batch.id, submission_id=submission))
    return batch.id


def test_a_comparison_is_kept_once_under_its_key(sqlite_office, teams, submitted):
    runs = {"first": submitted("perfect"), "second": submitted("silent", member=1)}
    scored(sqlite_office, *runs.values())
    order = {"key": "k", "campaign_id": teams.campaign_id, "window": "dev", "purpose": "own"}
    given = {**order, "subject": {"systems": runs}}
    assert [comparison.compare(sqlite_office, **given) for _ in range(2)] == ["there", "there"]
    with sqlite_office.reading() as session:
        board = session.scalars(select(Board)).one()
    found = json.loads(sqlite_office.files.read(board.digest))
    assert found["systems"] == ["first", "second"]
    assert found["differences"][0]["difference"] == 1.0
