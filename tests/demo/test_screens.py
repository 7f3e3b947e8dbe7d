"""The pictures of the documentation: taken from the demo in a browser, and held against it so that none goes stale.

With every picture `docs/pictures/screens.json` keeps the headings, columns, tabs and buttons that it shows. An ordinary
run looks at the pages again and fails where they show something else; `make screens` takes the pictures again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import dataclass

import httpx2
import pytest
from tests.cli.running import ROOT

from basanite.demo import build, server
from basanite.demo.stage import SLUG

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
PICTURES = ROOT / "docs" / "pictures"
RECORD = PICTURES / "screens.json"
TAKES = os.environ.get("SCREENS") == "take"
RENEW = "make screens"
WIDTH, HEIGHT, LARGEST = 1280, 860, 300 * 1024
PATIENCE = 300.0
SETTLED = 1_000
"""Milliseconds after which a script of ours has drawn what it draws."""
LABELS = "h1, h2, h3, thead th, .tabs a, main button, legend"
CAMPAIGN = f"/campaigns/{SLUG}"


@dataclass(frozen=True)
class Screen:
    """A page as somebody sees it: where it begins, and what is clicked to get there."""

    name: str
    path: str
    who: str = ""
    clicks: tuple[str, ...] = ()


SCREENS = (
    Screen("board", f"{CAMPAIGN}/leaderboard?of=week-1|CLIR|1A|"),
    Screen("tour", "/demo"),
    Screen("problems", f"{CAMPAIGN}/submissions", "ben", ("tbody tr:has-text('not valid') a",)),
    Screen("result", f"{CAMPAIGN}/submissions", "ben", ("tbody tr:has-text('scored'):has-text('CLIR') a",)),
    Screen("desk", f"{CAMPAIGN}/organise", "eva"),
    Screen("rescoring", f"{CAMPAIGN}/organise/rescoring", "oscar", ("tbody th a",)),
    Screen("overview", CAMPAIGN, "ben"),
    Screen("judging", f"{CAMPAIGN}/judging", "jana", ("text=Read instructions", "text=I agree", "text=Continue")),
    Screen("annotating", f"{CAMPAIGN}/annotate", "nora", ("main a",)),
    Screen("adjudicating", f"{CAMPAIGN}/adjudicate", "aino", ("main a", "text=Start with the first item")),
)


@pytest.fixture(scope="module")
def address(built, tmp_path_factory):
    """A copy of the demo, served; its worker has scored what waited."""
    folder = tmp_path_factory.mktemp("screens") / "season"
    shutil.copytree(built.folder, folder)
    with (
        server.local_socket(0) as door,
        build.open_demo(folder, server.address_of(door)) as office,
        server.serve_beside(office, door),
    ):
        assert server.watch(office, lambda words: None, PATIENCE) == 0
        yield server.address_of(door)


@pytest.fixture
def page(address, built, chrome, request):
    """The page of a screen, as its reader sees it."""
    screen = request.param
    context = chrome.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", locale="en-GB")
    if screen.who:
        context.add_cookies(cookies(address, built.demo.login(screen.who)))
    tab = context.new_page()
    tab.goto(address + screen.path)
    for clicked in screen.clicks:
        tab.locator(f"{clicked} >> visible=true").first.click()
        tab.wait_for_load_state("load")
    yield screen, tab
    context.close()


def cookies(address, login):
    """The cookies of somebody who has signed in."""
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        assert server.sign_in(browser, login).status_code == 200
        return [{"name": one.name, "value": one.value, "url": address} for one in browser.cookies.jar]


def shown(tab):
    """What a page shows that does not change from day to day: its labels, with digits masked."""
    found = (one.inner_text() for one in tab.locator(LABELS).all() if one.is_visible())
    return sorted({re.sub(r"\d+", "0", " ".join(text.split())) for text in found if text.strip()})


def recorded():
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


@pytest.mark.slow
@pytest.mark.parametrize("page", SCREENS, indirect=True, ids=lambda screen: screen.name)
def test_a_picture_shows_what_its_page_shows(page):
    screen, tab = page
    if TAKES:
        PICTURES.mkdir(exist_ok=True)
        tab.wait_for_timeout(SETTLED)
        tab.screenshot(path=PICTURES / f"{screen.name}.png", animations="disabled")
        told = {**recorded(), screen.name: shown(tab)}
        wanted = {name: told[name] for name in sorted(told) if name in {one.name for one in SCREENS}}
        RECORD.write_text(json.dumps(wanted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    wanted, end = recorded().get(screen.name), time.monotonic() + PATIENCE / 10
    while shown(tab) != wanted and time.monotonic() < end:
        tab.wait_for_timeout(SETTLED)
    assert shown(tab) == wanted, f"the page of {screen.name}.png has changed: {RENEW}"


def test_every_picture_is_small_and_stands_in_a_page():
    held = {picture.stem: picture.stat().st_size for picture in PICTURES.glob("*.png")}
    assert held.keys() == {screen.name for screen in SCREENS} == recorded().keys()
    assert [name for name, size in held.items() if size > LARGEST] == []
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
    assert [name for name in held if f"pictures/{name}.png" not in text] == []
