"""Every page in every state is a page: escaped, without inline script or style, in one language, with one heading."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from tests.server.pages.every import ALL, NAMES
from tests.server.pages.states import HOSTILE, LONG, MANY, RTL, STATES, frame

from basanite.server.pages.frame import render
from basanite.server.pages.routers import ROUTERS

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
SIZE = 4_000_000
"""Bytes that no page exceeds, whatever there is to list."""


class Reader(HTMLParser):
    """Notes what a page is made of, and whether its elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.tags, self.attributes, self.ids = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self.ids += [value for key, value in attributes if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("page", ALL, ids=lambda page: NAMES[page].rpartition(".")[2])
def test_a_page_is_well_made_in_every_state(page):
    for state in STATES:
        assert faults(render(ALL[page](state), frame(state))) == [], state


def faults(text):
    """What a browser, a screen reader or our own policy would stumble over."""
    read = Reader()
    read.feed(text)
    scripts = [one for one in read.attributes if one[0] == "script" and one[1] not in ("type", "src")]
    found = {
        "elements are closed in order": not read.wrong,
        "elements are closed": not read.open,
        "one heading": read.tags.count("h1") == 1,
        "one main part": read.tags.count("main") == 1,
        "nothing that our policy refuses": not any(
            one[1] == "style" or one[1].startswith("on") for one in read.attributes
        ),
        "scripts are files": not scripts,
        "an id names one thing": len(read.ids) == len(set(read.ids)),
        "not too large": len(text) < SIZE,
    }
    return [rule for rule, kept in found.items() if not kept]


def test_faults_are_seen():
    page = "<html><main><h1>A</h1><p id=a style='x'><b></p></b><i id=a onclick='x'></i><script defer></script></main>"
    assert faults(page) == [
        "elements are closed in order",
        "elements are closed",
        "nothing that our policy refuses",
        "scripts are files",
        "an id names one thing",
    ]


@pytest.mark.parametrize("page", ALL, ids=lambda page: NAMES[page].rpartition(".")[2])
def test_strangers_words_are_words(page):
    text = render(ALL[page]("hostile"), frame("hostile"))
    assert "<script>alert" not in text
    assert "\u202e" not in text, "a direction that is turned around stays visible"
    assert "{{ 7*7 }}" in text or "7*7" not in text
    assert not re.search(r"</title>(<script|&lt;)", text), "charts have titles of their own"


@pytest.mark.parametrize("page", ALL, ids=lambda page: NAMES[page].rpartition(".")[2])
def test_foreign_words_are_isolated_from_what_stands_around_them(page):
    text = render(ALL[page]("rtl"), frame("rtl"))
    assert '<html lang="en"' in text
    outside = re.sub(r"<title>.*?</title>|<option.*?</option>|<optgroup[^>]*>|<svg.*?</svg>", "", text, flags=re.S)
    outside = re.sub(r"<bdi>.*?</bdi>|\u2068.*?\u2069", "", outside, flags=re.S)
    outside = re.sub(r'<(\w+)[^>]*dir="(?:auto|ltr|rtl)"[^>]*>.*?</\1>|<[^>]*>', "", outside, flags=re.S)
    assert RTL not in outside
    assert "\\u2068" not in text, "nobody reads the marks that isolate"


def test_every_page_has_its_states():
    made = set()
    for router in ROUTERS:
        for route in router.routes:
            module = __import__(route.endpoint.__module__, fromlist=["x"])
            own = [
                one
                for one in vars(module).values()
                if dataclasses.is_dataclass(one) and one.__module__ == module.__name__
            ]
            made |= {one for one in own if one.__name__.endswith("Page")}
    assert sorted(one.__name__ for one in made - set(ALL)) == [], "add their states to states.py"
    assert len(made) > 20


def test_long_lists_are_cut_and_say_so():
    boards = next(page for page in ALL if page.__name__ == "LeaderboardPage")
    text = render(ALL[boards]("many"), frame("many"))
    assert text.count("<tr") < 1000
    assert f"{MANY - 100:,} more" in text


def test_a_long_name_is_shown_whole():
    teams = next(page for page in ALL if page.__name__ == "TeamPage")
    assert LONG in render(ALL[teams]("long"), frame("long"))


def test_the_hostile_word_is_what_it_says():
    assert "<script>" in HOSTILE
