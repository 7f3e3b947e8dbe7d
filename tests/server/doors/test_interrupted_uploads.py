"""Uploads whose process is gone: finished, taken over or freed, and the team sees what is open and can cancel it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.offices.machines import wait_until
from tests.offices.prepared import small_season
from tests.server.accounts.conftest import TOKEN
from tests.server.conftest import with_token
from tests.server.doors.sending import TUS, bearer, begin, send, send_raw, send_tus, sha256
from tests.server.test_routes import signed_in

from basanite.campaign.intake import open_uploads, recovery, uploads
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import Actor, utc_now
from basanite.campaign.store.tables import Charge, Submission, Upload
from basanite.server.app import make_app
from basanite.testing import small_campaign_text

pytestmark = pytest.mark.req("X-21")
RUN = Declared("CLIR", "alpha")
OPEN = "/api/v1/uploads?campaign=small"
CLOSES = "2018-04-01 04:00"
LONG_AGO = timedelta(minutes=10)


@pytest.fixture
def small(office):
    return small_season(office, small_campaign_text(quota=1))


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


@pytest.fixture
def content(pack):
    return pack.perfect.read_bytes()


@pytest.fixture
def call(office, small, content):
    """A call in one piece that has sent a share of its file to this server; who closes its hold has killed it."""

    def called(share=1.0):
        actor = Actor(small.ada, "api")
        upload, hold = uploads.receive(office, actor, small.alpha, RUN, size=len(content), sha256=sha256(content))
        uploads.append(office, actor, upload, 0, [content[: int(share * len(content))]], hold)
        return hold

    return called


def rows(office, table):
    with office.reading() as session:
        return session.scalars(select(table)).all()


def test_a_file_that_was_all_there_is_finished_when_the_server_starts(office, token, content, call, clock):
    call().close()
    clock.forward(hours=30)
    with TestClient(make_app(office)) as client:
        assert wait_until(lambda: rows(office, Submission), 60, 0.05)
        (made,) = rows(office, Submission)
        told = client.get(OPEN, headers=bearer(token)).json()
        again = send_raw(client, token, content)
    assert [one["submission"].rpartition("/")[2] for one in told["interrupted"]] == [made.id]
    assert (again.status_code, again.json()["id"]) == (201, made.id), "the same call again is the same submission"
    assert [one.state for one in rows(office, Charge)] == ["reserved"]


def test_the_same_call_takes_over_what_is_half_there(client, office, token, content, call):
    call(0.5).close()
    answer = send_raw(client, token, content)
    assert answer.status_code == 201
    assert sorted(one.state for one in rows(office, Charge)) == ["freed", "reserved"]
    assert client.get(OPEN, headers=bearer(token)).json()["interrupted"] == [], "nothing is left to do"


def test_what_is_half_there_is_freed_and_the_team_is_told(client, office, token, content, call, small):
    call(0.5).close()
    assert recovery.recover(office) == 1
    assert [one.state for one in rows(office, Charge)] == ["freed"]
    told = client.get(OPEN, headers=bearer(token)).json()
    assert (told["team"], [one["submission"] for one in told["interrupted"]]) == ([], [None])
    page = client.get("/campaigns/small/submissions", headers=signed_in(office, small.ada)).text
    assert "upload the file once more" in page
    assert not list((office.settings.data / "uploads").iterdir())


def test_who_was_never_told_of_the_submission_is_told_once(client, office, small, token, content, call):
    hold = call()
    made = uploads.finish(office, Actor(small.ada), hold.upload_id, hold)
    assert send_raw(client, token, content).status_code == 429, "the process lives, and will tell"
    hold.close()
    assert send_raw(client, token, content).json()["id"] == made.id
    assert send_raw(client, token, content).status_code == 429, "who knows of it sends another one"
    assert len(rows(office, Submission)) == 1


def test_an_upload_that_a_living_process_receives_is_not_taken(client, office, small, token, content, call):
    hold = call(0.5)
    assert recovery.recover(office) == 0
    answer = send_raw(client, token, content)
    (held,) = answer.json()["uploads"]
    assert (answer.status_code, held["sending"], held["arrived"]) == (409, True, len(content) // 2)
    assert begin(client, token, content).status_code == 409
    assert send(client, token, held["url"], 0, content).status_code in (409, 423)
    uploads.append(office, Actor(small.ada), hold.upload_id, len(content) // 2, [content[len(content) // 2 :]], hold)
    assert uploads.finish(office, Actor(small.ada), hold.upload_id, hold).sha256 == sha256(content)
    uploads.release(office, hold)


@pytest.mark.parametrize(("silence", "status"), [(timedelta(), 409), (LONG_AGO, 201), (-LONG_AGO, 201)])
def test_a_process_on_another_machine_is_known_by_its_signs_of_life(
    client, office, token, content, call, silence, status
):
    hold = call(0.5)
    hold.close()
    with office.writing() as session:
        row = session.get_one(Upload, hold.upload_id)
        row.holder, row.seen = "another-machine/1", utc_now() - silence
    assert send_raw(client, token, content).status_code == status


def test_a_file_on_another_machine_is_waited_for_twice_as_long(office, call):
    hold = call()
    hold.close()
    hold.path.unlink()
    for silent, freed in ((1.5, 0), (2.5, 1)):
        with office.writing() as session:
            row = session.get_one(Upload, hold.upload_id)
            row.holder, row.seen = "another-machine/1", utc_now() - silent * timedelta(seconds=30)
        assert recovery.recover(office) == freed


def test_a_living_process_says_so_and_one_that_slept_finds_that_it_lost_its_upload(office, small, content, call):
    hold, me = call(0.5), Actor(small.ada)
    with office.writing() as session:
        session.get_one(Upload, hold.upload_id).seen = utc_now() - LONG_AGO
    open_uploads.beat(office)
    with office.reading() as session:
        row = session.get_one(Upload, hold.upload_id)
        assert open_uploads.is_heard_of(session, office, row)
    with office.writing() as session:
        session.get_one(Upload, hold.upload_id).holder = "another-machine/1"
    with pytest.raises(uploads.RefusedError, match="taken over this upload"):
        uploads.append(office, me, hold.upload_id, len(content) // 2, [content[len(content) // 2 :]], hold)
    uploads.give_up(office, hold, "broken off")
    assert rows(office, Upload)[0].state == "open", "it is the other's"


def test_a_refusal_lists_what_is_open_until_when_and_it_can_be_canceled(client, office, token, content):
    begin(client, token, content)
    answer = send_raw(client, token, content, label="beta")
    (held,) = answer.json()["uploads"]
    expires = rows(office, Upload)[0].expires
    assert (answer.status_code, answer.json()["retry_at"]) == (429, expires.isoformat())
    assert held["free_by"] == expires.isoformat()
    assert held["url"] in answer.json()["detail"]
    assert client.delete(held["url"], headers=bearer(token) | TUS).status_code == 204
    assert send_raw(client, token, content, label="beta").status_code == 201


def test_the_same_upload_in_pieces_is_taken_up_and_not_begun_twice(client, office, token, content):
    place = begin(client, token, content).headers["location"]
    send(client, token, place, 0, content[:10])
    again = begin(client, token, content)
    assert (again.status_code, again.headers["location"], again.headers["upload-offset"]) == (201, place, "10")
    assert "basanite-submission" in send(client, token, place, 10, content[10:]).headers
    assert send_tus(client, token, content).status_code == 429, "sent again it is another attempt"


def test_the_pages_list_what_is_open_with_a_button_that_cancels_it(client, office, small, token, content):
    begin(client, token, content)
    mine = {"Cookie": signed_in(office, small.ada)["Cookie"]}
    theirs = {"Cookie": signed_in(office, small.bea)["Cookie"]}
    for page in ("submit", "submissions"):
        text = client.get(f"/campaigns/small/{page}", headers=mine).text
        assert "Open uploads" in text
        assert "Open uploads" not in client.get(f"/campaigns/small/{page}", headers=theirs).text
    (row,) = rows(office, Upload)
    address = f"/campaigns/small/uploads/{row.id}/cancel"
    assert f'action="{address}"' in text
    other = TOKEN.search(client.get("/campaigns/small/submit", headers=theirs).text)[1]
    assert client.post(address, data={"csrf": other}, headers=theirs).status_code == 404
    assert client.post(address, data={"csrf": "x"}, headers=mine).status_code == 403
    done = client.post(address, data={"csrf": TOKEN.search(text)[1]}, headers=mine, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/campaigns/small/submit")
    assert "Open uploads" not in client.get("/campaigns/small/submit", headers=mine).text
    assert [one.state for one in rows(office, Charge)] == ["freed"]


def test_a_deadline_is_not_lost_because_the_server_was(client, office, token, content, call, clock):
    clock.set(CLOSES)
    clock.forward(minutes=-5)
    call(0.5).close()
    assert recovery.recover(office) == 1
    clock.forward(minutes=20)
    assert send_raw(client, token, content, label="beta").status_code != 201, "what begins now is too late"
    answer = send_raw(client, token, content)
    assert (answer.status_code, answer.json()["standing"]) == (201, "on time")
