"""CLIR submissions that are not as they should be: what is refused, what is warned of, and that all of it is listed."""

import numpy as np
import pytest
from tests.tasks.folders import answer_files, changed, documents, key_files, packed, queries, run, written

import basanite
from basanite.analysis.results import score_object
from basanite.errors import InvalidInputError, SettingError
from basanite.reports.analysis import analysis_report

RELEVANT = np.array([[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], bool)
NAMES = documents(4)


@pytest.fixture
def inputs(tmp_path):
    return run(tmp_path, RELEVANT, RELEVANT)


def validated(inputs, **more):
    return basanite.validate("clir", **inputs, **more)


def refused(inputs, **more):
    """The problems with which scoring is refused; validation finds the same."""
    with pytest.raises(InvalidInputError) as raised:
        basanite.score("clir", **inputs, **more)
    findings = validated(inputs)
    assert raised.value.findings.as_dict("clir") == findings.as_dict("clir")
    return findings.problems


@pytest.mark.req("M25", "M26", "M27", "M28", "M31", "M36", case="good")
def test_a_good_submission_has_no_problem(inputs):
    assert validated(inputs).as_dict("clir") == {
        "task": "clir",
        "valid": True,
        "problems": [],
        "counts": {},
        "listed": 0,
        "total": 0,
    }


# Files


@pytest.mark.req("M25", case="bad")
def test_missing_extra_and_differently_padded_files_are_all_listed(inputs):
    folder = inputs["submission"]
    (folder / "query00001.tsv").rename(folder / "query1.tsv")
    (folder / "query00002.tsv").rename(folder / "Query00002.tsv")
    (folder / "query00003.tsv").rename(folder / "other.tsv")
    found = {(p.rule, p.file): p for p in refused(inputs)}
    assert set(found) == {
        ("M25", name + ".tsv") for name in ("query1", "Query00002", "other", "query00001", "query00002", "query00003")
    }
    assert found["M25", "query1.tsv"].fix == "rename it to query00001.tsv"
    assert found["M25", "Query00002.tsv"].fix == "rename it to query00002.tsv"
    assert found["M25", "other.tsv"].fix == "leave it out"
    assert "missing" in found["M25", "query00003.tsv"].message


@pytest.mark.req("M25", case="bad")
def test_a_file_that_is_no_table_is_refused_and_named(inputs):
    (inputs["submission"] / "readme.md").write_text("hello")
    (problem,) = refused(inputs)
    assert (problem.rule, problem.file, problem.where) == ("M25", "readme.md", "submission")


@pytest.mark.req("M25", case="bad")
def test_every_missing_file_is_counted_though_20_are_listed(tmp_path):
    inputs = {
        "reference": written(tmp_path / "key", key_files([[1, 0]] * 50)),
        "submission": written(tmp_path / "Alpha", answer_files([[1, 0]], [[90_000, 10_000]])),
    }
    findings = validated(inputs)
    assert (findings.counts, len(findings.problems)) == ({"M25": 49}, 20)
    assert [p.file for p in validated(inputs, every=True)] == [query + ".tsv" for query in queries(50)[1:]]


@pytest.mark.req("M25", "M53", case="bad")
def test_a_truncated_archive_is_not_said_to_lack_the_files_behind_the_cut(tmp_path, inputs):
    rng = np.random.default_rng(0)
    noisy = {name: data + rng.bytes(5000) for name, data in answer_files(RELEVANT, RELEVANT * 80_000).items()}
    whole = packed(tmp_path / "Alpha.tgz", noisy).read_bytes()
    (tmp_path / "Alpha.tgz").write_bytes(whole[: len(whole) // 2])
    problems = refused({**inputs, "submission": tmp_path / "Alpha.tgz"})
    assert "M53" in {p.rule for p in problems}
    assert not [p for p in problems if "missing" in p.message and p.rule == "M25"]


# Lines


@pytest.mark.req("M01", "M26", case="bad")
def test_another_set_of_documents_is_refused_with_what_is_missing_and_what_is_unknown(inputs):
    other = "MATERIAL_BASE-1A_99999999"
    changed(inputs["submission"], "query00002.tsv", NAMES[2].encode(), other.encode())
    unknown, missing = refused(inputs)
    assert (unknown.rule, unknown.file, unknown.line, unknown.field) == ("M26", "query00002.tsv", 3, 1)
    assert unknown.found == other
    assert (missing.rule, missing.line) == ("M26", None)
    assert f"lines are missing for 1 of 4 documents: {NAMES[2]}" in missing.message


@pytest.mark.req("M26", case="bad")
def test_a_document_that_comes_twice_is_refused_with_both_lines(inputs):
    path = inputs["submission"] / "query00001.tsv"
    path.write_bytes(path.read_bytes() + f"{NAMES[1]}\tN\t0.1\n".encode())
    (problem,) = refused(inputs)
    assert (problem.rule, problem.line, problem.found) == ("M26", 5, NAMES[1])
    assert "line 2 and again on line 5" in problem.message


@pytest.mark.req("M26", "C11", "M01", case="bad")
def test_returned_documents_alone_are_not_enough(inputs):
    path = inputs["submission"] / "query00001.tsv"
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(keepends=True) if b"\tY\t" in line))
    (problem,) = refused(inputs)
    assert problem.found == "2 missing"
    assert NAMES[1] in problem.message
    assert NAMES[2] in problem.message


@pytest.mark.req("M02", "M28", "M27", case="bad")
@pytest.mark.parametrize(("old", "new", "rule"), [(b"\tY\t", b"\t\t", "M28"), (b"\tY\t", b"\t", "M27")])
def test_without_a_decision_there_is_no_score(inputs, old, new, rule):
    changed(inputs["submission"], "query00001.tsv", old, new)
    assert {p.rule for p in refused(inputs)} == {rule}


@pytest.mark.req("M29", "M24", "M22", "M21", "M33", case="bad")
@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (b"\t0.8\n", b"\t.8\n", "M29"),
        (b"\n", b"\r\n", "M22"),
        (b"\tY\t", b" Y ", "M21"),
        (b"MATERIAL_BASE", b"MATERIAL_BA SE", "M33"),
    ],
)
def test_every_kind_of_bad_line_stops_the_scoring(inputs, old, new, rule):
    changed(inputs["submission"], "query00001.tsv", old, new)
    assert rule in {p.rule for p in refused(inputs)}


@pytest.mark.req("M33", case="good")
def test_documents_may_have_another_shape_if_the_user_says_so(tmp_path):
    for path in run(tmp_path, RELEVANT, RELEVANT).values():
        for file in path.iterdir():
            file.write_bytes(file.read_bytes().replace(b"MATERIAL_BASE-1A_", b"doc-"))
    inputs = {"reference": tmp_path / "key", "submission": tmp_path / "Alpha"}
    assert "M33" in validated(inputs).counts
    result = basanite.score("clir", **inputs, document_pattern="doc-[0-9]+", beta=20)
    assert result.values["aqwv"].value == 1


def test_one_bad_file_among_good_ones_costs_nothing_but_its_own_problems(inputs):
    changed(inputs["submission"], "query00002.tsv", b"0.8", b"8")
    (problem,) = refused(inputs)
    assert (problem.rule, problem.file, problem.line, problem.field) == ("M29", "query00002.tsv", 3, 3)


# One threshold


@pytest.mark.req("M31", "C37", case="bad")
def test_decisions_no_threshold_can_have_made_inside_a_query_are_warned_of_with_the_pair(tmp_path):
    score = np.where(RELEVANT, 80_000, 20_000)
    score[0, 0] = 15_000
    inputs = run(tmp_path, RELEVANT, RELEVANT, score)
    findings = validated(inputs)
    (problem,) = findings.problems
    assert findings.valid
    assert (problem.rule, problem.severity, problem.file) == ("M31", "warn", "query00001.tsv")
    assert problem.found == "0.15 Y, 0.2 N"
    assert f"{NAMES[0]} is Y with 0.15 in query00001.tsv" in problem.message
    assert f"{NAMES[1]} is N with 0.2 in query00001.tsv" in problem.message
    assert basanite.score("clir", **inputs).values["aqwv"].value == 1


@pytest.mark.req("M31", "C37", case="bad")
@pytest.mark.parametrize("rejected", [30_000, 31_000])
def test_decisions_no_threshold_can_have_made_across_queries_are_warned_of_with_the_pair(tmp_path, rejected):
    score = np.where(RELEVANT, 80_000, 20_000)
    score[1, 2], score[1, [0, 1, 3]], score[2, 1] = 30_000, 10_000, rejected
    inputs = run(tmp_path, RELEVANT, RELEVANT, score)
    findings = validated(inputs)
    (problem,) = findings.problems
    assert findings.valid
    assert (problem.rule, problem.severity) == ("M31", "warn")
    assert f"{NAMES[2]} is Y with 0.3 in query00002.tsv" in problem.message
    assert f"{NAMES[1]} is N with {rejected / 100_000:g} in query00003.tsv" in problem.message
    assert basanite.score("clir", **inputs).values["aqwv"].value == 1


@pytest.mark.req("M31", case="bad")
def test_the_pair_is_shown_with_confidences_as_the_files_have_them(tmp_path):
    inputs = run(tmp_path, RELEVANT, RELEVANT, np.where(RELEVANT, 1, 100_000))
    assert {p.found for p in validated(inputs)} == {"0.00001 Y, 1.0 N"}


@pytest.mark.req("M31", case="good")
def test_a_threshold_that_just_parts_the_decisions_is_enough(tmp_path):
    score = np.where(RELEVANT, 30_001, 30_000)
    assert validated(run(tmp_path, RELEVANT, RELEVANT, score)).counts == {}


@pytest.mark.req("M30", "C37")
def test_a_constant_half_is_legal_and_another_constant_is_warned_of(tmp_path):
    half = run(tmp_path / "half", RELEVANT, RELEVANT, np.full(RELEVANT.shape, 50_000))
    assert validated(half).counts == {}
    assert basanite.score("clir", **half).values["aqwv"].value == 1
    other = run(tmp_path / "other", RELEVANT, RELEVANT, np.full(RELEVANT.shape, 40_000))
    assert validated(other).counts == {"M31": 2}
    assert validated(other).valid


# Keys and lists


@pytest.mark.req("M36", "M01", case="bad")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\tY", b"\tyes"),
        (b"\tY", b"\tY\t0.5"),
        (b"\n", b"\r\n"),
        (NAMES[0].encode(), NAMES[1].encode()),
        (b"1A", b"1"),
    ],
)
def test_a_bad_key_never_opens_the_task(inputs, old, new):
    changed(inputs["reference"], "query00001.tsv", old, new)
    changed(inputs["submission"], "query00001.tsv", b"0.8", b"8")
    problems = refused(inputs)
    assert {p.where for p in problems} == {"reference"}
    assert {p.rule for p in problems} != {"M29"}


def lists(tmp_path, names, wanted):
    (tmp_path / "documents.tsv").write_text("document\tgenre\n" + "".join(f"{name}\tNT\n" for name in names))
    (tmp_path / "queries.tsv").write_text("query\n" + "".join(f"{name}\n" for name in wanted))
    return {"documents": tmp_path / "documents.tsv", "queries": tmp_path / "queries.tsv"}


@pytest.mark.req("M94")
def test_lists_give_the_same_problems_as_the_key(tmp_path, inputs):
    pack = lists(tmp_path, NAMES, queries(3))
    folder = inputs["submission"]
    assert validated({"submission": folder, **pack}).counts == {}
    changed(folder, "query00001.tsv", b"\tY\t0.8", b"\ty\t8")
    changed(folder, "query00002.tsv", NAMES[1].encode(), NAMES[0].encode())
    changed(folder, "query00002.tsv", b"0.8", b"0.1")
    (folder / "query00003.tsv").rename(folder / "query3.tsv")
    by_key, by_lists = validated(inputs), validated({"submission": folder, **pack})
    assert {"M25", "M26", "M28", "M29"} <= set(by_key.counts)
    assert by_lists.as_dict("clir") == by_key.as_dict("clir")


@pytest.mark.req("M94", "M31", case="bad")
def test_lists_are_enough_to_see_that_no_threshold_decided(tmp_path):
    score = np.where(RELEVANT, 10_000, 20_000)
    inputs = run(tmp_path, RELEVANT, RELEVANT, score)
    pack = lists(tmp_path, NAMES, queries(3))
    assert validated({"submission": inputs["submission"], **pack}).counts == {"M31": 2} == validated(inputs).counts


@pytest.mark.req("M94")
def test_with_neither_key_nor_both_lists_the_user_is_told_what_to_give(tmp_path, inputs):
    pack = lists(tmp_path, NAMES, queries(3))
    for given in ({}, {"documents": pack["documents"]}, {"queries": pack["queries"]}):
        with pytest.raises(SettingError, match="--documents"):
            validated({"submission": inputs["submission"], **given})


@pytest.mark.req("M85", case="bad")
def test_a_flood_of_lines_is_refused_unread(inputs):
    (inputs["submission"] / "query00001.tsv").write_bytes(b"\n" * 200_000)
    (problem,) = refused(inputs)
    assert (problem.rule, problem.file, problem.message) == ("M26", "query00001.tsv", "200,000 lines for 4 documents")


@pytest.mark.req("M23", case="bad")
def test_warnings_stay_with_the_result_in_python_json_and_report(inputs):
    file = inputs["submission"] / "query00001.tsv"
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    result = basanite.score("clir", **inputs)
    assert [problem.rule for problem in result.scores.warnings] == ["M23"]
    assert [problem["rule"] for problem in score_object(result)["warnings"]] == ["M23"]
    assert "Warnings" in [section.title for section in analysis_report(result).sections]
