"""A project from texts and labels, made on a page by an organizer; and no way in for anybody from elsewhere (R-40)."""

from __future__ import annotations

import io
import zipfile

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import TOKEN, Browser

from basanite.campaign.work.annotation.lookup import bench_of, documents, project_named
from basanite.server.accounts import sessions
from basanite.server.accounts.local_links import local_link
from basanite.server.app import make_app

DESK = "/campaigns/small/organise/annotation"
PAGE = {"Accept": "text/html"}


@pytest.fixture
def desk(stage):
    with stage.office.writing() as session:
        cookie = sessions.start(session, stage.office, stage.people["eva"], strong=True)
    client = TestClient(make_app(stage.office))
    client.cookies.set(sessions.cookie_name(stage.office), cookie)
    return Browser(client)


def send(desk, files=None, **fields):
    page = desk.get(f"{DESK}/new").text
    data = {"csrf": TOKEN.search(page)[1], "per_document": "2", **fields}
    return desk.client.post(f"{DESK}/new", data=data, files=files or {"file": ("", b"")}, headers=PAGE)


def made_project(stage, name):
    with stage.office.reading() as session:
        project = project_named(session, stage.season.campaign_id, name)
        names = [one.name for one in documents(session, project.id)]
        return names, list(bench_of(session, stage.office, project).config.categories)


@pytest.mark.req("R-40")
def test_pasted_texts_and_labels_become_a_project(stage, desk):
    fields = {"title": "Field notes", "texts": "Anna sings.\nKofi reads.", "labels": "Person\nPlace"}
    wrong = send(desk, **fields, relations="knows=Person:Robot")
    assert wrong.status_code == 422
    assert "Robot" in wrong.text
    assert "Anna sings." in wrong.text, "nothing has to be typed again"
    fine = send(desk, **fields, questions="Tone=good,bad", relations="knows=Person:Person")
    assert fine.status_code == 200
    assert "Field notes" in fine.text
    assert made_project(stage, "field-notes") == (["text-0001", "text-0002"], ["Person", "Place", "Tone", "knows"])


@pytest.mark.req("R-40")
def test_an_archive_with_a_brat_project_becomes_a_project(stage, desk):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("corpus/annotation.conf", "[entities]\nDisease\n[relations]\n[events]\n[attributes]\n")
        archive.writestr("corpus/a.txt", "Measles is catching.")
        archive.writestr("corpus/a.ann", "T1\tDisease 0 7\tMeasles\n")
    answer = send(desk, {"file": ("corpus.zip", packed.getvalue())}, title="Diseases", labels="Symptom")
    assert answer.status_code == 200, answer.text[:2000]
    assert made_project(stage, "diseases") == (["a"], ["Disease", "Symptom"])


@pytest.mark.req("R-40")
def test_links_of_this_machine_are_no_way_in_for_others(stage):
    app = make_app(stage.office)
    for person in (stage.people["eva"], stage.people["nora"]):
        link = local_link(stage.office, person)
        near = TestClient(app, base_url=stage.office.address, client=("127.0.0.1", 5))
        far = TestClient(app, base_url=stage.office.address, client=("203.0.113.9", 5))
        assert [one.get(link).status_code for one in (near, far)] == [404, 404], "they can sign in otherwise"
