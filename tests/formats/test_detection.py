"""The fast reader against the exact one: what it accepts is right, and what it doubts is judged line by line."""

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from basanite.formats.retrieval.detection_files import Documents, read_answers, read_key
from basanite.formats.retrieval.detection_lines import Layout, LineReader
from basanite.problems import Findings

ANY = re.compile(r"[A-Za-z0-9_-]+")
LEAST = 8
"""Files shorter than a word of the processor are left to the exact reader."""

ALPHABET = "abAB01_-"
MATERIAL = st.integers(0, 99_999_999).map(lambda number: f"MATERIAL_BASE-1A_{number:08}")
SHORT = st.text(ALPHABET, min_size=1, max_size=6)
LONG = st.text("ab", min_size=1, max_size=40)
EQUAL = st.integers(1, 26).flatmap(lambda length: st.sets(st.text("ab0", min_size=length, max_size=length), min_size=1))
WORDS = st.lists(st.sampled_from(["aaaaaaaa", "bbbbbbbb", "cccccccc"]), min_size=3, max_size=3).map("".join)
SETS = st.one_of(
    st.sets(MATERIAL, min_size=1, max_size=40),
    st.sets(SHORT, min_size=1, max_size=40),
    st.sets(LONG, min_size=1, max_size=40),
    st.sets(WORDS, min_size=1, max_size=27),
    EQUAL,
)
CONFIDENCES = st.one_of(
    st.tuples(st.integers(0, 99_999), st.integers(1, 5)).map(lambda pair: f"0.{pair[0]:05}"[: 2 + pair[1]]),
    st.integers(1, 5).map(lambda length: "1." + "0" * length),
)


def exact(data, documents, fields):
    findings = Findings()
    answers = LineReader(documents, Layout(fields, ANY)).read(data, "query1.tsv", findings)
    return answers, findings


def fast(data, documents, fields):
    return (read_answers if fields == 3 else read_key)(data, documents)


def same(first, second):
    return np.array_equal(first.returned, second.returned) and np.array_equal(first.score, second.score)


@st.composite
def files(draw, fields=None):
    """A document set and a file without a fault, its lines in any order."""
    fields = fields or draw(st.sampled_from([2, 3]))
    names = sorted(draw(SETS))
    lines = []
    for name in draw(st.permutations(names)):
        cells = [name, draw(st.sampled_from("YN")), *([draw(CONFIDENCES)] if fields == 3 else [])]
        lines.append("\t".join(cells).encode() + b"\n")
    return names, lines, fields


INSERTED = st.sampled_from(
    [b"\t", b" ", b"\0", b"\r", b"\n", b"\xef\xbb\xbf", b"\xff", b"0", b".", b"Y", "٣".encode(), b"\t\t", b"a" * 3000]
)


@st.composite
def mutated(draw):
    """A file with some random damage."""
    names, lines, fields = draw(files())
    data = b"".join(draw(_rearranged(lines, names)))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["flip", "insert", "cut", "replace"]))
        if kind == "insert":
            data = data[:place] + draw(INSERTED) + data[place:]
        elif kind == "cut":
            data = data[:place] + data[place + draw(st.integers(1, 4)) :]
        elif place < len(data):
            byte = data[place] ^ (1 << draw(st.integers(0, 7))) if kind == "flip" else draw(st.integers(0, 255))
            data = data[:place] + bytes([byte]) + data[place + 1 :]
    if draw(st.booleans()):
        data = data.removesuffix(b"\n")
    return names, data, fields


def _rearranged(lines, names):
    stranger = st.just(names[-1].encode() + b"z\tN\t0.1\n")
    header = st.just(b"DocID\tdecision\tconfidence\n")
    return st.one_of(
        st.just(lines),
        st.just(lines[1:]),
        st.just([*lines, lines[0]]),
        st.just([lines[-1], *lines[1:]]),
        st.tuples(stranger).map(lambda extra: [*lines[1:], *extra]),
        st.tuples(header).map(lambda extra: [*extra, *lines]),
        st.just([]),
        st.just(lines[:1]),
    )


@given(files())
@settings(max_examples=60, deadline=None)
def test_a_file_without_fault_is_read_at_once_whatever_the_order_of_its_lines(case):
    names, lines, fields = case
    documents = Documents([name.encode() for name in names])
    answers = fast(b"".join(lines), documents, fields)
    assume(len(b"".join(lines)) >= LEAST)
    assert answers is not None
    slow, findings = exact(b"".join(lines), documents, fields)
    assert findings.counts == {}
    assert same(answers, slow)
    for line in lines:
        name, decision, *confidence = line.decode().rstrip("\n").split("\t")
        place = names.index(name)
        assert answers.returned[place] == (decision == "Y")
        assert answers.score[place] == (round(float(confidence[0]) * 100_000) if confidence else 0)


@given(mutated())
@settings(max_examples=150, deadline=None)
def test_damaged_files_are_judged_alike_by_both_readers_and_by_a_plain_reading_of_the_rules(case):
    names, data, fields = case
    documents = Documents([name.encode() for name in names])
    answers = fast(data, documents, fields)
    slow, findings = exact(data, documents, fields)
    if answers is not None:
        assert findings.counts == {}
        assert same(answers, slow)
    assert (slow is None) == (not findings.valid)
    assert findings.valid == by_the_rules(data, names, fields)
    if slow is not None and not findings.counts and len(data) >= LEAST:
        assert answers is not None, "a file without any problem must not need the slow reader"
    for problem in findings:
        assert problem.rule
        assert problem.file == "query1.tsv"
        assert problem.message
        assert problem.fix
        assert problem.line is None or 1 <= problem.line <= data.count(b"\n") + data.count(b"\r") + 1


def by_the_rules(data, names, fields):
    """The rules once more, as one would write them with no thought of speed."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    if "\r" in text or text.startswith("\ufeff"):
        return False
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    rows = [line.split("\t") for line in lines]
    return sorted(row[0] for row in rows) == sorted(names) and all(row_by_the_rules(row, fields) for row in rows)


def row_by_the_rules(row, fields):
    if len(row) != fields or row[1] not in ("Y", "N"):
        return False
    return fields == 2 or re.fullmatch(r"0\.[0-9]{1,5}|1\.0{1,5}", row[2]) is not None


@pytest.mark.parametrize("width", [3, 8, 11, 25, 40])
def test_some_hundred_documents_in_any_order_are_read_alike(width):
    rng = np.random.default_rng(width)
    numbers = rng.permutation(400)
    names = [b"%0*d" % (width, number) for number in range(400)]
    lines = [names[n] + b"\t%c\t0.%05d\n" % (b"YN"[n % 2], n * 37) for n in numbers]
    answers = read_answers(b"".join(lines), Documents(names))
    assert np.array_equal(answers.score, np.arange(400) * 37)
    assert np.array_equal(answers.returned, np.arange(400) % 2 == 0)
    assert read_answers(b"".join([*lines[:-1], lines[0]]), Documents(names)) is None


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"a", b"a\tY\t0.5", b"\t\t\n", b"\0" * 50, b"\n" * 50, b"\t" * 50 + b"\n"]
)
@pytest.mark.parametrize("names", [["a"], ["a", "bb"], ["abcdefgh"], []])
def test_scraps_are_doubted_and_never_crash(data, names):
    documents = Documents([name.encode() for name in names])
    assert read_answers(data, documents) is None
    assert read_key(data, documents) is None
    for fields in (2, 3):
        exact(data, documents, fields)


def test_every_confidence_that_may_be_written_is_read_exactly():
    numbers = range(100_000)
    documents = Documents([b"%05d" % number for number in numbers])
    data = b"".join(b"%05d\tN\t0.%05d\n" % (number, number) for number in numbers)
    assert np.array_equal(read_answers(data, documents).score, np.arange(100_000))


@pytest.mark.parametrize(
    ("text", "score"),
    [("0.5", 50_000), ("0.54321", 54_321), ("1.0", 100_000), ("1.00000", 100_000), ("0.0", 0), ("0.00001", 1)],
)
def test_confidences_as_the_plan_writes_them_are_accepted(text, score):
    data = f"doc1\tY\t{text}\n".encode()
    documents = Documents([b"doc1"])
    assert read_answers(data, documents).score.tolist() == [score]
    answers, findings = exact(data, documents, 3)
    assert findings.counts == {}
    assert answers.score.tolist() == [score]


def last_line_bad(line):
    """Whether a bad last line after a good one of the same length of name is doubted."""
    return read_answers(b"doc0\tY\t0.12345\n" + line, Documents([b"doc0", b"doc1"])) is None


def test_no_byte_can_stand_for_a_digit_or_for_the_point():
    for place in range(7):
        for byte in set(range(256)) - set(b"0123456789"):
            cell = bytearray(b"0.54321")
            cell[place] = byte
            if cell != b"0.54321":
                assert last_line_bad(b"doc1\tY\t" + bytes(cell) + b"\n"), bytes(cell)


def test_no_byte_but_the_two_letters_is_a_decision():
    for byte in set(range(256)) - set(b"YN"):
        assert last_line_bad(b"doc1\t" + bytes([byte]) + b"\t0.5\n")
        assert read_key(b"doc0\tY\ndoc1\t" + bytes([byte]) + b"\n", Documents([b"doc0", b"doc1"])) is None


@pytest.mark.parametrize("place", [4, 6])
def test_no_byte_but_the_tab_parts_two_fields(place):
    for byte in set(range(256)) - {9}:
        line = bytearray(b"doc1\tY\t0.5\n")
        line[place] = byte
        assert last_line_bad(bytes(line)), bytes(line)
