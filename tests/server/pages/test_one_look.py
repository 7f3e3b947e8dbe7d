"""One look: every page in its states, light and dark, on a phone; nobody is kept out, and no page is heavy."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from tests.browser import kept_out, sideways
from tests.server.pages.every import ALL, NAMES
from tests.server.pages.states import frame

from basanite.server.pages.frame import render
from basanite.server.pages.templates import assets, static_address

STATES = (("one", "light"), ("none", "dark"), ("error", "light"))
"""States that differ in what stands on a page, each with the scheme it is first looked at in; names do not differ."""
ABOVE = frozenset({("div", "notice bad"), ("strong", None), ("ul", None), ("li", None)})
"""What stands above any page where something was wrong."""
BUDGET, BENCH = 105_000, 185_000
"""Bytes of a first visit, uncompressed: page, styles and scripts. Only an annotator's desk may be as heavy as BENCH."""
TYPEFACE = 50_000
"""Bytes of our typeface that every first visit loads beside them, once for all pages."""
BENCHES = frozenset({"annotation.text", "annotation.preview"})
IMPORTED = re.compile(rb'(?:from|import) "\./([\w-]+\.js)')


class Loaded(HTMLParser):
    """What a page loads, and which of its tables have no name."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.kinds, self.nameless = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.kinds.add((tag, found.get("class")))
        self.addresses += [found[key] for key in ("src", "srcset", "poster") if found.get(key)]
        self.addresses += [found["href"]] if tag == "link" else []
        if tag == "table" and not (found.get("aria-label") or found.get("aria-labelledby")):
            self.nameless.append(self.getpos())


def shown_in(page, state):
    return render(ALL[page](state), frame(state))


def differing(page):
    """The other states, in which something stands on the page that is not there in the first one."""
    first = Loaded(shown_in(page, STATES[0][0])).kinds | ABOVE
    return [one for one in STATES[1:] if Loaded(shown_in(page, one[0])).kinds - first]


def weight(addresses):
    """Bytes of styles and scripts with all that they import."""
    names, seen = [one.removeprefix("/static/").partition("?")[0] for one in addresses], set()
    while names:
        name = names.pop()
        if name in seen or name not in assets():
            continue
        seen.add(name)
        folder = name.rpartition("/")[0]
        names += [f"{folder}/{one.decode()}".lstrip("/") for one in IMPORTED.findall(assets()[name])]
    return sum(len(assets()[name]) for name in seen)


@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_a_page_is_light_and_brings_everything_itself(page):
    most = BENCH if NAMES[page] in BENCHES else BUDGET
    for state in ("one", "none", "error"):
        text = shown_in(page, state)
        loaded = Loaded(text)
        assert all(one.startswith("/") and not one.startswith("//") for one in loaded.addresses), loaded.addresses
        assert len(text.encode()) + weight(one for one in loaded.addresses if ".woff2" not in one) <= most, state
        assert weight(one for one in loaded.addresses if ".woff2" in one) <= TYPEFACE


def test_the_scale_weighs_what_scripts_import():
    alone = len(assets()["annotate/page.js"])
    assert weight([static_address("annotate/page.js")]) > 2 * alone


@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_every_table_has_a_name(page):
    assert [Loaded(shown_in(page, state)).nameless for state in ("one", "error")] == [[], []]


@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_a_list_on_a_phone_says_what_each_value_is(page):
    """Rows become blocks there, and the heads of the columns are gone: each value brings its own."""
    for text in re.findall(r'<table class="lines".*?</table>', shown_in(page, "one"), re.S):
        cells = re.findall(r"<td(?![^>]*(?:data-label|strip-cell|colspan))[^>]*>(.*?)</td>", text, re.S)
        assert [cell for cell in cells if cell.strip() and "<details" not in cell and "<form" not in cell] == []


@pytest.mark.few(6)
@pytest.mark.browser
@pytest.mark.req("P-33", "P-4")
@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_nobody_is_kept_out_of_a_page_in_light_or_dark_or_on_a_phone(shown, page):
    look(shown, page, *STATES[0])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.req("P-33", "P-4")
@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_nobody_is_kept_out_of_a_page_in_its_other_states(shown, page):
    for state, scheme in differing(page):
        look(shown, page, state, scheme)


def look(shown, page, state, scheme):
    """Look at a page in a state: at everything in one scheme, at colours in the other, and on a phone."""
    tab = shown(page, state, scheme=scheme)
    assert kept_out(tab, scheme) == [], (state, scheme)
    assert sideways(tab, 390) == [], state
    assert tab.complaints == []
    assert tab.outside == [], "asks nobody else"
