"""Keys lie outside the data folder of every new server, references are encrypted with one, and a lost vault is told."""

from __future__ import annotations

import tarfile

import pytest
from tests.cli.running import ROOT, here

PLACE = ("--task", "CLIR", "--dataset", "DEV", "--language", "1A", "--queryset", "QUERY1")
KEY = ("--key", "backup.key")


def done(folder, *words):
    """A command that must succeed, on the season of a folder unless it names another."""
    ended = here(*words, *(() if "--data" in words else ("--data", "season")), cwd=folder)
    assert ended.code == 0, (words, ended.stdout, ended.stderr)
    return ended


def begin(folder, *, reference=True):
    """A new server with a person and, as a rule, a reference."""
    (folder / "backup.key").write_text("0f" * 32)
    here("admin", "campaign", "new", ROOT / "examples" / "campaign" / "small.toml", "--out", "small.toml", cwd=folder)
    done(folder, "admin", "campaign", "add", "small.toml")
    done(folder, "admin", "people", "add", "ada@example.org", "--name", "Ada Kim")
    if reference:
        done(folder, "admin", "reference", "add", ROOT / "examples" / "clir" / "key", *PLACE)


def finding(folder, name):
    """What the doctor says about one thing."""
    found = here("doctor", "--data", "season", "--json", cwd=folder).data["findings"]
    (one,) = [one for one in found if one["name"] == name]
    return one


def kept(folder):
    """All files of references on this machine's disk."""
    return [path for path in (folder / "season" / "sealed").glob("??/*") if path.is_file()]


@pytest.mark.req("X-36")
def test_a_new_server_has_its_keys_outside_the_data_folder_and_encrypts_references(tmp_path):
    begin(tmp_path)
    shown = done(tmp_path, "admin", "vault", "show", "--json").data
    assert shown["folder"] == str(tmp_path / "season-vault")
    assert (shown["inside"], shown["encrypts_references"]) == (False, True)
    secrets = [path.read_bytes() for path in (tmp_path / "season-vault").rglob("*") if path.is_file()]
    content = [path.read_bytes() for path in (tmp_path / "season").rglob("*") if path.is_file()]
    assert len(secrets) == shown["secrets"] > 2
    assert not any(secret in one for secret in secrets for one in content), "a copy of the data holds no key"
    assert not any(tarfile.is_tarfile(path) for path in kept(tmp_path))
    assert finding(tmp_path, "vault")["state"] == finding(tmp_path, "references")["state"] == "good"


@pytest.mark.req("X-36")
@pytest.mark.sqlite("its files are looked at")
def test_references_of_a_new_server_are_encrypted_on_disk_and_those_of_an_older_one_stay_as_they_are(
    tmp_path, monkeypatch
):
    begin(tmp_path)
    assert [path.suffix for path in kept(tmp_path)] == [".sealed"]
    (older := tmp_path / "older").mkdir()
    monkeypatch.setenv("BASANITE_ENCRYPT_REFERENCES", "false")
    begin(older)
    monkeypatch.delenv("BASANITE_ENCRYPT_REFERENCES")
    done(older, "admin", "vault", "show")
    assert [path.suffix for path in kept(older)] == [""]
    note = finding(older, "references")
    assert (note["state"], "encrypt_references = true" in note["cure"]) == ("note", True)


@pytest.mark.req("X-36")
def test_an_older_server_keeps_its_vault_until_it_is_moved_as_the_doctor_says(tmp_path):
    (tmp_path / "season" / "vault").mkdir(parents=True, mode=0o700)
    begin(tmp_path)
    assert not (tmp_path / "season-vault").exists()
    found = finding(tmp_path, "vault")
    assert (found["state"], "basanite admin vault move --data season" in found["cure"]) == ("bad", True)
    count = done(tmp_path, "admin", "vault", "show", "--json").data["secrets"]
    moved = done(tmp_path, "admin", "vault", "move", "--json").data
    assert moved == {"folder": str(tmp_path / "season-vault"), "moved": count}
    assert not [path for path in (tmp_path / "season").iterdir() if "vault" in path.name]
    assert finding(tmp_path, "vault")["state"] == "good"
    assert "Ada Kim" in done(tmp_path, "admin", "people", "export", "ada@example.org", "--json").stdout
    assert done(tmp_path, "admin", "vault", "move", "--json").data["moved"] == 0


@pytest.mark.req("X-36")
def test_a_vault_that_is_set_is_where_an_older_one_moves_to_and_it_must_lie_outside(tmp_path, monkeypatch):
    (tmp_path / "season" / "vault").mkdir(parents=True, mode=0o700)
    begin(tmp_path)
    monkeypatch.setenv("BASANITE_VAULT", str(tmp_path / "season" / "other"))
    assert here("admin", "vault", "move", "--data", "season", cwd=tmp_path).code == 2
    monkeypatch.setenv("BASANITE_VAULT", str(tmp_path / "keys"))
    refused = here("admin", "people", "add", "bea@example.org", "--name", "Bea", "--data", "season", cwd=tmp_path)
    assert (refused.code, "basanite admin vault move" in refused.stderr) == (2, True)
    assert done(tmp_path, "admin", "vault", "move", "--json").data["folder"] == str(tmp_path / "keys")
    done(tmp_path, "admin", "people", "add", "bea@example.org", "--name", "Bea")


@pytest.mark.req("X-36")
def test_the_doctor_names_a_way_out_for_a_vault_that_is_set_inside_or_around_the_data(tmp_path, monkeypatch):
    (tmp_path / "all").mkdir(mode=0o700)
    for vault, data in (("season/keys", "season"), ("all", "all/season")):
        monkeypatch.setenv("BASANITE_VAULT", str(tmp_path / vault))
        done(tmp_path, "admin", "people", "add", "ada@example.org", "--name", "Ada Kim", "--data", data)
        found = here("doctor", "--data", data, "--json", cwd=tmp_path).data["findings"]
        (one,) = [one for one in found if one["name"] == "vault"]
        assert (one["state"], "and name that one: vault =" in one["cure"]) == ("bad", True), one
    monkeypatch.setenv("BASANITE_VAULT", str((tmp_path / "season" / "keys").rename(tmp_path / "moved")))
    assert finding(tmp_path, "vault")["state"] == "good", "what the doctor says helps"
    assert "Ada Kim" in done(tmp_path, "admin", "people", "export", "ada@example.org", "--json").stdout


@pytest.mark.req("X-36")
def test_without_its_vault_no_command_begins_a_new_one(tmp_path):
    begin(tmp_path)
    (tmp_path / "season-vault").rename(tmp_path / "away")
    for words in (("worker", "--until-idle"), ("admin", "people", "add", "bea@example.org", "--name", "Bea")):
        refused = here(*words, "--data", "season", cwd=tmp_path)
        assert (refused.code, "keys of the people in this database are not in" in refused.stderr) == (2, True)
    assert finding(tmp_path, "vault")["state"] == "bad"
    assert not (tmp_path / "season-vault").exists()
    (tmp_path / "away").rename(tmp_path / "season-vault")
    done(tmp_path, "admin", "people", "add", "bea@example.org", "--name", "Bea")


@pytest.mark.req("X-36")
@pytest.mark.sqlite("its folder is lost")
def test_a_backup_comes_back_with_the_vault_in_its_place_and_without_it_only_if_that_is_said(tmp_path):
    begin(tmp_path)
    done(tmp_path, "backup", "all.backup", *KEY)
    refused = here("restore", "all.backup", *KEY, "--data", "elsewhere", cwd=tmp_path)
    assert (refused.code, "--vault-from FILE" in refused.stderr) == (2, True)
    assert list(tmp_path.glob("*elsewhere*")) == []
    (tmp_path / "season").rename(tmp_path / "broken")
    assert done(tmp_path, "restore", "all.backup", *KEY, "--json").data["without_vault"] is False
    assert "Ada Kim" in done(tmp_path, "admin", "people", "export", "ada@example.org", "--json").stdout
    lost = done(tmp_path, "restore", "all.backup", *KEY, "--without-vault", "--data", "elsewhere", "--json")
    assert lost.data["without_vault"] is True
    done(tmp_path, "admin", "events", "--data", "elsewhere")


@pytest.mark.req("X-36")
def test_the_vault_of_another_server_opens_no_backup(tmp_path):
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        begin(tmp_path / name, reference=False)
        done(tmp_path / name, "backup", "b.backup", *KEY, "--vault-to", "b.vault", "--vault-key", "backup.key")
    vault = ("--vault-from", "../theirs/b.vault", "--vault-key", "backup.key")
    ended = here("restore", "b.backup", *KEY, *vault, "--data", "again", cwd=tmp_path / "ours")
    assert ended.code != 0
    assert "another server" in ended.stderr
    assert not list((tmp_path / "ours").glob("again*")), "nothing is left behind"


@pytest.mark.req("X-36")
def test_a_vault_that_cannot_be_made_is_told_with_the_cure(tmp_path, monkeypatch):
    (tmp_path / "keys").write_text("a file")
    monkeypatch.setenv("BASANITE_VAULT", "keys")
    refused = here("admin", "vault", "show", "--data", "season", cwd=tmp_path)
    assert (refused.code, 'vault = "..."' in refused.stderr) == (2, True)
