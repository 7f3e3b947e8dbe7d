"""What servers really listen on, and what they say there, by the kernel's tables: whatever settings claim (X-36).

Each process that serves notes its number and its port in the data folder. The note is only a hint where to look: a
process that was killed leaves its note behind, and another may have its number by now.
"""

from __future__ import annotations

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

from basanite.formats.bounded import read_bounded

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


def record(data: Path, port: int) -> None:
    """Note that this process serves on a port; notes of processes that are gone are thrown away."""
    folder = data / NOTES
    folder.mkdir(mode=0o700, exist_ok=True)
    for note in folder.glob("*.json"):
        if not Path(f"/proc/{note.stem}").exists():
            note.unlink(missing_ok=True)
    (folder / f"{os.getpid()}.json").write_text(json.dumps({"port": port}), encoding="utf-8")


def doors(data: Path) -> list[Door]:
    """All doors that servers of this data folder listen on now, on this machine."""
    found = {door for process, port in _notes(data) for door in _listened(process, port)}
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


def _listened(process: int, port: int) -> Iterator[Door]:
    """The doors of a port, if this process holds them; where others' processes cannot be looked into, of anybody."""
    held = _sockets(process)
    for table in TABLES:
        with suppress(OSError):
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                cells = line.split()
                host, _, number = cells[1].partition(":")
                if cells[3] == LISTENS and int(number, 16) == port and (held is None or cells[9] in held):
                    yield Door(address(host), port)


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


def address(cell: str) -> IPv4Address | IPv6Address:
    """An address as the kernel's table writes it: words of four bytes in the order of this machine.

    >>> address("00000000"), address("00000000000000000000000000000000")
    (IPv4Address('0.0.0.0'), IPv6Address('::'))
    """
    words = [bytes.fromhex(cell[at : at + 8]) for at in range(0, len(cell), 8)]
    packed = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    return ip_address(packed)
