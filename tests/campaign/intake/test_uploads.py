"""An upload is fixed and counted at its start, goes on after any interruption, and lapses if it is left (X-2, M60)."""

import hashlib
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from tests.offices.prepared import small_season

from basanite.campaign.intake import charges, recovery, uploads
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store import files
from basanite.campaign.store.tables import CampaignRow, Charge, Submission, Upload
from basanite.testing import small_campaign_text

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For tests in which the database does not matter."""

CONTENT = bytes(range(256)) * 4000
SHA = hashlib.sha256(CONTENT).hexdigest()
CLOSES = datetime(2018, 4, 1, 4, 0, tzinfo=UTC)
"""When the first window closes: 24:00 on 31 March in New York."""
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def begin(office, small, declared):
    def begun(actor=None, *, team=None, label="sysA"):
        actor, team, wanted = actor or small.as_ada, team or small.alpha, replace(declared, label=label)
        with office.writing() as session:
            return uploads.begin(
                session, office, actor, team, uploads.NewUpload(wanted, size=len(CONTENT), sha256=SHA)
            ).id

    return begun


def row_of(office, kind, key):
    with office.reading() as session:
        return session.get(kind, key)


def states(office):
    with office.reading() as session:
        return sorted(session.scalars(select(Charge.state)))


def test_a_file_that_comes_in_pieces_becomes_a_submission(office, small, begin):
    upload = begin()
    half = len(CONTENT) // 2
    assert uploads.append(office, small.as_ada, upload, 0, [CONTENT[:100], CONTENT[100:half]]) == half
    assert uploads.append(office, small.as_alan, upload, half, iter([CONTENT[half:]])) == len(CONTENT)
    made = uploads.finish(office, small.as_ada, upload)
    assert (made.sha256, made.size, made.standing) == (SHA, len(CONTENT), "on time")
    assert office.files.read(SHA) == CONTENT
    assert not uploads.part(office, upload).exists()


@on_sqlite
def test_finishing_twice_gives_the_same_submission_and_costs_one_attempt(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT])
    made = {uploads.finish(office, small.as_ada, upload).id for _ in range(3)}
    assert len(made) == 1
    assert states(office) == ["reserved"]


def test_finishing_at_the_same_time_gives_one_submission(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT])
    made, barrier = [], threading.Barrier(3)

    def finish():
        barrier.wait(120)
        made.append(uploads.finish(office, small.as_ada, upload).id)

    threads = [threading.Thread(target=finish) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 3
    assert len(set(made)) == 1
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 1


@on_sqlite
def test_an_upload_whose_file_was_lost_is_no_submission(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT])
    uploads.part(office, upload).unlink()
    with pytest.raises(FileNotFoundError):
        uploads.finish(office, small.as_ada, upload)
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0


@on_sqlite
def test_other_content_than_announced_is_refused_and_costs_nothing(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT[:-1] + b"!"])
    with pytest.raises(RefusedError, match="SHA-256") as error:
        uploads.finish(office, small.as_ada, upload)
    assert error.value.status == 422
    assert states(office) == ["freed"]
    assert list(office.files.digests()) == []
    with pytest.raises(RefusedError, match="has ended"):
        uploads.append(office, small.as_ada, upload, 0, [b"x"])


@pytest.mark.parametrize("sha256", ["", "0" * 63, "G" * 64, SHA.upper()])
def test_a_start_without_the_digest_is_refused(sqlite_office, declared, sha256):
    small = small_season(sqlite_office)
    with sqlite_office.writing() as session, pytest.raises(RefusedError) as error:
        uploads.begin(
            session, sqlite_office, small.as_ada, small.alpha, uploads.NewUpload(declared, size=1, sha256=sha256)
        )
    assert error.value.problems[0].rule == "X-2"


def test_sizes_that_cannot_be_are_refused_at_the_start(sqlite_office, declared):
    small = small_season(sqlite_office, small_campaign_text(largest_upload="1 MiB"))
    for size, status in ((0, 422), (-1, 422), (2**20 + 1, 413)):
        with sqlite_office.writing() as session, pytest.raises(RefusedError) as error:
            uploads.begin(
                session, sqlite_office, small.as_ada, small.alpha, uploads.NewUpload(declared, size=size, sha256=SHA)
            )
        assert error.value.status == status


@on_sqlite
def test_offsets_are_exact(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT[:10]])
    for offset in (0, 9, 11, len(CONTENT)):
        with pytest.raises(RefusedError, match="at offset 10") as error:
            uploads.append(office, small.as_ada, upload, offset, [b"x"])
        assert error.value.status == 409
    with pytest.raises(RefusedError, match="at offset 10"):
        uploads.finish(office, small.as_ada, upload)
    with pytest.raises(RefusedError, match="more bytes") as error:
        uploads.append(office, small.as_ada, upload, 10, [CONTENT[10:], b"x"])
    assert error.value.status == 413
    assert uploads.finish(office, small.as_ada, upload).sha256 == SHA


@on_sqlite
def test_a_line_that_breaks_loses_nothing_that_arrived(office, small, begin):
    def broken():
        yield CONTENT[:5000]
        raise ConnectionError

    upload = begin()
    with pytest.raises(ConnectionError):
        uploads.append(office, small.as_ada, upload, 0, broken())
    assert row_of(office, Upload, upload).offset == 5000
    uploads.append(office, small.as_ada, upload, 5000, [CONTENT[5000:]])
    assert uploads.finish(office, small.as_ada, upload).sha256 == SHA


@on_sqlite
def test_two_calls_never_write_at_once(office, small, begin):
    upload = begin()

    def pieces():
        yield CONTENT[:10]
        with pytest.raises(RefusedError, match="another call") as error:
            uploads.append(office, small.as_alan, upload, 0, [b"x"])
        assert error.value.status == 423
        yield CONTENT[10:]

    uploads.append(office, small.as_ada, upload, 0, pieces())
    assert uploads.finish(office, small.as_ada, upload).sha256 == SHA


@on_sqlite
def test_so_many_uploads_are_open_at_most(office, small, begin):
    first = begin()
    begin(small.as_alan, label="sysB")
    with pytest.raises(RefusedError, match="2 open uploads") as error:
        begin(label="sysC")
    assert {one["label"] for one in error.value.uploads} == {"sysA", "sysB"}
    begin(small.as_bea, team=small.beta)
    with office.writing() as session:
        uploads.cancel(session, office, small.as_ada, first)
    begin(label="sysC")


def test_a_started_upload_reserves_its_attempt_and_frees_it_when_it_lapses(office, clock, declared):
    small = small_season(office, small_campaign_text(quota=1))
    start = {"size": len(CONTENT), "sha256": SHA}
    with office.writing() as session:
        upload = uploads.begin(session, office, small.as_ada, small.alpha, uploads.NewUpload(declared, **start)).id
    uploads.append(office, small.as_ada, upload, 0, [b"x"])
    other = replace(declared, label="sysB")
    with office.writing() as session, pytest.raises(RefusedError) as error:
        uploads.begin(session, office, small.as_alan, small.alpha, uploads.NewUpload(other, **start))
    assert [one.rule for one in error.value.problems] == ["M64", "X-21"]
    expires = row_of(office, Upload, upload).expires
    assert error.value.retry_at == expires
    clock.set(expires - MICROSECOND)
    assert recovery.sweep(office) == 0
    clock.set(expires)
    with pytest.raises(RefusedError, match="has ended"):
        uploads.append(office, small.as_ada, upload, 1, [b"y"])
    assert recovery.sweep(office) == 1
    assert (row_of(office, Upload, upload).state, states(office)) == ("lapsed", ["freed"])
    with office.writing() as session:
        uploads.begin(session, office, small.as_alan, small.alpha, uploads.NewUpload(declared, **start))


@on_sqlite
def test_uploads_of_other_teams_do_not_exist(office, small, begin):
    upload = begin()
    for act in (
        lambda: uploads.append(office, small.as_bea, upload, 0, [b"x"]),
        lambda: uploads.finish(office, small.as_bea, upload),
        lambda: uploads.append(office, small.as_bea, "no-such-upload", 0, [b"x"]),
    ):
        with pytest.raises(RefusedError) as error:
            act()
        assert (error.value.status, str(error.value)) == (404, str(uploads.missing("upload")))


@pytest.mark.parametrize(
    ("started", "took", "standing"),
    [
        (-timedelta(days=1), timedelta(hours=20), "on time"),
        (-MICROSECOND, timedelta(minutes=60), "on time"),
        (-MICROSECOND, timedelta(minutes=60) + MICROSECOND, "late"),
        (-timedelta(minutes=60), timedelta(minutes=60) + MICROSECOND, "late"),
        (-timedelta(minutes=60), timedelta(minutes=60), "on time"),
    ],
)
def test_the_start_decides_about_the_deadline(sqlite_office, clock, declared, started, took, standing):
    small = small_season(sqlite_office)
    clock.set(CLOSES + started)
    with sqlite_office.writing() as session:
        upload = uploads.begin(
            session,
            sqlite_office,
            small.as_ada,
            small.alpha,
            uploads.NewUpload(declared, size=len(CONTENT), sha256=SHA),
        ).id
    clock.forward(took)
    uploads.append(sqlite_office, small.as_ada, upload, 0, [CONTENT])
    made = uploads.finish(sqlite_office, small.as_ada, upload)
    assert (made.standing, made.started) == (standing, CLOSES + started)


@on_sqlite
def test_at_the_closing_instant_nothing_starts_any_more(office, clock, small, begin):
    clock.set(CLOSES)
    with pytest.raises(RefusedError) as error:
        begin()
    assert "M62" in {found.rule for found in error.value.problems}


@on_sqlite
def test_a_season_that_is_played_at_another_time_has_its_own_deadlines(office, clock, small, begin):
    with office.writing() as session:
        session.get(CampaignRow, small.campaign_id).clock_offset = timedelta(days=365).total_seconds()
    clock.set(CLOSES - timedelta(days=365) - MICROSECOND)
    assert row_of(office, Upload, begin()).started == CLOSES - MICROSECOND
    clock.set(CLOSES - timedelta(days=365))
    with pytest.raises(RefusedError):
        begin(label="sysB")


@on_sqlite
def test_content_that_another_team_sent_already_must_be_sent_all_the_same(office, small, begin):
    first = begin()
    uploads.append(office, small.as_ada, first, 0, [CONTENT])
    theirs = uploads.finish(office, small.as_ada, first)
    mine = begin(small.as_bea, team=small.beta)
    assert row_of(office, Upload, mine).offset == 0
    with pytest.raises(RefusedError, match="at offset 0"):
        uploads.finish(office, small.as_bea, mine)
    uploads.append(office, small.as_bea, mine, 0, [CONTENT])
    made = uploads.finish(office, small.as_bea, mine)
    assert (made.number, made.state) == (theirs.number, "received")
    assert made.id != theirs.id


KILLED = """
import sys, time
from basanite.campaign.intake import uploads
from basanite.campaign.office import Actor, Office
from basanite.campaign.settings import Settings
from datetime import UTC, datetime

settings, person, upload, offset = sys.argv[1:]
uploads.SYNC_BYTES = 64 * 1024
office = Office.open(Settings.model_validate_json(settings), lambda: datetime(2018, 1, 15, 12, tzinfo=UTC))
content = (bytes(range(256)) * 4000)[int(offset):]
def pieces():
    for at in range(0, len(content), 10_000):
        yield content[at : at + 10_000]
        print(at, flush=True)
        time.sleep(0.002)
uploads.append(office, Actor(person), upload, int(offset), pieces())
"""


def killed_while_appending(office, small, upload, offset, lines):
    where = (office.settings.model_dump_json(), small.ada, upload, str(offset))
    child = subprocess.Popen([sys.executable, "-c", KILLED, *where], stdout=subprocess.PIPE)
    for _ in range(lines):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def test_after_each_kill_the_upload_goes_on_where_the_row_says(sqlite_office, declared):
    office, small, now = sqlite_office, small_season(sqlite_office), 0
    with office.writing() as session:
        start = {"size": len(CONTENT), "sha256": SHA}
        upload = uploads.begin(session, office, small.as_ada, small.alpha, uploads.NewUpload(declared, **start)).id
    for lines in (12, 33):
        killed_while_appending(office, small, upload, now, lines)
        before, now = now, row_of(office, Upload, upload).offset
        assert uploads.part(office, upload).read_bytes()[:now] == CONTENT[:now]
        assert now > before
    uploads.append(office, small.as_ada, upload, now, [CONTENT[now:]])
    assert uploads.finish(office, small.as_ada, upload).sha256 == SHA


@on_sqlite
def test_nothing_is_left_of_a_crash_between_storing_and_accepting(office, small, begin):
    upload = begin()
    uploads.append(office, small.as_ada, upload, 0, [CONTENT])
    office.files.adopt(uploads.part(office, upload))
    assert uploads.finish(office, small.as_ada, upload).sha256 == SHA
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 1


def test_where_there_is_no_room_an_upload_does_not_start(sqlite_office, declared, monkeypatch):
    small = small_season(sqlite_office)
    monkeypatch.setattr(files, "SPARE", 2**62)
    with sqlite_office.writing() as session, pytest.raises(RefusedError) as error:
        uploads.begin(
            session, sqlite_office, small.as_ada, small.alpha, uploads.NewUpload(declared, size=10, sha256=SHA)
        )
    assert error.value.status == 507


@on_sqlite
def test_a_drop_by_the_machine_is_answered_for_by_the_pi(office, small, declared, stored):
    from basanite.campaign.intake.acceptance import Arrival, accept

    with office.writing() as session:
        made = accept(session, office, Actor("system", "drop"), Arrival(small.alpha, declared, stored))
        assert (made.person_id, made.door) == (small.ada, "drop")
        assert charges.charge(session, office, made).state == "charged"
