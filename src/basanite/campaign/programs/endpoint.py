"""Systems behind an address: the server calls it item by item, to the address that was checked and no other (G-7).

What is submitted is a small JSON file, `{"url": "https://…", "token": "…"}`. Rate and number of calls are bounded by
the plan; each call is counted before it is made, and what was said is kept among the sealed files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from basanite.campaign.jobs.stages import lock_submission
from basanite.campaign.model.programs import Programs
from basanite.campaign.notices.webhook_calls import (
    Call,
    RefusedAddressError,
    Resolver,
    checked_url,
    exchange,
    system_resolver,
)
from basanite.campaign.office import Office
from basanite.campaign.programs.asking import Answered, ProgramError
from basanite.campaign.store.tables import ProgramRun, Submission
from basanite.errors import BasaniteError
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.programs.items import Items

LARGEST: Final = 16 * 2**10
LONGEST_TOKEN: Final = 4096
TRIES: Final = 3
"""How often an item is asked for; every one counts as a call."""
FORM: Final = 'send a JSON file {"url": "https://…", "token": "…"}; the token may be left out'


@dataclass(frozen=True)
class Transcript:
    """What was said, a line of JSON for each call."""

    path: Path

    def add(self, sent: bytes, got: bytes, status: int, seconds: float) -> None:
        """Write one call down."""
        said = {"got": got.decode("utf-8", "replace"), "sent": sent.decode("utf-8", "replace")}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**said, "seconds": round(seconds, 3), "status": status}, sort_keys=True) + "\n")


def read_endpoint(path: Path, name: str) -> tuple[str, str] | Problem:
    """The address and the token of a submitted file, or what is wrong with it."""
    try:
        found = json.loads(read_bounded(path, LARGEST))
        url, token = found["url"], found.get("token", "")
        plain = isinstance(url, str) and isinstance(token, str) and token.isascii() and token.isprintable()
        if not plain or len(token) > LONGEST_TOKEN:
            raise ValueError
    except (BasaniteError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Problem("G-7", name, None, None, "the file does not name an endpoint", FORM)
    return url, token


@dataclass(frozen=True)
class ByEndpoint:
    """Asks an address item by item."""

    office: Office
    submission_id: str
    programs: Programs
    url: str
    token: str = field(repr=False)
    transcript: Transcript
    resolve: Resolver = system_resolver

    @classmethod
    def of(cls, office: Office, row: Submission, programs: Programs, transcript: Transcript) -> Self | Problem:
        """The endpoint that a submission names; an address that may not be called is told before anything is sent."""
        found = read_endpoint(office.files.local(row.sha256), row.name)
        if isinstance(found, Problem):
            return found
        try:
            checked_url(found[0], loopback=office.settings.loopback_webhooks)
        except RefusedAddressError as error:
            return Problem("G-7", row.name, None, None, f"the endpoint may not be called: {error}", FORM)
        return cls(office, row.id, programs, *found, transcript)

    def ask(self, items: Items, order: Sequence[int], left: float) -> Iterator[Answered]:
        """The answers to items in this order, at the pace that the plan allows."""
        pause, last = 60.0 / self.programs.per_minute, 0.0
        for at in order:
            time.sleep(max(0.0, last + pause - time.monotonic()))
            last = time.monotonic()
            answer = self._answer(items.pieces[at][1])
            spent = time.monotonic() - last
            left -= spent
            if left <= 0:
                raise ProgramError("compute", seconds=spent)
            yield Answered(at, 1, b" ".join(answer.split(b"\n")).strip() + b"\n", spent)

    def _answer(self, item: bytes) -> bytes:
        """What the endpoint answers to an item; it is asked again where the line broke or it had a fault."""
        begun = time.monotonic()
        for number in range(TRIES):
            self._count()
            status, body = self._call(item)
            if 200 <= status < 300 and body.strip():
                return body
            if 400 <= status < 500 and status != 429:
                break
            time.sleep(min(2.0**number, 60.0 / self.programs.per_minute))
        raise ProgramError("reply", seconds=time.monotonic() - begun)

    def _call(self, item: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "User-Agent": "basanite"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        loopback, seconds = self.office.settings.loopback_webhooks, self.programs.item_time.total_seconds()
        begun = time.monotonic()
        try:
            status, body = exchange(
                Call(self.url, item, headers),
                resolve=self.resolve,
                loopback=loopback,
                seconds=seconds,
                most=self.programs.output,
            )
        except RefusedAddressError as error:
            raise ProgramError("refused") from error
        except (OSError, ValueError, TimeoutError):
            status, body = 0, b""
        self.transcript.add(item, body, status, time.monotonic() - begun)
        return status, body

    def _count(self) -> None:
        """Count a call before it is made; there are only so many for one submission."""
        with self.office.writing() as session:
            lock_submission(session, self.submission_id)
            run = session.get_one(ProgramRun, self.submission_id, populate_existing=True)
            if run.calls >= self.programs.calls:
                raise ProgramError("calls")
            run.calls += 1
