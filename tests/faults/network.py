"""A network between two hosts that can be cut, so that nothing arrives and nobody is told.

Two ways. With network namespaces there is a real host on the far side, behind a switch of its own; pulling its plug
drops every packet in both directions. Where namespaces cannot be made, a forwarder on loopback stands still instead,
and afterwards has forgotten its connections, as a firewall does that was started again.
"""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import make_url
from tests.offices.postgres import Postgres, name_in

from basanite.sandbox import kernel

NAMESPACES: Final = Path("/var/run/netns")
PATIENCE: Final[Mapping[str, str]] = {
    "connect_timeout": "2",
    "keepalives_idle": "1",
    "keepalives_interval": "1",
    "keepalives_count": "2",
    "tcp_user_timeout": "3000",
    "options": "-c idle_in_transaction_session_timeout=3s -c lock_timeout=5s -c client_connection_check_interval=1s"
    " -c tcp_keepalives_idle=1 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2 -c tcp_user_timeout=3s",
}
"""What the address of a database says so that half-open connections show in seconds; by default it is half a minute."""
PIECE: Final = 65536


def patient_url(url: str, host: str = "", port: int = 0) -> str:
    """The address of a database with the patience above, perhaps by way of another host."""
    found = make_url(url)
    if host:
        found = found.set(host=host, port=port).difference_update_query(["host"])
    return found.update_query_dict(dict(PATIENCE)).render_as_string(hide_password=False)


@dataclass(frozen=True)
class FarHost:
    """A host of its own behind a switch: `near - switch - far`, each with its own network."""

    number: int

    @property
    def near_address(self) -> str:
        """Where the far side finds us."""
        return f"10.{213 + self.number // 256 % 32}.{self.number % 256}.1"

    @property
    def address(self) -> str:
        """Where we find the far side."""
        return f"{self.near_address[:-1]}2"

    @property
    def name(self) -> str:
        """The far host's namespace."""
        return f"bas-far-{self.number}"

    @property
    def switch(self) -> str:
        """The switch's namespace."""
        return f"bas-switch-{self.number}"

    def build(self) -> None:
        """Make both namespaces and lay the cables."""
        near, at_near, far, at_far = (f"{part}{self.number}" for part in ("bn", "bp", "bf", "bq"))
        for namespace in (self.name, self.switch):
            _ip("netns", "add", namespace)
        for end, other, place in ((near, at_near, None), (far, at_far, self.name)):
            _ip("link", "add", end, "type", "veth", "peer", "name", other, "netns", self.switch)
            if place:
                _ip("link", "set", end, "netns", place)
        _ip("addr", "add", f"{self.near_address}/24", "dev", near)
        _ip("link", "set", near, "up")
        _ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", far)
        for end in ("lo", far):
            _ip("-n", self.name, "link", "set", end, "up")
        _ip("-n", self.switch, "link", "add", "board", "type", "bridge")
        for port in (at_near, at_far):
            _ip("-n", self.switch, "link", "set", port, "master", "board")
        for port in ("board", at_near, at_far):
            _ip("-n", self.switch, "link", "set", port, "up")

    def remove(self) -> None:
        """Take everything away; our end goes first, for namespaces are only gone some time after they were deleted."""
        given_back = ("link", "del", f"bn{self.number}"), ("netns", "del", self.switch), ("netns", "del", self.name)
        for words in given_back:
            with suppress(subprocess.CalledProcessError):
                _ip(*words)

    def cut(self) -> None:
        """Pull the far host's plug out of the switch: packets vanish in both directions, and nobody is told."""
        _ip("-n", self.switch, "link", "set", f"bq{self.number}", "nomaster")

    def heal(self) -> None:
        """Plug it in again."""
        _ip("-n", self.switch, "link", "set", f"bq{self.number}", "master", "board")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What this thread starts meanwhile, processes or threads, lives on the far host."""
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(NAMESPACES / self.name, os.O_RDONLY)
        try:
            kernel.call_library("setns", there, kernel.CLONE_NEWNET)
            yield
        finally:
            kernel.call_library("setns", here, kernel.CLONE_NEWNET)
            os.close(here)
            os.close(there)

    def let_in(self, server: Postgres) -> None:
        """Let the near side into a database server that was started on the far host."""
        with (server.folder / "data" / "pg_hba.conf").open("a", encoding="utf-8") as rules:
            rules.write(f"host all all {self.near_address}/32 trust\n")
        server.sql("SELECT pg_reload_conf()")


@contextmanager
def far_host() -> Iterator[FarHost]:
    """A host behind a switch; gone at the end of the block."""
    host = FarHost(os.getpid())
    host.remove()
    try:
        host.build()
        yield host
    finally:
        host.remove()


@cache
def why_no_hosts() -> str:
    """Why no host can be made here; nothing if it can."""
    if shutil.which("ip") is None:
        return "the program `ip` is not there"
    try:
        with far_host() as host, host.inside():
            return ""
    except (subprocess.CalledProcessError, OSError) as error:
        said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        return f"network namespaces cannot be made: {said}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@dataclass
class Forwarder:
    """A port on loopback behind which something else answers, as long as the line is not cut."""

    reach: Callable[[], socket.socket]
    """Opens a connection to what answers."""
    lines: dict[socket.socket, socket.socket] = field(default_factory=dict)
    """Near ends, and the far end of each."""
    lost: list[socket.socket] = field(default_factory=list)
    """Far ends whose near end is gone: nobody told them."""

    def __post_init__(self) -> None:
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.door.getsockname()[1])
        self.open, self.ended, self.at_work = threading.Event(), threading.Event(), threading.Lock()
        self.open.set()
        self.thread = threading.Thread(target=self._carry, daemon=True, name="forwarder")
        self.thread.start()

    def cut(self) -> None:
        """Stand still: what is sent is taken by nobody, and nobody is told."""
        self.open.clear()
        with self.at_work:
            pass

    def heal(self) -> None:
        """Go on with new connections; the old ones are forgotten, and the far side never learns of it."""
        with self.at_work:
            self.lost += self.lines.values()
            for near in self.lines:
                near.close()
            self.lines.clear()
        self.open.set()

    def close(self) -> None:
        """End everything."""
        self.ended.set()
        self.thread.join(10)
        for end in (self.door, *self.lines, *self.lines.values(), *self.lost):
            end.close()

    def _carry(self) -> None:
        while not self.ended.is_set():
            if self.open.wait(0.1):
                with self.at_work:
                    self._once()

    def _once(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.door, selectors.EVENT_READ)
            for near, far in self.lines.items():
                waiting.register(near, selectors.EVENT_READ, (near, near, far))
                waiting.register(far, selectors.EVENT_READ, (near, far, near))
            ready = [key.data for key, _ in waiting.select(0.05)]
        for line in ready:
            if line is None:
                self._accept()
            elif line[0] in self.lines:
                self._pass_on(*line)

    def _accept(self) -> None:
        near = self.door.accept()[0]
        self.lines[near] = self.reach()

    def _pass_on(self, near: socket.socket, sender: socket.socket, receiver: socket.socket) -> None:
        piece = b""
        with suppress(OSError):
            piece = sender.recv(PIECE)
            receiver.sendall(piece)
        if not piece:
            del self.lines[near]
            sender.close()
            receiver.close()


def to_server(server: Postgres) -> Callable[[], socket.socket]:
    """How a forwarder reaches a database server: by its socket in the file system."""

    def reach() -> socket.socket:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.connect(str(server.folder / ".s.PGSQL.5432"))
        return line

    return reach


def to_port(address: str) -> Callable[[], socket.socket]:
    """How a forwarder reaches a port, named as `http://HOST:PORT`."""
    host, _, port = address.rpartition("//")[2].partition(":")
    return lambda: socket.create_connection((host, int(port)), timeout=5)


@contextmanager
def forwarder(reach: Callable[[], socket.socket]) -> Iterator[Forwarder]:
    """A forwarder that ends with the block."""
    made = Forwarder(reach)
    try:
        yield made
    finally:
        made.close()


def database_at(host: str, port: int, url: str) -> str:
    """The address of a database by way of a host and a port, with patience for seconds."""
    return patient_url(f"postgresql+psycopg://postgres@/{name_in(url)}", host, port)
