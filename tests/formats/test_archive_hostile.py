"""Bad and hostile archives: each is refused under its rule, in little time and memory, and touches nothing."""

import bz2
import gzip
import io
import lzma
import os
import time
import tracemalloc
import zipfile

import pytest
from tests.formats.forged import (
    BLOCK,
    END,
    ROWS,
    SMALL,
    base256,
    entry,
    filled,
    gzip_of,
    header,
    pax,
    put,
    read,
    rules,
    tgz,
)

from basanite.formats.archives.archive import Limits, open_source
from basanite.problems import Findings

MIB = 2**20

# Bad archives: each with the rule that refuses it


def zipped():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("query1.tsv", ROWS)
    return target.getvalue()


GOOD = tgz(entry(b"query1.tsv", ROWS), entry(b"query2.tsv", ROWS * 50))
TAR = gzip.decompress(GOOD)
WRONG_KIND = {
    "empty file": (b"", "is empty"),
    "plain tar": (TAR, "a plain tar"),
    "zip": (zipped(), "a zip archive"),
    "bzip2": (bz2.compress(TAR), "a bzip2 stream"),
    "xz": (lzma.compress(TAR), "an xz stream"),
    "web page": (b"<!DOCTYPE html><html>404</html>", "an HTML page"),
    "text": (ROWS, "text"),
    "binary": (bytes(range(256)), "something else"),
    "gzip of text": (gzip.compress(ROWS), "inside is text"),
    "gzip of nothing": (gzip.compress(b""), "inside is nothing"),
    "gzip of zip": (gzip.compress(zipped() + bytes(600)), "inside is a zip archive"),
    "gzip of gzip": (gzip.compress(GOOD), "inside is a gzip stream"),
    "only two bytes": (b"\x1f\x8b", "truncated"),
    "truncated": (GOOD[:-60], "truncated"),
    "trailer truncated": (GOOD[:-3], "truncated"),
    "tar truncated in contents": (gzip.compress(TAR[:3000]), "truncated"),
    "tar without end": (gzip.compress(TAR[: -len(END)]), "truncated"),
    "checksum of gzip": (GOOD[:-8] + bytes(4) + GOOD[-4:], "damaged"),
    "length in gzip": (GOOD[:-4] + bytes(4), "damaged"),
    "checksum of a header": (gzip.compress(TAR[:1030] + b"9" + TAR[1031:]), "damaged"),
    "no file": (tgz(), "no files"),
    "only a folder": (tgz(header(b"./", kind=b"5")), "no files"),
}


@pytest.mark.parametrize(("data", "words"), WRONG_KIND.values(), ids=WRONG_KIND)
def test_what_is_not_a_whole_gzipped_tar_is_refused_by_what_it_really_is(tmp_path, data, words):
    _, findings, source = read(put(tmp_path, data))
    assert [problem.rule for problem in findings] == ["M53"]
    assert words in findings.problems[0].message
    assert (findings.valid, source.complete, findings.problems[0].fix != "") == (False, False, True)


def test_files_in_a_parent_folder_are_refused_once_with_the_right_command_and_still_read(tmp_path):
    data = tgz(header(b"my run/", kind=b"5"), entry(b"my run/query1.tsv", ROWS), entry(b"my run/query2.tsv", ROWS))
    members, findings, _ = read(put(tmp_path, data), where="reference")
    assert list(members) == ["query1.tsv", "query2.tsv"]
    assert [(p.rule, p.severity, p.where, p.found) for p in findings] == [("M53", "reject", "reference", "my run/")]
    assert "tar zcf LABEL.tgz -C 'my run' ." in findings.problems[0].fix


def test_a_folder_with_subfolders_is_refused_like_its_archive(tmp_path):
    members, findings, _ = read(filled(tmp_path, {"run/query1.tsv": ROWS}))
    assert (list(members), rules(findings), findings.valid) == (["query1.tsv"], ["M53"], False)


def test_files_below_a_parent_folder_keep_their_last_levels_where_the_task_wants_two(tmp_path):
    members, findings, _ = read(put(tmp_path, tgz(entry(b"run/query1/a.json", b"{}"))), depth=2)
    assert (list(members), findings.problems[0].found) == (["query1/a.json"], "run/")


def test_what_an_operating_system_leaves_behind_is_skipped_with_one_warning(tmp_path):
    litter = [b"./._query1.tsv", b"._query2.tsv", b".DS_Store", b"__MACOSX/query1.tsv"]
    archive = put(tmp_path, tgz(*(entry(name, b"\0") for name in litter), entry(b"query1.tsv", ROWS)))
    folder = filled(tmp_path / "folder", {".DS_Store": b"\0", "__MACOSX/x/._a": b"\0", "query1.tsv": ROWS})
    for path in (archive, folder):
        members, findings, _ = read(path)
        assert list(members) == ["query1.tsv"]
        assert [(problem.rule, problem.severity) for problem in findings] == [("M53", "warn")]


def sized(raw):
    return tgz(header(b"query1.tsv", raw))


HOSTILE = {
    "absolute path": ("M54", tgz(entry(b"/etc/passwd", ROWS))),
    "absolute folder": ("M54", tgz(header(b"/etc/", kind=b"5"), entry(b"query1.tsv", ROWS))),
    "dot-dot": ("M54", tgz(entry(b"../query1.tsv", ROWS))),
    "dot-dot inside": ("M54", tgz(entry(b"a/../query1.tsv", ROWS))),
    "dot-dot in a long name": ("M54", tgz(entry(b"././@LongLink", b"../query1.tsv\0", b"L"), entry(b"a", ROWS))),
    "dot-dot in a PAX path": ("M54", tgz(pax((b"path", b"../query1.tsv")), entry(b"a", ROWS))),
    "dot-dot in a prefix": ("M54", tgz(entry(b"query1.tsv", ROWS, prefix=b".."))),
    "symbolic link": ("M54", tgz(header(b"query1.tsv", kind=b"2"))),
    "hard link": ("M54", tgz(header(b"query1.tsv", kind=b"1"))),
    "character device": ("M54", tgz(header(b"query1.tsv", kind=b"3"))),
    "block device": ("M54", tgz(header(b"query1.tsv", kind=b"4"))),
    "named pipe": ("M54", tgz(header(b"query1.tsv", kind=b"6"))),
    "unknown kind": ("M54", tgz(header(b"query1.tsv", kind=b"Z"))),
    "link with contents": ("M54", tgz(header(b"query1.tsv", BLOCK, kind=b"1"), entry(b"query2.tsv", ROWS))),
    "folder with contents": ("M54", tgz(header(b"./", BLOCK, kind=b"5"), entry(b"query2.tsv", ROWS))),
    "same name twice": ("M54", tgz(entry(b"query1.tsv", ROWS), entry(b"./query1.tsv", ROWS))),
    "no name": ("M54", tgz(entry(b".", ROWS))),
    "file named like a folder": ("M54", tgz(entry(b"query1.tsv/", ROWS))),
    "backslash": ("M54", tgz(entry(b"..\\query1.tsv", ROWS))),
    "control character": ("M54", tgz(entry(b"query1\x1b[2J.tsv", ROWS))),
    "right-to-left override": ("M54", tgz(entry("query1\u202evst.tsv".encode(), ROWS))),
    "NUL in a PAX path": ("M54", tgz(pax((b"path", b"query1.tsv\0.exe")), entry(b"a", ROWS))),
    "long name": ("M54", tgz(pax((b"path", b"q" * 61)), entry(b"a", ROWS))),
    "very deep": ("M54", tgz(entry(b"a/" * 12 + b"query1.tsv", ROWS))),
    "member too large": ("M54", tgz(entry(b"query1.tsv", bytes(4097)))),
    "4 GiB member": ("M54", sized(2**32)),
    "huge size in base 256": ("M54", sized(base256(2**80))),
    "negative size": ("M54", sized(b"\xff" * 12)),
    "size that is not a number": ("M54", sized(b"12345678x90\0")),
    "size behind a zero byte": ("M54", sized(b"\0" + b"0000001000\0")),
    "signed octal size": ("M54", sized(b"-0000000010\0")),
    "too large in all": ("M54", tgz(*(entry(b"q%d" % number, os.urandom(4000)) for number in range(6)))),
    "not UTF-8": ("M85", tgz(entry(b"query\xe91.tsv", ROWS))),
    "not UTF-8 in a PAX path": ("M85", tgz(pax((b"hdrcharset", b"BINARY"), (b"path", b"\xff")), entry(b"a", ROWS))),
    "too many members": ("M85", tgz(*(entry(b"q%d" % number) for number in range(51)))),
    "too many links": ("M85", tgz(*(header(b"./", kind=b"5") for number in range(51)))),
    "bomb": ("M85", tgz(*(entry(b"q%d.tsv" % number, bytes(300)) for number in range(49)), end=bytes(80_000))),
    "PAX header too long": ("X-8", tgz(entry(b"x", bytes(64 * 1024 + 1), b"x"), entry(b"a", ROWS))),
    "global PAX header too long": ("X-8", tgz(header(b"x", 2**30, b"g"), entry(b"a", ROWS))),
    "GNU name too long": ("X-8", tgz(entry(b"././@LongLink", b"q" * 70_000, b"L"), entry(b"a", ROWS))),
    "GNU link name too long": ("X-8", tgz(header(b"././@LongLink", 2**31, b"K"), entry(b"a", ROWS))),
    "PAX length wrong": ("X-8", tgz(entry(b"x", b"99 path=q\n", b"x"), entry(b"a", ROWS))),
    "PAX without a length": ("X-8", tgz(entry(b"x", b"path=query1.tsv\n", b"x"), entry(b"a", ROWS))),
    "PAX without line feed": ("X-8", tgz(entry(b"x", b"8 path=qq", b"x"), entry(b"a", ROWS))),
    "PAX length zero": ("X-8", tgz(entry(b"x", b"0 path=q\n", b"x"), entry(b"a", ROWS))),
    "PAX changes the size": ("X-8", tgz(pax((b"size", b"4000")), entry(b"a", ROWS))),
    "PAX gives all one path": ("X-8", tgz(pax((b"path", b"q"), kind=b"g"), entry(b"a", ROWS))),
    "chain of PAX headers": ("X-8", tgz(*[pax((b"comment", b"q"))] * 9, entry(b"a", ROWS))),
    "PAX header before no member": ("X-8", tgz(entry(b"a", ROWS), pax((b"path", b"q")))),
    "empty PAX path": ("X-8", tgz(pax((b"path", b"")), entry(b"a", ROWS))),
    "GNU name behind its end": (
        "X-8",
        tgz(header(b"././@LongLink", 1, b"L"), b"gnu.tsv".ljust(BLOCK, b"\0"), entry(b"a")),
    ),
    "two names": ("X-8", tgz(pax((b"path", b"q")), entry(b"././@LongLink", b"r\0", b"L"), entry(b"a", ROWS))),
    "prefix outside ustar": ("X-8", tgz(entry(b"a", ROWS, prefix=b"1234567", magic=b"ustar  \0"))),
    "empty GNU name": ("X-8", tgz(entry(b"././@LongLink", b"\0", b"L"), entry(b"a", ROWS))),
    "sparse GNU": ("X-8", tgz(header(b"query1.tsv", kind=b"S"))),
    "sparse PAX": ("X-8", tgz(pax((b"GNU.sparse.major", b"1")), entry(b"a", ROWS))),
    "two gzip streams": ("X-8", GOOD + GOOD),
    "tar over two gzip streams": ("X-8", gzip.compress(TAR[:2048]) + gzip.compress(TAR[2048:])),
    "bytes after gzip": ("X-8", GOOD + b"hidden"),
    "bytes after zeros after gzip": ("X-8", GOOD + bytes(512) + b"hidden"),
    "endless zeros after gzip": ("X-8", GOOD + bytes(MIB + 1)),
    "second tar after the first": ("X-8", tgz(TAR, TAR)),
    "bytes after the end of the tar": ("X-8", tgz(TAR, b"hidden")),
    "member after one block of zeros": ("X-8", tgz(entry(b"a"), bytes(BLOCK), entry(b"query1.tsv", ROWS))),
}


@pytest.mark.parametrize(
    ("rule", "data"),
    [pytest.param(rule, data, id=case) for case, (rule, data) in HOSTILE.items()],
)
def test_a_hostile_archive_is_refused_under_its_rule_and_touches_nothing(tmp_path, rule, data):
    path = put(tmp_path, data)
    start = time.process_time()
    _, findings, _ = read(path, limits=SMALL, depth=2)
    assert rules(findings) == [rule]
    assert not findings.valid
    assert time.process_time() - start < 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_sound_archive_close_to_the_limits_passes(tmp_path):
    files = [entry(b"q%d" % number, os.urandom(4096)) for number in range(4)]
    data = tgz(pax((b"comment", b"c" * 60_000)), *files, end=bytes(100 * BLOCK))
    members, findings, _ = read(put(tmp_path, data), limits=SMALL)
    assert (len(members), findings.problems) == (4, [])


def test_an_unsafe_member_is_left_out_and_the_others_are_read(tmp_path):
    data = tgz(header(b"query1.tsv", kind=b"2"), entry(b"../x", ROWS), entry(b"query2.tsv", ROWS), entry(b"/y", ROWS))
    members, findings, source = read(put(tmp_path, data))
    assert (members, source.complete) == ({"query2.tsv": ROWS}, True)
    assert [problem.file for problem in findings] == ["query1.tsv", "../x", "/y"]


def test_a_hostile_folder_name_is_quoted_in_the_command_that_we_advise(tmp_path):
    data = tgz(entry(b"$(rm -rf x)/query1.tsv", ROWS), entry(b"query2.tsv", ROWS))
    assert "'$(rm -rf x)'" in read(put(tmp_path, data))[1].problems[0].fix


# Bombs: little memory, little time


ZEROS = bytes(MIB)


def zeros(count):
    return [ZEROS] * count


def many_members(thousands):
    chunk = b"".join(header(b"q%03d" % number) for number in range(1000))
    return [chunk] * thousands


def bombs():
    pax_bomb = [header(b"x", 300 * MIB, b"x"), *zeros(300)]
    zero_member = [header(b"query1.tsv", 2**32), *zeros(256)]
    many_zeros = [piece for number in range(300) for piece in (header(b"q%d" % number, MIB), ZEROS)]
    return {
        "PAX header": ("X-8", pax_bomb),
        "4 GiB of zeros": ("M54", zero_member),
        "zeros in many members": ("M85", many_zeros),
        "a million members": ("M85", many_members(1000)),
        "zeros after the end": ("X-8", [entry(b"q", ROWS), *zeros(256)]),
        "gzip in gzip": ("M53", [gzip_of(zeros(256))]),
    }


BOMBS = bombs()


@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_is_refused_in_little_memory_and_time(tmp_path, case):
    rule, pieces = BOMBS[case]
    path = put(tmp_path, gzip_of(pieces))
    findings, start = Findings(), time.process_time()
    tracemalloc.start()
    try:
        largest = max(
            (len(member.data) for member in open_source(path, limits=Limits(members=2000)).members(findings)), default=0
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rule in rules(findings)
    assert (peak < 8 * MIB, largest <= MIB, time.process_time() - start < 1) == (True, True, True)


def test_a_member_that_is_itself_a_bomb_is_never_opened(tmp_path):
    bomb = gzip_of(zeros(64))
    assert read(put(tmp_path, tgz(entry(b"query1.gz", bomb))))[0] == {"query1.gz": bomb}
