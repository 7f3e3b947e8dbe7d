"""The line breaks at any click, the tab is loaded again, the session ends: each judgement is stored once (R-2)."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update
from tests.server.accounts.conftest import PASSWORD
from tests.server.judging.staging import SHORT, passage, scheme

from basanite.campaign.store.tables import Session

pytestmark = pytest.mark.browser


@pytest.fixture
def desk(bench, opened):
    """A judge in a round of three, in the browser: `desk("jo")`."""

    def made(judge, **options):
        items = [passage(number, f"{judge} {number}.") for number in range(6)]
        panel = bench.ready(scheme("readability", SHORT), items, f"{judge}:expert", name=judge)
        tab = opened(judge, judge, **options)
        heading(tab, "Item 1 of 3")
        return panel, tab

    return made


def heading(tab, text):
    tab.get_by_role("heading", level=1, name=re.compile(f"^{text}")).wait_for()


def keys(tab, *pressed):
    for key in pressed:
        tab.keyboard.press(key)


def ratings(bench, panel):
    return [row.answers["rating"] for row in bench.judgements(panel)]


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_an_answer_given_without_a_connection_is_kept_said_so_and_sent_later(bench, desk):
    panel, tab = desk("offline")
    tab.context.set_offline(True)
    keys(tab, "4", "Enter")
    banner = tab.locator("#unsent")
    banner.wait_for()
    assert "Not sent yet" in banner.inner_text()
    assert banner.get_attribute("role") == "alert"
    keys(tab, "1", "Enter")
    assert ratings(bench, panel) == []
    assert "4" in tab.evaluate("sessionStorage.getItem('basanite-judging-unsent')")
    tab.context.set_offline(False)  # the browser says so, and that is enough
    heading(tab, "Item 2 of 3")
    assert banner.is_hidden()
    assert ratings(bench, panel) == [4]
    assert tab.evaluate("sessionStorage.length") == 0


class Breaking:
    """A line that loses the first two tries of everything that is sent: once after the server had it, once before."""

    def __init__(self, tab):
        self.tries, self.lost = {}, []
        tab.route(re.compile(r"/judging/[^/]+/[a-z-]+$"), self.pass_on)

    def pass_on(self, route):
        request = route.request
        if request.method != "POST":
            return route.continue_()
        self.tries[request.post_data] = self.tries.get(request.post_data, 0) + 1
        tried = self.tries[request.post_data]
        if tried == 1:
            route.fetch(max_redirects=0)
        if tried <= 2:
            self.lost.append((request.url.rpartition("/")[2], tried))
            return route.abort()
        return route.continue_()


@pytest.mark.req("R-2")
def test_a_line_that_breaks_at_every_click_loses_nothing_and_doubles_nothing(bench, desk):
    panel, tab = desk("breaking")
    line = Breaking(tab)
    for rating, then in (("4", "Item 2 of 3"), ("2", "Item 3 of 3"), ("5", "Rank the 3 items")):
        keys(tab, rating, "Enter")
        through(tab, then)
    tab.get_by_role("button", name="Item 1: one rank down").click()
    tab.get_by_role("button", name="Save ranking").click()
    through(tab, "What were your criteria?")
    tab.get_by_label("Your criteria").fill("words")
    keys(tab, "Control+Enter")
    through(tab, "Round 1 complete")
    keys(tab, "Enter")
    through(tab, "Item 1 of 3")
    acts = ["answer", "answer", "answer", "rank", "criteria", "go-on"]
    assert line.lost == [(act, tried) for act in acts for tried in (1, 2)]
    assert ratings(bench, panel) == [4, 2, 5]
    assert [row.number for row in bench.judgements(panel)] == [1, 1, 1]
    assert len(bench.ends(panel, "ranking")) == len(bench.ends(panel, "criteria")) == 1


def through(tab, then):
    """Try again, as the banner offers, until the next page is there; the page tries by itself as well."""
    wanted = tab.get_by_role("heading", level=1, name=re.compile(f"^{then}"))
    tab.locator("#unsent").wait_for()
    for _ in range(200):
        if wanted.is_visible():
            return
        tab.evaluate("() => document.querySelector('#unsent:not([hidden]) button')?.click()")
        tab.wait_for_timeout(50)
    raise AssertionError(f"{then} never came")


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_loading_the_page_again_before_the_answer_came_back_sends_it_once(bench, desk):
    panel, tab = desk("reload")
    lost = []

    def lose(route):
        lost.append(route.fetch(max_redirects=0).status)
        route.abort()

    tab.route("**/answer", lose, times=1)
    keys(tab, "3", "Enter")
    tab.locator("#unsent").wait_for()
    assert ratings(bench, panel) == [3], "the server has it, and the page does not know"
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.reload()
    heading(tab, "Item 2 of 3")
    tab.wait_for_function("() => sessionStorage.length === 0")
    assert lost == [303]
    assert ratings(bench, panel) == [3]


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_a_server_that_is_busy_is_asked_again(bench, desk):
    panel, tab = desk("busy")
    tab.route("**/answer", lambda route: route.fulfill(status=503, body="later"), times=1)
    keys(tab, "3", "Enter")
    tab.locator("#unsent").wait_for()
    heading(tab, "Item 2 of 3")  # by itself, after two seconds
    assert ratings(bench, panel) == [3]


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_two_tabs_of_one_judge_do_not_conflict(bench, desk):
    panel, first = desk("tabs")
    second = first.context.new_page()
    second.goto(first.url)
    heading(second, "Item 1 of 3")
    keys(first, "4", "Enter")
    heading(first, "Item 2 of 3")
    keys(second, "1", "Enter")
    second.get_by_text("already has a different answer").wait_for()
    heading(second, "Item 2 of 3")
    keys(second, "2", "Enter")
    heading(second, "Item 3 of 3")
    keys(first, "2", "Enter")  # the same answer again is no conflict at all
    heading(first, "Item 3 of 3")
    assert ratings(bench, panel) == [4, 2]


@pytest.mark.slow
@pytest.mark.req("R-2", "X-11")
def test_a_session_that_ends_costs_no_answer(bench, desk):
    panel, tab = desk("expired")
    with bench.office.writing() as session:
        mine = update(Session).where(Session.person_id == bench.people["expired"])
        session.execute(mine.values(revoked=bench.office.clock()))
    keys(tab, "5", "Enter")
    banner = tab.locator("#unsent")
    banner.wait_for()
    assert "you are signed out" in banner.inner_text()
    with tab.context.expect_page() as opening:
        banner.get_by_role("link", name="Sign in").click()
    other = opening.value
    other.get_by_label("Email").fill("expired@example.org")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    heading(other, "Item 1 of 3")
    other.close()
    if banner.is_visible():
        tab.get_by_role("button", name="Try now").click()
    heading(tab, "Item 2 of 3")
    assert ratings(bench, panel) == [5]
    keys(tab, "1", "Enter")
    heading(tab, "Item 3 of 3")
    assert ratings(bench, panel) == [5, 1], "and the work goes on with the new session"


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_what_was_chosen_but_not_sent_comes_back_after_a_reload(bench, desk):
    panel, tab = desk("draft")
    keys(tab, "4")
    tab.reload()
    assert tab.get_by_role("radio", name="4 stars").is_checked()
    keys(tab, "Enter")
    heading(tab, "Item 2 of 3")
    assert tab.locator("input:checked[type=radio]").count() == 0
    assert ratings(bench, panel) == [4]


@pytest.mark.req("R-2", "P-33")
def test_a_browser_without_scripts_does_the_same_round(bench, desk):
    panel, tab = desk("plain", java_script_enabled=False)
    for rating, then in ((4, "Item 2 of 3"), (2, "Item 3 of 3"), (5, "Rank the 3 items")):
        tab.locator(f'.stars label:has(input[value="{rating}"])').click()
        tab.get_by_role("button", name="Save and next").click()
        heading(tab, then)
    places = tab.locator("input[type=number]")
    names = places.evaluate_all("all => all.map((one) => one.name)")
    for at, place in enumerate("312"):
        places.nth(at).fill(place)
    tab.get_by_role("button", name="Save ranking").click()
    heading(tab, "What were your criteria?")
    wanted = [names[1], names[2], names[0]]
    assert [f"rank-{item}" for item in bench.ends(panel, "ranking")[0].content] == wanted
    assert ratings(bench, panel) == [4, 2, 5]
