"""The browser of all tests that need one, and what it finds wrong with a page for people who do not see or use a mouse.

The rules are those of axe for WCAG 2.2 AA; the size of targets is not among its defaults and is asked for here.
"""

from __future__ import annotations

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
