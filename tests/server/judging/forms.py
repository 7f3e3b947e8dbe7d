"""A judge's pages as a browser without scripts has them: what stands in the form, and what is sent back."""

from __future__ import annotations

import html
import re

FIELD = re.compile(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"')


def form_of(page, action):
    """The hidden fields of the form that posts there."""
    start = page.index(f'action="{action}"')
    return {name: html.unescape(value) for name, value in FIELD.findall(page[start : page.index("</form>", start)])}


class Judging:
    """A judge at one panel, without scripts; remembers every page that was seen."""

    def __init__(self, browser, base):
        self.browser, self.base, self.seen = browser, base, []

    def look(self, rest=""):
        return self._seen(self.browser.get(self.base + rest))

    def post(self, act, *, follow=True, page=None, **fields):
        """Send a form of the page with what it holds; several values as a list."""
        text = page or self.look().text
        data = {"csrf": form_of(text, "/sign-out")["csrf"], **fields}
        answer = self.browser.client.post(
            f"{self.base}/{act}", data=data, headers={"Accept": "text/html"}, follow_redirects=follow
        )
        return self._seen(answer)

    def answer(self, page=None, rest="", **fields):
        """Answer the item on the desk."""
        text = page or self.look(rest).text
        held = form_of(text, f"{self.base}/answer")
        kept = {name: held[name] for name in ("assignment", "key", "again") if name in held}
        return self.post("answer", page=text, **kept, **fields)

    def begin(self, version="1"):
        self.post("consent", version=version, agree="yes")
        return self.post("declare")

    def _seen(self, answer):
        self.seen.append(answer.text)
        return answer
