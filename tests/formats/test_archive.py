"""Archives, folders and single files from strangers: what is good is read whole, names and digest included."""

import hashlib
import io
import os
import tarfile

import pytest
from tests.formats.forged import BLOCK, ROWS, SMALL, entry, filled, header, pax, put, read, rules, tgz

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import check_archive_name, member_digest, open_source
from basanite.problems import Findings


def packed(tmp_path, files, *, name="System1.tgz", form=tarfile.GNU_FORMAT, mode="w:gz"):
    """An archive as tar programs make it."""
    with tarfile.open(tmp_path / name, mode, format=form) as tar:
        for member, data in files.items():
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return tmp_path / name


# Good sources


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_each_common_kind_of_tar_gives_its_files_in_order(tmp_path, form):
    files = {f"query{number:05}.tsv": ROWS * (number * 997) for number in (3, 1, 2, 0)}
    members, findings, source = read(packed(tmp_path, files, form=form))
    assert list(members.items()) == list(files.items())
    assert (findings.problems, source.kind, source.name, source.complete) == ([], "archive", "System1.tgz", True)


def test_a_name_too_long_for_a_header_is_read_whole(tmp_path):
    name = "query" + "0" * 200 + ".tsv"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        assert read(packed(tmp_path, {name: ROWS}, form=form))[0] == {name: ROWS}


def test_members_that_start_with_dot_slash_are_accepted_and_so_is_the_entry_of_the_folder(tmp_path):
    data = tgz(header(b"./", kind=b"5"), entry(b"./query1.tsv", ROWS), entry(b"query2.tsv", ROWS))
    members, findings, _ = read(put(tmp_path, data))
    assert list(members) == ["query1.tsv", "query2.tsv"]
    assert findings.problems == []


def test_a_ustar_prefix_is_part_of_the_name(tmp_path):
    assert list(read(put(tmp_path, tgz(entry(b"query1.tsv", ROWS, prefix=b"run"))), depth=2)[0]) == ["run/query1.tsv"]


def test_one_directory_for_each_query_is_accepted_where_the_task_wants_two_levels(tmp_path):
    files = {"query1/query1.tsv": ROWS, "query1/a.json": b"{}", "query2/query2.tsv": ROWS}
    archive = tgz(header(b"query1/", kind=b"5"), *(entry(name.encode(), data) for name, data in files.items()))
    for path in (put(tmp_path, archive), filled(tmp_path / "folder", files)):
        members, findings, _ = read(path, depth=2)
        assert dict(sorted(members.items())) == dict(sorted(files.items()))
        assert findings.problems == []


def test_the_comment_that_git_puts_before_an_archive_is_passed_over(tmp_path):
    data = tgz(pax((b"comment", b"0123abcd"), kind=b"g"), entry(b"query1.tsv", ROWS))
    assert read(put(tmp_path, data))[:2] == ({"query1.tsv": ROWS}, Findings())


def test_zeros_that_fill_a_tape_block_are_allowed(tmp_path):
    data = tgz(entry(b"query1.tsv", ROWS), end=bytes(20 * BLOCK)) + bytes(4096)
    assert read(put(tmp_path, data))[1].problems == []


def test_a_folder_gives_its_files_by_name(tmp_path):
    files = {"b.tsv": b"", "a.tsv": ROWS, "c.tsv": ROWS * 3}
    members, findings, source = read(filled(tmp_path, files))
    assert list(members) == ["a.tsv", "b.tsv", "c.tsv"]
    assert (members == files, findings.problems, source.kind) == (True, [], "folder")


def test_a_single_file_is_a_source_of_one_member(tmp_path):
    for data in (ROWS, b"", b"<html>"):
        members, findings, source = read(put(tmp_path, data, "query00043.tsv"))
        assert (members, findings.problems, source.kind) == ({"query00043.tsv": data}, [], "file")


def test_folder_and_archive_have_the_digest_that_the_contract_defines(tmp_path):
    files = {"query2.tsv": ROWS, "query10.tsv": ROWS * 2, "é.tsv": b""}
    lines = sorted(
        b"%s\0%d\0%s\n" % (n.encode(), len(d), hashlib.sha256(d).hexdigest().encode()) for n, d in files.items()
    )
    wanted = "sha256:" + hashlib.sha256(b"".join(lines)).hexdigest()
    dotted = packed(tmp_path, {f"./{name}": data for name, data in files.items()})
    for path in (dotted, filled(tmp_path / "folder", files)):
        assert read(path)[2].digest.value() == wanted


def test_the_caller_may_hash_elsewhere_and_a_second_pass_starts_afresh(tmp_path):
    source = open_source(packed(tmp_path, {"b.tsv": ROWS, "a.tsv": b""}))
    list(source.members(Findings()))
    wanted = source.digest.value()
    members = list(source.members(Findings(), hashed=False))
    for member in reversed(members):
        source.digest.add(member.name, len(member.data), member_digest(member.data))
    assert source.digest.value() == wanted


# Folders


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "dangling link", "named pipe"])
def test_links_and_pipes_in_a_folder_are_refused_and_not_followed(tmp_path, kind):
    secret = filled(tmp_path / "secret", {"key.tsv": ROWS})
    folder = filled(tmp_path / "folder", {"query2.tsv": ROWS})
    if kind == "named pipe":
        os.mkfifo(folder / "query1.tsv")
    else:
        targets = {"link to a file": secret / "key.tsv", "link to a folder": secret, "dangling link": secret / "no"}
        (folder / "query1.tsv").symlink_to(targets[kind])
    members, findings, _ = read(folder)
    assert (list(members), rules(findings)) == (["query2.tsv"], ["M54"])
    assert ("symbolic link" in findings.problems[0].message) == ("link" in kind)


def test_a_folder_is_held_to_the_same_limits(tmp_path):
    large = filled(tmp_path / "large", {"query1.tsv": bytes(4097)})
    many = filled(tmp_path / "many", {f"q{number}": b"" for number in range(51)})
    odd = filled(tmp_path / "odd", {"query\x07.tsv": ROWS})
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / os.fsdecode(b"query\xe9.tsv")).write_bytes(ROWS)
    for folder, rule in ((large, "M54"), (many, "M85"), (odd, "M54"), (tmp_path / "latin", "M85")):
        members, findings, _ = read(folder, limits=SMALL)
        assert (members, rules(findings)) == ({}, [rule])


def test_an_empty_folder_is_refused(tmp_path):
    assert rules(read(tmp_path)[1]) == ["M53"]


def test_a_path_that_cannot_be_opened_is_an_error_with_its_cure(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.tgz", "pipe"):
        with pytest.raises(UnreadableError, match=f"{name} cannot be read.*Check the path"):
            open_source(tmp_path / name)


def test_a_source_that_vanishes_between_two_looks_is_an_error_too(tmp_path):
    source = open_source(put(tmp_path, tgz(entry(b"query1.tsv", ROWS))))
    source.path.unlink()
    with pytest.raises(UnreadableError, match="cannot be read"):
        list(source.members(Findings()))


# Names of archives


@pytest.mark.parametrize(
    "name", ["SystemA1.tgz", "7.tgz", "NIST_CLIR-primary-unconstrained-QUERY1-A_BASE-1A-DEV_20180101_120000.tgz"]
)
def test_a_label_of_letters_and_digits_is_a_good_name_and_so_is_a_full_one(name):
    assert check_archive_name(name) is None


@pytest.mark.parametrize(
    "name",
    ["System A.tgz", "System-1.tgz", "a_b.tgz", ".tgz", "A.tar.gz", "A.TGZ", "é.tgz", "A.tgz\n", "A.tgz.exe", "٣.tgz"],
)
def test_any_other_name_is_a_problem_of_the_severity_asked_for(name):
    problem = check_archive_name(name)
    assert (problem.rule, problem.severity, problem.file) == ("M55", "warn", name)
    assert check_archive_name(name, severity="reject").severity == "reject"


def test_a_full_name_gives_one_problem_that_names_every_part_that_is_off():
    problem = check_archive_name("NIST_CLIR-primary-unconstrained-QUERY1-A_BASE-1X1-DEVEL_20180101_120000.tgz")
    assert (problem.rule, problem.severity) == ("M56", "warn")
    assert "the language of" in problem.message
    assert "the dataset of" in problem.message
