"""Files that are read whole: bounded, regular, and never waited for."""

import os
import struct
import zlib

import polars as pl
import pytest

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import check_regular, read_bounded
from basanite.formats.retrieval.image_header import PNG_SIGNATURE, check_image
from basanite.formats.retrieval.summary_metadata import summary_rules
from basanite.formats.toml_file import TomlReport, read_toml
from basanite.problems import Findings
from basanite.reports.outputs.data_files import _encodable_cell


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(UnreadableError, match="larger than 4 bytes"):
        read_bounded(path, 4)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", tmp_path / ("x" * 5000)):
        with pytest.raises(UnreadableError, match="cannot be read"):
            read_bounded(path, 5)
        with pytest.raises(UnreadableError, match="cannot be read"):
            check_regular(path)


@pytest.mark.parametrize("content", ["a = " + "[" * 5000, "a = " + "9" * 5000])
def test_toml_that_python_cannot_hold_is_a_problem(tmp_path, content):
    (tmp_path / "a.toml").write_text(content)
    findings = Findings()
    assert read_toml(tmp_path / "a.toml", "domains", TomlReport("a.toml", "M38", findings)) is None
    assert not findings.valid


def test_a_reference_that_is_no_text_is_a_fault_of_the_schema():
    with pytest.raises(SettingError, match="not text"):
        summary_rules(schema=b'{"properties": {"a": {"$ref": 3}}}')


def test_names_that_are_no_unicode_are_escaped_for_parquet():
    assert pl.Series([_encodable_cell("a\udce9")])[0] == "a\\udce9"
    assert _encodable_cell(1.5) == 1.5


def _chunk(kind, content=b"", length=None):
    size = struct.pack(">I", len(content) if length is None else length)
    return size + kind + content + struct.pack(">I", zlib.crc32(kind + content))


@pytest.mark.parametrize(("data", "fault"), [(_chunk(b"IDAT"), "empty"), (_chunk(b"IDAT", b"abc", 9999), "truncated")])
def test_image_data_that_are_not_there_are_a_problem(data, fault):
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1024, 20, 8, 2, 0, 0, 0))
    (problem,) = check_image("a.png", PNG_SIGNATURE + header + data + _chunk(b"IEND"))
    assert problem.rule == "M48"
    assert fault in problem.message


def test_a_folder_is_refused_with_what_to_give_instead(tmp_path):
    with pytest.raises(UnreadableError) as error:
        read_bounded(tmp_path, 10)
    assert str(error.value).endswith("Is a directory. Give a file.")
