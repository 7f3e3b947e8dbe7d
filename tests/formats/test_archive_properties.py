"""Whatever bytes arrive: nothing is raised, nothing is written, the limits hold, and what passes is what tar reads."""

import gzip
import io
import posixpath
import tarfile
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.forged import END, entry, header, pax, tgz

from basanite.formats.archives.archive import Limits, open_source
from basanite.problems import Findings

UNHURRIED = settings(deadline=None)  # a loaded machine is not a fault of the reader
LIMITS = Limits(members=20, member_bytes=5000, total_bytes=40_000, ratio=50, ratio_from=200_000)
NAMES = st.from_regex(r"[a-z0-9.é-]{0,8}[a-z0-9]", fullmatch=True).filter(lambda name: not name.startswith("._"))
LONG_NAMES = st.integers(90, 240).map(lambda length: "q" * length)
FILES = st.dictionaries(NAMES | LONG_NAMES, st.binary(max_size=1500), min_size=1, max_size=6)
FORMS = st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
SAMPLE = b"".join(
    [
        header(b"./", kind=b"5"),
        pax((b"path", b"long.tsv"), (b"mtime", b"1.5")),
        entry(b"short", b"x\tY\t0.5\n" * 70),
        entry(b"././@LongLink", b"gnu.tsv\0", b"L", magic=b"ustar  \0"),
        entry(b"gnu", b"y\tN\t0.5\n", magic=b"ustar  \0"),
        entry(b"query1.tsv", bytes(range(256)) * 2),
        END,
    ]
)
GOOD = gzip.compress(SAMPLE, mtime=0)


def tarred(files, form):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return target.getvalue()


def taken(data, limits=LIMITS):
    """What is read of these bytes, after checking that nothing was written and no limit was passed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "System1.tgz")
        path.write_bytes(data)
        findings, source = Findings(), open_source(path, limits=limits)
        members = [(member.name, member.data) for member in source.members(findings)]
        assert list(Path(folder).iterdir()) == [path]
    assert len(members) <= limits.members
    assert sum(len(content) for _, content in members) <= limits.total_bytes
    assert all(len(content) <= limits.member_bytes for _, content in members)
    assert all(name and "/" not in name and name not in (".", "..") for name, _ in members)
    assert source.complete or not findings.valid
    return members, findings


def by_tarfile(tar):
    """The same, as the standard library reads it."""
    with tarfile.open(fileobj=io.BytesIO(tar), ignore_zeros=False) as opened:
        return [(posixpath.normpath(info.name), opened.extractfile(info).read()) for info in opened if info.isfile()]


@UNHURRIED
@given(FILES, FORMS, st.integers(1, 9))
def test_a_good_archive_is_read_as_the_standard_library_reads_it(files, form, level):
    if form == tarfile.USTAR_FORMAT:
        files = {name[:90]: data for name, data in files.items()}
    tar = tarred(files, form)
    members, findings = taken(gzip.compress(tar, level))
    assert findings.problems == []
    assert members == by_tarfile(tar) == list(files.items())


@UNHURRIED
@given(st.binary(max_size=3000), st.sampled_from([b"", b"\x1f\x8b", GOOD[:10], GOOD[:40]]))
def test_random_bytes_are_refused_and_raise_nothing(data, start):
    members, findings = taken(start + data)
    assert (members, findings.valid) == ([], False)


@UNHURRIED
@given(st.integers(0, len(GOOD) - 1))
def test_an_archive_cut_anywhere_is_refused(length):
    assert not taken(GOOD[:length])[1].valid


@UNHURRIED
@given(st.binary(min_size=1, max_size=600), st.booleans())
def test_whatever_is_put_behind_an_archive_is_refused(data, inside):
    packed = gzip.compress(SAMPLE + data) if inside else GOOD + data
    assert taken(packed)[1].valid == (not data.strip(b"\0"))


EDITS = st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.binary(min_size=1, max_size=3)), min_size=1, max_size=4)


def edited(data, edits):
    changed = bytearray(data)
    for place, piece in edits:
        changed[place : place + len(piece)] = piece
    return bytes(changed)


@UNHURRIED
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=3)), min_size=1, max_size=4))
def test_a_packed_archive_with_bytes_changed_raises_nothing(edits):
    taken(edited(GOOD, edits))


def summed_anew(tar):
    """The same tar with good checksums, rights, owners and times, so that changes of names and sizes are read."""
    blocks, at = bytearray(tar), 0
    while at + 512 <= len(blocks) and any(blocks[at : at + 512]):
        blocks[at + 100 : at + 124] = b"0000644\0" * 3
        blocks[at + 136 : at + 156] = b"00000000000\0" + b" " * 8
        blocks[at + 329 : at + 345] = bytes(16)
        blocks[at + 148 : at + 156] = b"%06o\0 " % sum(blocks[at : at + 512])
        digits = bytes(blocks[at + 124 : at + 136]).strip(b"\0 ")
        size = int(digits, 8) if digits.isdigit() and not digits.strip(b"01234567") else 0
        at += 512 + (size + 511) // 512 * 512
    return bytes(blocks)


HEADER_EDITS = st.lists(
    st.tuples(
        st.sampled_from(range(0, len(SAMPLE), 512)).flatmap(
            lambda at: st.sampled_from([at, at + 1, at + 2, at + 99, at + 124, at + 133, at + 134, at + 156, at + 345])
        ),
        st.binary(min_size=1, max_size=2) | st.sampled_from([b"\0", b"/", b"0", b"5", b"L", b"x", b"1", b"7", b".."]),
    ),
    min_size=1,
    max_size=3,
)


@settings(UNHURRIED, max_examples=400)
@given(EDITS | HEADER_EDITS)
def test_a_changed_tar_is_refused_or_read_exactly_as_the_standard_library_reads_it(edits):
    tar = summed_anew(edited(SAMPLE, edits))
    members, findings = taken(gzip.compress(tar, 1))
    if findings.valid:
        assert members == by_tarfile(tar)


@UNHURRIED
@given(st.lists(st.sampled_from([GOOD, b"\0" * 512, GOOD[:30], tgz(), b"\x1f\x8b\x08"]), min_size=2, max_size=4))
def test_concatenations_raise_nothing_and_only_zeros_may_follow(pieces):
    _, findings = taken(b"".join(pieces))
    sound = pieces[0] == GOOD and all(piece == b"\0" * 512 for piece in pieces[1:])
    assert findings.valid == sound
