"""A server that other machines can reach speaks https, and the doctor looks at what is really listened on (X-36)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.cli.running import here, moved, plain, process

EVERY = ("serve", "--data", "season", "--host", "0.0.0.0", "--port", "0", "--no-worker", "--json")
PROXY = {"BASANITE_PROXIES": '["192.0.2.7"]', "BASANITE_ADDRESS": "https://evaluation.example.org"}
WAYS = ("[tls] with certificate and key", 'proxies = ["its address"]', "--plain-http", "--host 127.0.0.1")


def certificate(folder):
    """A certificate of our own making, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "here")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    pem, plain_key = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain_key))
    return {"BASANITE_TLS__CERTIFICATE": "cert.pem", "BASANITE_TLS__KEY": "key.pem"}


@contextmanager
def serving(folder, *more, given):
    """A server on all addresses of this machine, for as long as the block takes; gives what it said at its start."""
    words = (*EVERY, *more)
    how = {"cwd": folder, "env": plain() | moved(words, folder) | given, "text": True}
    with subprocess.Popen([sys.executable, "-m", "basanite", *words], stdout=-1, stderr=-1, **how) as server:
        try:
            said = "".join(iter(server.stdout.readline, "}\n")) + "}" if server.poll() is None else ""
            yield json.loads(said), server
        finally:
            server.terminate()
            server.communicate(timeout=90)


def sign_in_page(told):
    """The page on which a stranger gets a first cookie, asked for on this machine."""
    scheme, _, port = told["address"].partition("://0.0.0.0:")
    for _ in range(300):
        try:
            where, headers = f"{scheme}://127.0.0.1:{port}/sign-in", {"Accept": "text/html"}
            return httpx2.get(where, headers=headers, verify=False, timeout=60)
        except httpx2.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def examined(folder, monkeypatch, given):
    """What the doctor finds, by name."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return {one["name"]: one for one in here("doctor", "--data", "season", "--json", cwd=folder).data["findings"]}


@pytest.mark.req("X-36")
def test_a_server_for_other_machines_without_https_does_not_start_and_says_the_ways_out(tmp_path):
    began = time.monotonic()
    ended = process("serve", "--data", "season", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert [way for way in WAYS if way not in ended.stderr] == []
    assert time.monotonic() - began < 60
    assert list(tmp_path.glob("season*")) == [], "nothing is made for a server that is refused"


@pytest.mark.few(6)
@pytest.mark.req("X-36")
@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "[::]", "", "192.0.2.1", "evaluation.example.org", "0", "::ffff:0.0.0.0"]
)
@pytest.mark.parametrize(
    "given",
    [{}, {"BASANITE_PROXIES": '["192.0.2.7"]'}, {"BASANITE_ADDRESS": "https://evaluation.example.org"}],
    ids=["nothing", "proxy-alone", "address-alone"],
)
def test_no_name_of_a_public_interface_and_no_half_of_a_setting_gets_past(tmp_path, monkeypatch, host, given):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    refused = here("serve", "--data", "season", "--host", host, "--check", cwd=tmp_path)
    assert (refused.code, "--plain-http" in refused.stderr) == (2, True)
    assert here("serve", "--data", "season", "--host", host, "--check", "--plain-http", cwd=tmp_path).code == 0


@pytest.mark.req("X-36")
@pytest.mark.timeout(240)
def test_with_a_certificate_the_server_speaks_https_and_its_cookies_go_nowhere_else(tmp_path, monkeypatch):
    given = certificate(tmp_path)
    with serving(tmp_path, given=given) as (told, _):
        page = sign_in_page(told)
        found = examined(tmp_path, monkeypatch, given)
    assert told["address"].startswith("https://")
    assert told["secure_cookies"] is True
    assert page.headers["set-cookie"].startswith("__Host-")
    assert "Secure" in page.headers["set-cookie"]
    assert page.headers["strict-transport-security"].startswith("max-age=")
    assert (found["listening"]["state"], "https on 0.0.0.0" in found["listening"]["words"]) == ("good", True)
    assert found["settings"]["state"] == "good"


@pytest.mark.slow
@pytest.mark.req("X-36")
@pytest.mark.timeout(240)
def test_behind_a_proxy_that_the_settings_name_cookies_are_secure_and_the_doctor_advises(tmp_path, monkeypatch):
    with serving(tmp_path, given=PROXY) as (told, _):
        page = sign_in_page(told)
        found = examined(tmp_path, monkeypatch, PROXY)
    assert "Secure" in page.headers["set-cookie"]
    assert found["listening"]["state"] == "note"
    assert "only the proxy" in found["listening"]["cure"]


@pytest.mark.req("X-36")
@pytest.mark.timeout(240)
def test_plain_http_on_purpose_starts_with_a_warning_and_the_doctor_sees_it_whatever_is_set(tmp_path, monkeypatch):
    with serving(tmp_path, "--plain-http", given={}) as (told, server):
        page = sign_in_page(told)
        found = examined(tmp_path, monkeypatch, {})
        with_proxy = examined(tmp_path, monkeypatch, PROXY)
        server.terminate()
        warned = server.communicate(timeout=90)[1]
        gone = examined(tmp_path, monkeypatch, {})
    assert "Warning: plain http for other machines" in warned
    assert (told["secure_cookies"], "Secure" in page.headers["set-cookie"]) == (False, False)
    assert found["listening"]["state"] == found["settings"]["state"] == "bad"
    assert "http on 0.0.0.0" in found["listening"]["words"]
    assert "not Secure: basanite-forms" in found["listening"]["words"]
    assert "[tls]" in found["listening"]["cure"]
    assert with_proxy["listening"]["state"] == "bad", "the running server counts, and not what is set now"
    assert (gone["listening"]["state"], "no server" in gone["listening"]["words"]) == ("good", True)


@pytest.mark.req("X-36")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"BASANITE_TLS__KEY": ""}, "cannot be used"),
        ({"BASANITE_TLS__KEY": "none.pem"}, "No such file"),
        ({"BASANITE_TLS__CERTIFICATE": "key.pem"}, "cannot be used for https"),
        ({"BASANITE_ADDRESS": "http://evaluation.example.org"}, "Let it begin with https:"),
    ],
    ids=["key-empty", "no-file", "no-certificate", "address-http"],
)
def test_a_certificate_that_cannot_be_used_is_told_before_the_server_starts(tmp_path, monkeypatch, change, words):
    for name, value in (certificate(tmp_path) | change).items():
        monkeypatch.setenv(name, value)
    refused = here("serve", "--data", "season", "--check", cwd=tmp_path)
    assert (refused.code, words in refused.stderr) == (2, True), refused.stderr
