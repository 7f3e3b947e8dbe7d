"""Files examined in forked processes: the same results in the same order, whatever the size or the fault."""

import os

import pytest

from basanite.formats.archives.members import Member
from basanite.formats.archives.parallel import SLOT_BYTES, SLOTS, ForkedExecutor, side_by_side


def described(member):
    return member.name, len(member.data), sum(member.data[:100]), os.getpid()


def test_results_come_in_the_order_of_the_files_from_other_processes():
    members = [Member(f"{at}.tsv", bytes([at]) * (at + 1)) for at in range(3 * SLOTS)]
    with ForkedExecutor(2) as executor:
        found = list(side_by_side(described, members, executor))
    assert [result[:3] for result in found] == [described(member)[:3] for member in members]
    processes = {result[3] for result in found}
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2


def test_a_file_too_large_for_shared_memory_is_read_all_the_same():
    members = [Member("small", b"a"), Member("large", b"b" * (SLOT_BYTES + 1)), Member("empty", b"")]
    with ForkedExecutor(1) as executor:
        found = list(side_by_side(described, members, executor))
    assert [result[:2] for result in found] == [("small", 1), ("large", SLOT_BYTES + 1), ("empty", 0)]


def test_another_function_is_inherited_anew():
    with ForkedExecutor(1) as executor:
        first = executor.submit(lambda member: len(member.data), Member("a", b"abc")).result()
        second = executor.submit(lambda member: member.name, Member("a", b"abc")).result()
    assert (first, second) == (3, "a")


def test_a_fault_in_a_process_is_raised_where_its_result_is_asked_for():
    def fails(member):
        raise ValueError(member.name)

    with ForkedExecutor(1) as executor, pytest.raises(ValueError, match=r"a\.tsv"):
        executor.submit(fails, Member("a.tsv", b"")).result()
