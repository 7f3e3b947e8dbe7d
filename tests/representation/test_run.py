"""One set of features: values that are never naked, by class and by group, accuracy beside them, the worst rows."""

import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score, silhouette_score
from tests.representation.made import EXAMPLE, data, features, slow_ferm1

from basanite.errors import InvalidInputError, SettingError, UnknownNameError
from basanite.representation.data import Data, read_data
from basanite.representation.intervals import CENTRED, HALVES, MOVES_WITH_ROWS, draw_all
from basanite.representation.measurement import Plan, run
from basanite.representation.measures.all_measures import NAMES, Source
from basanite.representation.measures.further import FURTHER
from basanite.representation.measures.results import Classes
from basanite.representation.report import run_report
from basanite.representation.settings import FLAG, choices
from basanite.representation.values import class_weights

PLAN = Plan.of(draws=120, projection=None)
OF_SOURCE = ("leep", "nce")
"""Measures that need the probabilities of a source head."""
SUBSAMPLED = ("dunn", "otce_wd", "otce_wt")


def named(names):
    """The same plan with measures asked for by name."""
    return Plan.of(draws=120, names=names, projection=None)


@pytest.fixture(scope="module")
def everything():
    """A set with all parts, so that every measure there is gets a value."""
    rng = np.random.default_rng(5)
    table, labels = features(rng, classes=3, rows=20)
    theta = rng.dirichlet(np.ones(5), size=len(table))
    source = Source(theta, table[:30] + 0.1, labels[:30])
    return run(Data("all", table, Classes.of(labels), source), named(NAMES))


def test_every_value_of_the_contract_is_there_with_what_a_peer_finds(everything):
    values, table, labels = everything.analysis.values, everything.data.features, everything.data.classes.codes
    assert set(NAMES) <= set(values)
    assert values["ferm1"].value == pytest.approx(slow_ferm1(table, labels), rel=1e-9)
    assert values["silhouette"].value == pytest.approx(silhouette_score(table, labels), rel=1e-5)
    assert values["davies_bouldin"].value == pytest.approx(davies_bouldin_score(table, labels), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FURTHER])
def test_no_interval_excludes_its_own_estimate(everything, name):
    value = everything.analysis.values[name]
    assert value.low is not None
    assert value.low < value.value < value.high


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_measure_has_a_value_and_says_why_it_has_no_interval(everything, name):
    value = everything.analysis.values[name]
    assert np.isfinite(value.value)
    assert (value.low, value.high) == (None, None)
    assert MOVES_WITH_ROWS in value.flags


def test_further_measures_are_only_given_when_they_are_named():
    values = run(data(), PLAN).analysis.values
    assert set(values) >= set(NAMES) - {*FURTHER, "leep", "otce_wd", "otce_wt"}
    assert not set(values) & set(FURTHER)


def test_dunn_and_otce_and_a_saturated_h_score_are_never_bootstrapped():
    rng = np.random.default_rng(2)
    table, labels = features(rng, classes=3, rows=8, dimensions=30)
    source = Source(None, table[:15] + 0.1, labels[:15])
    names = [name for name in NAMES if name not in OF_SOURCE]
    values = run(Data("wide", table, Classes.of(labels), source), named(names)).analysis.values
    assert all(HALVES in values[name].flags for name in (*SUBSAMPLED, "h_score"))
    assert not any(HALVES in values[name].flags for name in names if name not in (*SUBSAMPLED, "h_score"))
    tall = run(data(rows=20), Plan.of(draws=60, names=["h_score"], projection=None)).analysis.values
    assert CENTRED in tall["h_score"].flags


def test_draws_leave_out_pairs_of_copies_as_a_look_at_every_pair_does():
    made = data(rows=6, classes=3)
    weights = list(class_weights(made.classes, draws=5, seed=3))
    drawn = draw_all(made, ["ferm1"], PLAN.choices.options, lambda: weights, seed=0)
    slow = [slow_ferm1(made.features, made.classes.codes, row) for row in np.concatenate(weights)]
    assert drawn.values["ferm1"] == pytest.approx(slow, rel=1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["ferm1", "gap", "silhouette", "rs", "davies_bouldin", "c_root_k"])
def test_intervals_cover_what_such_sets_have_on_average(name):
    """With few rows of a class copies would bias moments far out of a plain percentile interval."""
    rng = np.random.default_rng(11)
    centres = 5 * rng.random((4, 5))
    plain, drawn = (Plan.of(draws=draws, names=[name], projection=None) for draws in (0, 120))
    truth = np.mean([run(_around(rng, centres, 25), plain).analysis.values[name].value for _ in range(60)])
    found = [run(_around(rng, centres, 25), drawn).analysis.values[name] for _ in range(25)]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.75


def _around(rng, centres, rows):
    table = np.abs(np.repeat(centres, rows, axis=0) + rng.normal(size=(len(centres) * rows, centres.shape[1])))
    return Data("drawn", table, Classes.of(np.repeat(np.arange(len(centres)), rows)))


def test_too_few_rows_have_values_and_no_interval():
    values = run(data(classes=2, rows=4), PLAN).analysis.values
    assert all(value.low is None for value in values.values())
    assert "too few for an interval" in values["ferm1"].flags


def test_the_seed_decides_the_draws_and_nothing_else():
    first, again, other = (
        run(data(), Plan.of(draws=60, seed=seed, names=["gap"], projection=None)).analysis.values["gap"]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.value == other.value
    assert first.low != other.low


def test_zero_rows_negative_features_and_single_rows_are_flagged_and_explained():
    rng = np.random.default_rng(0)
    table, labels = features(rng, classes=3, rows=10)
    table[0], table[5, 0], labels[-1] = 0, -1, 9
    found = run(Data("odd", table, Classes.of(labels)), PLAN)
    flags = found.analysis.values["ferm1"].flags
    assert {"zero_rows", "negative_features", "singletons"} <= set(flags)
    assert any("centre" in note for note in found.analysis.scores.notes)
    assert found.analysis.breakdowns["class"]["9"]["ferm1"].low is None


def test_one_class_is_a_problem_of_the_input():
    made = data(classes=1)
    with pytest.raises(InvalidInputError) as caught:
        run(made, PLAN)
    assert "two classes" in caught.value.findings.problems[0].fix


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"singletons": "none"}, "omit"), ({"q": "3"}, "between 1 and 2"), ({"level": "2"}, "between 0 and 1")],
    ids=["choice", "count", "share"],
)
def test_a_setting_that_cannot_be_is_answered_with_what_can(settings, words):
    with pytest.raises(SettingError, match=words):
        choices(settings)


def test_unknown_settings_and_measures_are_answered_with_the_nearest():
    with pytest.raises(SettingError, match="singletons"):
        choices({"singleton": "zero"})
    with pytest.raises(UnknownNameError, match="silhouette"):
        Plan.of(names=["silhouettes"])


# --- classes and groups ---


def test_each_class_has_its_figures_and_its_nearest_rival():
    made = data(classes=3, rows=20)
    found = run(made, PLAN)
    labels = made.classes.codes
    by_class = found.analysis.breakdowns["class"]
    ratios = [by_class[str(name)]["ferm1"].value for name in range(3)]
    assert np.mean(ratios) == pytest.approx(found.analysis.values["ferm1"].value, rel=1e-12)
    unit = made.features / np.linalg.norm(made.features, axis=1, keepdims=True)
    means = np.array([[(unit[labels == i] @ unit[labels == j].T).mean() for j in range(3)] for i in range(3)])
    np.fill_diagonal(means, -1)
    assert run_report(found).data["rivals"] == {str(i): str(int(means[i].argmax())) for i in range(3)}
    assert all(values["ferm1"].low < values["ferm1"].value < values["ferm1"].high for values in by_class.values())


@pytest.fixture(scope="module")
def two_groups():
    """Two groups of the same classes: in the second the rows scatter far more."""
    rng = np.random.default_rng(8)
    centres = 3 * rng.random((4, 6))
    tight, loose = (np.abs(np.repeat(centres, 25, axis=0) + s * rng.normal(size=(100, 6))) for s in (0.3, 1.5))
    labels = np.tile(np.repeat(np.arange(4), 25), 2)
    groups = np.array(["tight"] * 100 + ["loose"] * 100)
    return run(Data("two", np.vstack([tight, loose]), Classes.of(labels), groups={"kind": groups}), PLAN)


def test_every_measure_is_given_for_each_group_as_if_it_stood_alone(two_groups):
    made = two_groups.data
    for level in ("tight", "loose"):
        rows = made.groups["kind"] == level
        values = two_groups.analysis.breakdowns["kind"][level]
        table, labels = made.features[rows], made.classes.codes[rows]
        assert set(values) >= set(NAMES) - {*FURTHER, "leep", "otce_wd", "otce_wt"}
        assert values["ferm1"].value == pytest.approx(slow_ferm1(table, labels), rel=1e-9)
        assert values["silhouette"].value == pytest.approx(silhouette_score(table, labels), rel=1e-5)
        assert values["ferm1"].low < values["ferm1"].value < values["ferm1"].high
        assert values["ferm1"].units == 100


def test_a_badly_represented_group_is_shown_by_paired_differences(two_groups):
    found = {one.metric: one for one in two_groups.differences}
    for name in ("ferm1", "gap", "silhouette", "davies_bouldin", "rs"):
        one = found[name]
        assert (one.first, one.second, one.verdict, one.classes) == ("loose", "tight", "second", 4), name
        values = two_groups.analysis.breakdowns["kind"]
        assert one.difference == pytest.approx(values["loose"][name].value - values["tight"][name].value)
        assert one.low < one.difference < one.high
        assert not one.low <= 0 <= one.high


def test_groups_are_compared_on_the_classes_that_both_have():
    made = data(classes=4, rows=30)
    odd = np.arange(120) % 2 == 1
    groups = np.where((made.classes.codes == 3) | odd, "a", "b")
    found = run(Data("part", made.features, made.classes, groups={"g": groups}), PLAN)
    shared = next(one for one in found.differences if one.metric == "ferm1")
    rows_a, rows_b = ((groups == name) & (made.classes.codes != 3) for name in "ab")
    a, b = (slow_ferm1(made.features[rows], made.classes.codes[rows]) for rows in (rows_a, rows_b))
    assert (shared.classes, shared.difference) == (3, pytest.approx(a - b, rel=1e-9))
    assert any("number of classes" in note for note in found.analysis.scores.notes)


def test_groups_drawn_by_chance_are_not_told_apart():
    rng = np.random.default_rng(4)
    shown = 0
    for seed in range(20):
        groups = np.where(rng.random(120) < 0.5, "a", "b")
        made = data(np.random.default_rng(seed), classes=4, rows=30, groups={"g": groups})
        found = run(made, Plan.of(draws=80, names=["ferm1"], projection=None))
        shown += sum(one.verdict in ("first", "second") for one in found.differences if one.metric == "ferm1")
    assert shown <= 4


def test_a_group_with_one_class_is_undefined_and_says_why():
    made = data(classes=2, rows=20)
    groups = np.where(made.classes.codes == 0, "only", "both")
    groups[:3] = "both"
    found = run(Data("one", made.features, made.classes, groups={"g": groups}), PLAN)
    assert np.isnan(found.analysis.breakdowns["g"]["only"]["ferm1"].value)
    assert "fewer than two classes in this group" in found.analysis.breakdowns["g"]["only"]["ferm1"].flags
    assert {one.verdict for one in found.differences if one.metric == "ferm1"} == {"undefined"}


# --- accuracy beside the measures ---


@pytest.fixture(scope="module")
def overlapping():
    """Two classes in one cloud, distinguished by a clever classifier, and two that are well formed."""
    rng = np.random.default_rng(3)
    table, labels = features(rng, classes=3, rows=40, apart=4.0, spread=0.2)
    hard = np.vstack([table[labels == 0] + 0.01 * rng.normal(size=(40, 6)), table])
    names = np.array(["twin"] * 40 + [f"class {label}" for label in labels])
    correct = np.ones(160)
    correct[40:44] = 0
    groups = np.array(["first"] * 80 + ["second"] * 80)
    return run(Data("twins", hard, Classes.of(names), correct=correct, groups={"half": groups}), PLAN)


def test_what_is_accurate_but_badly_formed_is_flagged_by_class_and_by_group(overlapping):
    by_class = overlapping.analysis.breakdowns["class"]
    assert {name for name, values in by_class.items() if FLAG in values["accuracy"].flags} == {"twin", "class 0"}
    assert by_class["twin"]["accuracy"].value == 1.0
    assert by_class["class 0"]["accuracy"].value == pytest.approx(0.9)
    assert by_class["class 1"]["misplaced"].value == 0.0
    assert ("half", "first") in overlapping.badly_formed
    assert ("half", "second") not in overlapping.badly_formed
    report = run_report(overlapping)
    assert sum(FLAG in sentence for sentence in report.sentences) == 3
    assert {"factor": "class", "level": "twin"} in report.data["accurate_but_badly_formed"]


def test_accuracy_stands_beside_the_measures_with_intervals(overlapping):
    for factor in ("class", "half"):
        for values in overlapping.analysis.breakdowns[factor].values():
            assert values["accuracy"].low <= values["accuracy"].value <= values["accuracy"].high
            assert "ferm1" in values
    assert overlapping.analysis.values["accuracy"].value == pytest.approx(156 / 160)
    without = run(data(), PLAN)
    assert "accuracy" not in without.analysis.values


# --- reading, and the worst rows ---


def test_a_row_put_into_the_wrong_class_is_listed_as_the_worst():
    made = data(classes=3, rows=20, spread=0.3)
    codes = made.classes.codes.copy()
    codes[7] = 2
    worst = run_report(run(Data("swap", made.features, Classes.of(codes)), PLAN)).data["worst"]
    assert (worst[0]["row"], worst[0]["class"], worst[0]["rival"]) == (7, "2", "0")
    assert worst[0]["own_cosine"] < worst[0]["rival_cosine"]


def test_files_are_read_with_groups_predictions_and_a_digest():
    made = read_data(EXAMPLE / "seen.npz", metadata=[EXAMPLE / "pens.csv"])
    assert (made.rows, made.dimensions, len(made.classes)) == (180, 32, 6)
    assert set(made.groups) == {"group", "side"}
    assert made.correct is not None
    assert 0.9 < made.correct.mean() < 1
    assert made.digest.startswith("sha256:")


def test_metadata_of_rows_that_are_not_there_is_a_problem(tmp_path):
    table = tmp_path / "groups.csv"
    table.write_text("row,kind\n0,a\n180,b\nx,c\n")
    with pytest.raises(InvalidInputError) as caught:
        read_data(EXAMPLE / "seen.npz", metadata=[table])
    assert [problem.found for problem in caught.value.findings.problems] == ["180", "x"]


def test_nan_is_named_by_its_row(tmp_path):
    table, labels = features(np.random.default_rng(0))
    table[17, 2] = np.nan
    np.savez(tmp_path / "bad.npz", features=table, labels=labels)
    with pytest.raises(InvalidInputError) as caught:
        read_data(tmp_path / "bad.npz")
    assert "row 17" in caught.value.findings.problems[0].message
