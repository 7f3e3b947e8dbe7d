"""A real server on loopback, in a thread of this process, so that sockets can misbehave."""

from __future__ import annotations

import threading
import time
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.testclient import TestClient

from basanite.server.app import make_app
from basanite.server.connections import server_config


@contextmanager
def calm_client(office):
    """A client of an application beside which no thread runs.

    A thread that recovers uploads or asks the database as soon as a core is free would decide now and then what a test
    finds that does the same or counts.
    """
    app = make_app(office)
    app.router.lifespan_context = _nothing_beside
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


@asynccontextmanager
async def _nothing_beside(app):
    yield


@contextmanager
def live(office, *, worker=False, pace=None, port=0, **more):
    """Serve until the block ends; gives the address."""
    app = make_app(office, worker=worker)
    if pace is not None:
        app.state.pace = pace
    given = {"log_level": "critical", "timeout_graceful_shutdown": 5} | more
    server = uvicorn.Server(server_config(app, office.settings, "127.0.0.1", port, **given))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(120)
