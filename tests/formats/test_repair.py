"""Repaired copies say what they changed, touch nothing else, and are whole or absent."""

import errno
import gzip
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.forged import entry, header, put, tgz

from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import Member, Source, open_source
from basanite.formats.archives.output import put_in_place, repair_text, write_archive, write_repaired
from basanite.problems import Findings

MARK = b"\xef\xbb\xbf"
CASES = {
    b"": b"",
    b"a\tY\n": b"a\tY\n",
    MARK + b"a\n": b"a\n",
    b"a\r\nb\rc\n": b"a\nb\nc\n",
    b"a": b"a\n",
    b"a\n\n \t\n\r\n": b"a\n",
    b"a\n  ": b"a\n",
    b"a\t\n\n": b"a\t\n",
    b"\n \n": b"",
    b"a\n\nb\n": b"a\n\nb\n",
    MARK + b"a\r\nb\tN\r\n\r\n": b"a\nb\tN\n",
}


def members(path, depth=1):
    return {member.name: member.data for member in open_source(path, depth=depth).members(Findings())}


@pytest.mark.parametrize(("data", "wanted"), CASES.items())
def test_marks_carriage_returns_and_blank_ends_are_mended_and_nothing_else(data, wanted):
    assert repair_text(data) == wanted


@settings(deadline=None)
@given(st.binary(max_size=40) | st.text("ab\t \r\n\ufeff", max_size=20).map(str.encode))
def test_a_repaired_text_needs_no_second_repair_and_keeps_its_cells(data):
    once = repair_text(data)
    assert repair_text(once) == once
    assert once == b"" or (once.endswith(b"\n") and b"\r" not in once)
    assert b"".join(once.replace(MARK, b"").split()) == b"".join(data.replace(MARK, b"").split())


def broken(tmp_path):
    """An archive with a parent folder, a link, litter and four kinds of faults in its tables."""
    folder = [header(b"run/", kind=b"5"), entry(b"run/._b.tsv"), header(b"run/link.tsv", kind=b"2")]
    tables = [entry(b"run/b.tsv", MARK + b"x\r\ny"), entry(b"run/a.tsv", b"x\n\n"), entry(b"run/c.tsv", b"x\n")]
    return put(tmp_path, tgz(*folder, *tables, entry(b"run/picture.png", b"\r\n\r\n")))


FIXED = {"a.tsv": b"x\n", "b.tsv": b"x\ny\n", "c.tsv": b"x\n", "picture.png": b"\r\n\r\n"}
SAID = [
    "b.tsv: byte order mark removed",
    "b.tsv: carriage returns replaced by line feeds",
    "b.tsv: last line terminated",
    "a.tsv: blank lines at the end removed",
]


@pytest.mark.parametrize("out", ["Fixed1.tgz", "fixed"])
def test_a_repaired_copy_has_its_files_at_top_level_and_each_change_is_told(tmp_path, out):
    changes = write_repaired(open_source(broken(tmp_path)), tmp_path / out)
    assert members(tmp_path / out) == FIXED
    assert [change for change in changes if change in SAID] == SAID
    assert changes[0] == "taken out of the folder run/"
    assert [change.partition(":")[0] for change in changes[1:3]] == ["run/._b.tsv", "run/link.tsv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["System1.tgz", out])


def test_the_repaired_copy_of_a_sound_source_is_the_same_and_nothing_is_told(tmp_path):
    files = {"query1/a.tsv": b"x\n", "query1/b.json": b"{}"}
    write_archive(files.items(), tmp_path / "in.tgz")
    assert write_repaired(open_source(tmp_path / "in.tgz", depth=2), tmp_path / "out.tgz") == []
    assert (tmp_path / "out.tgz").read_bytes() == (tmp_path / "in.tgz").read_bytes()
    assert write_repaired(open_source(tmp_path / "in.tgz", depth=2), tmp_path / "out") == []
    assert members(tmp_path / "out", depth=2) == files


def test_a_repaired_archive_has_the_same_bytes_whatever_the_order_it_came_in(tmp_path):
    for name, order in (("one", "abc"), ("two", "cab")):
        put(tmp_path, tgz(*(entry(f"{letter}.tsv".encode(), b"x") for letter in order)), f"{name}.tgz")
        write_repaired(open_source(tmp_path / f"{name}.tgz"), tmp_path / f"{name}.fixed.tgz")
    assert (tmp_path / "one.fixed.tgz").read_bytes() == (tmp_path / "two.fixed.tgz").read_bytes()


@pytest.mark.parametrize("out", ["there.tgz", "there", "link"])
def test_nothing_is_ever_written_over(tmp_path, out):
    put(tmp_path, b"precious", "there.tgz")
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for write in (
        lambda path: write_archive([], path),
        lambda path: write_repaired(open_source(broken(tmp_path)), path),
    ):
        with pytest.raises(SettingError, match="already exists"):
            write(tmp_path / out)
    assert (tmp_path / "there.tgz").read_bytes() == b"precious"


def test_what_is_cut_off_is_not_repaired_and_leaves_no_trace(tmp_path):
    whole = broken(tmp_path).read_bytes()
    path = put(tmp_path, whole[:-20])
    with pytest.raises(UnreadableError, match=r"System1.tgz cannot be repaired: .*truncated.* Pack and send it again"):
        write_repaired(open_source(path), tmp_path / "out.tgz")
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_error_with_its_name(tmp_path):
    with pytest.raises(UnreadableError, match=r"Nothing can be written to .*missing"):
        write_archive([], tmp_path / "missing" / "a.tgz")


def test_an_interrupted_writer_leaves_no_trace(tmp_path):
    def failing():
        yield "a.tsv", b"x"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_archive(failing(), tmp_path / "a.tgz")
    assert list(tmp_path.iterdir()) == []


def test_a_written_archive_names_no_time_owner_or_file_and_other_programs_read_it(tmp_path):
    write_archive([("b.tsv", b"2"), ("a.tsv", b"1")], tmp_path / "a.tgz")
    data = (tmp_path / "a.tgz").read_bytes()
    assert data[3:8] == bytes(5)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as tar:
        found = [(info.name, info.mtime, info.uid, info.gid, info.mode, info.uname) for info in tar]
    assert found == [(name, 0, 0, 0, 0o644, "") for name in ("b.tsv", "a.tsv")]


@pytest.mark.parametrize("out", ["Fixed1.tgz", "fixed"])
def test_a_copy_may_be_written_into_the_folder_that_is_read(tmp_path, out):
    (tmp_path / "a.tsv").write_bytes(b"x")
    assert write_repaired(open_source(tmp_path), tmp_path / out) == ["a.tsv: last line terminated"]
    assert members(tmp_path / out) == {"a.tsv": b"x\n"}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out, "a.tsv"])


def test_a_result_on_another_disk_is_moved_whole(tmp_path, monkeypatch):
    (tmp_path / "draft").write_bytes(b"x")
    usual = Path.replace

    def replace(path, target):
        if path.name == "draft":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return usual(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    put_in_place(tmp_path / "draft", tmp_path / "out")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("out", b"x")]


def test_a_name_too_long_for_the_disk_is_told_with_its_cure(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.tsv").write_bytes(b"x")
    monkeypatch.setattr(Source, "members", lambda *_: iter([Member("d" * 300 + ".tsv", b"x")]))
    with pytest.raises(UnreadableError, match=r"cannot be written: File name too long\. Check"):
        write_repaired(open_source(tmp_path / "in"), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
