"""Copies of what lies in the object store: bounded, the unused first, and never from under somebody who uses one."""

import os
import threading
import time

import pytest

from basanite.campaign.office import Office
from basanite.campaign.sealing import Lock
from basanite.campaign.settings import Settings
from basanite.campaign.store.files import EVERY, LOCK, SPARED, Files
from basanite.campaign.store.objects import Bucket

pytestmark = pytest.mark.store
LONG = 10_000


@pytest.fixture
def machine(buckets, tmp_path):
    """Gives the files of a machine that keeps so many bytes of copies."""
    return lambda most, name="one", lock=None: Files(tmp_path / name, lock, Bucket(buckets.files, buckets), copies=most)


@pytest.fixture
def later():
    """A moment at which no copy was used of late."""
    return time.time() + SPARED + EVERY + 60


def put(files, count, *, each=LONG):
    """So many files, of which the first was used longest ago."""
    digests = [files.put(bytes([number]) * each).digest for number in range(count)]
    for number, digest in enumerate(digests):
        for path in copies(files, digest):
            os.utime(path, (moment := time.time() - 1000 + number, moment))
    return digests


def copies(files, digest):
    return list((files.folder / digest[:2]).glob(f"{digest[2:]}*"))


def here(files, digests):
    return [bool(copies(files, digest)) for digest in digests]


@pytest.mark.parametrize("lock", [None, Lock(b"k" * 32)], ids=["plain", "encrypted"])
def test_the_copies_used_longest_ago_go_and_come_back_when_they_are_asked_for(machine, later, lock):
    files = machine(2 * LONG + 2000, lock=lock)
    digests = put(files, 4)
    assert files.copies.trim(now=later) >= 2 * LONG
    assert here(files, digests) == [False, False, True, True]
    assert files.has(digests[0])
    assert files.read(digests[0]) == bytes([0]) * LONG
    assert here(files, digests)[0]


def test_a_copy_that_is_used_again_outlives_one_that_is_not(machine, later):
    files = machine(LONG)
    digests = put(files, 2)
    assert files.local(digests[0]).is_file()
    files.copies.trim(now=later)
    assert here(files, digests) == [True, False]


def test_what_was_used_of_late_is_kept_although_there_is_no_room(machine):
    files = machine(1)
    digests = put(files, 3)
    assert files.copies.trim(now=time.time()) == 0
    assert all(here(files, digests))


def test_what_the_store_does_not_have_is_no_copy_and_is_never_thrown_away(machine, tmp_path, later):
    only_here = Files(tmp_path / "one").put(b"from before there was a store").digest
    files = machine(1)
    (copied,) = put(files, 1)
    files.copies.trim(now=later)
    assert here(files, [only_here, copied]) == [True, False]


def test_who_reads_a_copy_reads_it_to_its_end(machine, later):
    files = machine(1)
    (digest,) = put(files, 1, each=3 * 2**20)
    pieces = files.pieces(digest)
    first = next(pieces)
    files.copies.trim(now=later)
    assert not any(here(files, [digest]))
    assert len(first) + sum(map(len, pieces)) == 3 * 2**20


def test_what_is_lent_is_not_trimmed(machine, tmp_path, later):
    files = machine(1)
    (digest,) = put(files, 1)
    files.lend(digest, tmp_path / "lent")
    assert files.copies.trim(now=later) == 0
    (tmp_path / "lent").unlink()
    assert files.copies.trim(now=later) == LONG


def test_a_copy_that_is_used_between_the_look_and_the_throwing_away_stays(machine, later):
    files = machine(1)
    (digest,) = put(files, 1)
    kept = files.copies.is_kept
    used = []

    def is_kept(path):
        used.append(files.local(digest))
        return kept(path)

    object.__setattr__(files.copies, "is_kept", is_kept)
    assert files.copies.trim(now=later) == 0
    assert used[0].is_file()


def test_several_who_trim_and_use_one_folder_never_miss_a_file(machine):
    """Each has a store of its own on one folder, as processes have; a copy is begun to be used as it is trimmed."""
    files, missed, ended = machine(1), [], threading.Event()
    digests = [put(files, 1)[0]]

    def use():
        mine = machine(1)
        while not ended.is_set():
            try:
                assert mine.local(digests[-1]).stat().st_size >= LONG
            except FileNotFoundError:
                missed.append(digests[-1])

    users = [threading.Thread(target=use) for _ in range(2)]
    for user in users:
        user.start()
    for number in range(1, 21):  # each of a length of its own: `put` sets back when a copy was used
        digests += put(files, 1, each=LONG + number)
        files.copies.trim(now=time.time() + SPARED - 60)
    ended.set()
    for user in users:
        user.join()
    assert missed == []


def test_without_a_bound_nothing_is_trimmed(machine, later):
    files = machine(0)
    digests = put(files, 3)
    assert files.copies.look_after(now=later) == 0
    assert all(here(files, digests))


def test_the_folder_is_looked_through_now_and_then_and_by_one_process(machine, later):
    one, other = machine(1), machine(1)
    digests = put(one, 2)
    assert one.copies.look_after(now=later) == 2 * LONG
    assert not any(here(one, digests))
    assert one.read(digests[0])
    os.utime(one.folder / LOCK, (later, later))
    assert other.copies.look_after(now=later + EVERY - 1) == 0


def test_the_bound_is_a_setting(buckets, tmp_path):
    buckets.copies = 123
    office = Office.open(Settings(data=tmp_path, storage=buckets))
    assert (office.files.copies.most, office.sealed.copies.most) == (123, 123)
    office.close()
