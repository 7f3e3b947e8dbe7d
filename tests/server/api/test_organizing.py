"""Files that organizers handle, by API: packs, references, signed copies and the export (P-37)."""

from __future__ import annotations

import io
import tarfile

import pytest
from sqlalchemy import select
from tests.offices.prepared import fresh_office, small_season
from tests.server.conftest import with_token
from tests.server.pages.organiser.conftest import MORE

from basanite.campaign.office import Actor
from basanite.campaign.people import agreements
from basanite.campaign.store.tables import Approval, PackFile, Reference
from basanite.server.app import make_app
from basanite.testing import small_campaign_text

pytestmark = pytest.mark.req("P-37")
HERE = "/api/v1/campaigns/small"
PLACE = {"task": "CLIR", "dataset": "DEV", "language": "1A", "queryset": "QUERY1"}


@pytest.fixture
def season(office):
    return small_season(office, small_campaign_text(more=MORE))


@pytest.fixture
def call(office, season):
    """Calls of somebody of the season: `call("eva", "POST", path, ...)`."""
    from starlette.testclient import TestClient

    with TestClient(make_app(office), raise_server_exceptions=False) as client:

        def called(who, method, path, **more):
            headers = {"Authorization": f"Bearer {with_token(office, getattr(season, who))}"}
            return client.request(method, HERE + path, headers=headers, **more)

        yield called


@pytest.fixture(scope="module")
def key(pack):
    """The small pack's key as an archive."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        archive.add(pack.key, arcname=".")
    return held.getvalue()


def test_a_file_is_put_into_a_pack_and_encrypted_before_it_is_stored(call, office):
    plain = call("eva", "POST", "/packs/DEV/files?name=docs.txt", content=b"one\ntwo\n")
    assert plain.status_code == 201, plain.text
    assert (plain.json()["name"], plain.json()["size"], plain.json()["encrypted"]) == ("docs.txt", 8, False)
    sealed = call("eva", "POST", "/packs/EVAL2/files?name=docs.txt", content=b"secret document").json()
    assert sealed["encrypted"] is True
    with office.reading() as session:
        digests = session.scalars(select(PackFile.digest)).all()
    assert sorted(b"secret document" in office.files.read(one) for one in digests) == [False, False]
    assert not list((office.settings.data / "uploads").glob("call-*")), "nothing is left behind"


def test_a_reference_opens_its_task_and_a_second_one_is_proposed(call, key, office):
    said = PLACE | {"name": "key.tgz"}
    first = call("eva", "POST", "/references", params=said, content=key).json()
    assert (first["version"], first["state"]) == (1, "active")
    second = call("eva", "POST", "/references", params=said | {"reason": "two labels"}, content=key).json()
    assert (second["version"], second["state"]) == (2, "proposed")
    listed = call("eva", "GET", "/actions/reference-list").json()["result"]["references"]
    assert {one["version"] for one in listed} == {1, 2}
    assert not list(office.sealed.scratch.glob("call-*"))


def test_a_reference_that_is_wrong_is_refused_with_its_problems(call, key, office):
    wrong = call("eva", "POST", "/references", params=PLACE | {"name": "key.tgz"}, content=b"no archive")
    assert (wrong.status_code, bool(wrong.json()["problems"])) == (422, True)
    nowhere = call("eva", "POST", "/references", params=PLACE | {"task": "speech", "name": "k"}, content=key)
    assert nowhere.json()["problems"][0]["rule"] == "M62"
    empty = call("eva", "POST", "/references", params=PLACE | {"name": "key.tgz"}, content=b"")
    assert empty.status_code == 422
    hostile = PLACE | {"name": "../../../../etc/passwd"}
    assert call("eva", "POST", "/references", params=hostile, content=key).status_code in (201, 422)
    with office.reading() as session:
        assert len(session.scalars(select(Reference)).all()) <= 1


def test_the_first_reference_waits_for_a_second_organizer_where_the_campaign_says_so(tmp_path, clock, key):
    from starlette.testclient import TestClient

    office = fresh_office(tmp_path / "two", clock)
    season = small_season(office, small_campaign_text(two_people=("reference",)))
    with TestClient(make_app(office)) as client:
        headers = {"Authorization": f"Bearer {with_token(office, season.eva)}"}
        said = PLACE | {"name": "key.tgz"}
        answer = client.post(f"{HERE}/references", params=said, content=key, headers=headers)
        assert answer.json()["state"] == "proposed"
    with office.reading() as session:
        assert session.scalars(select(Approval.act)).all() == ["reference"]
    office.close()


def test_a_signed_copy_is_looked_at_and_countersigned(call, office, season):
    with office.writing() as session:
        row = agreements.sign(session, office, Actor(season.ada), season.alpha, "data", copy=b"%PDF-1.7 signed").id
    copy = call("eva", "GET", f"/signatures/{row}/copy")
    assert (copy.content, copy.headers["content-type"]) == (b"%PDF-1.7 signed", "application/pdf")
    done = call("eva", "POST", "/actions/agreement-accept", json={"team": "Alpha", "which": "data"})
    assert done.json()["result"]["state"] == "executed"
    assert call("bea", "GET", f"/signatures/{row}/copy").status_code == 403
    assert call("eva", "GET", "/signatures/none/copy").status_code == 404


def test_a_campaign_is_exported_with_its_references_only_where_asked(call, key, office):
    call("eva", "POST", "/references", params=PLACE | {"name": "key.tgz"}, content=key)
    names = {}
    for asked in ("false", "true"):
        answer = call("eva", "GET", f"/export?references={asked}")
        assert answer.headers["content-type"] == "application/gzip"
        with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
            names[asked] = archive.getnames()
    assert len(names["true"]) > len(names["false"])
    assert not list((office.settings.data / "exports").iterdir()), "it is removed once it was sent"


def test_webhooks_and_requests_to_lead_are_calls_too(call, office, season):
    made = call(
        "eva", "POST", "/actions/webhook-add", json={"url": "https://h.example/x", "kinds": ["results_released"]}
    )
    assert made.status_code == 200, made.text
    (listed,) = call("eva", "GET", "/actions/webhook-list").json()["result"]["webhooks"]
    assert listed["kinds"] == ["results_released"]
    assert call("eva", "GET", "/actions/team-requests").json()["result"]["requests"] == []


@pytest.mark.parametrize("who", ["ada", "alan"])
def test_nobody_but_organizers_calls(call, who):
    for method, path in (
        ("POST", "/packs/DEV/files?name=x"),
        ("POST", "/references?task=CLIR&dataset=DEV&name=x"),
        ("GET", "/signatures/x/copy"),
        ("GET", "/export"),
    ):
        assert call(who, method, path, content=b"x" if method == "POST" else None).status_code == 403
