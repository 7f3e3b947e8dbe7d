"""Uploads in pieces: tus 1.0 with creation, expiration and termination, with its exact codes (M60, X-2)."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from tests.server.conftest import with_token
from tests.server.doors.sending import TUS, bearer, begin, send, send_tus, sha256

from basanite.campaign.store.tables import Charge, Submission, Upload

pytestmark = pytest.mark.req("M60")

NOTHING = {"uploads": [], "team": [], "interrupted": []}


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


@pytest.fixture
def content(pack):
    return pack.perfect.read_bytes()


def head(client, token, place):
    return client.head(place, headers=bearer(token) | TUS)


def charges(office):
    with office.reading() as session:
        return sorted(session.scalars(select(Charge.state)))


def test_the_server_tells_what_it_understands(client):
    answer = client.options("/api/v1/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["tus-extension"] == "creation,expiration,termination"


@pytest.mark.req("X-2")
def test_a_file_in_pieces_becomes_a_submission_with_its_receipt(client, office, token, content):
    begun = begin(client, token, content)
    place = begun.headers["location"]
    assert (begun.status_code, charges(office)) == (201, ["reserved"])
    first = send(client, token, place, 0, content[:100])
    assert (first.status_code, first.headers["upload-offset"]) == (204, "100")
    assert "basanite-submission" not in first.headers
    last = send(client, token, place, 100, content[100:])
    shown = client.get(last.headers["basanite-submission"], headers=bearer(token)).json()
    assert (shown["state"], shown["sha256"], shown["door"]) == ("received", sha256(content), "api")
    receipt = client.get(f"{shown['url']}/receipts/intake", headers=bearer(token))
    assert sha256(content) in receipt.text


def test_an_interrupted_upload_goes_on_from_where_the_server_says(client, token, content):
    place = begin(client, token, content).headers["location"]
    send(client, token, place, 0, content[:100])
    found = head(client, token, place)
    assert (found.headers["upload-offset"], found.headers["upload-length"]) == ("100", str(len(content)))
    assert found.headers["cache-control"] == "no-store"
    kept = client.get("/api/v1/uploads?campaign=small", headers=bearer(token)).json()["uploads"]
    assert [(one["url"], one["offset"], one["said"]["label"]) for one in kept] == [(place, 100, "alpha")]
    assert send(client, token, place, 100, content[100:]).status_code == 204


def test_a_sender_who_lost_the_last_answer_finds_the_submission(client, token, content):
    place = begin(client, token, content).headers["location"]
    last = send(client, token, place, 0, content)
    again = head(client, token, place)
    assert again.headers["basanite-submission"] == last.headers["basanite-submission"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"Tus-Resumable": "0.2.2"}, 412),
        ({"Tus-Resumable": None}, 412),
        ({"Content-Type": "application/octet-stream"}, 415),
        ({"Upload-Offset": "5"}, 409),
        ({"Upload-Offset": "-1"}, 400),
        ({"Upload-Offset": "x"}, 400),
        ({"Upload-Offset": None}, 400),
    ],
    ids=str,
)
def test_a_piece_that_is_not_as_it_should_be_is_refused_and_changes_nothing(client, token, content, change, status):
    place = begin(client, token, content).headers["location"]
    given = bearer(token) | TUS | {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"} | change
    headers = {name: value for name, value in given.items() if value is not None}
    answer = client.patch(place, content=content[:10], headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["problems"][0]["fix"]
    assert status != 412 or answer.headers["tus-version"] == "1.0.0"
    assert head(client, token, place).headers["upload-offset"] == "0"


@pytest.mark.parametrize("length", ["", "-1", "1e3", "٣", "9" * 30])
def test_an_upload_without_a_length_is_refused(client, token, content, length):
    headers = bearer(token) | TUS | {"Upload-Length": length.encode()}
    assert client.post("/api/v1/uploads", headers=headers).status_code == 400


@pytest.mark.parametrize("words", ["task", "task !", "task /w==", "x" * 70_000], ids=["bare", "odd", "latin", "long"])
def test_words_that_cannot_be_read_are_refused(client, token, words):
    headers = bearer(token) | TUS | {"Upload-Length": "5", "Upload-Metadata": words}
    assert client.post("/api/v1/uploads", headers=headers).status_code in (400, 404)


@pytest.mark.req("X-2")
def test_an_upload_without_the_digest_of_the_whole_file_is_refused(client, office, token, content):
    answer = begin(client, token, content, digest="abc")
    assert (answer.status_code, answer.json()["problems"][0]["rule"], charges(office)) == (422, "X-2", [])


@pytest.mark.req("X-2")
def test_other_content_than_announced_is_refused_and_frees_the_attempt(client, office, token, content):
    place = begin(client, token, content, digest="0" * 64).headers["location"]
    answer = send(client, token, place, 0, content)
    assert (answer.status_code, charges(office)) == (422, ["freed"])
    assert head(client, token, place).status_code == 410
    with office.reading() as session:
        assert session.scalars(select(Submission)).all() == []


def test_more_bytes_than_announced_are_refused_before_and_while_they_are_read(client, token, content):
    place = begin(client, token, content, length=100).headers["location"]
    assert send(client, token, place, 0, content).status_code == 413
    assert send(client, token, place, 0, iter([content])).status_code == 413
    assert head(client, token, place).headers["upload-offset"] == "0"


@pytest.mark.req("X-2")
def test_at_most_two_uploads_are_open_and_one_given_up_makes_room(client, office, token, content):
    places = [begin(client, token, content, label=label).headers["location"] for label in ("a", "b")]
    assert begin(client, token, content).status_code == 409
    assert client.delete(places[0], headers=bearer(token) | TUS).status_code == 204
    assert head(client, token, places[0]).status_code == 410
    assert charges(office) == ["freed", "reserved"]
    assert begin(client, token, content).status_code == 201


@pytest.mark.req("X-2")
def test_an_upload_that_is_never_finished_lapses_and_frees_its_attempt(client, office, token, content, clock):
    place = begin(client, token, content).headers["location"]
    clock.forward(days=2)
    assert send(client, token, place, 0, content).status_code == 410
    assert client.get("/api/v1/uploads?campaign=small", headers=bearer(token)).json() == NOTHING
    assert begin(client, token, content).status_code == 201
    assert charges(office) == ["freed", "reserved"]


def test_a_network_without_patch_sends_by_post(client, token, content):
    place = begin(client, token, content).headers["location"]
    headers = bearer(token) | TUS | {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
    answer = client.post(place, content=content, headers=headers | {"X-HTTP-Method-Override": "PATCH"})
    assert "basanite-submission" in answer.headers
    assert client.post(place, content=content, headers=headers).status_code == 405


@pytest.mark.req("P-12")
def test_the_uploads_of_others_do_not_exist(client, office, small, token, content):
    place = begin(client, token, content).headers["location"]
    rival = with_token(office, small.bea)
    assert head(client, rival, place).status_code == 404
    assert send(client, rival, place, 0, content).status_code == 404
    assert client.delete(place, headers=bearer(rival) | TUS).status_code == 404
    assert client.get("/api/v1/uploads?campaign=small", headers=bearer(rival)).json() == NOTHING


@pytest.mark.req("X-16")
def test_the_same_file_of_another_team_is_taken_like_any_other(client, office, small, token, content):
    answers = [send_tus(client, who, content) for who in (token, with_token(office, small.bea))]
    told = [{name for name in answer.headers if name != "x-request-id"} for answer in answers]
    assert [answer.status_code for answer in answers] == [204, 204]
    assert told[0] == told[1]
    shown = client.get(answers[1].headers["basanite-submission"], headers=bearer(with_token(office, small.bea))).json()
    assert (shown["number"], shown["state"]) == (1, "received")


def test_a_visitor_and_who_is_in_no_team_upload_nothing(client, everybody, content):
    assert client.post("/api/v1/uploads").status_code == 401
    answer = begin(client, everybody.tokens["user"], content)
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (403, "M61")
    with client.app.state.office.reading() as session:
        assert session.scalars(select(Upload)).all() == []
