"""Backup and restore: all of it, one moment of it, or a clear refusal."""

import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import select
from tests.offices.engines import empty_place, lose

from basanite.campaign.archive.backup import PASSING, BackupError, back_up, back_up_vault
from basanite.campaign.archive.restore import restore
from basanite.campaign.archive.rows import TABLES, lines
from basanite.campaign.office import Office, bucket
from basanite.campaign.receipts import keyring, signing_key
from basanite.campaign.sealing import Lock, SealedError, unseal
from basanite.campaign.settings import Settings
from basanite.campaign.store import events
from basanite.campaign.store.personal import unseal as unseal_person
from basanite.campaign.store.tables import Event, Person, Result, Submission
from basanite.testing import small_office

LOCK = Lock(bytes(range(32)))
VAULT_LOCK = Lock(b"a passphrase", passphrase=True)


def everything(office):
    with office.database.engine.connect() as connection:
        return {name: list(lines(connection, TABLES[name])) for name in TABLES if name not in PASSING}


def stored(files):
    return {digest: files.read(digest) for digest in files.digests()}


def on_disk(files):
    return [path.read_bytes() for path in files.folder.glob("??/*")]


def elsewhere(tmp_path, database_url=None):
    """A place of the same kind in which there is nothing."""
    data = tmp_path / "elsewhere" / "data"
    where = empty_place(data).settings() | ({"database": database_url} if database_url else {})
    return Settings(data=data, **where)


@pytest.fixture
def other_url(database_url, request):
    """An empty database of the same kind."""
    if database_url is None:
        return None
    return request.getfixturevalue("server").fresh()


@pytest.mark.store
def test_what_is_restored_elsewhere_is_what_was_there(office, kept, tmp_path, other_url, clock):
    saved = back_up(office, LOCK, tmp_path / "season.backup")
    back_up_vault(office.vault, VAULT_LOCK, tmp_path / "season.vault")
    settings = elsewhere(tmp_path, other_url)
    restored = restore(tmp_path / "season.backup", LOCK, settings, (tmp_path / "season.vault", VAULT_LOCK))
    with closing(Office.open(settings, clock)) as other:
        assert everything(other) == everything(office)
        assert stored(other.files) == stored(office.files)
        assert stored(other.sealed) == stored(office.sealed)
        with other.reading() as there, office.reading() as here:
            assert events.head(there) == events.head(here) == (saved.sequence, saved.head)
            assert not list(events.broken(there))
            assert there.scalars(select(Result.primary)).all() == [0.3141592654]
            assert unseal_person(other.vault, there.get_one(Person, kept.ada)).name == "Ada Lovelace"
        with other.writing() as session:
            assert signing_key(session, other).id == keyring(session).keys[0].id
    assert restored.saved == saved
    assert not saved.missing


@pytest.mark.parametrize("before", [True, False], ids=["encrypted before", "to be encrypted now"])
def test_encrypted_references_are_encrypted_again_where_they_are_restored(tmp_path, clock, before):
    secret = b"D1\tY\nD2\tN\n" * 9
    with closing(small_office(tmp_path, clock, encrypt_references=before)) as office:
        digest = office.sealed.put(secret).digest
        back_up(office, LOCK, tmp_path / "b")
        back_up_vault(office.vault, VAULT_LOCK, tmp_path / "v")
    settings = elsewhere(tmp_path).model_copy(update={"encrypt_references": not before})
    restore(tmp_path / "b", LOCK, settings, (tmp_path / "v", VAULT_LOCK))
    with closing(Office.open(settings, clock)) as other:
        assert other.sealed.read(digest) == secret
        assert not any(secret in content for content in on_disk(other.sealed))


@pytest.mark.store
def test_what_is_restored_where_there_are_buckets_is_found_by_other_machines(sqlite_office, fill, tmp_path, buckets):
    fill(sqlite_office)
    back_up(sqlite_office, LOCK, tmp_path / "b")
    back_up_vault(sqlite_office.vault, VAULT_LOCK, tmp_path / "v")
    settings = elsewhere(tmp_path).model_copy(update={"storage": buckets})
    restore(tmp_path / "b", LOCK, settings, (tmp_path / "v", VAULT_LOCK))
    another = settings.model_copy(update={"data": tmp_path / "another", "vault": settings.vault_folder})
    with closing(Office.open(another)) as other:
        assert stored(other.files) == stored(sqlite_office.files) != {}
        assert stored(other.sealed) == stored(sqlite_office.sealed) != {}


@pytest.mark.store
def test_a_backup_while_others_write_is_one_moment(office, kept, tmp_path, other_url):
    stop, failures = threading.Event(), []

    def write(number):
        """Each transaction adds one submission and one event that names it: neither may come without the other."""
        try:
            while not stop.is_set():
                with office.writing() as session:
                    old = session.scalars(select(Submission).limit(1)).one()
                    count = session.query(Submission).count() + 10
                    values = {column.name: getattr(old, column.name) for column in Submission.__table__.columns}
                    values |= {
                        "id": f"w{number}-{count}-{session.query(Event).count()}",
                        "number": count + number * 10_000,
                    }
                    session.add(Submission(**values))
                    events.record(session, "written", at=office.clock(), actor="system", subject=values["id"])
        except Exception as error:  # noqa: BLE001 - told to the test
            failures.append(error)

    writers = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for writer in writers:
        writer.start()
    try:
        for number in range(3):
            back_up(office, LOCK, tmp_path / f"{number}.backup")
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not failures
    settings = elsewhere(tmp_path, other_url)
    restore(tmp_path / "2.backup", LOCK, settings, without_vault=True)
    with closing(Office.open(settings)) as other, other.reading() as session:
        named = set(session.scalars(select(Event.subject).where(Event.kind == "written")))
        there = {name for name in session.scalars(select(Submission.id)) if name.startswith("w")}
        assert named == there
        assert not list(events.broken(session))


def test_a_backup_shows_no_secret_to_who_has_its_key(sqlite_office, fill, tmp_path):
    office = sqlite_office
    season = fill(office)
    back_up(office, LOCK, tmp_path / "b")
    with (tmp_path / "b").open("rb") as file:
        inside = b"".join(unseal(file, LOCK))
    secrets = [path.read_bytes() for path in office.vault.folder.rglob("*") if path.is_file()]
    assert len(secrets) > 3
    for secret in secrets:
        assert secret not in inside
        assert secret.hex().encode() not in inside
    assert b"D1\tY\n" not in inside, "the answer key"
    assert b"Lovelace" not in inside
    assert b"Lovelace" not in (tmp_path / "b").read_bytes()
    assert season.ada.encode() in inside


def test_without_the_vaults_copy_people_references_and_keys_stay_closed(sqlite_office, fill, tmp_path):
    season = fill(sqlite_office)
    back_up(sqlite_office, LOCK, tmp_path / "b")
    settings = elsewhere(tmp_path)
    with pytest.raises(BackupError, match="--vault-from FILE"):
        restore(tmp_path / "b", LOCK, settings)
    assert not settings.data.exists()
    assert restore(tmp_path / "b", LOCK, settings, without_vault=True).without_vault
    with closing(Office.open(settings)) as other, other.reading() as session:
        assert not stored(other.sealed)
        assert "Ada" not in unseal_person(other.vault, session.get_one(Person, season.ada)).name
        assert not other.vault.names("signing")


def test_an_erased_person_is_forgotten_by_old_backups_once_the_vault_copy_is_replaced(sqlite_office, fill, tmp_path):
    office = sqlite_office
    season = fill(office)
    back_up(office, LOCK, tmp_path / "b")
    for kind in ("person", "persons", "people"):
        for name in office.vault.names(kind):
            if season.ada in name:
                office.vault.destroy(kind, name)
    back_up_vault(office.vault, VAULT_LOCK, tmp_path / "v")
    settings = elsewhere(tmp_path)
    restore(tmp_path / "b", LOCK, settings, (tmp_path / "v", VAULT_LOCK))
    with closing(Office.open(settings)) as other, other.reading() as session:
        assert "Ada" not in unseal_person(other.vault, session.get_one(Person, season.ada)).name
        assert not list(events.broken(session))


@pytest.mark.parametrize("fault", ["flipped", "cut", "other-key", "passphrase", "vault-in-its-place", "nothing"])
def test_a_backup_that_cannot_be_trusted_leaves_nothing(sqlite_office, fill, tmp_path, fault):
    fill(sqlite_office)
    path, lock = tmp_path / "b", LOCK
    back_up(sqlite_office, LOCK, path)
    data = path.read_bytes()
    if fault == "flipped":
        path.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :])
    elif fault == "cut":
        path.write_bytes(data[:-1])
    elif fault == "vault-in-its-place":
        path.unlink()
        back_up_vault(sqlite_office.vault, LOCK, path)
    elif fault == "nothing":
        path.write_bytes(b"")
    else:
        lock = Lock(bytes(32)) if fault == "other-key" else VAULT_LOCK
    settings = elsewhere(tmp_path)
    with pytest.raises((SealedError, BackupError)):
        restore(path, lock, settings)
    assert not settings.data.exists()
    assert not settings.storage.files or not list(bucket(settings.storage, settings.storage.files).names())
    assert not list(settings.data.parent.iterdir()) if settings.data.parent.exists() else True


def test_a_backup_that_was_tampered_with_by_who_has_the_key_is_refused(sqlite_office, fill, tmp_path):
    """Sealing proves who wrote it, digests and the log prove what: a changed row of the log is found."""
    from basanite.campaign.sealing import seal

    fill(sqlite_office)
    back_up(sqlite_office, LOCK, tmp_path / "b")
    with (tmp_path / "b").open("rb") as file:
        inside = b"".join(unseal(file, LOCK))
    for old, new in (
        (b'"kind":"submission.accepted"', b'"kind":"submission.excepted"'),
        (b"an archive", b"an Archive"),
    ):
        assert old in inside
        (tmp_path / "c").write_bytes(b"".join(seal([inside.replace(old, new, 1)], LOCK)))
        with pytest.raises(SealedError, match=r"differ from what was saved|different content"):
            restore(tmp_path / "c", LOCK, elsewhere(tmp_path))
    assert not elsewhere(tmp_path).data.exists()


def test_nothing_is_written_over(sqlite_office, fill, tmp_path):
    back_up(sqlite_office, LOCK, tmp_path / "b")
    with pytest.raises(BackupError, match="already exists"):
        back_up(sqlite_office, LOCK, tmp_path / "b")
    with pytest.raises(BackupError, match="not empty"):
        restore(tmp_path / "b", LOCK, sqlite_office.settings)


def test_an_interrupted_backup_leaves_nothing(sqlite_office, fill, tmp_path, monkeypatch):
    fill(sqlite_office)
    target = tmp_path / "backups"
    target.mkdir()
    first = next(sqlite_office.files.folder.glob("??/*"))
    first.chmod(0)
    monkeypatch.setattr(type(first), "open", _refusing(first, type(first).open))
    with pytest.raises(OSError, match="gone"):
        back_up(sqlite_office, LOCK, target / "b")
    assert not list(target.iterdir())
    assert not list(sqlite_office.settings.data.glob(".snapshot*"))


def _refusing(path, usual):
    def open_(self, *arguments, **options):
        if self == path:
            raise OSError("gone")
        return usual(self, *arguments, **options)

    return open_


def test_a_file_that_is_missing_is_told(sqlite_office, fill, tmp_path):
    fill(sqlite_office)
    lost = next(sqlite_office.files.digests())
    lose(sqlite_office.files, lost)
    assert back_up(sqlite_office, LOCK, tmp_path / "b").missing == (lost,)


@pytest.mark.sqlite("its file is checked")
def test_sqlite_files_of_a_restore_are_sound(sqlite_office, fill, tmp_path):
    back_up(sqlite_office, LOCK, tmp_path / "b")
    settings = elsewhere(tmp_path)
    restore(tmp_path / "b", LOCK, settings)
    with closing(sqlite3.connect(settings.data / "basanite.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
