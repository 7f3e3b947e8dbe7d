"""Huge, slow, broken, endless and homeless uploads end in a clear answer, and the service stays up (P-11, X-2, X-8)."""

from __future__ import annotations

import gzip
import io
import os
import resource
import socket
import subprocess
import tarfile
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.offices.prepared import small_season
from tests.server.conftest import with_token
from tests.server.doors.sending import TUS, bearer, begin, send, send_raw, send_tus, sha256
from tests.server.live import live

from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.store.tables import Charge
from basanite.server.app import make_app
from basanite.server.guard import Pace
from basanite.testing import small_campaign_text

pytestmark = pytest.mark.req("P-11")

HASTY = Pace(idle=0.3, slowest=10_000, patience=0.5)


@pytest.fixture(autouse=True)
def children():
    """Real ones, each a new Python in a box: they are what is looked at here."""


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


def charges(office):
    with office.reading() as session:
        return sorted(session.scalars(select(Charge.state)))


def healthy(address):
    return httpx2.get(f"{address}/health/ready", timeout=120).status_code == 200


def spoken(address, head, body=(), *, wait=5.0):
    """What a server answers to bytes on a socket; nothing if it hangs up."""
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port), wait) as line:
        line.sendall(head)
        try:
            for piece in body:
                line.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            return line.recv(65536).decode(errors="replace")
        except ConnectionResetError:
            return ""


def request(method, target, token, **headers):
    """The head of a call, as bytes."""
    lines = [f"{method} {target} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def raw_target(content):
    return f"/api/v1/campaigns/small/submissions?task=CLIR&label=alpha&sha256={sha256(content)}"


def test_a_sender_who_stalls_is_let_go_and_can_go_on_later(office, small, token, pack):
    content = pack.perfect.read_bytes()
    with live(office, pace=HASTY) as address, httpx2.Client(base_url=address, timeout=120) as client:
        place = begin(client, token, content).headers["location"]
        media = "application/offset+octet-stream"
        head = request(
            "PATCH",
            place,
            token,
            Tus_Resumable="1.0.0",
            Upload_Offset=0,
            Content_Type=media,
            Content_Length=len(content),
        )
        answer = spoken(address, head, [content[:50]])
        assert " 408 " in answer.splitlines()[0]
        assert client.head(place, headers=bearer(token) | TUS).headers["upload-offset"] == "50"
        assert "basanite-submission" in send(client, token, place, 50, content[50:]).headers


def test_a_call_in_one_piece_that_breaks_off_costs_nothing(office, small, token, pack):
    content = pack.perfect.read_bytes()
    with live(office, pace=HASTY) as address:
        head = request("POST", raw_target(content), token, Content_Length=len(content))
        assert " 408 " in spoken(address, head, [content[:50]]).splitlines()[0]
        assert (charges(office), healthy(address)) == (["freed"], True)
        assert list((office.settings.data / "uploads").iterdir()) == []


@pytest.mark.req("X-2")
def test_a_body_without_a_length_is_refused_before_it_is_read(office, small, token, pack):
    with live(office, pace=HASTY) as address:
        head = request("POST", raw_target(b"x"), token, Transfer_Encoding="chunked")
        endless = (b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(2000))
        assert " 411 " in spoken(address, head, endless).splitlines()[0]
        assert (charges(office), healthy(address)) == ([], True)


@pytest.mark.req("X-2")
def test_chunks_without_end_stop_at_the_announced_length(office, small, token, pack):
    content = pack.perfect.read_bytes()
    with live(office) as address, httpx2.Client(base_url=address, timeout=120) as client:
        place = begin(client, token, content).headers["location"]
        media = "application/offset+octet-stream"
        more = {"Tus_Resumable": "1.0.0", "Upload_Offset": 0, "Content_Type": media, "Transfer_Encoding": "chunked"}
        endless = (b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(2000))
        answer = spoken(address, request("PATCH", place, token, **more), endless)
        assert answer == "" or " 413 " in answer.splitlines()[0]
        assert sum(path.stat().st_size for path in (office.settings.data / "uploads").iterdir()) <= len(content)
        assert healthy(address)


@pytest.mark.req("X-2")
def test_a_length_or_digest_that_is_not_true_is_refused(client, office, token, pack):
    content = pack.perfect.read_bytes()
    wrong = send_raw(client, token, content, sha256="0" * 64)
    assert (wrong.status_code, wrong.json()["problems"][0]["rule"]) == (422, "X-2")
    assert send_raw(client, token, b"").status_code == 422
    assert charges(office) == ["freed"]


def test_a_file_larger_than_the_campaign_takes_is_refused_before_it_is_sent(office):
    small = small_season(office, small_campaign_text(largest_upload="1 KiB"))
    token = with_token(office, small.ada)
    with TestClient(make_app(office)) as client:
        assert begin(client, token, b"x" * 1025).status_code == 413
        assert send_raw(client, token, b"x" * 1025).status_code == 413


@pytest.mark.sqlite("the object store of the tests holds its files in the memory of this process")
def test_a_large_file_is_never_held_in_memory(office, small, token):
    size = 48 * 2**20
    content = os.urandom(2**20) * (size // 2**20)
    with live(office) as address, httpx2.Client(base_url=address, timeout=120) as client:
        place = begin(client, token, content).headers["location"]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer = send(client, token, place, 0, (content[start : start + 2**20] for start in range(0, size, 2**20)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert "basanite-submission" in answer.headers
    assert grown < size / 2


@contextmanager
def small_disk(folder, size):
    """A disk of a few bytes at a folder; skips where nobody may mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if made.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_told_and_the_upload_goes_on_when_there_is_room(client, office, token):
    folder, content = office.settings.data / "uploads", os.urandom(300_000)
    with small_disk(folder, "256k"):
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(200_000))
        place = begin(client, token, content).headers["location"]
        full = send(client, token, place, 0, content)
        assert (full.status_code, "disk is full" in full.text) == (507, True)
        assert client.get("/health/live").status_code == 200
        ballast.unlink()
        subprocess.run(["mount", "-o", "remount,size=2m", folder], check=True)
        at = int(client.head(place, headers=bearer(token) | TUS).headers["upload-offset"])
        answer = send(client, token, place, at, content[at:])
    assert "basanite-submission" in answer.headers


def archive(*members):
    """An archive with these members, as bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def member(name, **more):
    made = tarfile.TarInfo(name)
    for key, value in more.items():
        setattr(made, key, value)
    return made


HOSTILE = {
    "not-an-archive": b"\x00" * 1000,
    "climbs": archive((member("../../etc/passwd"), b"x")),
    "link": archive((member("query00001.tsv", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b"")),
    "device": archive((member("query00001.tsv", type=tarfile.CHRTYPE), b"")),
    "bomb": gzip.compress(b"\x00" * (40 * 2**20)),
    "truncated": archive((member("query00001.tsv"), b"x" * 5000))[:-30],
    "long-header": archive((member("query00001.tsv", pax_headers={"comment": "x" * 100_000}), b"x")),
    "two-streams": archive((member("query00001.tsv"), b"x")) + gzip.compress(b"more"),
}


@pytest.mark.req("X-8")
def test_hostile_archives_end_as_invalid_by_every_door_of_the_api(client, office, small, token, reference):
    places = {}
    with running(office, ()):
        for name, content in HOSTILE.items():
            send_one = send_raw if len(name) % 2 else send_tus
            answer = send_one(client, token, content)
            assert answer.status_code in (201, 204), (name, answer.text)
            places[name] = answer.headers.get("basanite-submission") or answer.json()["url"]
            assert until_idle(office, 60) == 0
    shown = {name: client.get(place, headers=bearer(token)).json() for name, place in places.items()}
    assert {name: one["state"] for name, one in shown.items()} == dict.fromkeys(HOSTILE, "invalid")
    assert all(one["problems"]["problems"] for one in shown.values())
    assert set(charges(office)) == {"freed"}
    assert client.get("/health/ready").status_code == 200
