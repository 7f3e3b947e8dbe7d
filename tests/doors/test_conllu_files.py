"""CoNLL-U as parsers write it, by the command: values by sentence and relation, and faults with their place."""

from __future__ import annotations

import pytest
from tests.cli.running import here
from tests.doors.examples import EXAMPLES

import basanite

PLACE = EXAMPLES / "dependencies"
NAMES = {"reference": "gold.conllu", "submission": "parsed.conllu"}
GOOD = [("1", "dogs", "2", "nsubj"), ("2", "bark", "0", "root"), ("3", "loudly", "2", "advmod")]


def text(rows, sentences=3):
    """Sentences of these words."""
    block = "".join(
        "\t".join([at, form, *"____", head, relation, "_", "_"]) + "\n" for at, form, head, relation in rows
    )
    return f"{block}\n" * sentences


@pytest.fixture
def validated(tmp_path):
    """What `basanite validate` finds in a submission against three good sentences."""

    def run(content, *words, reference=None):
        (tmp_path / "gold.conllu").write_text(reference or text(GOOD))
        (tmp_path / "parsed.conllu").write_text(content)
        given = ("--reference", "gold.conllu", "--submission", "parsed.conllu", *words)
        return here("validate", "dependencies", *given, "--json", cwd=tmp_path).data

    return run


def changed(at, *cells):
    return [cells if number == at else row for number, row in enumerate(GOOD)]


FAULTS = {
    "a circle": (changed(1, "2", "bark", "3", "root"), "depend on each other in a circle"),
    "two roots": (changed(0, "1", "dogs", "0", "root"), "the sentence has 2 roots"),
    "no root": (changed(1, "2", "bark", "1", "root"), "in a circle"),
    "a head outside": (changed(2, "3", "loudly", "4", "advmod"), "HEAD '4' is outside its sentence"),
    "a head that is not a number": (changed(2, "3", "loudly", "_", "advmod"), "HEAD '_' is not a number"),
    "a large head": (changed(2, "3", "loudly", "9" * 5000, "advmod"), "is outside its sentence"),
    "a digit of another script": (changed(2, "3", "loudly", "٢", "advmod"), "is not a number"),
    "an id twice": (changed(2, "2", "loudly", "2", "advmod"), "the id '2' is not valid, or out of order"),
    "a form of blanks": (changed(2, "3", "\u2009", "2", "advmod"), "a word of the sentence has no form"),
    "another word": (changed(2, "3", "softly", "2", "advmod"), "'softlydogsbarksoftly' where the reference has"),
    "a word less": (GOOD[:2], "'dogsbarkdogsbark' where the reference has 'loudlydogsbarkloudly'"),
}


@pytest.mark.req("T-17", case="bad")
@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_scored_is_refused_with_its_place_and_a_fix(validated, name):
    rows, message = FAULTS[name]
    shown = validated(text(rows))
    assert not shown["valid"]
    assert message in shown["problems"][0]["message"]
    assert shown["problems"][0]["line"] <= 4
    assert all(one["fix"] for one in shown["problems"])


@pytest.mark.req("T-17")
def test_circles_and_roots_are_taken_where_a_setting_says_so_but_not_in_the_reference(validated):
    rows = FAULTS["two roots"][0]
    taken = validated(text(rows), "--set", "trees=any")
    assert taken["valid"]
    assert {one["severity"] for one in taken["problems"]} == {"warn"}
    assert not validated(text(GOOD), "--set", "trees=any", reference=text(rows))["valid"]


@pytest.mark.req("T-17", "D-7")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (text(GOOD).replace("\t", "  "), "most of its first lines have no ten columns"),
        ("(S (NP (NN rain)) (VP (VBZ helps)))\n" * 30, "bracketed trees"),
        ("", "the file is empty"),
        ("# text = nothing\n\n# text = nothing\n", "most of its first lines"),
        (text(GOOD).replace("\t_\t_\n", "\t_\n", 1), "9 columns in place of 10"),
        (text(GOOD).replace("2\tbark", "# a comment\n2\tbark", 1), "there is a comment inside a sentence"),
    ],
)
def test_a_file_of_something_else_is_one_problem(validated, content, words):
    shown = validated(content)
    assert shown["total"] == 1
    assert words in shown["problems"][0]["message"]


@pytest.mark.req("T-17", "D-3")
def test_line_ends_a_missing_last_line_and_a_byte_order_mark_change_nothing(validated):
    content = "\ufeff" + text(GOOD).replace("\n", "\r\n").rstrip()
    assert validated(content) == validated(text(GOOD))


@pytest.mark.req("T-17")
def test_the_example_has_values_by_sentence_by_genre_and_by_relation():
    files = ("--reference", PLACE / "treebank.conllu", "--submission", PLACE / "Beta.conllu")
    shown = here("score", "dependencies", *files, "--json").data
    assert shown["values"]["las"]["parts"].keys() == {"precision", "recall", "aligned_accuracy"}
    assert set(shown["breakdowns"]["genre"]) == {"letter", "news", "story"}
    assert shown["breakdowns"]["relation"]["det"]["las"]["value"] == 1
    assert "uas" not in shown["breakdowns"]["relation"]["det"]
    units = basanite.score("dependencies", reference=files[1], submission=files[3], draws=2).units("las")
    assert [row["sentence"] for row in units][:2] == ["d01-s1", "d01-s2"]
    assert shown["values"]["las"]["low"] < shown["values"]["las"]["value"] < shown["values"]["las"]["high"]


@pytest.mark.req("T-17")
def test_two_parsers_are_compared_with_the_words_on_which_they_differ(tmp_path):
    files = ("--reference", PLACE / "treebank.conllu", "--submission", PLACE / "Alpha.conllu")
    report = tmp_path / "both.html"
    ended = here("compare", "dependencies", *files, "--submission", PLACE / "Beta.conllu", "--report", report)
    assert ended.code == 0, ended.stderr
    assert "not (obl of" in report.read_text()
