"""`basanite serve` and `basanite doctor`: it starts, answers, stops in good order, and what is wrong is found."""

from __future__ import annotations

import json
import quopri
import re
import signal
import socket
import subprocess
import sys
import time

import httpx2
import pytest
from tests.cli.running import here, moved, plain

from basanite.campaign.settings import Mail
from basanite.cli.server import is_loopback, linked_at
from basanite.server.checkup import examine
from basanite.testing import small_office


def free_port():
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return line.getsockname()[1]


def answered(address, process):
    """The answer of a server that is starting."""
    while process.poll() is None:
        try:
            return httpx2.get(f"{address}/health/ready", timeout=60)
        except httpx2.TransportError:
            time.sleep(0.1)
    raise AssertionError(process.communicate())


@pytest.mark.req("P-14")
def test_the_server_starts_answers_and_stops_in_good_order(tmp_path):
    port = free_port()
    words = ("serve", "--port", str(port), "--data", "season")
    how = {"cwd": tmp_path, "env": plain() | moved(words, tmp_path), "text": True}
    command = [sys.executable, "-m", "basanite", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as process:
        try:
            ready = answered(f"http://127.0.0.1:{port}", process)
        finally:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=90)
    assert ready.json()["status"] == "ready"
    assert f"http://127.0.0.1:{port}" in out
    assert "Traceback" not in err
    assert process.returncode in (0, -signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.req("D-9")
@pytest.mark.timeout(240)
def test_links_in_mails_begin_with_the_address_that_is_served(tmp_path):
    words = ("serve", "--port", "0", "--no-worker", "--data", "season", "--json")
    how = {"cwd": tmp_path, "env": plain() | moved(words, tmp_path), "text": True}
    command = [sys.executable, "-m", "basanite", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as process:
        try:
            told = "".join(iter(process.stdout.readline, "}\n")) + "}"
            address = json.loads(told)["address"]
            answered(address, process)
            at = {"cwd": tmp_path}
            assert (
                here("admin", "people", "add", "kim@people.example", "--name", "Kim", "--data", "season", **at).code
                == 0
            )
            grant = ("admin", "people", "grant", "kim@people.example", "administrator", "--data", "season")
            assert here(*grant, **at).code == 0
            assert here("worker", "--until-idle", "--data", "season", **at).code == 0
            (mail,) = (tmp_path / "season" / "outbox").glob("*.eml")
            links = re.findall(r"https?://\S+", quopri.decodestring(mail.read_bytes()).decode())
            assert len(links) == 2
            assert all(link.startswith(f"{address}/") for link in links)
            form = httpx2.get(links[1], follow_redirects=True, timeout=60)
            assert (form.status_code, "Choose a new password" in form.text) == (200, True)
        finally:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)
    assert not address.endswith((":0", ":8000"))


def test_a_public_address_that_is_set_wins_over_the_one_that_is_served(tmp_path, clock):
    office = small_office(tmp_path, clock, address="https://evaluation.example.org/")
    office.remember_address("http://127.0.0.1:8410")
    assert office.address == "https://evaluation.example.org"
    assert linked_at("http://0.0.0.0:8410") == f"http://{socket.gethostname()}:8410"
    assert linked_at("http://[::]:8410") == f"http://{socket.gethostname()}:8410"


@pytest.mark.req("X-15")
def test_a_demo_is_served_to_this_machine_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("BASANITE_DEMO", "true")
    assert here("serve", "--data", "season", "--check", cwd=tmp_path).code == 0
    refused = here("serve", "--data", "season", "--host", "192.0.2.1", "--check", cwd=tmp_path)
    assert (refused.code, "passwords are known" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_only_addresses_of_this_machine_count_as_such(host, near):
    assert is_loopback(host) is near


def test_the_doctor_finds_what_is_wrong_and_says_what_to_do(tmp_path, clock):
    mail = Mail(host="127.0.0.1", port=free_port())
    office = small_office(tmp_path, clock, drop=tmp_path / "none", mail=mail, address="http://evaluation.example.org")
    office.vault.secret("server", "metrics")
    (office.vault.folder / "server" / "metrics").chmod(0o644)
    found = {one.name: one for one in examine(office)}
    office.close()
    bad = {name for name, one in found.items() if one.state == "bad"}
    assert bad == {"settings", "vault", "mail", "drop folder"}
    assert all(one.cure for one in found.values() if one.state != "good")
    assert found["vault"].cure.startswith("chmod -R go= ")


def test_settings_that_cannot_be_read_are_a_users_matter_and_their_values_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("BASANITE_MAIL__PORT", "hunter2")
    ended = here("doctor", "--data", "season", cwd=tmp_path)
    assert (ended.code, "mail.port" in ended.stderr, "hunter2" in ended.stderr) == (2, True, False)
    (tmp_path / "basanite.toml").write_text("data = [")
    assert here("doctor", cwd=tmp_path).code == 2
