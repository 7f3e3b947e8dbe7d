"""`basanite verify` at the command line: whom it trusts, and how it ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.running import here

from basanite.receipts import Keyring, SigningKey
from basanite.receipts.signatures import PublicKey, hand_over, moment, revoke

FILES = Path(__file__).parent / "golden" / "verify-bundle" / "files"
KEY, OTHER = SigningKey(bytes(range(32))), SigningKey(bytes(32))
AT = datetime(2018, 5, 20, tzinfo=UTC)
RECEIPT = FILES / "score.receipt.json"


def ring(folder, *arguments, name="ring.json"):
    (folder / name).write_bytes(Keyring(*arguments).as_bytes())
    return folder / name


@pytest.mark.req("X-6", case="bad")
def test_without_any_key_nothing_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("BASANITE_KEYS", str(tmp_path / "none.json"))
    ended = here("verify", RECEIPT, cwd=tmp_path)
    assert (ended.code, "No key is pinned" in ended.stderr) == (2, True)


@pytest.mark.req("X-6", case="good")
def test_a_pinned_file_of_keys_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("BASANITE_KEYS", str(FILES / "keys.json"))
    assert here("verify", RECEIPT, cwd=tmp_path).code == 0


@pytest.mark.req("X-6", case="bad")
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        pytest.param(((OTHER.public,),), "not one of the keys", id="unknown"),
        pytest.param(((PublicKey(KEY.public.public, expires=moment(AT)),),), "expired", id="expired"),
        pytest.param(((KEY.public,), (), (revoke(KEY.id, KEY, AT, "lost"),)), "revoked: lost", id="revoked"),
        pytest.param(((PublicKey(KEY.public.public, start=moment(AT)),),), "not in use", id="not-yet-in-use"),
    ],
)
def test_an_unknown_expired_or_revoked_key_ends_with_1(tmp_path, keys, words):
    ended = here("verify", RECEIPT, "--key", ring(tmp_path, *keys), cwd=tmp_path)
    assert (ended.code, ended.stdout) == (1, "")
    assert words in ended.stderr


@pytest.mark.req("X-6")
def test_a_published_ring_is_believed_only_as_far_as_a_given_key_vouches(tmp_path):
    given = ring(tmp_path, (OTHER.public,))
    vouched = ring(tmp_path, (), (hand_over(OTHER, KEY, datetime(2018, 1, 1, tzinfo=UTC)),), name="vouched.json")
    alone = ring(tmp_path, (KEY.public,), name="alone.json")
    assert here("verify", RECEIPT, "--key", given, "--published", vouched, cwd=tmp_path).code == 0
    assert here("verify", RECEIPT, "--key", given, "--published", alone, cwd=tmp_path).code == 1


@pytest.mark.req("M80", case="bad")
def test_another_file_or_a_changed_bundle_ends_with_1(tmp_path):
    keys = ("--key", FILES / "keys.json")
    (tmp_path / "other.tgz").write_bytes(b"other")
    ended = here("verify", RECEIPT, *keys, "--submission", tmp_path / "other.tgz", "--json", cwd=tmp_path)
    assert (ended.code, ended.data["valid"], ended.data["problems"][0]["rule"]) == (1, False, "M80")
    note = json.loads((FILES / "bundle" / "bundle.json").read_text())
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    for path in (FILES / "bundle").iterdir():
        (bundle / path.name).write_bytes(path.read_bytes())
    note["settings"]["beta"] = 40.0
    (bundle / "bundle.json").write_text(json.dumps(note))
    ended = here("verify", RECEIPT, *keys, "--bundle", bundle, cwd=tmp_path)
    assert ended.code == 1
    assert "when made again" in ended.stderr


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 50, b"[" * 100_000])
def test_what_is_no_receipt_is_said_in_words(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    ended = here("verify", tmp_path / "x", "--key", FILES / "keys.json", cwd=tmp_path)
    assert (ended.code, "not a receipt" in ended.stderr) == (1, True)
