"""Calling a webhook: to the address that was checked and no other, for five seconds, deaf to what is answered (X-10).

Of the answer only the status is looked at: no body is read, no redirect followed, nothing shown to anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from basanite.campaign.notices.messages import UndeliverableError
from basanite.canonical import canonical_text

Resolver = Callable[[str, int], list[str]]
LONGEST = 2000
UNICAST = ip_network("2000::/3")
"""All IPv6 addresses that are given out to be reached from everywhere lie here."""
SPECIAL = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
            "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
        ),
    )
)  # fmt: skip
"""Ranges of IANA's special-purpose registries that Python's `is_global` lets through in one version or another:
protocol assignments and relays (Teredo, ORCHID, 6to4, AMT), servers for private names (AS112), documentation."""


class RefusedAddressError(Exception):
    """An address that may not be called; the message says why without saying where it led."""


def system_resolver(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(text: str) -> bool:
    """Whether an address is one that everybody in the world can reach.

    >>> [is_public(text) for text in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "3fff::1")]
    [True, False, False, False, False]
    """
    address = _address(text)
    if address is None or address.is_multicast or address.is_reserved or not address.is_global:
        return False
    if isinstance(address, IPv6Address) and address not in UNICAST:
        return False
    return not any(address in net for net in SPECIAL)


def is_loopback(text: str) -> bool:
    """Whether an address is this machine itself."""
    address = _address(text)
    return address is not None and address.is_loopback


def checked_url(url: str, *, loopback: bool = False) -> SplitResult:
    """The parts of a webhook's address, or a refusal: https, a host, nothing hidden in it."""
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise RefusedAddressError("the address is too long or contains invalid characters")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise RefusedAddressError("this is not an address") from error
    if parts.scheme != "https" and not (loopback and parts.scheme == "http"):
        raise RefusedAddressError("only https is supported")
    if not parts.hostname or "@" in parts.netloc or parts.fragment:
        raise RefusedAddressError("write https://host/path, without a name, password or #")
    written = _written_address(parts.hostname)
    if written and not (is_public(written) or (loopback and is_loopback(written))):
        raise RefusedAddressError("the address is not public")
    return parts


def chosen_address(host: str, port: int, resolve: Resolver, *, loopback: bool = False) -> str:
    """The one address that will be called. The name is resolved this once; one bad answer spoils them all."""
    found = resolve(host, port)
    if not found:
        raise RefusedAddressError("the name does not resolve")
    for text in found:
        if not (is_public(text) or (loopback and is_loopback(text))):
            raise RefusedAddressError("the name resolves to an address that is not public")
    return found[0]


def _written_address(host: str) -> str | None:
    """The address that a host is written as, in any of the ways a system understands; None for a name to be resolved.

    >>> [_written_address(host) for host in ("[::1]".strip("[]"), "2130706433", "0x7f.1", "localhost", "example.org")]
    ['::1', '127.0.0.1', '127.0.0.1', '127.0.0.1', None]
    """
    if host.rstrip(".").lower() == "localhost" or host.rstrip(".").lower().endswith(".localhost"):
        return "127.0.0.1"
    if _address(host) is not None:
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))  # 2130706433, 0x7f.1 and the like
    except OSError:
        return None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


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
    """What a webhook is told: what kind of thing happened to which id. Anyone who wants more asks the API for it."""
    content = {"id": message_id, "kind": kind, "campaign": campaign, "subject": subject, "at": at.isoformat()}
    return canonical_text(content).encode()


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
    with _responding(request, resolve, loopback, seconds, stop) as response:
        return response.status


def exchange(
    request: Call, *, resolve: Resolver, loopback: bool = False, seconds: float = SECONDS, most: int = 2**20
) -> tuple[int, bytes]:
    """Call once and read what is answered, as far as it is not longer than that; for systems behind endpoints (G-7)."""

    def work(stop: _Stop) -> tuple[int, bytes]:
        with _responding(request, resolve, loopback, seconds, stop) as response:
            body = response.read(most + 1)
            if len(body) > most:
                raise ValueError("the answer is too long")
            return response.status, body

    try:
        return _within(seconds, work)
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error


@contextmanager
def _responding(
    request: Call, resolve: Resolver, loopback: bool, seconds: float, stop: _Stop
) -> Iterator[http.client.HTTPResponse]:
    parts = checked_url(request.url, loopback=loopback)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = chosen_address(parts.hostname or "", port, resolve, loopback=loopback)
    stop.socket = _connect(parts, address, port, seconds)
    connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=seconds)
    connection.sock = stop.socket  # the pinned address; http.client must not look the name up again
    try:
        connection.request("POST", _target(parts), body=request.body, headers=dict(request.headers))
        yield connection.getresponse()
    finally:
        connection.close()


def _connect(parts: SplitResult, address: str, port: int, seconds: float) -> socket.socket:
    """A connection to the address that was checked; the certificate must be the name's all the same."""
    plain = socket.create_connection((address, port), timeout=seconds)
    if parts.scheme != "https":
        return plain
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
    except BaseException:  # whatever ends the handshake, the connection is closed
        plain.close()
        raise


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _word(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return "the certificate is invalid" if isinstance(error, ssl.SSLError) else "no connection or no answer"


def headers_of(secret: bytes, body: bytes, *, message_id: str, at: datetime) -> dict[str, Any]:
    """The headers of a call."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "basanite",
        "Basanite-Delivery": message_id,
        "Basanite-Signature": signature(secret, body, int(at.timestamp())),
    }
