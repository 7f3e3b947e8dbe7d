"""The demo's pages answer over HTTP, to a visitor and to everybody whose login is printed; what waits is scored."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.cli.running import here, process

from basanite.campaign.jobs import worker
from basanite.campaign.office import utc_now
from basanite.cli.demo import login_lines, welcome
from basanite.demo import build, server
from basanite.demo.stage import SLUG
from basanite.errors import SettingError


@dataclass(frozen=True)
class Served:
    """A demo that runs."""

    folder: Path
    address: str


@pytest.fixture(scope="module")
def served(built, tmp_path_factory):
    """A copy of the demo, served with its worker on a free port."""
    folder = tmp_path_factory.mktemp("served") / "season"
    shutil.copytree(built.folder, folder)
    with (
        server.local_socket(0) as door,
        build.open_demo(folder, server.address_of(door)) as office,
        server.serve_beside(office, door),
    ):
        yield Served(folder, server.address_of(door))


@pytest.fixture
def address(served):
    return served.address


@pytest.mark.req("P-1")
def test_without_a_terminal_it_looks_at_its_pages_scores_what_waits_and_ends(built, tmp_path):
    shutil.copytree(built.folder, tmp_path / "season")
    ended = process("demo", "--data", "season", "--port", "0", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert {page["status"] for page in ended.data["pages"]} == {200}
    assert (ended.data["left"], ended.data["submissions"]) == (0, {"invalid": 1, "scored": 19})
    assert "still to be scored" in ended.stderr


def test_a_demo_that_runs_is_not_thrown_away(served):
    with build.open_demo(served.folder) as office:
        while not worker_there(office):
            time.sleep(0.1)
    with pytest.raises(SettingError, match="is running"):
        build.make(served.folder, lambda words: None, reset=True)
    assert served.folder.is_dir()


def worker_there(office):
    with office.reading() as session:
        return bool(worker.alive(session, utc_now(), office.settings.limits.silent_seconds))


def test_a_visitor_and_a_participant_find_their_pages(address, built):
    seen = server.walk(address, built.demo.login("ben"))
    assert all(one.good for one in seen), seen
    assert {one.who for one in seen} == {"visitor", "member of team Alder"}
    assert server.PUBLIC[-1] in {one.path for one in seen}


@pytest.mark.slow
def test_each_login_that_is_printed_works(address, built):
    for login in built.demo.logins:
        with httpx2.Client(base_url=address, follow_redirects=True, timeout=30) as browser:
            answer = server.sign_in(browser, login)
            assert (answer.status_code, answer.url.path) == (200, f"/campaigns/{SLUG}"), login
            organises = browser.get(f"/campaigns/{SLUG}/organise").status_code
        assert organises == (200 if login.secret else 403)


@pytest.mark.req("P-1")
def test_a_judge_an_annotator_and_an_adjudicator_find_work_that_waits_for_them(address, built):
    for who, path, words in (
        ("jana", "judging", "How easy is it to read?"),
        ("aino", "adjudicate", "cases to decide"),
        ("aino", "annotate/decide", "nfl-103"),
        ("nora", "annotate", "nfl-102"),
        ("nora", "reading", "4 questions, 6 texts"),
        ("aino", "reading", "5 answers waiting"),
    ):
        with httpx2.Client(base_url=address, follow_redirects=True, timeout=30) as browser:
            server.sign_in(browser, built.demo.login(who))
            page = browser.get(f"/campaigns/{SLUG}/{path}")
        assert (page.status_code, words in page.text) == (200, True), who


@pytest.mark.req("P-51")
def test_every_pack_holds_its_files_and_they_can_be_fetched(address, built):
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        server.sign_in(browser, built.demo.login("ada"))
        page = browser.get(f"/campaigns/{SLUG}/packs").text
        assert "No files yet" not in page
        found = {name: fetched(browser, page, name) for name in ("images.tgz", "reports.tgz")}
    assert "images/001.svg" in found["images.tgz"]
    assert len(found["images.tgz"]) == 81
    assert "corpus/test/nfl-102.txt" in found["reports.tgz"]
    assert not [name for name in found["reports.tgz"] if "gold" in name or "annotations" in name]


def fetched(browser, page, name):
    """The members of an archive that a page links to."""
    link = re.search(rf'href="([^"]+)"[^>]*>(?:<bdi>)?{name}', page)
    with tarfile.open(fileobj=io.BytesIO(browser.get(link[1]).content)) as archive:
        return archive.getnames()


@pytest.mark.req("P-25")
def test_in_public_one_team_is_there_under_another_name(address):
    page = httpx2.get(f"{address}/campaigns/{SLUG}/leaderboard", params={"of": "week-1|CLIR|1A|"}, timeout=30).text
    assert ("Alder" in page, "Birch" in page, "Cedar" in page) == (True, True, False)


@pytest.mark.slow
@pytest.mark.req("P-1")
@pytest.mark.browser
def test_the_tour_leads_everybody_to_something_that_is_there(address, built, chrome):
    tab = chrome.new_page()
    tab.goto(f"{address}/")
    tab.get_by_role("link", name="Take the tour").click()
    tries = tab.locator(".tries > li").count()
    assert tries > 15
    for number in range(tries):
        tab.goto(f"{address}/demo")
        with tab.expect_response(lambda answer: answer.request.resource_type == "document" and answer.ok):
            tab.locator(".tries > li").nth(number).locator("a, button").click()
        tab.wait_for_load_state()
        if not tab.url.endswith(".json"):
            assert tab.locator("h1, .name").count(), tab.url
    tab.goto(f"{address}/demo")
    assert tab.get_by_text("up next").count() == 2, "nothing is made beside this server"


def test_what_is_printed_names_address_password_codes_and_what_is_to_come(built):
    lines = "\n".join(welcome(built.demo, "http://127.0.0.1:1", ["2 submissions", "a harness run"]))
    assert all(one.mail in lines for one in built.demo.logins)
    assert built.demo.logins[0].password in lines
    assert "http://127.0.0.1:1/demo" in lines
    assert "2 submissions" in lines
    assert "a harness run" in lines
    assert built.demo.login("eva").secret in "\n".join(login_lines(built.demo))


def test_logins_are_told_again_with_fresh_codes(built):
    told = here("demo", "--data", built.folder, "--logins", "--json")
    assert (told.code, len(told.data["logins"])) == (0, len(built.demo.logins))
    assert [len(one["code"]) for one in told.data["logins"]][:3] == [6, 6, 0]


def test_without_a_demo_there_are_no_logins(tmp_path):
    ended = here("demo", "--data", tmp_path / "none", "--logins")
    assert (ended.code, "--build-only" in ended.stderr) == (2, True)


def test_a_port_that_is_taken_is_told(built):
    with server.local_socket(0) as door:
        port = door.getsockname()[1]
        ended = here("demo", "--data", built.folder, "--port", str(port))
    assert (ended.code, "--port" in ended.stderr) == (2, True)
