"""The cluster of intervals, named in the window of a campaign file."""

from __future__ import annotations

import pytest
from tests.offices.prepared import small_season
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, send_raw

from basanite.campaign.actions import references
from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.office import Actor
from basanite.testing import small_campaign_text

SETTINGS = 'feedback = "full"\nsettings = { beta = 20.0, cluster = "topic" }'


@pytest.fixture
def small(office):
    return small_season(office, small_campaign_text().replace('feedback = "full"', SETTINGS, 1))


@pytest.fixture
def described(office, small, pack, tmp_path):
    """A reference with a table of the topics of queries."""
    table = tmp_path / "queries.tsv"
    queries = sorted(path.stem for path in pack.key.iterdir())
    table.write_text("query\ttopic\n" + "".join(f"{query}\tt{at % 3}\n" for at, query in enumerate(queries)))
    material = references.take_in(office, references.Paths((pack.key,), None, (table,), None))
    with office.writing() as session:
        place = references.Place("CLIR", "DEV", "1A", "QUERY1")
        references.add(session, office, Actor(small.eva), small.campaign_id, references.NewVersion(place, material))


@pytest.mark.slow
@pytest.mark.req("S-28", case="good")
@pytest.mark.usefixtures("described")
def test_a_window_names_the_cluster_of_its_intervals(client, office, small, pack):
    token = with_token(office, small.ada)
    with running(office, ()):
        sent = send_raw(client, token, pack.perfect.read_bytes())
        assert sent.status_code == 201, sent.text
        assert until_idle(office, 60) == 0
    data = client.get(sent.json()["url"], headers=bearer(token)).json()["result"]["data"]
    assert data["settings"]["cluster"] == "topic"
    assert "too few for an interval: 3 topics" in data["values"]["aqwv"]["flags"]
