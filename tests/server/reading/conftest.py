"""A real server on loopback with a reading season, one for each module, and clients with tokens."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

import httpx2
import pytest
from tests.campaign.work.reading.season import ReadingSeason, reading_season
from tests.server.conftest import with_token
from tests.server.live import live

from basanite.testing import SetClock

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Calls go without TLS; by default the certificates of all authorities would be loaded for each of them."""


@dataclass
class Served:
    """The address of a server, its season, and a client for each person."""

    address: str
    reading: ReadingSeason
    tokens: dict[str, str]

    @property
    def base(self):
        return f"{self.address}/api/v1/campaigns/small/reading"

    def headers(self, who, **more):
        return {"Authorization": f"Bearer {self.tokens[who]}"} | more

    def call(self, who, method, path, *, headers=None, **more):
        """Call as somebody; `path` below the reading services."""
        sent = self.headers(who) if who else {}
        headers = sent | (headers or {})
        return httpx2.request(method, self.base + path, headers=headers, timeout=60, verify=PLAIN, **more)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = reading_season(tmp_path_factory.mktemp("served"), SetClock(), reading={"calls": "10000/minute"})
    names = ("ada", "alan", "bea", "eva", "anna", "judy", "jude")
    tokens = {name: with_token(made.office, made.person(name)) for name in names}
    with live(made.office) as address:
        yield Served(address, made, tokens)
    made.office.close()
