"""Around every call: an id for it, headers that keep browsers strict, one line in the log, and no fault shown outside.

Written against ASGI itself, since the ready-made base class of middleware holds bodies in memory.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from basanite.server.faults import answer, note_fault
from basanite.server.observing import Observing

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
        scope.setdefault("state", {})["request_id"] = _id(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=scope["state"]["request_id"])
        await self._served(scope, receive, send)

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, sent = time.perf_counter(), _Sent(send, scope["state"]["request_id"], self.headers)
        try:
            await self.app(scope, bounded(receive, scope), sent)
        except ClientDisconnect:
            sent.status = sent.status or 499
        except Exception as error:  # noqa: BLE001 - whatever is left is a fault of ours, said without details
            note_fault(error)
            await _our_fault(scope, receive, sent)
        finally:
            self.observing.served(scope, sent.status, time.perf_counter() - started)


def bounded(receive: Receive, scope: Scope) -> Receive:
    """The body of a call, cut off where it gets too large, unless whoever reads it holds nothing in memory."""
    size = 0

    async def received() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST_BODY and not scope["state"].get("streams"):
            raise HTTPException(413, f"The body of this call is longer than {LARGEST_BODY} bytes.")
        return message

    return received


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
    words = f"This is a fault of ours, not yours. If it stays, send us this number: {sent.id}"
    await answer(request, 500, words)(scope, receive, sent)


def _id(scope: Scope) -> str:
    given = Headers(scope=scope).get("x-request-id", "")
    return given if GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
