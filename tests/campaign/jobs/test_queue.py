"""A job and what causes it are written together or not at all, on both databases."""

import pytest
from sqlalchemy import func, select
from tests.offices.submitting import crowd, submit

from basanite.campaign.jobs.queue import NOBODY, QUEUE, client, enqueue, prepare
from basanite.campaign.jobs.worker import LIVE
from basanite.campaign.store.tables import Event, Submission


def jobs(office):
    return client(office).list_workflows(status=LIVE, queue_name=QUEUE)


def test_a_job_is_kept_with_its_cause_or_not_at_all(office):
    with office.writing() as session:
        enqueue(session, office, "compare", "kept", campaign_id="c")
    with pytest.raises(ZeroDivisionError), office.writing() as session:
        _ask_and_stumble(session, office)
    assert [(job.workflow_id, job.input["kwargs"]) for job in jobs(office)] == [("kept", {"campaign_id": "c"})]


def _ask_and_stumble(session, office):
    enqueue(session, office, "compare", "lost", campaign_id="c")
    raise ZeroDivisionError


def test_asking_twice_gives_one_job(office):
    for _ in range(2):
        with office.writing() as session:
            enqueue(session, office, "compare", "same", campaign_id="c")
    assert [(job.workflow_id, job.queue_partition_key) for job in jobs(office)] == [("same", "c")]


def test_comparisons_wait_for_those_of_their_own_campaign_alone(sqlite_office):
    with sqlite_office.writing() as session:
        enqueue(session, sqlite_office, "compare", "one", campaign_id="c")
        enqueue(session, sqlite_office, "compare", "two", campaign_id="d")
        enqueue(session, sqlite_office, "send_messages", "three")
    assert {job.workflow_id: job.queue_partition_key for job in jobs(sqlite_office)} == {
        "one": "c",
        "two": "d",
        "three": NOBODY,
    }


def test_a_submission_that_is_not_kept_leaves_neither_row_nor_job(office, pack):
    office.clock.set("2026-01-12 12:00")
    teams = crowd(office, pack.key)
    kept = submit(office, teams.members[1], pack.perfect)
    with pytest.raises(ZeroDivisionError), office.writing() as session:
        _submit_and_stumble(session, office, teams.members[0], pack)
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 1
        accepted = select(func.count()).where(Event.kind == "submission.accepted")
        assert session.scalar(accepted) == 1
    assert [job.queue_partition_key for job in jobs(office)] == [kept.team_id]


def _submit_and_stumble(session, office, member, pack):
    from basanite.campaign.intake.acceptance import Arrival, accept
    from basanite.campaign.model.plan import Declared

    declared = Declared("CLIR", "run", language="1A", queryset="QUERY1", dataset=("DEV",))
    accept(session, office, member.actor, Arrival(member.team, declared, office.files.take(pack.perfect)))
    raise ZeroDivisionError


def test_preparing_a_database_twice_changes_nothing(office):
    for _ in range(2):
        prepare(office.database.url)
    assert jobs(office) == []
