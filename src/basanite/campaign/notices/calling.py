"""Calling a webhook: to the address that was checked and no other, for five seconds, deaf to what is answered (X-10).

Of the answer only the status is looked at: no body is read, no redirect followed, nothing shown to anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import SplitResult

from basanite.campaign.notices.addresses import RefusedAddressError, Resolver, checked_url, chosen_address
from basanite.campaign.notices.mail import UndeliverableError

SECONDS = 5.0
TOLERANCE = 300
"""Seconds that a receiver should allow between the time stamp and its own clock."""
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Call:
    """One call of a webhook."""

    url: str
    body: bytes
    headers: Mapping[str, str]


def payload(kind: str, *, message_id: str, campaign: str, subject: str, at: datetime) -> bytes:
    """What a webhook is told: what kind of thing happened to which id. Whoever wants more asks the API for it."""
    content = {"id": message_id, "kind": kind, "campaign": campaign, "subject": subject, "at": at.isoformat()}
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def signature(secret: bytes, body: bytes, at: int) -> str:
    """The header that proves who called and when."""
    digest = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def signed_by(secret: bytes, body: bytes, header: str, *, now: int) -> bool:
    """Whether a call is genuine and fresh: what a receiver should check.

    >>> signed_by(b"key", b"{}", signature(b"key", b"{}", 1000), now=1010)
    True
    >>> signed_by(b"key", b"{}", signature(b"key", b"{}", 1000), now=2000)
    False
    """
    stamp = header.partition(",")[0].removeprefix("t=")
    fresh = stamp.isascii() and stamp.isdigit() and abs(now - int(stamp)) <= TOLERANCE
    return fresh and hmac.compare_digest(header, signature(secret, body, int(stamp)))


def call(request: Call, *, resolve: Resolver, loopback: bool = False, seconds: float = SECONDS) -> None:
    """Call once; anything but a 2xx within the time is a failure, of which only the status or a word is kept."""
    try:
        status = _within(seconds, lambda stop: _status(request, resolve, loopback, seconds, stop))
    except RefusedAddressError as error:
        raise UndeliverableError(str(error)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UndeliverableError(_word(error)) from error
    if not 200 <= status < 300:
        raise UndeliverableError(f"answered {status}")


class _Stop:
    """Lets the one who waits hang up on the one who talks."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None

    def __call__(self) -> None:
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)  # closing alone would not wake a reader
            self.socket.close()


def _within(seconds: float, work: Callable[[_Stop], Answer]) -> Answer:
    """Work in a thread that is given up after the time: neither a slow name server nor a trickle can hold us."""
    stop: _Stop = _Stop()
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(work(stop))
        except Exception as error:  # noqa: BLE001  (handed to the one who waits)
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="webhook").start()
    try:
        return future.result(seconds)
    finally:
        stop()


def _status(request: Call, resolve: Resolver, loopback: bool, seconds: float, stop: _Stop) -> int:
    parts = checked_url(request.url, loopback=loopback)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = chosen_address(parts.hostname or "", port, resolve, loopback=loopback)
    stop.socket = _connected(parts, address, port, seconds)
    connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=seconds)
    connection.sock = stop.socket  # the pinned address; http.client must not look the name up again
    try:
        connection.request("POST", _target(parts), body=request.body, headers=dict(request.headers))
        return connection.getresponse().status
    finally:
        connection.close()


def _connected(parts: SplitResult, address: str, port: int, seconds: float) -> socket.socket:
    """A connection to the address that was checked; the certificate must be the name's all the same."""
    plain = socket.create_connection((address, port), timeout=seconds)
    if parts.scheme != "https":
        return plain
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
    except BaseException:
        plain.close()
        raise


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _word(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return "the certificate is not good" if isinstance(error, ssl.SSLError) else "no connection or no answer"


def headers_of(secret: bytes, body: bytes, *, message_id: str, at: datetime) -> dict[str, Any]:
    """The headers of a call."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "basanite",
        "Basanite-Delivery": message_id,
        "Basanite-Signature": signature(secret, body, int(at.timestamp())),
    }
