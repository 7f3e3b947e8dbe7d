"""The lines that calls come in by: the head of a call is bounded in size and in time, so that nobody holds a line idle.

A call's head is read by h11, which knows a largest size; the quicker parser that the package would take by itself knows
none, and neither minds a sender who never finishes a head (P-11).
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from basanite.campaign.settings import Settings, Tls
from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded

GRACE_SECONDS = 20
"""How long calls that are under way may take to end when the server is stopped."""
WAIT_SECONDS = 30
"""A line on which nothing is said for so long is closed, and so is one whose call has no end of its head by then."""
LARGEST_HEAD = 64 * 1024


def server_config(app: ASGIApp, settings: Settings, host: str, port: int, **more: Any) -> uvicorn.Config:
    """How the application is served; where a call comes from is taken from the proxies that the settings name alone."""
    given: dict[str, Any] = {
        "http": Line,
        "ws": "none",
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "proxy_headers": bool(settings.proxies),
        "forwarded_allow_ips": list(settings.proxies),
        "timeout_keep_alive": WAIT_SECONDS,
        "timeout_graceful_shutdown": GRACE_SECONDS,
        "h11_max_incomplete_event_size": LARGEST_HEAD,
    }
    context = tls_context(settings.tls)
    if context is not None:
        given["ssl_context_factory"] = lambda config, default: context
    return uvicorn.Config(app, host=host, port=port, **given | more)


def tls_context(tls: Tls) -> ssl.SSLContext | None:
    """What https is spoken with, if this server does it itself; a certificate that cannot be used is told at once."""
    if tls.certificate is None or tls.key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(tls.certificate, tls.key, password=str)  # an empty one: nobody is there to be asked
    except OSError as error:  # what SSL finds wrong is one, too
        cure = "Give a certificate and its key without a passphrase, both as PEM, that the server's user can read."
        cause = error.strerror or str(error)
        raise SettingError(f"{tls.certificate} with {tls.key} cannot be used for https: {cause}. {cure}") from None
    return context


class Line(H11Protocol):
    """One line; it is closed if the head of a call takes too long, however busily its sender dribbles."""

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has called."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some bytes came: the clock runs until a head is whole, and is not wound up again by each byte."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """The line is closed."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.late is None:
            self.late = self.loop.call_later(self.timeout_keep_alive, self._hang_up)

    def _wait_no_more(self) -> None:
        if self.late is not None:
            self.late.cancel()
            self.late = None

    def _hang_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


NOTES = "serving"
"""The folder of notes in the data folder."""
LARGEST_NOTE = 4096
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"
ANSWER_SECONDS = 5.0
PAGE = "/sign-in"
"""A page that gives every stranger a cookie."""


@dataclass(frozen=True)
class Door:
    """An address and a port that a server listens on."""

    host: IPv4Address | IPv6Address
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if self.host.version == 6 else f"{self.host}:{self.port}"

    @property
    def public(self) -> bool:
        """Whether other machines can reach it."""
        mapped = getattr(self.host, "ipv4_mapped", None)
        return not (mapped or self.host).is_loopback

    @property
    def near(self) -> str:
        """The address by which this machine reaches it."""
        if not self.host.is_unspecified:
            return str(self.host)
        return "::1" if self.host.version == 6 else "127.0.0.1"


@dataclass(frozen=True)
class Answer:
    """What was said behind a door."""

    scheme: str
    """`http`, `https`, or nothing if nobody answered."""
    open_cookies: tuple[str, ...] = ()
    """Cookies that browsers would send without encryption, too."""


def record_port(data: Path, port: int) -> None:
    """Note that this process serves on a port; notes of processes that are gone are thrown away."""
    folder = data / NOTES
    folder.mkdir(mode=0o700, exist_ok=True)
    for note in folder.glob("*.json"):
        if not Path(f"/proc/{note.stem}").exists():
            note.unlink(missing_ok=True)
    (folder / f"{os.getpid()}.json").write_text(json.dumps({"port": port}), encoding="utf-8")


def open_doors(data: Path) -> list[Door]:
    """All doors that servers of this data folder listen on now, on this machine."""
    found = {door for process, port in _notes(data) for door in _held_doors(process, port)}
    return sorted(found, key=lambda door: (door.port, str(door)))


def knock(door: Door) -> Answer:
    """Ask for a page as a browser on this machine would, without encryption first."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # whose certificate it is, is not asked
    lines = {
        "http": HTTPConnection(door.near, door.port, timeout=ANSWER_SECONDS),
        "https": HTTPSConnection(door.near, door.port, timeout=ANSWER_SECONDS, context=context),
    }
    for scheme, line in lines.items():
        with suppress(OSError, HTTPException):
            try:
                line.request("GET", PAGE, headers={"Accept": "text/html"})
                return Answer(scheme, _open_cookies(line.getresponse()))
            finally:
                line.close()
    return Answer("")


def _open_cookies(response: HTTPResponse) -> tuple[str, ...]:
    """The names of cookies without the mark `Secure`."""
    cookies = [cookie.split(";") for cookie in response.headers.get_all("set-cookie", [])]
    return tuple(
        cookie[0].partition("=")[0]
        for cookie in cookies
        if "secure" not in {part.strip().lower() for part in cookie[1:]}
    )


def _notes(data: Path) -> Iterator[tuple[int, int]]:
    for note in (data / NOTES).glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield int(note.stem), int(json.loads(read_bounded(note, LARGEST_NOTE))["port"])


def _held_doors(process: int, port: int) -> Iterator[Door]:
    """The doors of a port, if this process holds them; where others' processes cannot be looked into, of anybody."""
    held = _sockets(process)
    for table in TABLES:
        with suppress(OSError):
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                cells = line.split()
                host, _, number = cells[1].partition(":")
                if cells[3] == LISTENS and int(number, 16) == port and (held is None or cells[9] in held):
                    yield Door(kernel_address(host), port)


def _sockets(process: int) -> set[str] | None:
    """The sockets that a process holds, by their numbers; None if nobody may look."""
    try:
        entries = list(os.scandir(f"/proc/{process}/fd"))
    except PermissionError:
        return None
    except OSError:
        return set()
    links = []
    for entry in entries:
        with suppress(OSError):  # closed meanwhile
            links.append(str(Path(entry).readlink()))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def kernel_address(cell: str) -> IPv4Address | IPv6Address:
    """An address as the kernel's table writes it: words of four bytes in the order of this machine.

    >>> kernel_address("00000000"), kernel_address("00000000000000000000000000000000")
    (IPv4Address('0.0.0.0'), IPv6Address('::'))
    """
    words = [bytes.fromhex(cell[at : at + 8]) for at in range(0, len(cell), 8)]
    packed = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    return ip_address(packed)
