"""Files in an object store: the same promises as on disk, for several machines that share nothing but the store."""

import hashlib

import pytest
from tests.campaign.store.test_files import BIG, SECRET

from basanite.campaign.sealing import Lock
from basanite.campaign.settings import Storage
from basanite.campaign.store.files import Files, Stored
from basanite.campaign.store.objects import Bucket, ObjectStoreError

pytestmark = pytest.mark.store
LOCKS = pytest.mark.parametrize("lock", [None, Lock(b"k" * 32)], ids=["plain", "encrypted"])


@pytest.fixture
def machine(buckets, tmp_path):
    """Gives the files as one of several machines has them."""
    return lambda name, lock=None: Files(tmp_path / name, lock, Bucket(buckets.files, buckets))


@LOCKS
@pytest.mark.parametrize("content", [b"", b"a", BIG], ids=["empty", "short", "long"])
def test_what_one_machine_keeps_another_finds(machine, tmp_path, content, lock):
    stored = machine("one", lock).put(content)
    other = machine("two", lock)
    assert stored.digest == hashlib.sha256(content).hexdigest()
    assert other.has(stored.digest)
    assert list(other.digests()) == [stored.digest]
    assert other.size(stored.digest) == len(content)
    assert other.read(stored.digest) == content
    other.lend(stored.digest, tmp_path / "lent")
    assert (tmp_path / "lent").read_bytes() == content


def test_what_is_only_a_copy_on_a_machine_may_be_lost(machine, tmp_path):
    stored = machine("one").put(BIG)
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file():
            path.unlink()
    assert machine("one").local(stored.digest).read_bytes() == BIG


def test_what_is_encrypted_leaves_the_machine_encrypted(machine, buckets):
    digest = machine("one", Lock(b"k" * 32)).put(SECRET).digest
    bucket = Bucket(buckets.files, buckets)
    (name,) = bucket.names()
    assert name == f"{digest[:2]}/{digest[2:]}.sealed"
    assert b"query00001" not in b"".join(bucket.get(name))


def test_content_that_is_nowhere_is_not_found(machine):
    files = machine("one")
    assert not files.has("0" * 64)
    with pytest.raises(FileNotFoundError):
        files.read("0" * 64)


def test_two_prefixes_of_a_bucket_do_not_see_each_other(buckets, tmp_path):
    one = Files(tmp_path / "one", remote=Bucket(buckets.files, buckets))
    other = Files(tmp_path / "two", remote=Bucket(f"{buckets.files}-other", buckets))
    digest = one.put(b"a").digest
    assert not other.has(digest)
    assert list(other.digests()) == []


@pytest.mark.parametrize("address", ["", "files", "http://files", "s3:///prefix"])
def test_an_address_that_is_none_is_refused_with_how_to_write_it(address):
    with pytest.raises(ObjectStoreError, match=r"s3://BUCKET/PREFIX"):
        Bucket(address, Storage())


def test_what_was_sent_ahead_of_a_transaction_is_not_sent_again_in_it(machine, tmp_path, monkeypatch):
    (tmp_path / "run.tgz").write_bytes(BIG)
    files, stored = machine("one"), Stored(hashlib.sha256(BIG).hexdigest(), len(BIG))
    files.send(tmp_path / "run.tgz", stored)
    monkeypatch.setattr(files.remote, "put", lambda name, path: pytest.fail("sent twice"))
    assert files.keep(tmp_path / "run.tgz", stored) == stored
    assert machine("two").read(stored.digest) == BIG


def test_without_a_store_nothing_is_kept_ahead_of_a_transaction(tmp_path):
    (tmp_path / "run.tgz").write_bytes(b"a")
    files, stored = Files(tmp_path / "files"), Stored(hashlib.sha256(b"a").hexdigest(), 1)
    files.send(tmp_path / "run.tgz", stored)
    assert not files.has(stored.digest)
