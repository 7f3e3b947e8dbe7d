"""The lines that calls come in by: the head of a call is bounded in size and in time, so that nobody holds a line idle.

A call's head is read by h11, which knows a largest size; the quicker parser that the package would take by itself knows
none, and neither minds a sender who never finishes a head (P-11).
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from basanite.campaign.settings import Settings, Tls
from basanite.errors import SettingError

GRACE_SECONDS = 20
"""How long calls that are under way may take to end when the server is stopped."""
WAIT_SECONDS = 30
"""A line on which nothing is said for so long is closed, and so is one whose call has no end of its head by then."""
LARGEST_HEAD = 64 * 1024


def configured(app: ASGIApp, settings: Settings, host: str, port: int, **more: Any) -> uvicorn.Config:
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
        cure = "Name a certificate and its key without a passphrase, both as PEM, that the server's user can read."
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
