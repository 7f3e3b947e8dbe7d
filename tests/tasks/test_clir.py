"""CLIR from files to values: the same numbers whatever the packing, the right beta, and what stands beside a value."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.metrics.detections import BETA, exactly, tables
from tests.tasks.folders import answer_files, documents, key_files, packed, run, written

import basanite
from basanite.analysis.results import score_object
from basanite.canonical import dumps
from basanite.errors import SettingError
from basanite.metrics.retrieval.query_value import AQWV, rates
from basanite.metrics.retrieval.thresholds import SCALE, Detections
from basanite.tasks.retrieval.decisions import beta_of_constants

FORMS = ("aqwv", "aqwv_all", "aqwv_relevant")


def drawn(seed=3, queries=20, count=30):
    rng = np.random.default_rng(seed)
    relevant = rng.random((queries, count)) < 0.2
    score = rng.integers(0, 60_000, relevant.shape) + 40_000 * relevant
    return relevant, score >= 50_000, score


def scored(inputs, **more):
    return basanite.score("clir", **inputs, **{"folds": 2, **more})


def plain(result):
    return {name: value.value for name, value in result.values.items()}


@pytest.mark.req("M01", "M02", "M05", "M06", "M07", "M10", "M11", "C03", "C04", "C06", case="good")
@given(case=tables(most_queries=4, most_documents=6))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_from_files_are_those_of_brute_force(tmp_path, case):
    for path in tmp_path.glob("*/*"):
        path.unlink()
    found, wanted = plain(scored(run(tmp_path, *case))), exactly(*case)
    if case[0].any() and math.isnan(wanted["theta_best"]):
        wanted["theta_best"] = math.inf
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.req("M80", "M53", case="good")
def test_folder_and_archive_agree_in_every_byte_of_the_result_whatever_the_order_of_members(tmp_path):
    relevant, returned, score = drawn()
    inputs = run(tmp_path, relevant, returned, score)
    key, answers = key_files(relevant), answer_files(returned, score)
    turned = {"./" + name: answers[name] for name in sorted(answers, reverse=True)}
    archives = {
        "reference": packed(tmp_path / "key.tgz", dict(reversed(key.items()))),
        "submission": packed(tmp_path / "Alpha.tgz", turned),
    }
    one, two = scored(inputs, draws=100), scored(archives, draws=100)
    assert dumps(score_object(one)) == dumps(score_object(two))
    assert set(one.scores.digests) == {"reference", "submission"}
    assert plain(one) == plain(two)


def test_a_single_file_is_a_submission_of_one_query(tmp_path):
    relevant, returned, score = drawn(queries=1)
    inputs = run(tmp_path, relevant, returned, score)
    single = {
        "reference": inputs["reference"] / "query00001.tsv",
        "submission": inputs["submission"] / "query00001.tsv",
    }
    assert dumps(score_object(scored(inputs))) == dumps(score_object(scored(single)))


def test_the_order_of_lines_changes_the_digest_and_no_value(tmp_path):
    relevant, returned, score = drawn()
    one = scored(run(tmp_path, relevant, returned, score))
    for path in (tmp_path / "Alpha").iterdir():
        path.write_bytes(b"".join(sorted(path.read_bytes().splitlines(keepends=True), reverse=True)))
    two = scored({"reference": tmp_path / "key", "submission": tmp_path / "Alpha"})
    assert plain(one) == plain(two)
    assert one.scores.digests["reference"] == two.scores.digests["reference"]
    assert one.scores.digests["submission"] != two.scores.digests["submission"]


@pytest.mark.req("M02", case="good")
def test_the_primary_value_follows_decisions_and_not_scores(tmp_path):
    relevant, returned, score = drawn()
    one = scored(run(tmp_path / "one", relevant, returned, score))
    two = scored(run(tmp_path / "two", relevant, returned, SCALE - score))
    assert {name: plain(one)[name] for name in (*FORMS, "adwv")} == {
        name: plain(two)[name] for name in (*FORMS, "adwv")
    }
    assert plain(one)["auc"] != plain(two)["auc"]


# Beta


@pytest.mark.req("M03", "C02", case="good")
@pytest.mark.parametrize(
    ("language", "beta", "derived"), [("1A", 20, 19.9467), ("1B", 20, 19.9467), ("1S", 40, 40.0132)]
)
def test_the_language_of_the_documents_decides_beta_and_both_values_are_kept(tmp_path, language, beta, derived):
    result = scored(run(tmp_path, [[1, 0, 0]], [[0, 1, 0]], language=language))
    assert result.values["aqwv"].value == -beta / 2
    assert result.scores.settings["beta"] == beta
    assert result.scores.settings["beta_from_constants"] == pytest.approx(derived, abs=1e-4)
    assert f"|beta:{beta}|" in result.signature
    assert f"|language:{language}|" in result.signature


@pytest.mark.req("M03", case="bad")
def test_an_unknown_language_is_refused_and_never_given_a_default(tmp_path):
    inputs = run(tmp_path, [[1, 0, 0]], [[0, 1, 0]], language="2B")
    with pytest.raises(SettingError, match="No beta is known for language '2B'"):
        scored(inputs)
    assert scored(inputs, beta=7).values["aqwv"].value == -3.5
    assert scored(inputs, language="1S").values["aqwv"].value == -20


@pytest.mark.req("M03", case="bad")
def test_documents_of_two_languages_or_of_none_are_refused(tmp_path):
    inputs = run(tmp_path, [[1, 0]], [[0, 1]])
    for path in tmp_path.glob("*/*.tsv"):
        path.write_bytes(path.read_bytes().replace(documents(2)[1].encode(), documents(2, "1B")[1].encode()))
    with pytest.raises(SettingError, match="language is not known"):
        scored(inputs)
    with pytest.raises(SettingError, match="language is not known"):
        scored(run(tmp_path / "none", [[1, 0]], [[0, 1]]), document_pattern="MATERIAL_.*")


@pytest.mark.req("M04", case="good")
def test_beta_can_be_computed_from_constants(tmp_path):
    inputs = run(tmp_path, [[1, 0, 0]], [[0, 1, 0]])
    result = scored(inputs, cost=0.1, value=1, prior=0.5)
    assert result.scores.settings["beta"] == result.scores.settings["beta_from_constants"] == pytest.approx(0.1)
    assert result.values["aqwv"].value == pytest.approx(-0.05)
    both = scored(inputs, beta=20, cost=0.1, prior=0.5).scores.settings
    assert (both["beta"], both["beta_from_constants"]) == (20, pytest.approx(0.1))
    assert beta_of_constants(0.1, 1, 1 / 600) == pytest.approx(59.9)


@pytest.mark.req("M04", case="bad")
@pytest.mark.parametrize("constants", [{"prior": 0}, {"prior": 1}, {"prior": 1.5}, {"value": 0}, {"prior": -0.1}])
@pytest.mark.parametrize("others", [{"cost": 0.1}, {"beta": 20}, {}])
def test_impossible_constants_are_an_error_even_where_beta_is_given(tmp_path, constants, others):
    with pytest.raises(SettingError, match=r"prior|value"):
        scored(run(tmp_path, [[1, 0, 0]], [[0, 1, 0]]), **others, **constants)


@pytest.mark.parametrize(
    "wrong", [{"beta": "x"}, {"beta": -1}, {"beta": "nan"}, {"beta": "inf"}, {"folds": 1}, {"document_pattern": "("}]
)
def test_settings_that_cannot_be_used_are_refused_by_name(tmp_path, wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        basanite.score("clir", **run(tmp_path, [[1, 0]], [[0, 1]]), **wrong)


def test_a_setting_nobody_knows_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(SettingError, match="Did you mean 'beta'"):
        basanite.score("clir", **run(tmp_path, [[1, 0]], [[0, 1]]), bet=3)


# What stands beside a value


@pytest.mark.req("M08")
def test_landmarks_hold_from_files_to_values(tmp_path):
    relevant = np.array([[1, 0, 0], [0, 1, 1]], bool)
    for name, returned, landmark in (("p", relevant, 1), ("s", relevant & False, 0), ("w", ~relevant, -20)):
        assert plain(scored(run(tmp_path / name, relevant, returned)))["aqwv"] == landmark


@pytest.mark.req("C05", "M05")
@pytest.mark.parametrize(("relevant", "share"), [([[1, 0], [1, 0], [1, 0], [0, 0]], "0.25"), ([[0, 0]], "1")])
def test_the_first_form_says_beside_its_value_when_its_landmarks_move(tmp_path, relevant, share):
    silent = scored(run(tmp_path, relevant, np.zeros_like(relevant)))
    assert silent.values["aqwv_all"].value == float(share)
    (flag,) = [flag for flag in silent.values["aqwv_all"].flags if "C05" in flag]
    assert f"system that returns nothing gets {share} here, not 0" in flag
    assert f"lowest possible value is {share} - beta" in flag


@pytest.mark.req("C05")
def test_the_first_form_needs_no_remark_where_every_query_has_relevant_documents(tmp_path):
    result = scored(run(tmp_path, [[1, 0], [0, 1]], [[1, 0], [0, 1]]))
    assert not any("C05" in flag for flag in result.values["aqwv_all"].flags)


@pytest.mark.req("C44")
def test_a_query_to_which_all_documents_are_relevant_is_named_beside_the_value(tmp_path):
    result = scored(run(tmp_path, [[1, 1], [1, 0]], [[1, 1], [0, 1]]))
    assert result.values["pfa"].value == 0.5
    assert any("query00001" in flag and "C44" in flag for flag in result.values["aqwv"].flags)
    assert not any("query00002" in flag for flag in result.values["aqwv"].flags)


@pytest.mark.req("M06", "M07", case="bad")
def test_without_relevant_documents_the_value_is_undefined_in_the_result_too(tmp_path):
    result = scored(run(tmp_path, [[0, 0], [0, 0]], [[1, 0], [0, 0]]))
    data = score_object(result)["values"]
    for name in ("aqwv", "aqwv_relevant", "adwv", "mqwv", "oracle", "auc", "auc_pooled", "mqwv_crossfit"):
        assert math.isnan(result.values[name].value), name
        assert data[name]["value"] is None, name
        assert "undefined" in result.values[name].flags, name


@pytest.mark.req("M10", "M11", "C06", "C03", case="good")
def test_secondary_figures_are_labelled_and_the_primary_one_is_the_third_form(tmp_path):
    result = scored(run(tmp_path, *drawn()), draws=50)
    assert result.scores.primary == "aqwv"
    assert set(FORMS) <= set(result.values)
    assert "secondary" in result.scores.metric("adwv").summary
    for name in ("auc", "auc_pooled"):
        assert "development only, never an evaluation result" in result.values[name].flags


@pytest.mark.req("M30")
def test_a_system_without_scores_is_scored_and_the_result_says_so(tmp_path):
    relevant, returned, score = drawn()
    result = scored(run(tmp_path, relevant, returned, np.full_like(score, 50_000)))
    assert plain(result)["aqwv"] == pytest.approx(exactly(relevant, returned, score)["aqwv"])
    assert plain(result)["auc"] == 0.5
    assert any("M30" in note for note in result.notes)


@pytest.mark.req("M80")
def test_a_result_keeps_what_it_needs_to_be_made_again(tmp_path):
    relevant, returned, score = drawn()
    inputs = run(tmp_path, relevant, returned, score)
    result = scored(inputs, draws=100)
    data = score_object(result)
    assert data["settings"]["plan"] == "MATERIAL v6.0.4"
    assert data["settings"]["beta"] == 20
    assert data["signature"].startswith(f"basanite:{basanite.__version__}|task:clir|")
    assert {name: text[:7] for name, text in data["digests"].items()} == {
        "reference": "sha256:",
        "submission": "sha256:",
    }
    packed(tmp_path / "Alpha.tgz", answer_files(returned, score))
    again = scored({"reference": inputs["reference"], "submission": tmp_path / "Alpha.tgz"}, draws=100)
    assert dumps(score_object(again)) == dumps(data)
    other = relevant.copy()
    other[0, 0] = ~other[0, 0]
    changed = scored({"reference": written(tmp_path / "other", key_files(other)), "submission": inputs["submission"]})
    assert changed.scores.digests["reference"] != result.scores.digests["reference"]


# Maxima and thresholds that others chose


@pytest.mark.req("S-14")
def test_maxima_are_labelled_optimistic_and_a_cross_fitted_value_stands_beside_them(tmp_path):
    values = scored(run(tmp_path, *drawn()), draws=50).values
    for name, value in values.items():
        labelled = any("optimistic" in flag for flag in value.flags)
        assert labelled == (name in ("mqwv", "oracle")), name
    assert values["oracle"].value >= values["mqwv"].value >= values["mqwv_crossfit"].value
    losses = values["aqwv"].parts
    assert losses["calibration_loss"] == pytest.approx(values["mqwv_crossfit"].value - values["aqwv"].value)
    assert losses["ranking_loss"] == pytest.approx(values["oracle"].value - values["mqwv_crossfit"].value)


def best_on(relevant, score):
    """The best threshold by trying all; of equal ones the largest."""
    found = {}
    for threshold in [*np.unique(score), SCALE + 1]:
        rows = rates(Detections((), relevant, score >= threshold))
        found[int(threshold)] = AQWV.bind(beta=BETA).of(rows)
    most = max(found.values())
    return max(threshold for threshold, value in found.items() if value >= most - 1e-12)


@pytest.mark.req("S-14")
@pytest.mark.parametrize("folds", [2, 3, 10])
def test_each_query_is_cut_at_the_threshold_that_the_other_folds_chose(tmp_path, folds):
    relevant, returned, score = drawn(queries=9, seed=folds)
    result = scored(run(tmp_path, relevant, returned, score), folds=folds)
    fold = np.arange(9) % folds
    cut = np.array([best_on(relevant[fold != own], score[fold != own]) for own in fold])
    wanted = rates(Detections((), relevant, score >= cut[:, None]))
    assert np.array_equal(result.scores.tables["mqwv_crossfit"].rows, wanted)


@pytest.mark.req("S-14")
def test_changing_the_scores_of_a_fold_does_not_change_the_threshold_it_is_cut_at(tmp_path):
    relevant = np.array([[1, 0, 0, 0]] * 4, bool)
    score = np.array([[90_000, 10_000, 10_000, 10_000], [60_000, 40_000, 10_000, 10_000]] * 2)
    moved = score.copy()
    moved[0::2] = [70_000, 50_000, 10_000, 10_000]  # the first fold's own best threshold falls from 0.9 to 0.7
    one, two = (
        scored(run(tmp_path / str(at), relevant, table >= 50_000, table), folds=2).scores.tables["mqwv_crossfit"].rows
        for at, table in enumerate((score, moved))
    )
    assert np.array_equal(one[0::2], two[0::2]), "its own scores moved, but not across the others' threshold"
    assert one[1::2, 0].tolist() == [1, 1], "at 0.9, which the first fold chose, the second finds nothing"
    assert two[1::2, 0].tolist() == [1, 1]
    moved[0::2, 0] = 60_000
    three = scored(run(tmp_path / "3", relevant, moved >= 50_000, moved), folds=2).scores.tables["mqwv_crossfit"].rows
    assert three[1::2, 0].tolist() == [0, 0], "only what the other fold scores moves the second fold's threshold"
