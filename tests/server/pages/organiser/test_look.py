"""The typeface of all pages, and how the pages of a campaign are grouped by what people do."""

from __future__ import annotations

import re

import pytest

HOME = "/campaigns/small"


def rail(page):
    """The pages of organizers by group, each with what waits there."""
    nav = re.search(r'<nav class="rail".*?</nav>', page, re.S)[0]
    groups = re.split(r'<p class="rail-title"[^>]*>(.*?)</p>', nav)[1:]
    entry = re.compile(r'organise/(\w+)"[^>]*>([^<]*)(?:<span class="badge">(\d+))?')
    return {
        title: {part: int(waiting or 0) for part, _, waiting in entry.findall(listed)}
        for title, listed in zip(groups[::2], groups[1::2], strict=True)
    }


@pytest.mark.req("P-47")
def test_pages_of_organizers_are_grouped_by_what_people_do(desk):
    groups = rail(desk().page())
    assert {"judging", "annotation"} == set(groups["Human evaluation"])
    assert not {"judging", "annotation"} & set(groups["Records and integrations"])
    assert {"people", "teams"} <= set(groups["People and teams"])
    assert sum(map(len, groups.values())) == len({part for parts in groups.values() for part in parts}) == 21


@pytest.mark.req("P-47")
def test_the_navigation_counts_what_waits_and_says_where(desk, visit):
    assert rail(desk().page("/log"))["Communication"]["questions"] == 0
    asked = visit("alan").send(f"{HOME}/questions", text="May we use outside data?")
    assert asked.status_code == 200
    assert rail(desk().page("/log"))["Communication"]["questions"] == 1


@pytest.mark.req("P-47")
@pytest.mark.parametrize(
    ("who", "groups"),
    [
        (None, [["Overview"], ["Leaderboard"], ["Calendar", "News", "Questions"]]),
        (
            "alan",
            [
                ["Overview"],
                ["Submit", "Submissions", "Team", "Data"],
                ["Leaderboard"],
                ["Calendar", "News", "Questions"],
            ],
        ),
    ],
)
def test_tabs_of_a_campaign_stand_in_groups_for_those_who_can_use_them(visit, who, groups):
    tabs = re.search(r'<nav class="tabs".*?</nav>', visit(who).get(HOME).text, re.S)[0]
    found = re.findall(r'<a href="[^"]*"( class="(?:apart|aside)")?[^>]*>(\w+)', tabs)
    shown = []
    for begins, label in found:
        shown = [*shown, [label]] if begins or not shown else [*shown[:-1], [*shown[-1], label]]
    assert shown == groups


@pytest.mark.req("P-47")
def test_the_typeface_comes_from_the_server_itself_in_files_that_hold_what_they_say(visit):
    browser = visit()
    page = browser.get(HOME)
    assert "font-src 'self'" in page.headers["Content-Security-Policy"]
    style = browser.get(re.search(r'href="(/static/site\.css[^"]*)"', page.text)[1]).text
    faces = re.findall(r"src: url\((/static/[^)]*)\)", style)
    assert len(faces) == 2
    assert re.search(r'<link rel="preload" href="([^"]*)"', page.text)[1] == faces[0]
    for address in faces:
        answer = browser.get(address)
        assert (answer.headers["Content-Type"], answer.content[:4]) == ("font/woff2", b"wOF2")
        assert len(answer.content) < 300_000


@pytest.mark.browser
@pytest.mark.req("P-47")
def test_a_browser_draws_a_page_in_the_bundled_typeface(shown):
    from tests.server.pages.every import ALL, NAMES

    page = next(one for one in ALL if NAMES[one] == "campaign.home")
    tab = shown(page, "one")
    tab.evaluate("document.fonts.ready.then(() => true)")
    loaded = "[...document.fonts].filter(one => one.status === 'loaded').map(one => one.family)"
    assert "Inter" in tab.evaluate(loaded)
    assert tab.evaluate("getComputedStyle(document.querySelector('h2')).fontFamily").startswith("Inter")
    assert tab.complaints == []
