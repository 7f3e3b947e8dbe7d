"""Keys of development sets may be given out and give the same numbers at home; those of evaluation sets stay (M71)."""

from __future__ import annotations

import tarfile

import pytest
from sqlalchemy import select
from tests.offices.prepared import small_season
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, send_raw

import basanite
from basanite.campaign.actions.packs import NewFile, add_file, find_pack
from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.office import Actor
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Reference
from basanite.server.roles import list_routes
from basanite.testing import small_campaign_text

PACKS = "/api/v1/campaigns/small/packs"


@pytest.fixture
def small(office):
    text = small_campaign_text().replace('feedback = "full"', 'feedback = "full"\nsettings = { beta = 20.0 }', 1)
    return small_season(office, text)


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


@pytest.mark.slow
@pytest.mark.req("M71", case="good")
def test_a_key_that_was_given_out_gives_the_same_value_at_home(client, office, small, pack, token, reference, tmp_path):
    archive = tmp_path / "key.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(pack.key, arcname=".")
    with office.writing() as session:
        dev = find_pack(in_force(session, small.campaign_id).campaign, "DEV")
        add_file(session, office, Actor(small.eva), small.campaign_id, dev, NewFile(archive))
    (shown,) = client.get(PACKS, headers=bearer(token)).json()[0]["files"]
    (tmp_path / "got.tgz").write_bytes(client.get(f"{PACKS}/files/{shown['id']}", headers=bearer(token)).content)
    with running(office, ()):
        url = send_raw(client, token, pack.perfect.read_bytes()).json()["url"]
        assert until_idle(office, 60) == 0
    served = client.get(url, headers=bearer(token)).json()["result"]["data"]["values"]["aqwv"]
    local = basanite.score("clir", reference=tmp_path / "got.tgz", submission=pack.perfect, beta=20.0).values["aqwv"]
    assert (served["value"], served["low"], served["high"]) == (local.value, local.low, local.high)


@pytest.mark.req("M71", case="bad")
@pytest.mark.req("P-12")
def test_no_address_hands_out_a_sealed_key(client, office, small, token, reference):
    with office.reading() as session:
        sealed = next(row for row in session.scalars(select(Reference)) if row.dataset == "EVAL1")
    names = [sealed.id, *sealed.files["reference"]]
    secret = office.sealed.read(sealed.files["reference"][0])
    for route in list_routes(client.app):
        if "GET" not in route.methods:
            continue
        for name in names:
            path = route.path.replace("{slug}", "small")
            for part in [piece[1:-1] for piece in path.split("/") if piece.startswith("{")]:
                path = path.replace(f"{{{part}}}", name)
            answer = client.get(path, headers=bearer(token), follow_redirects=False)
            assert secret not in answer.content
            assert answer.status_code != 200 or "{" not in route.path.replace("{slug}", ""), path
