"""Units that two systems differ on, side by side: the nearest reference, marked words, and nothing where nothing is."""

import json

import pytest

import basanite
from basanite.figures import Excerpts
from basanite.spine import find_task
from basanite.tasks.moved_units import LONGEST, text_extracts, word_pieces


def marked(pieces, mark):
    return [text for text, found in pieces if found == mark]


@pytest.mark.parametrize(
    ("truth", "answer", "wanted"),
    [
        ("a big dog", "a big dog", {}),
        ("a big dog", "a dog", {"missing": ["big"]}),
        ("a dog", "a big dog", {"added": ["big"]}),
        ("a dog", "a cat", {"changed": ["cat"]}),
        ("", "a cat", {"added": ["a", "cat"]}),
    ],
)
def test_words_are_marked_as_added_missing_or_changed(truth, answer, wanted):
    pieces = word_pieces(truth.split(), answer.split())
    for mark in ("added", "missing", "changed"):
        assert marked(pieces, mark) == wanted.get(mark, [])


def test_an_answer_is_marked_against_the_reference_it_is_nearest_to():
    found = text_extracts(("a dog runs", "two cats sleep"), {"A": "two cats run", "B": "a dog"})
    assert [extract.label for extract in found] == ["Reference (A)", "Reference (B)", "A", "B"]
    assert marked(found[2].pieces, "changed") == ["run"]
    assert marked(found[3].pieces, "missing") == ["runs"]


def test_an_empty_answer_is_shown_as_nothing():
    assert text_extracts(("",), {"A": ""})[1].pieces == (("(nothing)", "missing"),)


def test_a_very_long_text_is_cut_and_says_so():
    words = ["w"] * (LONGEST + 30)
    assert any("30 words more" in text for text, _ in word_pieces(words, words))


def test_a_comparison_shows_the_segments_that_moved_most(tmp_path):
    words = [
        f"the {name} mayor spoke to the press in the old town hall" for name in ("new", "old", "tall", "young")
    ] * 5
    reference, one, two = (tmp_path / f"{name}.jsonl" for name in ("reference", "One", "Two"))
    lines = {reference: [{"id": str(at), "references": [text]} for at, text in enumerate(words)]}
    lines[one] = [{"id": str(at), "text": text} for at, text in enumerate(words)]
    lines[two] = [{"id": str(at), "text": text if at != 7 else "nothing of it"} for at, text in enumerate(words)]
    for path, records in lines.items():
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = basanite.compare("translation", reference=reference, submissions=[one, two], metrics="bleu")
    (figure,) = find_task("translation").compared_figures(found)
    assert isinstance(figure, Excerpts)
    assert figure.entries[0].name == "7"
    assert [extract.label for extract in figure.entries[0].extracts] == ["Reference", "One", "Two"]
