"""The browser of all tests that need one, and what it finds wrong with a page for people who do not see or use a mouse.

The rules are those of axe for WCAG 2.2 AA; the size of targets is not among its defaults and is asked for here.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SCHEMES = ("light", "dark")
RULES = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
CONTRAST = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast"]}}
GRAVE = ("serious", "critical")
WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 80)).slice(0, 3)"""
PHONE = {"width": 390, "height": 844}
PATIENCE = 120_000
"""Milliseconds that a page is waited for: two cores that run everything else at once may need a minute."""


class Browser:
    """A Chromium whose pages all wait as long as a busy machine needs; how long is decided here alone."""

    def __init__(self, opened):
        self.opened = opened

    def new_context(self, **options):
        """A context of its own, with the bound on every wait in it."""
        context = self.opened.new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    def close_contexts(self):
        """Close what tests have left open."""
        for context in self.opened.contexts:
            context.close()

    def new_page(self, **options):
        """A page in a context of its own, with the same bound."""
        page = self.opened.new_page(**options)
        page.set_default_timeout(PATIENCE)
        return page


@contextmanager
def launched(executable):
    """A Chromium, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=executable, args=FLAGS)
        yield Browser(opened)
        opened.close()


def kept_out(tab, scheme="light"):
    """What keeps people out of the page that is open: all rules in its first scheme, then colours in the other one."""
    tab.evaluate(Axe().axe_script)
    found = _grave(tab, RULES)
    tab.emulate_media(color_scheme=SCHEMES[scheme == "light"])
    return found + _grave(tab, CONTRAST)


def _grave(tab, options):
    found = tab.evaluate("(options) => axe.run(document, options).then((one) => one.violations)", options)
    return [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found if one["impact"] in GRAVE]


def sideways(tab, width):
    """What makes the page scroll sideways at this width; nothing if it does not."""
    tab.set_viewport_size(PHONE | {"width": width})
    return tab.evaluate(WIDE) if tab.evaluate("document.documentElement.scrollWidth") > width else []


TEXTS = """() => [...document.querySelectorAll("figure svg")].filter(svg => svg.clientWidth > 0).map(svg => {
  const rect = one => { const r = one.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const seen = text => text.textContent.trim() && text.getAttribute("opacity") !== "0";
  const texts = [...svg.querySelectorAll("text")].filter(seen).map(text => [text.textContent, ...rect(text)]);
  const figure = svg.closest("figure");
  return {title: figure.querySelector("h3").textContent, svg: rect(svg), figure: rect(figure), texts};
})"""


def chart_faults(tab):
    """Every text of a chart that leaves its drawing or lies on another, and every chart wider than its card."""
    found = tab.evaluate(TEXTS)
    assert found, "there is no chart here"
    return [(chart["title"], *fault) for chart in found for fault in _faults(chart)]


def _faults(chart):
    left, top, right, bottom = chart["svg"]
    if right > chart["figure"][2] + 1:
        yield ("wider than its card",)
    # A label has an edge in the color of the card: the same text once more in the same place.
    texts = list({(text, round(x), round(y)): (text, x, y, x2, y2) for text, x, y, x2, y2 in chart["texts"]}.values())
    for text, x, y, x2, y2 in texts:
        if x < left - 1 or y < top - 1 or x2 > right + 1 or y2 > bottom + 1:
            yield "outside", text
    for one, other in itertools.combinations(texts, 2):
        wide = min(one[3], other[3]) - max(one[1], other[1])
        high = min(one[4], other[4]) - max(one[2], other[2])
        if wide > 1 and high > 3:  # the blank edges of two lines may meet
            yield "overlap", one[0], other[0]
