"""Trees as treebanks and evalb's users have them, by the command: `.mrg`, parameter files, and what is no tree."""

from __future__ import annotations

import pytest
from tests.cli.running import here

TREEBANK = """
( (S
    (NP-SBJ (PRP She) )
    (VP (VBD said)
      (`` ")
      (S (NP-SBJ (NN rain) ) (VP (VBZ helps) ))
      ('' ") )
    (. .) ))
( (S
    (NP-SBJ-1 (NNS Dogs) )
    (VP (VBD were)
      (VP (VBN fed) (NP (-NONE- *-1) )))
    (. .) ))
"""
PARSER = """(TOP (S (NP (PRP She)) (VP (VBD said) (NP (NN ") (NN rain)) (VP (VBZ helps) ('' "))) (. .)))
(TOP (S (NP (NNS Dogs)) (VP (VBD were) (VP (VBN fed))) (. .)))
"""
RULES = """DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DISC_ONLY 0
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ``
QUOTE_LABEL NN
EQ_LABEL ADVP PRT
"""
FILES = ("--reference", "wsj_0001.mrg", "--submission", "parsed.txt")


@pytest.fixture
def there(tmp_path):
    for name, text in (("wsj_0001.mrg", TREEBANK), ("parsed.txt", PARSER), ("new.prm", RULES)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.req("T-17", "D-3", "D-6")
def test_a_treebank_over_lines_is_scored_by_a_parameter_file_of_evalb(there):
    ended = here("score", "parsing", *FILES, "--set", "parameters=new.prm", "--json", cwd=there)
    assert ended.code == 0, ended.stderr
    values = ended.data["values"]
    # first sentence: 4 of 6 and 5 brackets; second: S, NP, VP, VP on both sides
    assert values["labelled_recall"]["value"] == 0.8
    assert values["labelled_precision"]["value"] == pytest.approx(8 / 9)
    assert values["tagging"]["value"] == pytest.approx(7 / 8)
    assert "quotes:``,NN" in ended.data["signature"]


@pytest.mark.req("T-17")
def test_without_the_rule_for_quotation_marks_the_sentence_does_not_fit(there):
    (there / "new.prm").write_text(RULES.replace("QUOTE_LABEL", "#"))
    ended = here("validate", "parsing", *FILES, "--set", "parameters=new.prm", cwd=there)
    assert "5 words are left after deletion, 4 in the reference" in ended.stderr


OTHERS = {
    "eng.testb": "EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n",
    "wsj_0001.pos": "[ Pierre/NNP Vinken/NNP ]\n,/, \n[ 61/CD years/NNS ]\nold/JJ ,/, will/MD join/VB\n",
    "plain.txt": "It works .\nNobody knows why .\n",
}


@pytest.mark.req("T-17", "D-4", "D-7")
@pytest.mark.parametrize("name", OTHERS)
def test_a_file_without_brackets_is_refused_once_with_the_layout_that_is_read(there, name):
    (there / name).write_text(OTHERS[name] * 50)
    ended = here("validate", "parsing", "--reference", "wsj_0001.mrg", "--submission", name, "--json", cwd=there)
    assert ended.data["total"] == 1
    (problem,) = ended.data["problems"]
    assert problem["fix"]


@pytest.mark.req("T-17", "D-3")
def test_a_folder_of_treebank_files_is_paired_by_file_and_number(tmp_path):
    for side, ending, label in (("gold", "mrg", "NP"), ("mine", "parsed", "X")):
        (tmp_path / side / "00").mkdir(parents=True)
        first = "( (S (NP (DT the) (NN cat))\n   (VP (VBD sat)) ))\n( (S (NP (PRP it)) (VP (VBD ran)) ))\n"
        (tmp_path / side / "00" / f"wsj_0001.{ending}").write_text(first)
        (tmp_path / side / "00" / f"wsj_0002.{ending}").write_text(f"( (S ({label} (NN rain)) (VP (VBD fell)) ))\n")
    ended = here("score", "parsing", "gold", "mine", "--json", cwd=tmp_path)
    assert ended.data["values"]["labelled_f1"]["value"] == pytest.approx(8 / 9)
    (tmp_path / "mine" / "00" / "wsj_0001.parsed").unlink()
    missing = here("validate", "parsing", "gold", "mine", cwd=tmp_path)
    assert "item '00/wsj_0001:1' has no answer" in missing.stderr
    (tmp_path / "gold" / "00" / "wsj_0002.txt").write_text("(S (NP (NN rain)))\n")
    twice = here("validate", "parsing", "gold", "mine", cwd=tmp_path)
    assert "gold/00/wsj_0002.txt: another file is called the same" in twice.stderr
