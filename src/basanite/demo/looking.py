"""A short walk over the demo's pages, by HTTP: what a visitor sees, and what a participant sees."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select

from basanite.campaign.jobs.stages import UNDER_WAY
from basanite.campaign.office import Office
from basanite.campaign.store.tables import Submission
from basanite.demo.cast import Login, code_at
from basanite.demo.plan import SLUG
from basanite.demo.stage import Say
from basanite.reports.wording import plural

BASE: Final = f"/campaigns/{SLUG}"
PUBLIC: Final = ("/", "/demo", BASE, f"{BASE}/calendar", f"{BASE}/leaderboard")
INSIDE: Final = (*PUBLIC[2:], f"{BASE}/submissions", f"{BASE}/team")
TOKEN: Final = re.compile(r'name="csrf"[^>]*value="([^"]+)"')
TITLE: Final = re.compile(r"<title>(.*?)</title>", re.S)
ROW: Final = re.compile(r"<tr\b")
PATIENCE: Final = 30.0


@dataclass(frozen=True)
class Seen:
    """A page that was fetched."""

    who: str
    path: str
    status: int
    title: str
    rows: int
    """Rows of tables on it."""

    @property
    def good(self) -> bool:
        """Whether the page was there."""
        return self.status == 200


def walk(address: str, participant: Login) -> list[Seen]:
    """Fetch pages as a visitor, then as somebody who is signed in."""
    with _browser(address) as visitor:
        seen = [_look(visitor, "visitor", path) for path in PUBLIC]
    with _browser(address) as browser:
        sign_in(browser, participant)
        return seen + [_look(browser, participant.role, path) for path in INSIDE]


def sign_in(browser: Any, login: Login) -> Any:
    """Sign in through the form, with a code of the second factor where one is asked for; gives the last answer."""
    fields = {"mail": login.mail, "password": login.password, "then": BASE}
    answer = _send(browser, "/sign-in", fields)
    if login.secret and answer.url.path == "/sign-in/code":
        answer = _send(browser, "/sign-in/code", {"code": code_at(login.secret, time.time())})
    return answer


@contextmanager
def _browser(address: str) -> Iterator[Any]:
    import httpx2

    with httpx2.Client(base_url=address, timeout=PATIENCE, follow_redirects=True, trust_env=False) as browser:
        yield browser


def _send(browser: Any, path: str, fields: dict[str, str]) -> Any:
    found = TOKEN.search(browser.get(path).text)
    return browser.post(path, data={**fields, "csrf": html.unescape(found[1]) if found else ""})


def _look(browser: Any, who: str, path: str) -> Seen:
    answer = browser.get(path)
    title = TITLE.search(answer.text)
    words = " ".join(html.unescape(title[1]).split()) if title else ""
    return Seen(who, path, answer.status_code, words.partition(" – ")[0], len(ROW.findall(answer.text)))


def under_way(office: Office) -> int:
    """How many submissions have not ended."""
    with office.reading() as session:
        question = select(func.count()).select_from(Submission).where(Submission.state.in_(UNDER_WAY))
        return session.scalar(question) or 0


def watch(office: Office, say: Say, seconds: float) -> int:
    """Tell how the worker gets on until all is scored or the time is over; gives how many are left."""
    end, told = time.monotonic() + seconds, -1
    while (left := under_way(office)) and time.monotonic() < end:
        if left != told:
            say(f"{plural('submission', left)} still to be scored …")
        told = left
        time.sleep(0.3)
    return left
