"""A WordNet folder of a few lines: which words share a sense."""

import pytest

from basanite.errors import SettingError
from basanite.formats.texts.wordnet import read_wordnet

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
FILES = {
    "index.noun": "couch n 2 1 @ 2 1 04256520 10000001  \nsofa n 1 1 @ 1 0 04256520  \nmouse n 1 0 1 0 02330245  \n",
    "index.verb": "couch v 1 0 1 0 00980453  \nrun v 2 1 @ 2 2 01926311 02075049  \n",
    "index.adj": "big a 1 1 & 1 1 01382086  \nlarge a 1 1 & 1 1 01382086  \n",
    "index.adv": "fast r 1 0 1 0 00086000  \n",
    "noun.exc": "mice mouse\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text((LICENCE if name.startswith("index") else "") + text, encoding="utf-8")
    return tmp_path


def share(wordnet, first, second):
    return not set(wordnet.synsets(first)).isdisjoint(wordnet.synsets(second))


def test_words_of_one_synset_are_synonyms_in_their_inflected_forms_too(folder):
    wordnet = read_wordnet(folder)
    assert share(wordnet, "couch", "sofa")
    assert share(wordnet, "Couches", "sofas")
    assert share(wordnet, "biggest", "large") is False  # doubled letters are in no rule of WordNet's
    assert share(wordnet, "larger", "big")
    assert share(wordnet, "mice", "mouse")
    assert share(wordnet, "runs", "run")
    assert not share(wordnet, "couch", "run")
    assert not share(wordnet, "the", "the")


def test_the_digest_changes_with_the_files(folder):
    before = read_wordnet(folder).digest
    (folder / "noun.exc").unlink()
    assert read_wordnet(folder).digest != before


def test_parts_of_speech_are_told_apart(folder):
    assert sorted(read_wordnet(folder).synsets("couch")) == ["n04256520", "n10000001", "v00980453"]


def test_a_folder_without_indexes_is_refused_with_what_is_missing(tmp_path, folder):
    (folder / "index.adv").unlink()
    with pytest.raises(SettingError, match=r"index\.adv"):
        read_wordnet(folder)
    for name in FILES:
        (folder / name).write_bytes(b"\0\xff\n oops\n")
    with pytest.raises(SettingError, match="holds no line"):
        read_wordnet(folder)
