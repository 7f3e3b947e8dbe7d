"""The task classification: classes of items from end to end, every class by itself, and the ambiguity of items."""

import json
import math

import numpy as np
import polars
import pytest
from sklearn import metrics as peer
from tests.synthetic.sentence_examples import write_classification

import basanite
from basanite.errors import SettingError
from basanite.tasks import classification
from basanite.tasks.classification import TASK


@pytest.fixture
def files(tmp_path):
    def made(truth, answers):
        for name, labels in (("key", truth), ("system", answers)):
            rows = "".join(f"i{at},{label}\n" for at, label in enumerate(labels))
            (tmp_path / f"{name}.csv").write_text("id,label\n" + rows, encoding="utf-8")
        return {"reference": tmp_path / "key.csv", "submission": tmp_path / "system.csv"}

    return made


def sample(seed=0, size=80, classes="abcd"):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(classes), size)
    return truth.tolist(), np.where(rng.random(size) < 0.6, truth, rng.choice(list(classes), size)).tolist()


@pytest.mark.req("T-7", "T-9")
def test_a_system_is_scored_as_by_scikit_learn_with_intervals_and_every_class(files):
    truth, answers = sample()
    result = basanite.score("classification", **files(truth, answers), beta=2)
    for mean in ("macro", "micro", "weighted"):
        assert result.values[f"f1_{mean}"].value == pytest.approx(peer.f1_score(truth, answers, average=mean))
        wanted = peer.fbeta_score(truth, answers, beta=2, average=mean)
        assert result.values[f"f_beta_{mean}"].value == pytest.approx(wanted)
    assert result.values["f1_macro"].low < result.values["f1_macro"].value < result.values["f1_macro"].high
    report = peer.precision_recall_fscore_support(truth, answers, labels=list("abcd"))
    for at, name in enumerate("abcd"):
        values = result.breakdowns["class"][name]
        assert values["precision"].value == pytest.approx(report[0][at])
        assert values["recall"].value == pytest.approx(report[1][at])
        assert values["f1"].value == pytest.approx(report[2][at])
        assert "f_beta" in values
    assert {"precision", "recall", "f1"}.isdisjoint(result.values)


def test_f_beta_is_given_only_when_asked_for(files):
    result = basanite.score("classification", **files(*sample()))
    assert not [name for name in result.values if name.startswith("f_beta")]
    with pytest.raises(SettingError, match="more than 0"):
        basanite.score("classification", **files(*sample()), beta=-1)


@pytest.mark.req("T-7", case="bad")
def test_what_is_undefined_is_nan_with_a_note_and_0_only_where_that_is_set(files):
    truth, answers = ["a", "b"] * 10 + ["c"], ["a", "b"] * 10 + ["x"]
    result = basanite.score("classification", **files(truth, answers))
    assert math.isnan(result.breakdowns["class"]["c"]["precision"].value)
    assert math.isnan(result.breakdowns["class"]["(not in the reference)"]["recall"].value)
    assert "precision is undefined for classes that are never given: c" in result.notes
    assert "1 of 4 classes without precision: left out of the mean" in result.values["precision_macro"].flags
    assert result.values["precision_macro"].value == pytest.approx(2 / 3)
    zero = basanite.score("classification", **files(truth, answers), undefined="0")
    assert zero.values["precision_macro"].value == pytest.approx(2 / 4)
    assert zero.breakdowns["class"]["c"]["precision"].value == 0
    assert "1 of 4 classes without precision: counted as 0" in zero.values["precision_macro"].flags


@pytest.mark.req("T-9")
def test_systems_are_compared_also_where_one_has_classes_of_its_own(tmp_path, files):
    truth, answers = sample()
    given = files(truth, answers)
    given["submission"].rename(tmp_path / "first.csv")
    odd = ["z" if at in (3, 5) else "y" if at == 7 else label for at, label in enumerate(truth)]
    systems = {"first": tmp_path / "first.csv", "second": files(truth, odd)["submission"]}
    found = basanite.compare("classification", reference=given["reference"], submissions=systems)
    difference = next(one for one in found.differences if one.metric == "f1_macro")
    assert TASK.compared_figures(found)[0].entries[0].extracts[0].label == "Class"
    values = {name: analysis.values["f1_macro"].value for name, analysis in found.analyses.items()}
    assert difference.difference == pytest.approx(values["first"] - values["second"])
    pooled = ["y" if label == "z" else label for label in odd]  # all strange classes are one
    assert values["second"] == pytest.approx(peer.f1_score(truth, pooled, average="macro"))


def test_a_class_that_the_reference_has_not_is_told(files):
    findings = basanite.validate("classification", **files(["a", "b", "b"], ["a", "B", "B"]))
    assert [(problem.line, problem.found, problem.severity) for problem in findings.problems] == [(3, "B", "warn")]
    assert findings.valid


@pytest.mark.req("T-7")
def test_some_classes_alone_can_be_scored(files):
    truth, answers = sample()
    result = basanite.score("classification", **files(truth, answers), classes="a,b")
    wanted = peer.f1_score(truth, answers, labels=["a", "b"], average="micro")
    assert result.values["f1_micro"].value == pytest.approx(wanted)
    assert result.values["accuracy"].value == pytest.approx(peer.accuracy_score(truth, answers))
    with pytest.raises(SettingError, match="No item of the reference has the class 'z'"):
        basanite.score("classification", **files(truth, answers), classes="a,z")


def test_all_formats_say_the_same(tmp_path, files):
    truth, answers = sample()
    wanted = basanite.score("classification", **files(truth, answers)).values["f1_macro"]
    ids = [f"i{at}" for at in range(len(truth))]
    paths = {"reference": tmp_path / "key.parquet", "submission": tmp_path / "system.jsonl"}
    polars.DataFrame({"id": ids, "label": truth}).write_parquet(paths["reference"])
    paths["submission"].write_text(
        "\n".join(json.dumps({"id": name, "label": label}) for name, label in zip(ids, answers, strict=True))
    )
    assert basanite.score("classification", **paths).values["f1_macro"] == wanted


def test_numbers_and_truth_values_are_classes_and_nothing_else(tmp_path):
    path = tmp_path / "key.jsonl"
    path.write_text('{"id": "1", "label": 1}\n{"id": "2", "label": true}\n{"id": "3", "label": "x"}\n')
    assert basanite.validate("classification", submission=path, reference=path).valid
    path.write_text('{"id": "1", "label": 1.5}\n{"id": "2", "label": ""}\n{"id": "3"}\n{"id": "3", "label": "a"}\n')
    findings = basanite.validate("classification", submission=path, reference=path)
    assert [problem.line for problem in findings.problems if problem.line] == [1, 2, 3, 4]


def test_too_large_a_table_is_refused_with_a_cure(files, monkeypatch):
    monkeypatch.setattr(classification, "MOST_NUMBERS", 1000)
    findings = basanite.validate("classification", **files(*sample()))
    assert [problem.fix for problem in findings.problems] == ["score at most 4 of them, or give fewer items"]
    assert not findings.valid


@pytest.mark.req("T-7")
def test_the_confusion_table_shows_who_was_taken_for_whom(files):
    truth, answers = sample()
    (table,) = TASK.figures(basanite.score("classification", **files(truth, answers)))
    assert [list(row[1:]) for row in table.rows] == peer.confusion_matrix(truth, answers).tolist()


def test_a_confusion_table_of_many_classes_puts_the_small_ones_together(files):
    truth = [f"c{at % 40:02}" for at in range(100)] + ["big"] * 50
    (table,) = TASK.figures(basanite.score("classification", **files(truth, truth)))
    assert len(table.rows) == classification.SHOWN
    assert table.columns[-1] == "(others)"
    assert sum(row[at + 1] for at, row in enumerate(table.rows)) == 150


@pytest.mark.req("T-8")
def test_results_are_broken_down_by_the_ambiguity_of_items(tmp_path):
    write_classification(tmp_path)
    result = basanite.score(
        "classification",
        reference=tmp_path / "key.csv",
        submission=tmp_path / "Alpha.csv",
        metadata=tmp_path / "metadata.csv",
    )
    read = {
        name: dict(line.split(",") for line in (tmp_path / f"{name}.csv").read_text().split()[1:]) for name in FILES
    }
    for level, values in result.breakdowns["ambiguity"].items():
        items = [name for name, kind in read["metadata"].items() if kind == level]
        sides = [[read[file][name] for name in items] for file in ("key", "Alpha")]
        assert values["f1_macro"].value == pytest.approx(peer.f1_score(*sides, average="macro"))
        assert values["f1_macro"].units == len(items)
    assert set(result.breakdowns["ambiguity"]) == {"lexical", "syntactic", "co-reference"}


FILES = ("metadata", "key", "Alpha")


@pytest.mark.req("T-10")
def test_every_value_says_how_it_was_made(files):
    result = basanite.score("classification", **files(*sample()), beta=0.5, undefined="1")
    assert set(result.scores.signatures) == {metric.name for metric in result.scores.metrics}
    assert result.scores.signatures["f_beta_macro"].startswith(
        "f_beta_macro|beta:0.5|undefined:1|classes:all|basanite:"
    )


@pytest.mark.req("T-8")
def test_values_of_single_classes_are_not_broken_down_by_ambiguity_once_more(tmp_path):
    write_classification(tmp_path)
    result = basanite.score(
        "classification",
        reference=tmp_path / "key.csv",
        submission=tmp_path / "Alpha.csv",
        metadata=tmp_path / "metadata.csv",
        draws=50,
    )
    named = {name for values in result.breakdowns["ambiguity"].values() for name in values}
    assert "f1_macro" in named
    assert not named & {"f1", "precision", "recall"}
    assert {"f1", "precision", "recall"} <= set(result.breakdowns["class"]["first"])


def test_unknown_classes_that_count_as_one_are_named_beside_the_means_over_classes(files):
    truth, answers = ["a", "b"] * 10, ["a", "b"] * 8 + ["x", "y", "z", "b"]
    result = basanite.score("classification", **files(truth, answers), draws=50)
    words = "3 classes that the reference does not have (x, y, z) count as one class"
    assert words in result.values["f1_macro"].flags
    assert words in result.values["precision_macro"].flags
    for name in ("recall_macro", "f1_micro", "f1_weighted", "accuracy"):  # no such class is in these
        assert words not in result.values[name].flags
    merged = ["x" if label in "xyz" else label for label in answers]
    assert result.values["f1_macro"].value == pytest.approx(peer.f1_score(truth, merged, average="macro"))
    single = basanite.score("classification", **files(truth, merged), draws=50)
    assert not any("count as one" in flag for flag in single.values["f1_macro"].flags)
