"""Around every call: an id for it, headers that keep browsers strict, one line in the log, and no fault shown outside.

And how much one caller may take: bytes in memory, threads, time to send, tries. The middleware is written against ASGI
itself, since the ready-made base class holds bodies in memory. The intake writes in a thread (P-11); its pieces are
pulled from the call here, so that a sender who stalls or crawls is let go while what arrived stays and counts.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import structlog
from anyio import CapacityLimiter, from_thread, to_thread
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.server.faults import answer, note_fault
from basanite.server.roles import Caller, caller_address, office_of
from basanite.server.telemetry import Observing

GIVEN_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Content-Security-Policy": PAGE_POLICY,
    "Cache-Control": "no-store",
}
"""What an answer carries unless its route says otherwise; nothing of one team's may be kept for another (X-16)."""


STRICT = {"Strict-Transport-Security": "max-age=31536000"}
"""Where people come by https, their browsers never try without it again."""
LARGEST_BODY = 2**20
"""Bytes of a body that are read into memory; what is written to disk as it comes has limits of its own (P-11)."""


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, observing: Observing, *, https: bool = False) -> None:
        self.app, self.observing = app, observing
        self.headers = HEADERS | (STRICT if https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        scope.setdefault("state", {})["request_id"] = given if GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=scope["state"]["request_id"])
        await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, sent = time.perf_counter(), _Sent(send, scope["state"]["request_id"], self.headers)
        try:
            await self.app(scope, bounded_body(receive, scope), sent)
        except ClientDisconnect:
            sent.status = sent.status or 499
        except Exception as error:  # noqa: BLE001 - whatever is left is a fault of ours, said without details
            note_fault(error)
            await _our_fault(scope, receive, sent)
        finally:
            self.observing.note_answer(scope, sent.status, time.perf_counter() - started)


def bounded_body(receive: Receive, scope: Scope) -> Receive:
    """The body of a call, cut off where it gets too large, unless anyone who reads it holds nothing in memory."""
    size = 0

    async def next_message() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST_BODY and not scope["state"].get("streams"):
            raise HTTPException(413, f"The body of this call is longer than {LARGEST_BODY} bytes.")
        return message

    return next_message


class _Sent:
    """Passes an answer on, with our headers, and remembers how it began."""

    def __init__(self, send: Send, request_id: str, headers: Mapping[str, str]) -> None:
        self.send, self.id, self.headers, self.status = send, request_id, headers, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.id
            for name, value in self.headers.items():
                headers.setdefault(name, value)
        await self.send(message)


async def _our_fault(scope: Scope, receive: Receive, sent: _Sent) -> None:
    if sent.status:  # the answer has begun: all that is left is to end the connection
        return
    request = Request(scope, receive)
    words = f"This is a fault on our side. If it happens again, send us this number: {sent.id}"
    await answer(request, 500, words)(scope, receive, sent)


Result = TypeVar("Result")


@dataclass(frozen=True)
class Pace:
    """How long a sender is waited for."""

    idle: float = 30.0
    """Seconds without a byte after which a sender is let go; the upload can be taken up again."""
    slowest: float = 1024.0
    """Bytes a second, on average over one call, below which a sender only blocks others."""
    patience: float = 60.0
    """The average is looked at only after this time."""


class Lanes:
    """Threads that wait for senders: apart from those of all other calls, and only so many for one person (P-11)."""

    def __init__(self, together: int = 64, each: int = 8) -> None:
        self.limiter, self.each = CapacityLimiter(together), each
        self.busy: Counter[str] = Counter()

    @contextmanager
    def one_of(self, who: str, retry_at: datetime) -> Iterator[CapacityLimiter]:
        """A lane for somebody, unless they have enough of them already."""
        if self.busy[who] >= self.each:
            fix = "wait until one of them has ended"
            words = f"{self.each} of your calls are in progress"
            raise refused("P-11", words, fix, status=429, retry_at=retry_at)
        self.busy[who] += 1
        try:
            yield self.limiter
        finally:
            self.busy[who] -= 1
            self.busy += Counter()  # anyone who has none left is forgotten


async def receive_body(request: Request, work: Callable[[Iterator[bytes]], Result]) -> Result:
    """Do some work in a thread on the pieces of a call's body, as they come."""
    pace: Pace = getattr(request.app.state, "pace", Pace())
    lanes: Lanes = request.app.state.lanes
    request.state.streams = True
    caller: Caller = request.state.caller
    later = caller.office.clock() + timedelta(seconds=pace.idle)
    with lanes.one_of(str(caller.viewer.person), later) as limiter:
        pieces = _pull_parts(_paced_parts(request.stream(), pace))
        return await to_thread.run_sync(lambda: work(pieces), limiter=limiter)


def _pull_parts(parts: AsyncIterator[bytes]) -> Iterator[bytes]:
    """The parts of a body, pulled from the thread of the work."""
    while True:
        part: bytes | None = from_thread.run(_next_part, parts)
        if part is None:
            return
        yield part


async def _next_part(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)


async def _paced_parts(body: AsyncIterator[bytes], pace: Pace) -> AsyncIterator[bytes]:
    """The parts of a body, as long as its sender is there and neither stalls nor crawls."""
    started, size, parts = time.monotonic(), 0, aiter(body)
    while True:
        try:
            part = await asyncio.wait_for(anext(parts), pace.idle)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _too_slow() from None
        except ClientDisconnect:
            raise refused(
                "X-2", "the connection was lost", "ask for the offset and continue from there", status=400
            ) from None
        size += len(part)
        spent = time.monotonic() - started
        if spent > pace.patience and size < pace.slowest * spent:
            raise _too_slow()
        yield part


def _too_slow() -> RefusedError:
    fix = "ask for the offset and continue from there, on a better connection"
    return refused("P-11", "the upload was too slow", fix, status=408)


GUESSES = parse("20/minute")
"""Wrong tokens from one address."""


class Throttle:
    """Counts of what came from where. Each process counts for itself; a proxy before several may count for all."""

    def __init__(self) -> None:
        self.limiter = MovingWindowRateLimiter(MemoryStorage())

    def check(self, limit: RateLimitItem, *who: str) -> None:
        """Refuse if there is nothing left for this caller; counts nothing."""
        if not self.limiter.test(limit, *who):
            raise too_often(self.limiter.get_window_stats(limit, *who).reset_time)

    def count(self, limit: RateLimitItem, *who: str) -> None:
        """Count one, and refuse if it was one too many."""
        if not self.limiter.hit(limit, *who):
            raise too_often(self.limiter.get_window_stats(limit, *who).reset_time)


def too_often(until: float) -> RefusedError:
    """The refusal of a caller who has to wait."""
    when = datetime.fromtimestamp(until, UTC)
    return refused("P-11", "too many attempts from this address", "wait, then try again", status=429, retry_at=when)


def count_try(request: Request, what: str) -> None:
    """Count a try at something that strangers may do; too many from one address have to wait."""
    limit = parse(office_of(request).settings.accounts.tries)
    request.app.state.throttle.count(limit, what, caller_address(request))
