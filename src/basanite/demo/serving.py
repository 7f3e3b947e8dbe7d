"""The demo's server: on this machine alone, on a socket that is bound before its address is told."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from basanite.campaign.office import Office
from basanite.errors import SettingError

HOST: Final = "127.0.0.1"
GRACE_SECONDS: Final = 5
START_SECONDS: Final = 60.0


def bound(port: int) -> socket.socket:
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
def served(office: Office, door: socket.socket) -> Iterator[None]:
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
    from basanite.server.observing import start_logging

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
