"""`basanite submit` against a real server: checks, uploads, resumes, waits, and keeps the receipt."""

from __future__ import annotations

import json
import shutil

import httpx2
import pytest
from tests.cli.running import here
from tests.offices.prepared import small_season
from tests.server.conftest import add_reference, with_token
from tests.server.doors.sending import begin, send
from tests.server.live import live

from basanite.testing import small_campaign_text

WORDS = ("--campaign", "small", "--task", "CLIR")


@pytest.fixture
def small(office):
    text = small_campaign_text().replace('feedback = "full"', 'feedback = "full"\nsettings = { beta = 20.0 }', 1)
    return small_season(office, text)


@pytest.fixture
def there(tmp_path, office, small, pack, monkeypatch):
    """A folder to stand in, with files to send and a token."""
    for path in (pack.perfect, pack.invalid, pack.documents, pack.queries):
        shutil.copy(path, tmp_path)
    (tmp_path / "token").write_text(with_token(office, small.ada) + "\n")
    monkeypatch.delenv("BASANITE_TOKEN", raising=False)
    return tmp_path


def submit(there, address, file, *more):
    return here("submit", file, "--server", address, *WORDS, "--token-file", "token", *more, cwd=there)


@pytest.mark.req("M60", "M79")
def test_a_file_is_sent_scored_and_its_receipt_kept(there, office, small, pack):
    add_reference(office, small, pack, "DEV")
    with live(office, worker=True) as address:
        ended = submit(there, address, "perfect.tgz", "--label", "perfect", "--json")
        bad = submit(there, address, "invalid.tgz", "--label", "invalid")
    assert ended.code == 0, ended.stderr
    shown = ended.data["submission"]
    assert (shown["state"], shown["door"], shown["result"]["data"]["values"]["aqwv"]["value"]) == ("scored", "api", 1.0)
    receipt = json.loads((there / "perfect.tgz.receipt.json").read_text())
    assert receipt["content"]["submission"]["sha256"] == shown["sha256"]
    assert (bad.code, "[M29]. Fix:" in bad.stderr, "query0" in bad.stderr) == (1, True, True)


@pytest.mark.req("P-14", "P-3")
def test_a_second_submission_of_one_file_leaves_the_first_receipt_as_it_is(there, office, small):
    with live(office) as address:
        ended = [submit(there, address, "perfect.tgz", "--label", "perfect", "--no-wait", "--json") for _ in range(2)]
        named = submit(there, address, "perfect.tgz", "--label", "perfect", "--receipt", "token")
    kept = [json.loads((there / one.data["receipt"]).read_text())["content"]["submission"]["number"] for one in ended]
    assert [one.data["receipt"] for one in ended] == ["perfect.tgz.receipt.json", "perfect.tgz.receipt-2.json"]
    assert kept == [1, 2]
    assert (named.code, "already exists, so nothing was sent" in named.stderr) == (2, True)


@pytest.mark.req("M60")
def test_an_interrupted_upload_goes_on_where_it_stopped(there, office, small):
    content = (there / "perfect.tgz").read_bytes()
    token = (there / "token").read_text().strip()
    with live(office) as address, httpx2.Client(base_url=address, timeout=120) as client:
        begun = begin(client, token, content, label="perfect", type="contrastive", filename="perfect.tgz")
        send(client, token, begun.headers["location"], 0, content[:200])
        ended = submit(there, address, "perfect.tgz", "--label", "perfect", "--no-wait", "--json")
        left = client.get("/api/v1/uploads?campaign=small", headers={"Authorization": f"Bearer {token}"}).json()
    assert (ended.code, ended.data["submission"]["number"], left["uploads"], left["team"]) == (0, 1, [], []), (
        ended.stderr
    )


@pytest.mark.req("P-3")
def test_what_the_server_refuses_is_told_with_rule_and_cure(there, office, small):
    with live(office) as address:
        wrong = submit(there, address, "perfect.tgz", "--label", "a", "--dataset", "EVAL9")
        stranger = here("submit", "perfect.tgz", "--server", address, *WORDS, "--label", "a", cwd=there)
        (there / "token").write_text("bsn_wrong")
        unknown = submit(there, address, "perfect.tgz", "--label", "a")
    assert (wrong.code, "[M62]. Fix:" in wrong.stderr) == (1, True)
    assert (stranger.code, "--token-file" in stranger.stderr) == (2, True)
    assert (unknown.code, "[X-11]. Fix:" in unknown.stderr) == (1, True)


def test_what_is_wrong_on_this_machine_is_found_before_anything_is_sent(there):
    lists = ("--documents", "documents.txt", "--queries", "queries.txt")
    ended = submit(there, "http://127.0.0.1:1", "invalid.tgz", "--label", "a", *lists)
    assert (ended.code, "[M29]" in ended.stderr, "Nothing was sent" in ended.stderr) == (1, True, True)


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(there):
    ended = submit(there, "http://127.0.0.1:1", "perfect.tgz", "--label", "a", "--dry-run", "--json")
    assert (ended.code, ended.data["sent"], ended.data["said"]["task"]) == (0, False, "CLIR")


def test_a_server_that_is_not_there_is_a_users_matter(there, monkeypatch):
    monkeypatch.setattr("basanite.cli.submit.TRIES", 1)
    ended = submit(there, "http://127.0.0.1:1", "perfect.tgz", "--label", "a")
    assert (ended.code, "cannot be reached" in ended.stderr, "Traceback" in ended.stderr) == (2, True, False)


def test_the_token_goes_to_no_other_server(there):
    from basanite.cli.submit import connect

    with connect("https://here.example.org/base", "secret") as connection:
        assert connection._own("https://evil.example.org/api/x?a=1") == "https://here.example.org/base/api/x?a=1"
