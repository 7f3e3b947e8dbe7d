"""On a full disk pages can still be read, and what cannot be done is said on a page."""

from __future__ import annotations

import resource
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import PASSWORD, TOKEN, Browser

READ = ("/", "/campaigns/small", "/campaigns/small/leaderboard")
ROOM = (503, 507)


@contextmanager
def full_disk():
    """No file of this process can grow, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.req("X-24")
@pytest.mark.parametrize("who", [None, "ada", "otto"])
def test_pages_can_be_read_on_a_full_disk_and_probes_answer(visit, clock, who):
    browser = visit(who)
    assert browser.get("/").status_code == 200  # keys are made at the first visit
    clock.forward(minutes=10)  # the visit would be written down again
    with full_disk():
        found = {path: browser.get(path).status_code for path in READ}
        probes = [browser.client.get(f"/health/{name}").status_code for name in ("live", "ready")]
    assert found == dict.fromkeys(READ, 200)
    assert probes == [200, 503]


@pytest.mark.req("X-24")
def test_what_cannot_be_written_on_a_full_disk_is_said_on_a_page_and_works_later(visit):
    browser = visit()
    token = TOKEN.search(browser.get("/sign-in").text)[1]
    form = {"csrf": token, "mail": "ada@example.org", "password": PASSWORD, "then": "/"}
    with full_disk():
        page = browser.client.post("/sign-in", data=form, headers={"Accept": "text/html"})
    assert page.status_code in ROOM, page.text
    assert "Nothing was changed" in page.text
    assert "Internal error" not in page.text
    assert browser.client.post("/sign-in", data=form, headers={"Accept": "text/html"}).status_code == 200


@pytest.mark.req("X-24")
def test_a_server_that_was_never_used_says_that_its_disk_is_full_and_leaves_nothing_half_made(app, stage, office):
    browser = Browser(TestClient(app))
    with full_disk():
        page = browser.get("/sign-in")
        called = browser.client.get("/sign-in", headers={"Accept": "application/json"})
    assert page.status_code == called.status_code == 507, page.text
    assert "disk is full" in page.text
    assert called.headers["content-type"] == "application/problem+json"
    assert [path.name for path in office.vault.folder.rglob(".*")] == []
    assert browser.get("/sign-in").status_code == 200
