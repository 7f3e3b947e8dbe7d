"""Files are whole or not there at all, and what cannot be kept is said clearly."""

import hashlib
import signal
import subprocess
import sys

import pytest

from basanite.campaign.sealing import Lock, SealedError
from basanite.campaign.store.files import PIECE, Files

BIG = bytes(range(256)) * (PIECE // 256 * 3) + b"end"
SECRET = b"query00001\tY\n" * 100_000


@pytest.fixture(params=[None, Lock(b"k" * 32)], ids=["plain", "encrypted"])
def files(request, tmp_path):
    return Files(tmp_path / "files", request.param)


def all_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("content", [b"", b"a", BIG], ids=["empty", "short", "long"])
def test_content_comes_back_under_its_own_digest(files, tmp_path, content):
    stored = files.put(content)
    assert stored.digest == hashlib.sha256(content).hexdigest()
    assert stored.size == len(content)
    assert files.has(stored.digest)
    assert files.read(stored.digest) == content
    files.lend(stored.digest, tmp_path / "lent")
    assert (tmp_path / "lent").read_bytes() == content
    assert list(files.digests()) == [stored.digest]


def test_content_may_come_in_pieces_and_twice(files):
    assert files.put(iter([b"a", b"", b"b"])) == files.put(b"ab")
    assert len(all_files(files.folder)) == 1


def test_a_file_is_adopted_by_a_second_name_without_a_copy(tmp_path):
    files, own = Files(tmp_path / "files"), tmp_path / "own"
    own.write_bytes(BIG)
    stored = files.adopt(own, expected=hashlib.sha256(BIG).hexdigest())
    assert files.path(stored.digest).samefile(own)
    own.unlink()
    assert files.read(stored.digest) == BIG


def test_of_content_that_was_not_expected_nothing_is_kept(files, tmp_path):
    (tmp_path / "own").write_bytes(b"other")
    stored = files.adopt(tmp_path / "own", expected="0" * 64)
    assert stored.digest == hashlib.sha256(b"other").hexdigest()
    assert not files.has(stored.digest)


def test_a_source_that_fails_leaves_nothing(files):
    def pieces():
        yield b"half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        files.put(pieces())
    assert all_files(files.folder) == []


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_only_a_digest_names_a_file(files, name):
    with pytest.raises(ValueError, match="not a digest"):
        files.path(name)


def test_encrypted_files_show_nothing_on_disk(tmp_path):
    files = Files(tmp_path / "sealed", Lock(b"k" * 32))
    digest = files.put(SECRET).digest
    assert all(b"query00001" not in path.read_bytes() for path in all_files(tmp_path))
    assert files.read(digest) == SECRET
    with pytest.raises(SealedError):
        Files(tmp_path / "sealed", Lock(b"x" * 32)).read(digest)
    with pytest.raises(FileNotFoundError):
        Files(tmp_path / "sealed").read(digest)


def test_an_encrypted_file_that_was_changed_is_refused(tmp_path):
    files = Files(tmp_path / "sealed", Lock(b"k" * 32))
    digest = files.put(BIG).digest
    (path,) = all_files(tmp_path)
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(SealedError):
        files.read(digest)


def test_plain_files_stay_readable_once_encryption_is_switched_on(tmp_path):
    digest = Files(tmp_path / "sealed").put(b"old").digest
    assert Files(tmp_path / "sealed", Lock(b"k" * 32)).read(digest) == b"old"


FULL = """
import resource, signal, sys
from pathlib import Path
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.files import Files
files = Files(Path(sys.argv[1]))
kept = files.put(b"kept").digest
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    files.put(b"x" * 1_000_000)
except RefusedError as error:
    print(error.status, files.read(kept), error)
"""


def test_a_full_disk_is_said_clearly_and_nothing_is_lost(tmp_path):
    """A limit on the size of files stands for the full disk: the same failing write, without a disk of our own."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "files")], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("507 b'kept' the server's disk is full")
    assert [path.read_bytes() for path in all_files(tmp_path)] == [b"kept"]


KILLED = """
import sys, time
from pathlib import Path
from basanite.campaign.store.files import Files
def pieces():
    for number in range(1000):
        yield b"x" * 100_000
        print(number, flush=True)
        time.sleep(0.001)
Files(Path(sys.argv[1])).put(pieces())
"""


def test_a_killed_writer_leaves_no_half_file_under_a_name(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert list(Files(tmp_path).digests()) == []
