"""Offsets are code points, whatever browsers count: pictures, marks above letters, right to left, any line ends.

The page is the one that our server sends; what it would send back is looked at. Texts of packages have line feeds only,
so other line ends are tried here as well.
"""

from __future__ import annotations

import json

import pytest
from tests.server.annotating.staging import select
from tests.server.annotating.states import given, guide
from tests.server.pages.conftest import HOST
from tests.server.pages.conftest import answer as page_or_asset
from tests.server.pages.states import frame

from basanite.server.pages import annotation_workbench
from basanite.server.pages.frame import render

pytestmark = [pytest.mark.browser, pytest.mark.req("R-15")]
TEXTS = {
    "emoji": ("Go 🏈🏈 Jets 👩‍👩‍👧 won", "Jets"),
    "emoji itself": ("Go 🏈🏈 Jets 👩‍👩‍👧 won", "👩‍👩‍👧"),
    "combining": ("x̌y̌ and ẍ̌ Jets kị̂t", "Jets"),
    "combining itself": ("x̌y̌ and ẍ̌ Jets kị̂t", "ẍ̌"),
    "right to left": ("الفريق 🏈 فاز بالمباراة\nThe Jets", "فاز"),
    "mixed": ("هزم فريق Jets خصمه 20-17 أمس", "Jets"),
    "crlf": ("One 😀\r\n\r\nThe Jets\r\nwon", "Jets"),
    "cr": ("One\rThe Jets\r\rwon", "Jets"),
    "across lines": ("The New\r\nYork Jets won", "New\nYork"),
    "astral letters": ("𝔗𝔥𝔢 𝔍𝔢𝔱𝔰 won 𝔞𝔤𝔞𝔦𝔫", "𝔍𝔢𝔱𝔰"),
}


@pytest.fixture(scope="module")
def shown(chrome):
    """Shows the page of a text, and collects the events that it sends."""
    context, now = chrome.new_context(viewport={"width": 1300, "height": 900}), {}

    def respond(route):
        if route.request.method != "POST":
            return page_or_asset(route, now["html"])
        sent = json.loads(route.request.post_data)
        now["sent"] += sent["events"]
        told = {"sequence": len(now["sent"]), "accepted": [], "refused": {}, "events": sent["events"], "review": []}
        return route.fulfill(body=json.dumps(told), content_type="application/json")

    context.route("**/*", respond)
    tab = context.new_page()

    def opened(words):
        data = given("one") | {"text": words, "events": [], "sequence": 0, "review": []}
        page = annotation_workbench.TextPage("offsets", words, data, guide("one"))
        now.update(html=render(page, frame("one")), sent=[])
        tab.goto("about:blank")
        tab.goto(f"{HOST}/shown")
        tab.evaluate("localStorage.clear()")
        tab.locator("#palette button").first.wait_for()
        return tab, now["sent"]

    yield opened
    context.close()


def marked(tab, sent):
    """What was sent as marked, once it was."""
    tab.locator("#status.saved").wait_for()
    return [parts for one in sent if one["kind"] == "span.add" for parts in one["data"]["parts"]]


@pytest.mark.few(1)
@pytest.mark.parametrize("case", TEXTS)
def test_the_mouse_marks_code_points(shown, case):
    whole, wanted = TEXTS[case]
    tab, sent = shown(whole)
    select(tab, wanted.replace("\n", ""))
    tab.keyboard.press("g")
    ((start, end),) = marked(tab, sent)
    assert whole[start:end].replace("\r", "") == wanted
    shown_again = "".join(one.text_content() for one in tab.locator(".mark").all())
    assert shown_again == wanted.replace("\n", ""), "and it is drawn where it was marked"


@pytest.mark.few(1)
@pytest.mark.parametrize("case", ["emoji", "combining", "crlf", "astral letters"])
def test_keys_mark_code_points_and_never_half_a_character(shown, case):
    whole, _ = TEXTS[case]
    tab, sent = shown(whole)
    tab.locator("#text").focus()
    tab.keyboard.press("Control+Home")
    tab.keyboard.press("Shift+Control+End")
    for _ in range(3):
        tab.keyboard.press("Shift+ArrowLeft")
    tab.keyboard.press("g")
    ((start, end),) = marked(tab, sent)
    assert start == 0
    assert whole[:end] + whole[end:] == whole
    assert not any(mark in whole[end : end + 1] for mark in ("\u030c", "\u0308", "\u200d")), "a character stays whole"


def test_marks_may_overlap_lie_in_pieces_and_stand_everywhere(shown):
    whole = "The Jets beat the 🏈 Bears. The Jets won. Jetsam is no team."
    tab, sent = shown(whole)
    select(tab, "The Jets beat")
    tab.keyboard.press("g")
    select(tab, "Jets")
    tab.keyboard.press("t")
    select(tab, "Bears")
    tab.keyboard.press("+")
    marked(tab, sent)
    pieces = [one["data"]["parts"] for one in sent if one["kind"] == "span.add"]
    assert [[whole[a:b] for a, b in parts] for parts in pieces] == [["The Jets beat"], ["Jets"], ["Jets", "Bears"]]
    both = tab.locator(".mark", has_text="Jets").first
    assert len(both.get_attribute("data-marks").split()) == 2, "words may be marked twice"
    select(tab, "Jets", nth=1)
    tab.keyboard.press("Shift+T")
    marked(tab, sent)
    last = sent[-1]["data"]["parts"]
    assert [whole[a:b] for a, b in last] == ["Jets"]
    assert last[0][0] == whole.index("Jets", 10), "the third one is part of a longer word"


def test_a_mark_grows_shrinks_and_goes_by_keys(shown):
    whole = "Now the New York Jets won again."
    tab, sent = shown(whole)
    select(tab, "York")
    for key in ("g", ">", "(", "(", ")", "<"):
        tab.keyboard.press(key)
    marked(tab, sent)
    seen = [whole[a:b] for one in sent if one["kind"] == "span.add" for a, b in one["data"]["parts"]]
    assert seen == ["York", "York Jets", "New York Jets", "the New York Jets", "New York Jets", "New York"]
    tab.keyboard.press("Delete")
    tab.wait_for_function("() => document.querySelectorAll('.mark').length === 0")
