"""Items from a table: what judges see and what is kept from them, right answers, and every mistake with its line."""

from __future__ import annotations

import itertools

import pytest

from basanite.work.item_files import read_items
from basanite.work.scheme import read_scheme


def scheme(preset):
    made, problems = read_scheme(f'format = "basanite-judging/1"\nname = "x"\npreset = "{preset}"\n', "x.toml")
    assert made is not None, problems
    return made


def read(tmp_path, text, preset="readability", role="real", name="items.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    numbers = itertools.count(1)
    return read_items(path, scheme(preset), role=role, new_id=lambda: f"i{next(numbers)}")


def test_columns_named_like_blocks_are_shown_and_all_others_are_kept_from_judges(tmp_path):
    text = "query,document,query_id,document_id,system,lang,dir\nrain,نص,q1,d1,Alpha,ar,rtl\n"
    items, findings = read(tmp_path, text, "key-query")
    assert findings.valid
    shown = [(block.kind, block.value, block.lang, block.dir) for block in items[0].blocks]
    assert shown == [("query", "rain", "", "auto"), ("document", "نص", "ar", "rtl")]
    assert items[0].facts["system"] == "Alpha"
    assert (items[0].facts["query"], items[0].facts["document"]) == ("q1", "d1")


def test_a_pair_is_two_texts_and_json_lines_are_read_too(tmp_path):
    line = '{"left": "one", "right": "two", "first": "Alpha", "second": "Beta"}\n'
    items, findings = read(tmp_path, line, "pairwise", name="items.jsonl")
    assert findings.valid, list(findings.problems)
    assert [block.value for block in items[0].blocks if block.kind == "text"] == ["one", "two"]
    assert items[0].facts == {"first": "Alpha", "second": "Beta"}


def test_checks_have_right_answers_as_numbers(tmp_path):
    items, _ = read(tmp_path, "text,expected.rating\nx,5\n", role="check")
    assert (items[0].role, items[0].expected) == ("check", {"rating": 5.0})


@pytest.mark.parametrize(
    ("text", "role", "wanted"),
    [
        ("genre\nnews\n", "real", "there is no column 'text'"),
        ("text,genre\n,news\n", "real", "text: 0 characters"),
        ("text,dir\nx,up\n", "real", "no such direction"),
        ("text,expected.other\nx,5\n", "check", "no question of the scheme"),
        ("text\nx\n", "training", "there is no correct answer"),
        ("", "real", ""),
    ],
    ids=["column", "empty", "direction", "question", "answer", "nothing"],
)
def test_every_mistake_is_told_and_nothing_is_taken(tmp_path, text, role, wanted):
    items, findings = read(tmp_path, text, role=role)
    assert items == ()
    assert wanted == "" or any(wanted in one.message for one in findings.problems)


def test_all_wrong_lines_are_named(tmp_path):
    _, findings = read(tmp_path, "text,genre\ngood,news\n,news\nfine,news\n,news\n")
    assert [one.line for one in findings.problems] == [3, 5]


def test_instructions_of_a_system_are_cleaned(tmp_path):
    items, _ = read(tmp_path, 'text,instructions\nx,"<b>y</b><script>z</script>"\n')
    assert items[0].blocks[1].value == "<b>y</b>"
