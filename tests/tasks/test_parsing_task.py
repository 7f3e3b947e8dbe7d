"""The task parsing: files of trees from end to end, and no tree passed over in silence."""

import json
import math

import numpy as np
import pytest
from tests.synthetic.sentence_examples import write_parsing

import basanite
from basanite import spine
from basanite.errors import InvalidInputError, SettingError, UnreadableError
from basanite.figures import Excerpts
from basanite.problems import Findings
from basanite.tasks import Inputs
from basanite.tasks.parsing import TASK

GOLD = ["(TOP (S (NP (D the) (N dog)) (VP (V ran)) (. .)))"] * 20


@pytest.fixture
def files(tmp_path):
    def made(answers, gold=GOLD):
        for name, lines in (("gold", gold), ("answers", answers)):
            (tmp_path / f"{name}.trees").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return {"reference": tmp_path / "gold.trees", "submission": tmp_path / "answers.trees"}

    return made


def wrong(number, text):
    return [text if at == number else line for at, line in enumerate(GOLD)]


@pytest.mark.req("T-2", "T-9", "T-10")
def test_a_parser_is_scored_with_intervals_and_a_signature(tmp_path):
    write_parsing(tmp_path)
    result = basanite.score("parsing", reference=tmp_path / "treebank.trees", submission=tmp_path / "Alpha.trees")
    value = result.values["labelled_f1"]
    assert value.low < value.value < value.high
    assert set(result.values) == {metric.name for metric in TASK.metrics}
    signature = result.scores.signatures["labelled_f1"]
    for words in ("rules:evalb", "deleted:TOP", "equal:PRT=ADVP", "mismatch:count", "basanite:"):
        assert words in signature
    table = result.scores.tables["labelled_f1"]
    assert len(table.units) == 60
    assert result.scores.metric("labelled_f1").of(table.rows) == value.value


@pytest.mark.req("T-2", case="bad")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no tree"),
        ("(S (N dog)", "1 bracket is never closed"),
        ("(S (N cat))", "the tree does not match its sentence: 1 words are left after deletion, 3 in the reference"),
        ("(S (D the) (N cat) (V ran))", "word 2 after deletion is 'cat', in the reference 'dog'"),
    ],
)
def test_a_tree_that_does_not_fit_is_told_with_its_line_and_counted(files, text, message):
    given = files(wrong(4, text))
    findings = basanite.validate("parsing", **given)
    (problem,) = findings.problems
    assert (problem.rule, problem.file, problem.line, problem.severity) == ("T-2", "answers.trees", 5, "warn")
    assert message in problem.message
    result = basanite.score("parsing", **given)
    assert result.values["labelled_recall"].value == 57 / 60
    assert result.values["labelled_f1"].value == pytest.approx(2 * 57 / 117)
    said = "1 of 20 trees do not fit their sentence: counted as trees without brackets"
    assert said in result.notes
    assert said in result.values["labelled_f1"].flags
    assert result.values["crossing"].flags[0] == "over the 19 of 20 trees that fit"


@pytest.mark.req("T-2")
def test_as_in_evalb_such_trees_can_be_left_out_and_that_is_said_beside_the_value(files):
    result = basanite.score("parsing", **files(wrong(4, "")), mismatch="evalb")
    value = result.values["labelled_f1"]
    assert value.value == 1.0
    assert "1 of 20 trees do not fit their sentence: left out of all values, as evalb does" in value.flags
    assert result.values["exact"].value == 1.0


@pytest.mark.req("T-2")
def test_such_trees_can_be_refused(files):
    with pytest.raises(InvalidInputError) as error:
        basanite.score("parsing", **files(wrong(4, "")), mismatch="reject")
    assert error.value.findings.counts == {"T-2": 1}


@pytest.mark.req("T-2", case="bad")
def test_a_reference_with_a_broken_tree_is_refused(files):
    findings = basanite.validate("parsing", **files(GOLD, gold=[*GOLD[:-2], "(S (N", ""]))
    assert [(problem.where, problem.line) for problem in findings.problems] == [("reference", 19), ("reference", 20)]
    assert not findings.valid


def test_too_few_and_too_many_lines_are_refused(files):
    for answers in (GOLD[:-1], [*GOLD, GOLD[0]]):
        assert not basanite.validate("parsing", **files(answers)).valid


def test_trees_are_checked_without_a_reference_too(files):
    findings = Findings()
    opened = spine.read(TASK, Inputs(files(wrong(4, "(S"))["submission"]), {}, findings)
    spine.validate(opened, findings)
    assert [problem.line for problem in findings.problems] == [5]


@pytest.mark.req("T-2")
def test_a_parameter_file_of_evalb_sets_the_rules_and_is_recorded_by_what_it_says(tmp_path, files):
    prm = tmp_path / "our.prm"
    prm.write_text("DELETE_LABEL TOP\nDELETE_LABEL NP\nCUTOFF_LEN 2\nEQ_LABEL VP XP\nQUOTE_LABEL ''\nLABELED 0\n")
    given = files([line.replace("VP", "XP") for line in GOLD])
    result = basanite.score("parsing", **given, parameters=prm)
    assert result.values["exact"].value == 1.0
    assert result.values["tagging"].units == 20
    settings = result.scores.settings
    assert settings["deleted"] == ("TOP", "NP")
    assert settings["cutoff"] == 2
    assert str(tmp_path) not in result.signature
    assert settings["quotes"] == ("''",)
    assert "quotes:''" in result.signature
    assert any("LABELED 0" in note for note in result.notes)
    assert basanite.score("parsing", **given).values["exact"].value == 0.0
    with pytest.raises(UnreadableError, match=r"nothing\.prm"):
        basanite.score("parsing", **given, parameters=tmp_path / "nothing.prm")


@pytest.mark.req("T-2")
def test_rules_can_be_set_one_by_one(files):
    given = files([line.replace("VP", "XP") for line in GOLD])
    assert basanite.score("parsing", **given, equal="VP=XP").values["exact"].value == 1.0
    assert basanite.score("parsing", **given, deleted="TOP VP XP . ,").values["exact"].value == 1.0
    with pytest.raises(SettingError, match="ADVP=PRT"):
        basanite.score("parsing", **given, equal="VP")


def test_words_may_be_deleted_as_the_reference_says(files):
    answers = [line.replace("(. .)", "(N .)") for line in GOLD]
    assert math.isnan(basanite.score("parsing", **files(answers)).values["labelled_f1"].value)
    result = basanite.score("parsing", **files(answers), deletion="reference")
    assert result.values["labelled_f1"].value == 1.0


def test_trees_may_run_over_lines(files):
    spread = [line.replace(" (VP", "\n   (VP") for line in GOLD]
    assert not basanite.validate("parsing", **files(spread, gold=spread), layout="lines").valid
    result = basanite.score("parsing", **files(spread, gold=GOLD))
    assert result.values["exact"].value == 1.0
    broken = [*spread[:-1], "(S (N dog)"]
    problems = basanite.validate("parsing", **files(broken, gold=GOLD), layout="trees").problems
    assert [problem.line for problem in problems] == [39]


@pytest.mark.req("T-8")
def test_sentences_are_broken_down_by_ambiguity_and_length(tmp_path):
    write_parsing(tmp_path)
    files = {"reference": tmp_path / "treebank.trees", "submission": tmp_path / "Beta.trees"}
    result = basanite.score("parsing", **files, metadata=tmp_path / "metadata.csv")
    levels = result.breakdowns["ambiguity"]
    assert set(levels) == {"lexical", "none", "syntactic"}
    table = result.scores.tables["labelled_f1"]
    for level, values in levels.items():
        rows = table.rows[np.asarray(table.factors["ambiguity"]) == level]
        assert values["labelled_f1"].value == result.scores.metric("labelled_f1").of(rows)
    assert set(result.breakdowns["length"]) == {"up to 40 words", "over 40 words"}


def test_records_with_ids_are_lined_up_by_them(tmp_path):
    paths = {}
    for name, order in (("reference", range(20)), ("submission", range(19, -1, -1))):
        paths[name] = tmp_path / f"{name}.jsonl"
        texts = {at: f"(S (NP (N n{at})) (V v))" for at in order}
        records = [json.dumps({"id": f"s{at}", "text": text}) for at, text in texts.items()]
        paths[name].write_text("\n".join(records))
    assert basanite.score("parsing", **paths).values["exact"].value == 1.0


@pytest.mark.req("T-2")
def test_a_comparison_shows_the_brackets_of_the_sentences_that_moved_most(tmp_path):
    write_parsing(tmp_path)
    systems = {"Alpha": tmp_path / "Alpha.trees", "Broken": tmp_path / "Broken.trees"}
    found = basanite.compare("parsing", reference=tmp_path / "treebank.trees", submissions=systems)
    (excerpts,) = TASK.compared_figures(found)
    assert isinstance(excerpts, Excerpts)
    marks = {mark for entry in excerpts.entries for extract in entry.extracts for _, mark in extract.pieces}
    assert {"missing", "added"} <= marks
    assert [extract.label for extract in excerpts.entries[0].extracts] == ["Sentence", "Alpha", "Broken"]


def test_hostile_files_are_told_and_never_raise(tmp_path, files):
    given = files(GOLD)
    given["submission"].write_bytes(b"(S \0\xff\n" * 20)
    assert not basanite.validate("parsing", **given).valid
    given["submission"].write_bytes(b"(" * 100_000 + b"\n" + b"\n".join(line.encode() for line in GOLD[1:]))
    assert [problem.line for problem in basanite.validate("parsing", **given).problems] == [1]
    given["submission"].write_bytes(b"")
    assert not basanite.validate("parsing", **given).valid
