"""The demo's server: served at an address, looked at over HTTP, and told of what is still being made."""

from __future__ import annotations

import html
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select

from basanite.campaign.jobs.stages import UNDER_WAY
from basanite.campaign.office import Office
from basanite.campaign.store.tables import Submission
from basanite.demo.stage import SLUG, Login, Say, code_at
from basanite.errors import SettingError
from basanite.reports.wording import plural
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import Progress

HOST: Final = "127.0.0.1"
GRACE_SECONDS: Final = 5
START_SECONDS: Final = 60.0


def local_socket(port: int) -> socket.socket:
    """A socket on this machine alone: a demo's passwords are known, so no other host can be chosen (X-15)."""
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
    except OSError as error:
        door.close()
        raise SettingError(f"Port {port} cannot be used: {error.strerror}. Choose another with --port.") from None
    door.listen(128)
    return door


def address_of(door: socket.socket) -> str:
    """The address to type into a browser."""
    return f"http://{HOST}:{door.getsockname()[1]}"


def serve(office: Office, door: socket.socket) -> None:
    """Serve and score until a signal comes; then let calls that are under way end."""
    _server(office).run(sockets=[door])


@contextmanager
def serve_beside(office: Office, door: socket.socket) -> Iterator[None]:
    """Serve and score beside the block."""
    server = _server(office)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    try:
        _wait(server, thread)
        yield
    finally:
        server.should_exit = True
        thread.join(START_SECONDS)


def _wait(server: Any, thread: threading.Thread) -> None:
    end = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise SettingError("The demo's server did not start. See what it needs: basanite doctor")
        time.sleep(0.02)


def _server(office: Office) -> Any:
    import uvicorn

    from basanite.server.app import make_app
    from basanite.server.telemetry import start_logging

    start_logging(level=logging.WARNING)  # calls that went well would hide the logins
    config = uvicorn.Config(
        make_app(office, worker=True),
        access_log=False,
        log_level="warning",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)


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


SECONDS: Final = 1.0
"""How often it looks."""
ALL_READY: Final = "Everything is ready."


@contextmanager
def announce_beside(office: Office, say: Say) -> Iterator[None]:
    """Say what becomes ready while the block runs."""
    end = threading.Event()
    thread = threading.Thread(target=announce, args=(office, say, end), daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def announce(office: Office, say: Say, end: threading.Event) -> None:
    """Look now and then until all has ended, or somebody ends it."""
    waiting = {one.key for one in parts.progress(office.settings.data) if one.state != "ready"}
    scoring = bool(under_way(office))
    while (waiting or scoring) and not end.wait(SECONDS):
        if scoring and not under_way(office):
            scoring = False
            say("Ready: all submissions are scored.")
        for one in parts.progress(office.settings.data):
            if one.key in waiting and one.is_over:
                waiting.discard(one.key)
                say(_outcome(one))
    if not end.is_set() and all(one.state == "ready" for one in parts.progress(office.settings.data)):
        say(ALL_READY)


def _outcome(one: Progress) -> str:
    title = parts.PARTS[one.key].title.lower()
    return f"Ready: {title}." if one.state == "ready" else f"Failed: {title}: {one.reason}"


def to_come(office: Office) -> list[str]:
    """What is still to be made, a line each; none if all is there."""
    left = under_way(office)
    scored = [f"{plural('submission', left)} still to be scored: ben and bea can watch theirs"] if left else []
    named = [_going(one) for one in parts.progress(office.settings.data) if one.state != "ready"]
    return [*scored, *named]


def _going(one: Progress) -> str:
    title = parts.PARTS[one.key].title.lower()
    return f"{title}: {one.done} of {one.of} steps" if one.state == "working" and one.of else title
