"""Submissions over the API: pages, problems, withdrawal, and nothing of other teams."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from tests.offices.prepared import small_season
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, send_raw

from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.store.tables import Charge
from basanite.testing import small_campaign_text

LIST = "/api/v1/campaigns/small/submissions"


@pytest.fixture
def small(office):
    text = small_campaign_text(quota=7).replace('feedback = "full"', 'feedback = "full"\nsettings = { beta = 20.0 }', 1)
    return small_season(office, text)


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


@pytest.fixture
def rival(office, small):
    return with_token(office, small.bea)


def sent(client, token, path, **more):
    answer = send_raw(client, token, path.read_bytes(), **more)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.req("P-4")
def test_submissions_are_listed_page_by_page_newest_first(client, token, pack, clock):
    for number in range(5):
        sent(client, token, pack.perfect, label=f"run{number}")
        clock.forward(minutes=number % 2)
    labels, after = [], ""
    while after is not None:
        page = client.get(LIST, params={"limit": 2, "after": after}, headers=bearer(token)).json()
        labels += [one["label"] for one in page["submissions"]]
        after = page["following"]
    assert sorted(labels) == ["run0", "run1", "run2", "run3", "run4"]
    assert labels[-1] in ("run0", "run1")
    for wrong in ("nowhere", "2018-01-01~x", "~", "0001-01-01T00:00:00+23:59~x"):
        assert client.get(LIST, params={"after": wrong}, headers=bearer(token)).status_code in (200, 422)


@pytest.mark.req("P-12")
def test_what_belongs_to_another_team_does_not_exist(client, token, rival, pack):
    mine = sent(client, token, pack.perfect)
    assert client.get(LIST, headers=bearer(rival)).json()["submissions"] == []
    for path in ("", "/problems", "/results", "/receipts/intake", "/receipts/score"):
        nothing = client.get(f"{LIST}/{'0' * 20}{path}", headers=bearer(rival))
        theirs = client.get(mine["url"] + path, headers=bearer(rival))
        assert (theirs.status_code, theirs.json()["detail"]) == (404, nothing.json()["detail"]), path
    for path, body in (("withdrawal", {"reason": "x"}),):
        assert client.post(f"{mine['url']}/{path}", json=body, headers=bearer(rival)).status_code == 404
    words = {"description": {"text": "mine now"}}
    assert client.put(f"{mine['url']}/description", json=words, headers=bearer(rival)).status_code == 404


@pytest.mark.req("M65")
def test_an_invalid_submission_costs_no_quota_and_lists_all_problems(client, office, token, pack, reference):
    with running(office, ()):
        bad, good = sent(client, token, pack.invalid), sent(client, token, pack.perfect)
        assert until_idle(office, 60) == 0
    problems = client.get(f"{bad['url']}/problems", headers=bearer(token)).json()
    assert (problems["valid"], problems["counts"]["M29"]) == (False, problems["total"])
    scored = client.get(good["url"], headers=bearer(token)).json()
    assert (scored["state"], scored["result"]["data"]["values"]["aqwv"]["value"]) == ("scored", 1.0)
    (allowance,) = client.get("/api/v1/campaigns/small/windows", headers=bearer(token)).json()[0]["mine"]
    assert (allowance["used"], allowance["left"]) == (1, 6)
    assert client.get(f"{good['url']}/receipts/score", headers=bearer(token)).json()["content"]["result"]
    board = {"window": "dev", "task": "CLIR", "language": "1A"}
    assert client.get("/api/v1/campaigns/small/leaderboard", params=board, headers=bearer(token)).status_code == 200


@pytest.mark.req("P-23")
def test_a_withdrawn_submission_stays_with_its_reason_and_its_attempt_spent(client, office, token, pack):
    mine = sent(client, token, pack.perfect)
    gone = client.post(f"{mine['url']}/withdrawal", json={"reason": "wrong file"}, headers=bearer(token)).json()
    assert (gone["standing"], gone["standing_reason"]) == ("withdrawn", "wrong file")
    assert client.post(f"{mine['url']}/withdrawal", json={"reason": "x"}, headers=bearer(token)).status_code == 409
    with office.reading() as session:
        assert list(session.scalars(select(Charge.state))) == ["reserved"]


@pytest.mark.req("M77")
def test_a_team_describes_its_system_later(client, token, pack):
    mine = sent(client, token, pack.perfect, description="first words")
    assert mine["description"] == {"text": "first words"}
    words = {"description": {"text": "better words", "hardware": "two cores"}}
    assert (
        client.put(f"{mine['url']}/description", json=words, headers=bearer(token)).json()["description"]
        == words["description"]
    )
    long = {"description": {"text": "x" * 30_000}}
    assert client.put(f"{mine['url']}/description", json=long, headers=bearer(token)).status_code == 422


@pytest.mark.req("M58")
def test_team_date_and_time_are_ours_whatever_the_file_is_called(client, token, pack):
    mine = sent(client, token, pack.perfect)
    assert mine["name"] == "Alpha_CLIR-contrastive-unconstrained-QUERY1-alpha_BASE-1A-DEV_20180115_070000.tgz"
    other = send_raw(client, token, pack.perfect.read_bytes(), filename=mine["name"].replace("Alpha", "Beta"))
    assert (other.status_code, other.json()["problems"][0]["rule"]) == (422, "M58")


@pytest.mark.req("M64")
def test_the_eighth_of_seven_is_refused_and_told_when_the_week_ends(client, token, pack):
    for number in range(7):
        sent(client, token, pack.perfect, label=f"run{number}")
    answer = send_raw(client, token, pack.perfect.read_bytes())
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (429, "M64")
    assert answer.json()["retry_at"] == "2018-01-22T05:00:00+00:00"
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.req("P-19", "P-27")
def test_the_calendar_is_there_for_programs_of_every_kind(client):
    windows = client.get("/api/v1/campaigns/small/windows").json()
    assert [(one["id"], one["is_open"], one["mine"]) for one in windows] == [("dev", True, []), ("week", False, [])]
    assert windows[0]["closes"]["words"].startswith("2018-04-01 04:00 UTC (2018-04-01 00:00 America/New_York")
    feed = client.get("/api/v1/campaigns/small/calendar.ics")
    assert "DTEND:20180401T040000Z\r\n" in feed.text
    assert all(len(line.encode()) <= 75 for line in feed.text.split("\r\n"))


def test_packs_and_keys_are_listed(client, token):
    packs = client.get("/api/v1/campaigns/small/packs", headers=bearer(token)).json()
    assert [(one["id"], one["out"]) for one in packs] == [("DEV", True), ("EVAL1", False)]
    assert client.get("/api/v1/campaigns/small/packs/EVAL1/key", headers=bearer(token)).status_code == 404
    assert client.get("/api/v1/keys").json()["format"].startswith("basanite-")
