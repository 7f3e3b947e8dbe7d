"""Keys and the lists that stand for them: what cannot be trusted is refused whole, with every reason."""

import re

import pytest
from tests.tasks.folders import documents, key_files, packed, queries, written

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import open_source
from basanite.formats.retrieval.detection_key import key_from_lists, nearest_query, read_key_set
from basanite.problems import Findings

PATTERN = re.compile(r"MATERIAL_[A-Za-z0-9]+-(?P<language>[A-Za-z0-9]+)_[0-9]{8}")
RELEVANT = [[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
NAMES = documents(4)


def opened(path, pattern=PATTERN):
    findings = Findings()
    return read_key_set(open_source(path, where="reference"), pattern, findings), findings


def test_a_key_knows_its_documents_its_queries_and_the_truth(tmp_path):
    key, findings = opened(written(tmp_path / "key", key_files(RELEVANT)))
    assert findings.counts == {}
    assert key.has_reference
    assert key.documents.texts() == tuple(NAMES)
    assert key.queries == queries(3)
    assert [key.relevant(query).tolist() for query in key.queries] == [[bool(x) for x in row] for row in RELEVANT]


def test_a_key_is_the_same_as_folder_and_as_archive_in_any_order_of_files_and_lines(tmp_path):
    files = key_files(RELEVANT)
    turned = {name: b"\n".join(reversed(files[name].split(b"\n")[:-1])) + b"\n" for name in reversed(files)}
    one, _ = opened(written(tmp_path / "key", files))
    two, _ = opened(packed(tmp_path / "key.tgz", dict(reversed(files.items()))))
    three, _ = opened(packed(tmp_path / "turned.tgz", turned))
    assert one.digest == two.digest != three.digest
    for query in queries(3):
        assert one.relevant(query).tolist() == two.relevant(query).tolist() == three.relevant(query).tolist()


BAD = {
    "three fields": (b"\tY\n", b"\tY\t0.5\n", "M36"),
    "a decision that is none": (b"\tY\n", b"\tyes\n", "M28"),
    "no decision": (b"\tY\n", b"\t\n", "M28"),
    "no tab": (b"\tY\n", b"\n", "M28"),
    "another separator": (b"\tY\n", b" Y\n", "M21"),
    "carriage returns": (b"\n", b"\r\n", "M22"),
    "bytes that are no text": (b"\tY\n", b"\t\xff\n", "M21"),
    "a blank line": (b"\n", b"\n\n", "M23"),
    "a document of another shape": (NAMES[0].encode(), b"document1", "M33"),
    "a document that the other files lack": (NAMES[0].encode(), b"MATERIAL_BASE-1A_99999999", "M26"),
    "a document twice": (NAMES[0].encode(), NAMES[1].encode(), "M26"),
}


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first file", "second file", "last file"])
@pytest.mark.parametrize(("old", "new", "rule"), BAD.values(), ids=BAD.keys())
def test_a_bad_key_is_refused_whichever_file_is_bad(tmp_path, old, new, rule, place):
    files = key_files([[1, 0, 0, 1]] * 3)
    name = list(files)[place]
    files[name] = files[name].replace(old, new)
    key, findings = opened(written(tmp_path / "key", files))
    assert key is None
    assert findings.counts[rule] > 0
    assert {problem.where for problem in findings} == {"reference"}
    assert all(problem.fix for problem in findings)


def test_a_byte_order_mark_a_stray_file_and_an_empty_folder_are_refused(tmp_path):
    marked = {name: b"\xef\xbb\xbf" + data for name, data in key_files(RELEVANT).items()}
    assert opened(written(tmp_path / "marked", marked))[0] is None
    stray = {"README": b"hello", **key_files(RELEVANT), "sizes.txt": b"hello"}
    key, findings = opened(written(tmp_path / "stray", stray))
    assert key is None
    assert [(p.rule, p.file) for p in findings] == [("M25", "README"), ("M25", "sizes.txt")]
    assert opened(written(tmp_path / "only", {"README": b"hello"}))[0] is None
    assert opened(written(tmp_path / "none", {}))[0] is None
    assert opened(written(tmp_path / "hollow", {"query00001.tsv": b""}))[0] is None
    assert opened(written(tmp_path / "nameless", {".tsv": b"x\tY\n"}))[0] is None


def test_no_pattern_however_wide_lets_in_names_that_are_not_text(tmp_path):
    files = {"query00001.tsv": b"doc1\tY\ndoc\xff\tN\n"}
    key, findings = opened(written(tmp_path / "key", files), re.compile(r".+"))
    assert key is None
    assert findings.counts["M21"] == 1
    marked = {"query00001.tsv": b"doc1\tY\n\xef\xbb\xbfdoc2\tN\n"}
    assert opened(written(tmp_path / "marked", marked), re.compile(r".+"))[0] is None


def test_a_broken_archive_is_no_key(tmp_path):
    whole = packed(tmp_path / "whole.tgz", key_files(RELEVANT)).read_bytes()
    (tmp_path / "cut.tgz").write_bytes(whole[: len(whole) // 2])
    key, findings = opened(tmp_path / "cut.tgz")
    assert key is None
    assert {problem.where for problem in findings} == {"reference"}


def lists(tmp_path, documents_text, queries_text):
    findings = Findings()
    (tmp_path / "documents.txt").write_bytes(documents_text.encode())
    (tmp_path / "queries.tsv").write_bytes(queries_text.encode())
    return key_from_lists(tmp_path / "documents.txt", tmp_path / "queries.tsv", PATTERN, findings), findings


@pytest.mark.parametrize("header", [("", ""), ("document\tgenre\n", "query_id\tstring\tdomain\n"), ("DocID\n", "id\n")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lists_say_which_documents_and_queries_there_are(tmp_path, header, end):
    text = header[0] + "".join(f"{name}\tNT\n" for name in reversed(NAMES))
    key, findings = lists(tmp_path, text.replace("\n", end), header[1] + "query00002\tx, y\tGOV\nquery00001\n")
    assert findings.counts == {}
    assert (key.documents.texts(), key.queries, key.has_reference) == (tuple(NAMES), queries(2), False)


@pytest.mark.parametrize(
    ("documents_text", "queries_text", "rule", "line"),
    [
        ("", "query00001\n", "M36", None),
        (NAMES[0] + "\n", "\n\n", "M36", None),
        (f"{NAMES[0]}\n{NAMES[1]}\n{NAMES[0]}\n", "query00001\n", "M36", 3),
        (f"{NAMES[0]}\ndoc1\n", "query00001\n", "M33", 2),
        (f"{NAMES[0]}\n", "query00001\nquery00001\n", "M36", 2),
    ],
)
def test_lists_that_cannot_be_right_are_refused_with_the_line(tmp_path, documents_text, queries_text, rule, line):
    key, findings = lists(tmp_path, documents_text, queries_text)
    assert key is None
    assert [(p.rule, p.line, p.where) for p in findings] == [(rule, line, "reference")]


def test_a_list_that_is_not_there_is_said_to_be_so(tmp_path):
    with pytest.raises(UnreadableError, match="documents"):
        key_from_lists(tmp_path / "documents.txt", tmp_path / "queries.tsv", PATTERN, Findings())


@pytest.mark.parametrize(
    ("name", "near"), [("query43", "query00043"), ("QUERY00043", "query00043"), ("query0430", None), ("other", None)]
)
def test_a_differently_padded_name_has_its_meaning_guessed(name, near):
    assert nearest_query(name, ["query00043", "query00044"]) == near
