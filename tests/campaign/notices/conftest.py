"""Real servers on this machine: one that takes mail, and one that is called by webhooks and behaves badly on demand."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller
from tests.offices import prepared

from basanite.testing import small_office


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Catcher:
    """A mail server's opinion: keeps what it gets, or answers as it is told to."""

    def __init__(self):
        self.mails, self.answers, self.refused = [], [], {}

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if self.answers:
            return self.answers.pop(0)
        self.mails.append((envelope.mail_from, list(envelope.rcpt_tos), envelope.content.decode()))
        return "250 OK"


@pytest.fixture
def catcher():
    """A real mail server on a free port of this machine."""
    handler = Catcher()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    handler.port = controller.port
    yield handler
    controller.stop()


class Called(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.path, dict(self.headers), body))
        getattr(self, self.path.strip("/"))()

    def ok(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a secret that nobody may see")

    def away(self):
        self.send_response(503)
        self.end_headers()

    def redirect(self):
        self.send_response(302)
        self.send_header("Location", "/ok")
        self.end_headers()

    def hang(self):
        self.server.ended.wait(120)

    def trickle(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(1000):
            if self.server.ended.is_set():
                return
            self.wfile.write(f"X-{number}: slow\r\n".encode())
            time.sleep(0.1)

    def huge(self):
        self.send_response(200)
        self.send_header("Content-Length", str(10 * 2**30))
        self.end_headers()
        piece = b"x" * 2**20
        for _ in range(10 * 2**10):
            self.wfile.write(piece)
            self.server.sent += len(piece)

    def log_message(self, *arguments):
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """A caller that hangs up is what these tests are about."""


@pytest.fixture
def called():
    """A real web server on a free port; its path says how it behaves."""
    server = Quiet(("127.0.0.1", 0), Called)
    server.calls, server.sent, server.ended = [], 0, threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    server.address = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def open_office(tmp_path, clock):
    """An office that may call this machine."""
    made = small_office(tmp_path, clock, loopback_webhooks=True)
    yield made
    made.close()


@pytest.fixture
def small_season(sqlite_office):
    return prepared.small_season(sqlite_office)
