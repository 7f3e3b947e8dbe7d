"""The tour and its door without a lock: there for anyone who sits before a demo, and for nobody else (X-15)."""

from __future__ import annotations

import json
import re

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import PASSWORD, add_user

from basanite.campaign.office import Office
from basanite.campaign.settings import DEMO_MARK, Settings
from basanite.server import demo_parts as parts
from basanite.server.app import make_app
from basanite.server.demo_parts import Progress

ADDRESS = "http://127.0.0.1:8000"
HERE, ELSEWHERE = ("127.0.0.1", 50_000), ("192.0.2.7", 50_000)
PAGES = ("/demo", "/demo/state", "/demo/parts/harness/report.html")


@pytest.fixture
def demo(office, small):
    """The office of a demo with one person, and a part that is ready."""
    add_user(office, "Eva Lind", "eva@demo.example", PASSWORD)
    mark = {"campaign": "small", "logins": [{"key": "eva", "mail": "eva@demo.example", "password": "demo-abcd"}]}
    (office.settings.data / DEMO_MARK).write_text(json.dumps(mark))
    folder = parts.place(office.settings.data, "harness")
    folder.mkdir(parents=True)
    (folder / "report.html").write_text("<!doctype html><title>a report</title>")
    (folder / "secret.txt").write_text("no part of it")
    parts.write(office.settings.data, Progress("harness", "ready"))
    opened = Office.open(Settings(data=office.settings.data, database="", address=ADDRESS), office.clock)
    yield opened
    opened.close()


def browser(office, *, client=HERE, address=ADDRESS):
    return TestClient(make_app(office), base_url=address, client=client, follow_redirects=False)


def form_of(text):
    return re.search(r'name="csrf" value="([^"]+)"', text)[1]


def be(tab, who, then="/campaigns/small/organise"):
    token = form_of(tab.get("/demo").text)
    return tab.post("/demo/be", data={"csrf": token, "who": who, "then": then})


@pytest.mark.req("X-15", case="good")
def test_one_click_makes_you_somebody_of_the_demo(demo):
    tab = browser(demo)
    answer = be(tab, "eva")
    assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns/small/organise")
    assert "Eva" in tab.get("/demo").text


@pytest.mark.req("X-15", case="bad")
@pytest.mark.parametrize(
    ("who", "how"),
    [
        ("another machine", {"client": ELSEWHERE}),
        ("a name that was made to lead here", {"address": "http://evil.example:8000"}),
    ],
    ids=["machine", "name"],
)
def test_for_anybody_else_the_tour_is_not_there(demo, who, how):
    tab = browser(demo, **how)
    assert [tab.get(page).status_code for page in PAGES] == [404] * len(PAGES), who
    assert tab.post("/demo/be", data={"who": "eva"}).status_code in (403, 404)


@pytest.mark.req("X-15", case="bad")
def test_a_server_that_is_no_demo_has_no_tour(office, small):
    opened = Office.open(Settings(data=office.settings.data, database="", address=ADDRESS), office.clock)
    tab = browser(opened)
    add_user(office, "Eva Lind", "eva@demo.example", PASSWORD)
    assert [tab.get(page).status_code for page in PAGES] == [404] * len(PAGES)
    token = form_of(tab.get("/sign-in").text)
    assert tab.post("/demo/be", data={"csrf": token, "who": "eva"}).status_code == 404
    assert "demo-bar" not in tab.get("/").text
    opened.close()


@pytest.mark.req("X-15", "X-11", case="bad")
def test_nobody_is_signed_in_by_another_site_or_as_somebody_who_is_not_of_the_demo(demo):
    tab = browser(demo)
    assert tab.post("/demo/be", data={"who": "eva"}).status_code == 403, "no token of a form of ours"
    assert be(tab, "ada").status_code == 404
    elsewhere = be(tab, "eva", then="https://evil.example/")
    assert not elsewhere.headers["location"].startswith("https:")


def test_a_report_runs_its_scripts_outside_of_the_site(demo):
    answer = browser(demo).get("/demo/parts/harness/report.html")
    assert (answer.status_code, "a report" in answer.text) == (200, True)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize(
    "path", ["harness/secret.txt", "harness/..%2f..%2fdemo.json", "none/report.html", "representation/shift.html"]
)
def test_only_files_that_are_listed_and_ready_are_given_out(demo, path):
    assert browser(demo).get(f"/demo/parts/{path}").status_code == 404


@pytest.mark.req("P-1")
def test_what_is_made_is_shown_with_how_far_it_is_and_what_failed_with_its_reason(demo):
    tab, data = browser(demo), demo.settings.data
    first = tab.get("/demo/state").json()
    parts.write(data, Progress("representation", "working", 2, 3))
    page = tab.get("/demo").text
    assert "2 of 3 steps" in page
    assert 'data-live="/demo/state"' in page
    assert tab.get("/demo/state").json() != first
    parts.write(data, Progress("representation", "failed", reason="OSError: no space left on device"))
    page = tab.get("/demo").text
    assert "OSError: no space left on device" in page
    assert "data-live" not in page, "nothing more is to come"
    assert "/demo/parts/harness/report.html" in page
    assert "/demo/parts/representation/shift.html" not in page


def test_a_state_that_cannot_be_read_is_one_that_waits(demo):
    (demo.settings.data / "parts" / "harness.json").write_text("{")
    assert parts.progress(demo.settings.data)[0] == Progress("harness")


def test_every_page_of_a_demo_leads_to_the_tour(demo):
    text = browser(demo).get("/").text
    assert text.count('href="/demo"') >= 2
