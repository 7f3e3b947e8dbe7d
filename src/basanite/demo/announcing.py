"""Saying on the terminal what has become ready while the demo runs: a line for each thing, and then nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from basanite.campaign.office import Office
from basanite.demo.looking import under_way
from basanite.demo.stage import Say
from basanite.reports.wording import plural
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import Progress

SECONDS: Final = 1.0
"""How often it looks."""
ALL_READY: Final = "Everything is ready."


@contextmanager
def announced(office: Office, say: Say) -> Iterator[None]:
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
            if one.key in waiting and one.ended:
                waiting.discard(one.key)
                say(_ended(one))
    if not end.is_set() and all(one.state == "ready" for one in parts.progress(office.settings.data)):
        say(ALL_READY)


def _ended(one: Progress) -> str:
    title = parts.PARTS[one.key].title.lower()
    return f"Ready: {title}." if one.state == "ready" else f"Failed: {title}: {one.reason}"


def to_come(office: Office) -> list[str]:
    """What is still to be made, a line each; none if all is there."""
    left = under_way(office)
    scored = [f"{plural('submission', left)} still to be scored: ben and bea see theirs move"] if left else []
    named = [_going(one) for one in parts.progress(office.settings.data) if one.state != "ready"]
    return [*scored, *named]


def _going(one: Progress) -> str:
    title = parts.PARTS[one.key].title.lower()
    return f"{title}: {one.done} of {one.of} steps" if one.state == "working" and one.of else title
