"""What feedback tells and what it does not: no document, and on a ladder no value that trying often would find."""

from __future__ import annotations

import io
import math
import re
import tarfile

import pytest
from tests.offices.prepared import small_season
from tests.server.conftest import add_reference, with_token
from tests.server.doors.sending import bearer, send_raw
from tests.server.test_routes import signed_in

from basanite.campaign.actions import releases
from basanite.campaign.jobs.worker import running, until_idle
from basanite.server.roles import list_routes
from basanite.synthetic.clir import Spec
from basanite.testing import small_campaign_text
from basanite.testing.season import small_pack


def scored(client, office, token, *contents, last="contrastive"):
    """The submissions as their team sees them once they are scored."""
    sent = []
    with running(office, ()):
        for number, content in enumerate(contents):
            kind = last if number == len(contents) - 1 else "contrastive"
            answer = send_raw(client, token, content, label=f"run{number}", type=kind)
            assert answer.status_code == 201, answer.text
            assert until_idle(office, 60) == 0
            office.clock.forward(minutes=1)  # runs stand in the order in which they came
            sent.append(answer.json()["url"])
    return [client.get(url, headers=bearer(token)).json() for url in sent]


@pytest.mark.req("M72")
def test_full_feedback_names_no_document_in_any_answer_or_page(client, office, small, pack, reference):
    token = with_token(office, small.ada)
    (shown,) = scored(client, office, token, pack.silent.read_bytes())
    assert (shown["state"], shown["result"]["level"]) == ("scored", "full")
    documents = set(pack.documents.read_text().split())
    relevant = {line.split("\t")[0] for path in pack.key.iterdir() for line in path.read_text().splitlines()}
    named = (documents | relevant) - {""}
    for who in (small.ada, small.eva):
        headers = signed_in(office, who) | {"Accept": "text/html"}
        for route in list_routes(client.app):
            if "GET" in route.methods and route.path != "/metrics":
                path = re.sub(r"{(\w+)(:\w+)?}", lambda at: VALUES.get(at[1], shown["id"]), route.path)
                answer = client.get(path, headers=headers, params={"run": shown["id"]}, follow_redirects=False)
                found = [name for name in named if re.search(rf"\b{re.escape(name)}\b", answer.text)]
                assert (route.path, found) == (route.path, [])


VALUES = {"slug": "small", "window": "dev"}


@pytest.fixture
def ladder(office):
    """The small season with a ladder on its development window."""
    text = small_campaign_text(quota=10).replace('feedback = "full"', 'feedback = "limited"\nladder = 2.0', 1)
    return small_season(office, text)


@pytest.mark.req("P-13")
def test_on_a_ladder_a_run_that_is_not_better_tells_nothing_of_its_own(office, ladder, pack):
    from starlette.testclient import TestClient

    from basanite.server.app import make_app

    add_reference(office, ladder, pack, "DEV")
    with TestClient(make_app(office)) as client:
        runs = (pack.perfect.read_bytes(), pack.silent.read_bytes())
        first, second = scored(client, office, with_token(office, ladder.ada), *runs)
    assert (first["result"]["level"], second["result"]["level"]) == ("ladder", "ladder")
    assert set(second["result"]["data"]["values"]) == {"aqwv"}
    assert second["result"]["data"]["values"] == first["result"]["data"]["values"]


BOARD = "/api/v1/campaigns/small/leaderboard?window=dev&task=CLIR&language=1A"


def with_silent(content, silent):
    """The same archive, with some of its queries answered by nothing."""
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(content)) as old, tarfile.open(fileobj=made, mode="w:gz") as new:
        members = [member for member in old if member.isfile()]
        for at, member in enumerate(sorted(members, key=lambda one: one.name)):
            data = old.extractfile(member).read()
            data = re.sub(rb"\tY\t1.0", b"\tN\t0.0", data) if at in silent else data
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return made.getvalue()


@pytest.mark.slow
@pytest.mark.req("S-17")
def test_a_ladder_moves_by_whole_steps_and_only_when_the_gain_exceeds_one(office, ladder, tmp_path):
    from starlette.testclient import TestClient

    from basanite.server.app import make_app

    pack = small_pack(tmp_path, Spec(queries=40, documents=30, seed=3, empty=0.0))
    add_reference(office, ladder, pack, "DEV")
    perfect, half = pack.perfect.read_bytes(), set(range(20))
    runs = (with_silent(perfect, half), with_silent(perfect, half - {0}), perfect, with_silent(perfect, {0}))
    with TestClient(make_app(office)) as client:
        token = with_token(office, ladder.ada)
        shown = scored(client, office, token, *runs, last="primary")
        office.clock.set("2018-04-09 06:00")
        with office.writing() as session:
            releases.release(session, office, ladder.as_eva, ladder.campaign_id, releases.LevelRelease("dev", "top"))
        (row,) = client.get(BOARD, headers=bearer(with_token(office, ladder.eva))).json()["rows"]
    assert all(set(one["result"]["data"]["values"]["aqwv"]) == {"value", "step"} for one in shown)
    assert not any("breakdowns" in one["result"]["data"] for one in shown)
    first, one_more, everything, fewer = (one["result"]["data"]["values"]["aqwv"] for one in shown)
    assert abs(first["value"] - 0.5) <= first["step"] / 2
    assert one_more == first  # one more query of forty is within chance
    assert everything["value"] > first["value"]
    assert fewer == everything  # a worse run tells nothing of its own
    for one in (first, everything):
        assert math.isclose(one["value"] / one["step"], round(one["value"] / one["step"]), abs_tol=1e-6)
    assert row["looks"] == 4
