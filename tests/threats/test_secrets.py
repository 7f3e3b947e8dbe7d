"""Secrets stay where they belong: in nothing that an object prints of itself, and in no file that others can read."""

from __future__ import annotations

import dataclasses
import importlib
import os
import pkgutil
import re
import stat
from contextlib import closing

import pytest
from pydantic import BaseModel

from basanite.campaign.settings import Accounts, Mail, Provider, Settings, Storage
from basanite.campaign.store.files import LOCK
from basanite.testing import small_office

SECRET = re.compile(r"(\w+_)?(secret|password|passphrase|token|private)")
NONCE = re.compile(r"(\w+_)?(nonce|seed)")
"""Secret as long as it is bytes; as text it has been published."""
TEXT = ("str", "<class 'str'>", "str | None")
BYTES = ("bytes", "<class 'bytes'>")
PARTS = ("campaign", "server", "receipts", "harness", "work", "cli")
OTHERS = stat.S_IROTH | stat.S_IWOTH | stat.S_IXOTH


def classes():
    """Every class of ours, once."""
    for part in PARTS:
        package = importlib.import_module(f"basanite.{part}")
        for found in pkgutil.walk_packages(package.__path__, f"basanite.{part}."):
            if not found.name.endswith(("__main__", ".versions", ".env")) and ".migrations." not in found.name:
                module = importlib.import_module(found.name)
                yield from (
                    one for one in vars(module).values() if isinstance(one, type) and one.__module__ == found.name
                )


def printed(one: type):
    """The fields that an object of this class prints of itself."""
    if dataclasses.is_dataclass(one) and "__repr__" in vars(one) and one.__dataclass_params__.repr:
        yield from ((field.name, field.type) for field in dataclasses.fields(one) if field.repr)
    elif issubclass(one, BaseModel):
        yield from ((name, field.annotation) for name, field in one.model_fields.items() if field.repr)


def is_secret(name: str, kind: str) -> bool:
    return bool(SECRET.fullmatch(name) and kind in (*TEXT, *BYTES)) or bool(NONCE.fullmatch(name) and kind in BYTES)


def test_no_object_prints_a_secret_of_its_own():
    told = [(one.__qualname__, name) for one in classes() for name, kind in printed(one) if is_secret(name, str(kind))]
    assert told == []


def test_settings_print_none_of_the_secrets_that_they_hold(tmp_path):
    settings = Settings(
        data=tmp_path,
        database="postgresql+psycopg://me:hunter2@db/x",
        mail=Mail(password="hunter2"),
        storage=Storage(secret="hunter2"),
        accounts=Accounts(providers=(Provider(id="a", title="A", issuer="i", client="c", secret="hunter2"),)),
    )
    assert "hunter2" not in repr(settings) + str(settings) + f"{settings.mail} {settings.storage} {settings.accounts}"


def test_a_wrong_setting_is_named_without_its_value(tmp_path, monkeypatch):
    from basanite.cli.office import read_settings
    from basanite.errors import SettingError

    monkeypatch.chdir(tmp_path)
    (tmp_path / "basanite.toml").write_text('[mail]\npassword = ["hunter2"]\nport = "hunter2"\n')
    with pytest.raises(SettingError) as refusal:
        read_settings()
    assert "mail.password" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_what_a_server_makes_is_closed_to_others_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        with closing(small_office(tmp_path)) as office:
            office.vault.secret("nonce", "r1")
            office.sealed.put(b"a key")
            office.files.put(b"a submission")
    finally:
        os.umask(before)
    assert not (tmp_path / "data").stat().st_mode & (OTHERS | stat.S_IRWXG)
    stored = [path for part in ("files", "sealed") for path in (tmp_path / "data" / part).rglob("*") if path.is_file()]
    assert len([path for path in stored if path.name != LOCK]) == 2
    assert [path for path in stored if path.stat().st_mode & (OTHERS | stat.S_IWGRP)] == []
    assert [path for path in office.vault.folder.rglob("*") if path.stat().st_mode & (OTHERS | stat.S_IRWXG)] == []
