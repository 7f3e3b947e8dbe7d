"""DomainID and LangID from files to values: one target at a time, three ways to count, and what is refused."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.cli.running import here
from tests.tasks.folders import confidence, documents, letter, packed, written

import basanite
from basanite import spine
from basanite.analysis.results import compare_object, score_object
from basanite.canonical import dumps
from basanite.reports.outputs.html import render as html
from basanite.reports.outputs.terminal import render
from basanite.tasks.identification import DOMAINID, LANGID

TRUTH = {"GOV": [1, 1, 0, 0, 0], "LIF": [1, 0, 1, 0, 0], "SPO": [0, 0, 0, 0, 0]}
FOUND = {"GOV": [1, 0, 1, 1, 1], "LIF": [1, 0, 1, 0, 0], "SPO": [0, 0, 1, 0, 0]}
SHARES = ("x1_of_truth", "x2_of_truth", "x3_of_truth", "x4_of_truth")
CLASSES = ("hit", "miss", "false_alarm", "correct_rejection")


def key_files(table, names):
    return {
        f"{target}.tsv": "".join(f"{n}\t{letter(f)}\n" for n, f in zip(names, flags, strict=True)).encode()
        for target, flags in table.items()
    }


def answer_files(table, names):
    return {
        f"{target}.tsv": "".join(
            f"{n}\t{letter(f)}\t{confidence(80_000 if f else 20_000)}\n" for n, f in zip(names, flags, strict=True)
        ).encode()
        for target, flags in table.items()
    }


def run(tmp_path, truth=None, found=None):
    truth, found = truth or TRUTH, found or FOUND
    names = documents(len(next(iter(truth.values()))))
    return {
        "reference": written(tmp_path / "key", key_files(truth, names)),
        "submission": written(tmp_path / "Alpha", answer_files(found, names)),
    }


def percent(part, whole):
    return float(100 * Fraction(part, whole)) if whole else math.nan


def exactly(truth, found):
    """All values of one target, in fractions."""
    kinds = [(bool(t), bool(f)) for t, f in zip(truth, found, strict=True)]
    x = [kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))]
    relevant, others = x[0] + x[1], x[2] + x[3]
    wanted = {f"x{at}": float(count) for at, count in enumerate(x, start=1)}
    wanted |= {name: percent(count, relevant) for name, count in zip(SHARES, x, strict=True)}
    wholes = (relevant, relevant, others, others)
    return wanted | {name: percent(*pair) for name, *pair in zip(CLASSES, x, wholes, strict=True)}


@pytest.mark.req("M17", "M18", "M19", "M34", case="good")
@pytest.mark.parametrize("seed", range(3))
def test_each_target_is_scored_by_itself(tmp_path, seed):
    rng = np.random.default_rng(seed)
    truth = {target: rng.random(20) < share for target, share in (("GOV", 0.3), ("LIF", 0.05), ("MIL", 0.0))}
    found = {target: rng.random(20) < 0.5 for target in truth}
    result = basanite.score("domainid", **run(tmp_path, truth, found))
    assert dict(result.values) == {}
    assert set(result.breakdowns) == {"target"}
    for target in truth:
        values = {name: value.value for name, value in result.breakdowns["target"][target].items()}
        assert values == pytest.approx(exactly(truth[target], found[target]), nan_ok=True), target


@pytest.mark.req("M17", case="bad")
def test_false_alarms_may_exceed_100_percent_and_nothing_relevant_is_null(tmp_path):
    result = basanite.score("domainid", **run(tmp_path))
    data = json.loads(dumps(score_object(result)))
    assert data["values"] == {}
    target = data["breakdowns"]["target"]
    assert target["GOV"]["x3_of_truth"]["value"] == 150
    for name in (*SHARES, "hit", "miss"):
        assert target["SPO"][name]["value"] is None
        assert target["SPO"][name]["note"] == "undefined"
    assert target["SPO"]["false_alarm"]["value"] == 20


@pytest.mark.req("C09", "M18")
@pytest.mark.parametrize("task", [DOMAINID, LANGID], ids=lambda task: task.name)
def test_both_blocks_are_labelled_percent_of_the_truth_first(tmp_path, task):
    result = basanite.score(task.name, **run(tmp_path))
    report = spine.report(task, result)
    for text in (render(report).decode(), html(report).decode()):
        first, second = text.index("Percent of the relevant documents"), text.index("Percent of the own class")
        assert first < second
    tables = {figure.title: figure for figure in task.figures(result)}
    assert tables["Percent of the relevant documents"].columns == (
        "target",
        *(f"X{place} (% of perfect)" for place in (1, 2, 3, 4)),
    )
    assert tables["Percent of the own class"].columns == (
        *("target", "Hits (%)", "Misses (%)", "False alarms (%)", "Correct rejections (%)"),
    )
    assert tables["Documents"].rows[0] == ("GOV", 1, 1, 3, 0)
    assert any("may exceed 100" in note for note in result.notes)


# Conversational speech


def genres(tmp_path, **levels):
    path = tmp_path / "documents.tsv"
    names = documents(5)
    lines = (f"{names[int(at[1:])]}\t{genre}\n" for at, genre in levels.items())
    path.write_text("document\tgenre\n" + "".join(lines))
    return [path]


@pytest.mark.req("M34", "M74", "C13", case="bad")
def test_a_document_of_genre_cs_is_refused_in_domainid_with_its_line(tmp_path):
    inputs = run(tmp_path)
    names = documents(5)
    written(tmp_path / "key", key_files({target: flags[:4] for target, flags in TRUTH.items()}, names[:4]))
    findings = basanite.validate("domainid", **inputs, metadata=genres(tmp_path, d0="NT", d4="CS"))
    problems = [(one.rule, one.file, one.line, one.field, one.found) for one in findings.problems]
    assert problems == [("M34", f"{target}.tsv", 5, 1, names[4]) for target in ("GOV", "LIF", "SPO")]
    plain = basanite.validate("domainid", **inputs)
    assert {one.rule for one in plain.problems} == {"M26"}, "without metadata it is a document like any other"


@pytest.mark.req("M34", "M36", "C13", case="bad")
def test_a_key_with_a_document_of_genre_cs_opens_no_domainid_task(tmp_path):
    findings = basanite.validate("domainid", **run(tmp_path), metadata=genres(tmp_path, d4="CS"))
    assert {(one.rule, one.where) for one in findings.problems} == {("M34", "reference")}


@pytest.mark.req("M35", "M74", "C13")
def test_langid_takes_all_documents_conversational_speech_too(tmp_path):
    inputs = run(tmp_path)
    result = basanite.score("langid", **inputs, metadata=genres(tmp_path, d0="CS", d4="CS"))
    values = {name: value.value for name, value in result.breakdowns["target"]["GOV"].items()}
    assert values == pytest.approx(exactly(TRUTH["GOV"], FOUND["GOV"]), nan_ok=True)


# Files


@pytest.mark.req("M34", "C14", case="bad")
@pytest.mark.parametrize("name", ["Government-And-Politics", "government-and-politics", "gov"])
def test_a_domains_name_is_refused_with_its_code(tmp_path, name):
    inputs = run(tmp_path)
    (inputs["submission"] / "GOV.tsv").rename(inputs["submission"] / f"{name}.tsv")
    problems = basanite.validate("domainid", **inputs).problems
    assert [(one.rule, one.file) for one in problems] == [("M34", f"{name}.tsv"), ("M34", "GOV.tsv")]
    assert problems[0].fix == "rename it to GOV.tsv"
    assert "domain" in problems[0].message
    assert "query" not in "".join(one.message + one.fix for one in problems)


@pytest.mark.req("M35")
def test_languages_are_named_in_the_same_way(tmp_path):
    table = {"1A": [1, 1, 0, 0], "1B": [0, 0, 1, 1]}
    inputs = run(tmp_path, table, table)
    assert basanite.validate("langid", **inputs).valid
    (inputs["submission"] / "1A.tsv").rename(inputs["submission"] / "1a.tsv")
    (inputs["submission"] / "notes.txt").write_text("x")
    problems = basanite.validate("langid", **inputs).problems
    assert {(one.rule, one.file) for one in problems} == {("M35", "1a.tsv"), ("M35", "1A.tsv"), ("M35", "notes.txt")}
    assert "query" not in "".join(one.message + one.fix for one in problems)


@pytest.mark.req("M34", case="bad")
def test_a_key_of_a_domain_that_is_in_no_catalogue_is_refused(tmp_path):
    table = {"EDU": [1, 0, 0]}
    problems = basanite.validate("domainid", **run(tmp_path, table, table)).problems
    assert [(one.rule, one.where, one.found) for one in problems] == [("M34", "reference", "EDU")]


@pytest.mark.req("M19", case="good")
def test_a_document_may_belong_to_several_domains(tmp_path):
    assert basanite.validate("domainid", **run(tmp_path)).valid
    result = basanite.score("domainid", **run(tmp_path))
    assert [result.breakdowns["target"][target]["x1"].value for target in ("GOV", "LIF")] == [1, 2]


def test_folder_and_archive_agree_in_every_byte(tmp_path):
    inputs = run(tmp_path)
    archive = packed(tmp_path / "Alpha.tgz", dict(reversed(answer_files(FOUND, documents(5)).items())))
    one, two = (basanite.score("domainid", **{**inputs, "submission": s}) for s in (inputs["submission"], archive))
    assert dumps(score_object(one)) == dumps(score_object(two))


# Comparing


@pytest.fixture
def pair(tmp_path):
    inputs = run(tmp_path)
    other = written(tmp_path / "Beta", answer_files(TRUTH, documents(5)))
    return inputs["reference"], {"Alpha": inputs["submission"], "Beta": other}


def test_systems_stand_side_by_side_and_nothing_is_tested(pair):
    reference, systems = pair
    found = basanite.compare("domainid", reference=reference, submissions=systems)
    assert found.differences == ()
    assert dict(found.rankings) == {}
    assert any("side by side and not tested" in note for note in found.notes)
    data = compare_object(found)
    assert data["breakdowns"]["Beta"]["target"]["GOV"]["x1_of_truth"]["value"] == 100
    report = spine.compare_report(DOMAINID, found)
    assert "nothing is tested" in report.sentences[0]
    text = render(report).decode()
    assert text.index("Percent of the relevant documents") < text.index("Percent of the own class")


def test_the_command_line_compares_them_too(pair, tmp_path):
    reference, systems = pair
    options = [word for path in systems.values() for word in ("--submission", str(path))]
    for more in ([], ["--metric", "hit"], ["--report", "both.html"]):
        ended = here("compare", "domainid", "--reference", str(reference), *options, *more, cwd=tmp_path)
        assert ended.code == 0, ended.stderr
        assert "nothing is tested" in ended.stdout
