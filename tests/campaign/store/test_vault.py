"""Secrets are there for the server's own user alone, and gone once destroyed."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from basanite.campaign.store.vault import Vault


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "data" / "vault")


def test_a_secret_is_made_once_and_stays(vault):
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: vault.secret("nonce", "r1"), range(32)))
    assert len(made) == 1
    assert len(made.pop()) == 32
    assert vault.secret("nonce", "r2") != vault.secret("nonce", "r1")
    assert vault.names("nonce") == ["r1", "r2"]


def test_nobody_else_can_read_it_whatever_the_umask(vault):
    before = os.umask(0)
    try:
        vault.secret("nonce", "r1")
    finally:
        os.umask(before)
    assert oct((vault.folder / "nonce" / "r1").stat().st_mode)[-3:] == "600"
    assert {oct(path.stat().st_mode)[-3:] for path in (vault.folder, vault.folder / "nonce")} == {"700"}


def test_a_destroyed_secret_is_gone(vault):
    vault.secret("person", "p1")
    vault.destroy("person", "p1")
    vault.destroy("person", "p1")
    with pytest.raises(FileNotFoundError):
        vault.read("person", "p1")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "a b"])
def test_a_name_cannot_leave_the_vault(vault, name):
    with pytest.raises(ValueError, match="cannot be the name"):
        vault.read("nonce", name)


def test_a_keyed_digest_cannot_be_made_without_the_vault(vault, tmp_path):
    digest = vault.hmac("nonce", "r1", b"Y")
    assert digest == vault.hmac("nonce", "r1", b"Y")
    assert digest != vault.hmac("nonce", "r2", b"Y")
    assert digest != Vault(tmp_path / "other").hmac("nonce", "r1", b"Y")
