"""The site of the documentation: whole, asking nothing of the network, reading as the pages do in the repository.

Building it takes a while: what looks at the site is in `make docs` and `make test-all`.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.website.conftest import ROOT
from tools.website.hooks import filled

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}
ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?(?P<address>[^\"')\s]+)", re.IGNORECASE)
BUILDING_BLOCKS = ("h1", "h2", "h3", "h4", "li", "table", "tr", "pre")
DOCS = sorted(page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md"))


class Reader(HTMLParser):
    """What a page loads, and how often each building block is in its article."""

    def __init__(self):
        super().__init__()
        self.loads, self.blocks, self.inside = [], Counter(), False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.inside = self.inside or tag == "article"
        self.loads += [given[LOADS[tag]]] if given.get(LOADS.get(tag, "")) else []
        if tag == "link" and LOADED_LINKS & set((given.get("rel") or "").split()):
            self.loads.append(given["href"])
        self.loads += [found["address"] for found in IN_STYLES.finditer(given.get("style") or "")]
        if self.inside and tag in BUILDING_BLOCKS:
            self.blocks[tag] += 1

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "article"


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    pages = {page: read(page.read_text(encoding="utf-8")).loads for page in site.rglob("*.html")}
    styles = {
        style: [found["address"] for found in IN_STYLES.finditer(style.read_text(encoding="utf-8"))]
        for style in site.rglob("*.css")
    }
    assert pages
    assert styles
    outside = [(file.name, address) for file, asked in (pages | styles).items() for address in asked]
    assert [one for one in outside if ELSEWHERE.match(one[1])] == []


def test_what_would_be_loaded_from_elsewhere_is_noticed():
    page = '<link rel="stylesheet" href="https://a.example/b.css"><script src="//c.example"></script>'
    page += '<p style="background: url(http://d.example/e)">'
    assert all(ELSEWHERE.match(address) for address in read(page).loads)
    assert len(read(page).loads) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCS)
def test_a_page_reads_in_the_site_as_in_the_repository(name, site):
    """Two readers of Markdown differ over lists and tables; a page that both build alike is safe with either."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    plain = read(f"<article>{MarkdownIt('commonmark').enable('table').render(text)}</article>").blocks
    built = read((site / Path(name).with_suffix(".html")).read_text(encoding="utf-8")).blocks
    assert {block: built[block] for block in BUILDING_BLOCKS} == {block: plain[block] for block in BUILDING_BLOCKS}


@pytest.mark.slow
def test_changes_and_linked_files_are_in_the_site(site):
    assert (site / "changelog.html").is_file()
    linked = "repository/benchmarks/results/coverage.json"
    assert (site / linked).read_bytes() == (ROOT / linked.removeprefix("repository/")).read_bytes()


def test_stars_of_the_nav_stand_for_the_pages_of_one_folder():
    names = ["adr/1.md", "adr/2.md", "adr/old/3.md"]
    assert list(filled([{"Decisions": ["adr/*.md"]}], names)) == [{"Decisions": ["adr/1.md", "adr/2.md"]}]


@pytest.fixture(scope="module")
def address(site):
    """The site, served as any web server would."""
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of each call."""

    def log_message(self, *words):
        pass


@pytest.fixture
def visit(chrome, address):
    """Open a page; what it asks for and what goes wrong in it is kept."""
    contexts = []

    def go(path, **options):
        contexts.append(chrome.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        page = contexts[-1].new_page()
        page.asked, page.faults = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.goto(f"{address}/{path}", wait_until="networkidle")
        return page

    yield go
    for context in contexts:
        context.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_asks_the_site_alone(scheme, visit, address):
    page = visit("explanation/coverage.html", color_scheme=scheme)
    assert page.asked
    assert [url for url in page.asked if not url.startswith((address, "data:", "blob:"))] == []
    assert page.faults == []
    ink = page.evaluate("getComputedStyle(document.querySelector('article p > a')).color")
    assert ink == {"light": "rgb(118, 86, 0)", "dark": "rgb(226, 191, 92)"}[scheme], "not the product's colours"


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.browser
@pytest.mark.parametrize("path", ["index.html", "reference/generated/http.html", "tutorial/first-reading-task.html"])
def test_a_phone_shows_a_page_without_moving_sideways(path, visit):
    page = visit(path, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
@pytest.mark.browser
def test_search_finds_a_command_and_leads_to_it(visit):
    search_and_follow(visit("index.html"))


@pytest.mark.slow
@pytest.mark.browser
def test_search_works_on_pages_that_are_opened_as_files(site, chrome):
    context = chrome.new_context()
    page = context.new_page()
    page.goto((site / "how-to" / "index.html").as_uri())
    search_and_follow(page)
    context.close()


def search_and_follow(page):
    """Search for a command and open the first page that is found."""
    typed, found = page.locator(".md-search__input"), page.locator(".md-search-result__link")
    for _ in range(20):  # what is typed before the index has come is not looked for
        typed.fill("")
        typed.press_sequentially("adjudicate")
        page.wait_for_timeout(2000)
        if found.count():
            break
    page.goto(found.first.evaluate("link => link.href"))
    page.wait_for_load_state("load")
    assert "adjudicate" in page.inner_text("article").lower()
