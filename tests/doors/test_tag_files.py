"""Tags in columns as CoNLL's tools write them, and keys of word senses, by the command."""

from __future__ import annotations

import pytest
from tests.cli.running import here

GOLD = "EU NNP B-ORG\nrejects VBZ O\nPeter NNP B-PER\nBlackburn NNP I-PER\n\nLima NNP B-LOC\nwon VBD O\n\n" * 3
LINES = {
    "gold.txt": GOLD,
    "iob1.txt": GOLD.replace("B-", "I-"),
    "bilou.txt": GOLD.replace("B-ORG", "U-ORG").replace("B-LOC", "U-LOC").replace("I-PER", "L-PER"),
    "iobes.txt": GOLD.replace("B-ORG", "S-ORG").replace("B-LOC", "S-LOC").replace("I-PER", "E-PER"),
}


@pytest.fixture
def there(tmp_path):
    for name, text in LINES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(command, there, content, *words, reference="gold.txt"):
    (there / "given.txt").write_text(content)
    return here(
        command, "tagging", "--reference", reference, "--submission", "given.txt", *words, "--json", cwd=there
    ).data


def values(shown):
    return {name: value["value"] for name, value in shown["values"].items()}


@pytest.mark.req("T-18", "D-3")
@pytest.mark.parametrize("name", LINES)
def test_every_scheme_is_told_by_its_tags(there, name):
    shown = run("score", there, LINES[name], reference=name)
    assert set(values(shown).values()) == {1}
    assert set(shown["breakdowns"]["type"]) == {"LOC", "ORG", "PER"}
    wanted = {"gold.txt": "IOB2", "iob1.txt": "IOB1", "bilou.txt": "BILOU", "iobes.txt": "IOBES"}[name]
    assert f"scheme:{wanted}" in shown["values"]["strict_f1"]["signature"]


@pytest.mark.req("T-18")
def test_an_entity_that_begins_with_the_wrong_tag_is_right_by_default_and_wrong_strictly(there):
    shown = values(run("score", there, GOLD.replace("B-ORG", "I-ORG")))
    assert (shown["f1"], shown["strict_f1"]) == (1, pytest.approx(0.8))
    assert shown["accuracy"] == pytest.approx(5 / 6)


@pytest.mark.req("T-18")
def test_one_file_may_hold_both_tags_and_another_column_may_be_scored(there):
    both = "".join(f"{line} {line.split()[-1]}\n" if line else "\n" for line in GOLD.splitlines()).replace(
        "B-LOC B-LOC", "B-LOC O"
    )
    (there / "both.txt").write_text(both)
    shown = run("score", there, both, "--set", "reference_column=-2", reference="both.txt")
    assert values(shown)["recall"] == pytest.approx(2 / 3)
    shown = run("score", there, both, "--set", "column=2", "--set", "reference_column=2", reference="both.txt")
    assert values(shown)["accuracy"] == 1
    assert "scheme:labels" in shown["values"]["f1"]["signature"]


FAULTS = {
    "a word less": (GOLD.replace("won VBD O\n", "", 1), "the sentence has 1 words, in gold.txt:6 2"),
    "another word": (GOLD.replace("Lima", "Rome", 1), "'Rome' is where the reference has 'Lima'"),
    "a sentence less": (GOLD[: len(GOLD) // 3], "2 sentences where the reference has 6"),
    "a tag of another scheme": (GOLD.replace("B-ORG", "S-ORG", 1), "'S-ORG' is not a tag of the scheme IOB2"),
    "no tag": (GOLD.replace("Lima NNP B-LOC", "Lima", 1), "1 columns, where most lines have 3"),
    "trees": ("(S (NP (NN rain)) (VP (VBZ helps)))\n" * 9, "bracketed trees"),
    "nothing": ("\n\n", "the file is empty"),
    "senses": ("d.s.t art%1:09:00::\n", "this is a key of word senses, the reference tags in columns"),
}


@pytest.mark.req("T-18", case="bad")
@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_scored_is_one_problem_with_a_fix(there, name):
    content, message = FAULTS[name]
    shown = run("validate", there, content)
    assert (shown["valid"], shown["total"]) == (False, 1)
    assert message in shown["problems"][0]["message"]
    assert shown["problems"][0]["fix"]


@pytest.mark.req("T-18")
def test_senses_are_paired_by_id_and_an_unknown_word_is_passed_over(there):
    (there / "gold.key").write_text("t1 art%1:06:00::\nt2 say%2:32:00:: say%2:32:01::\nt3 old%3:00:02::\n")
    content = "t2 say%2:32:01::\nt9 new%3:00:00::\nt1 art%1:09:00::\n"
    shown = run("score", there, content, reference="gold.key")
    assert {name: values(shown)[name] for name in ("precision", "recall")} == {
        "precision": 0.5,
        "recall": pytest.approx(1 / 3),
    }
    assert "1 of 3 words have no answer: they count for recall" in shown["notes"]
    told = run("validate", there, content, reference="gold.key")
    assert [(one["severity"], one["line"]) for one in told["problems"]] == [("warn", 2)]


@pytest.mark.req("T-18", case="bad")
def test_a_scheme_or_column_that_is_none_is_refused(there):
    for words, message in (
        ("scheme=BIO", "it is not one of"),
        ("column=0", "it is not a column"),
        ("column=9", "no column 9"),
    ):
        (there / "given.txt").write_text(GOLD)
        given = ("--reference", "gold.txt", "--submission", "given.txt", "--set", words)
        ended = here("validate", "tagging", *given, cwd=there)
        assert ended.code != 0
        assert message in ended.stderr
