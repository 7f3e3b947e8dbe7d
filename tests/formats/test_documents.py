"""The document index finds what is there and nothing else, whatever identifiers look like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.formats.retrieval.detection_files import UNKNOWN, Documents

PLAIN = b"abAB01_-"
IDENTIFIERS = st.binary(min_size=1, max_size=30).filter(lambda name: not set(name) & {9, 10})
NARROW = st.lists(st.sampled_from(sorted(PLAIN)), min_size=1, max_size=20).map(bytes)
SETS = st.one_of(
    st.sets(NARROW, min_size=1, max_size=60),
    st.sets(IDENTIFIERS, min_size=1, max_size=60),
    st.integers(1, 24).flatmap(
        lambda length: st.sets(
            st.lists(st.sampled_from(b"ab"), min_size=length, max_size=length).map(bytes), min_size=1, max_size=60
        )
    ),
)


def found(documents, names):
    """Look names up as they stand in a file: one after another, each before a tab."""
    data = b"".join(name + b"\t" for name in names)
    tabs = np.array([place for place, byte in enumerate(data) if byte == 9], dtype=np.int64)
    starts = np.concatenate(([0], tabs[:-1] + 1)).astype(np.int64)
    return documents.find(data + bytes(40), starts, tabs).tolist()


def expected(documents, names):
    return [documents.position.get(name, UNKNOWN) for name in names]


@given(SETS, st.data())
@settings(max_examples=80, deadline=None)
def test_every_document_is_found_in_its_place_and_strangers_are_not(names, data):
    documents = Documents(sorted(names))
    asked = data.draw(st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=30))
    if documents.length is None:
        asked += data.draw(st.lists(st.one_of(NARROW, IDENTIFIERS), max_size=20))
    else:
        same = st.binary(min_size=documents.length, max_size=documents.length)
        asked += data.draw(st.lists(same.filter(lambda name: not set(name) & {9, 10}), max_size=20))
    assert found(documents, asked) == expected(documents, asked)


LIKE = {
    "shorter than a word": [b"a", b"b", b"ab", b"ba", b"abcdefg", b"abcdefh"],
    "just a word": [b"abcdefgh", b"abcdefgi", b"bbcdefgh"],
    "the same last eight bytes": [b"%03d_12345678" % number for number in range(300)],
    "the same first eight bytes": [b"12345678_%03d" % number for number in range(300)],
    "one the beginning of another": [b"x" * length for length in range(1, 40)],
    "all words shared, none that tells them apart": [
        first + middle + last
        for first in (b"aaaaaaaa", b"bbbbbbbb", b"cccccccc", b"dddddddd")
        for middle in (b"aaaaaaaa", b"bbbbbbbb", b"cccccccc")
        for last in (b"aaaaaaaa", b"bbbbbbbb", b"cccccccc", b"dddddddd", b"eeeeeeee")
    ],
    "words exchanged": [b"aaaaaaaabbbbbbbb", b"bbbbbbbbaaaaaaaa", b"aaaaaaaaaaaaaaaa", b"bbbbbbbbbbbbbbbb"],
    "zero bytes": [b"a\0\0", b"a\0b", b"ab\0", b"a", b"a\0"],
    "one": [b"MATERIAL_BASE-1A_10000000"],
}


@pytest.mark.parametrize("names", LIKE.values(), ids=LIKE.keys())
def test_identifiers_that_are_hard_to_tell_apart_are_told_apart(names):
    documents = Documents(names)
    assert len(documents) == len(names)
    assert found(documents, names) == list(range(len(names)))
    assert found(documents, names[::-1]) == list(range(len(names)))[::-1]


@pytest.mark.parametrize("names", LIKE.values(), ids=LIKE.keys())
def test_a_name_with_one_byte_changed_is_another_name(names):
    documents = Documents(names)
    known = set(names)
    for name in names[:20]:
        for place in range(len(name)):
            other = name[:place] + bytes([name[place] ^ 0x20]) + name[place + 1 :]
            if other not in known:
                assert found(documents, [other]) == [UNKNOWN]


def test_pieces_of_known_words_put_together_anew_are_unknown():
    known = [b"aaaaaaaabbbbbbbbcccccccc", b"ddddddddbbbbbbbbeeeeeeee", b"aaaaaaaaffffffffeeeeeeee"]
    documents = Documents(known)
    parts = {name[place : place + 8] for name in known for place in (0, 8, 16)}
    strangers = [a + b + c for a in parts for b in parts for c in parts if a + b + c not in known]
    assert set(found(documents, strangers)) == {UNKNOWN}


def test_a_set_knows_its_common_length_and_its_texts():
    assert Documents([b"ab", b"cd"]).length == 2
    assert Documents([b"ab", b"cde"]).length is None
    assert Documents([]).length is None
    assert Documents([b"caf\xe9", "é".encode()]).texts() == ("caf\\xe9", "é")
