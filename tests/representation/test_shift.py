"""The shift experiment: levels as in the paper, additive states, curves that are judged, violations that are shown."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from tests.representation.made import data, features, slow_ferm1

from basanite.errors import FeaturesError, UnknownNameError
from basanite.representation.comparison import kendall_tau_b, spearman_rho
from basanite.representation.data import Data
from basanite.representation.measures.all_measures import Source
from basanite.representation.measures.results import Classes
from basanite.representation.shift import Curves, Level, ShiftPlan, curves, levels_of
from basanite.representation.shift_curves import FLAT, NO_DRAWS, curve_of, scale_to_unit, shift
from basanite.representation.shift_report import shift_object, shift_report

LEVELS = levels_of(4, 4, 9)


def sides(rng=None, source=5, target=4, rows=8):
    """Well formed source classes and target classes that all lie in one cloud."""
    rng = np.random.default_rng(1) if rng is None else rng
    good, labels = features(rng, classes=source, rows=rows, spread=0.2)
    bad = np.abs(1.5 + rng.normal(size=(target * rows, good.shape[1])))
    return Data("good", good, Classes.of(labels)), Data("bad", bad, Classes.of(np.repeat(np.arange(target), rows)))


def test_target_rows_are_added_first_and_then_source_rows_are_taken_away():
    levels = levels_of(50, 50, 50)
    assert [(one.source, one.target) for one in levels[:3]] == [(50, 0), (50, 1), (50, 2)]
    assert [(one.source, one.target) for one in levels[50:53]] == [(50, 50), (49, 50), (48, 50)]
    assert [(one.source, one.target) for one in levels[-2:]] == [(1, 50), (0, 50)]
    shares = [one.share(200, 100) for one in levels]
    assert shares == sorted(shares)
    assert (shares[0], shares[50], shares[-1]) == (0.0, pytest.approx(1 / 3), 1.0)
    assert {one.classes(200, 100) for one in levels} == {200, 300, 100}


def test_fewer_levels_keep_the_ends_and_the_levels_of_one_row():
    levels = levels_of(50, 40, 5)
    assert len(levels) == 11
    assert {(50, 0), (50, 1), (50, 40), (1, 40), (0, 40)} <= {(one.source, one.target) for one in levels}


def test_every_level_has_the_values_that_peers_find_for_its_rows():
    """At the levels that take all rows there is nothing random: the union is known."""
    source, target = sides()
    names = ("ferm1", "silhouette", "davies_bouldin", "calinski_harabasz")
    found = curves(source, target, ShiftPlan(names=names, draws=0, repeats=2, steps=3))
    labels = np.concatenate([source.classes.codes, 100 + target.classes.codes])
    table = np.vstack([source.features, target.features])
    unions = {0: labels < 100, found.levels.index(Level(8, 8)): labels >= 0, len(found.levels) - 1: labels >= 100}
    for at, rows in unions.items():
        x, y = table[rows], labels[rows]
        wanted = (slow_ferm1(x, y), silhouette_score(x, y), davies_bouldin_score(x, y), calinski_harabasz_score(x, y))
        for name, value in zip(names, wanted, strict=True):
            assert found.repeats[name][:, at] == pytest.approx([value] * 2, rel=1e-5), (at, name)


def test_levels_between_the_ends_are_made_of_the_rows_they_say():
    """Rows of a class are alike, so every draw of so many rows has the same, known cosines."""
    axes = np.repeat(np.eye(6) + 0.2, 5, axis=0)
    source = Data("s", axes[:15], Classes.of(np.repeat([0, 1, 2], 5)))
    target = Data("t", axes[15:], Classes.of(np.repeat([0, 1, 2], 5)))
    found = curves(source, target, ShiftPlan(names=("ferm1",), draws=0, repeats=3, steps=9))
    for at, level in enumerate(found.levels):
        rows = np.concatenate([np.arange(5 * k, 5 * k + (level.source if k < 3 else level.target)) for k in range(6)])
        labels = np.repeat(np.arange(6), 5)[rows]
        assert found.repeats["ferm1"][:, at] == pytest.approx([slow_ferm1(axes[rows], labels)] * 3, rel=1e-9), level


def test_the_same_seed_gives_the_same_curves_and_rows_differ_between_repeats():
    source, target = sides()
    plan = ShiftPlan(names=("gap",), draws=3, repeats=3, steps=3, seed=7)
    first, again = (curves(source, target, plan) for _ in range(2))
    other = curves(source, target, ShiftPlan(names=("gap",), draws=3, repeats=3, steps=3, seed=8))
    assert (first.repeats["gap"] == again.repeats["gap"]).all()
    assert (first.draws["gap"] == again.draws["gap"]).all()
    assert first.repeats["gap"][0, 2] != first.repeats["gap"][1, 2]
    assert not np.allclose(first.repeats["gap"], other.repeats["gap"])


def test_a_shift_to_badly_represented_classes_is_followed_from_1_down_to_0():
    found = shift(*sides(), ShiftPlan(names=("ferm1", "davies_bouldin"), draws=20, repeats=4, steps=4))
    ferm, bouldin = found.judged
    assert (ferm.normalised[0], ferm.normalised[-1]) == (1.0, 0.0)
    assert ferm.tau_b < -0.8
    assert bouldin.best == "low"
    assert bouldin.normalised[-1] > bouldin.normalised[0]
    assert [row["classes"] for row in shift_object(found)["levels"]][:1] == [5]
    assert shift_object(found)["levels"][-1]["classes"] == 4


def judged(repeats, draws, name="ferm1"):
    repeats, draws = np.atleast_2d(repeats).astype(float), np.atleast_2d(draws).astype(float)
    levels = tuple(Level(4, at) for at in range(repeats.shape[1]))
    return curve_of(name, Curves(levels, (3, 3), {name: repeats}, {name: draws} if draws.size else {}, ()), 0.95)


def test_a_step_the_wrong_way_is_a_violation_only_if_draws_show_it():
    mean = [1.0, 0.5, 0.6, 0.0]
    rng = np.random.default_rng(0)
    sure = np.array(mean) + 0.005 * rng.normal(size=(200, 4))
    unsure = np.array(mean) + 0.2 * rng.normal(size=(200, 4))
    clear, doubtful = judged(mean, sure), judged(mean, unsure)
    assert [step.start for step in clear.violations] == [1]
    assert clear.violations[0].low > 0
    assert clear.largest_violation == pytest.approx(0.1)
    assert (doubtful.violations, doubtful.wrong_steps, doubtful.largest_violation) == ((), 1, 0.0)


def test_steps_are_paired_inside_a_draw():
    """Draws that lie far apart but all step the same way show the step; unpaired they would not."""
    mean = [1.0, 0.5, 0.6, 0.0]
    tilts = np.linspace(-0.3, 0.3, 60)[:, None]
    draws = np.array(mean) + tilts * np.array([0.0, 1.0, 1.0, 0.0])
    assert [step.start for step in judged(mean, draws).violations] == [1]


def test_measures_that_should_rise_are_violated_by_falling():
    mean = [0.0, 0.5, 0.4, 1.0]
    draws = np.array(mean) + 0.005 * np.random.default_rng(0).normal(size=(100, 4))
    found = judged(mean, draws, "davies_bouldin")
    assert [step.start for step in found.violations] == [1]
    assert found.violations[0].high < 0


def test_a_flat_curve_is_flat_and_stays_0():
    found = judged([2.0] * 4, np.full((20, 4), 2.0))
    assert FLAT in found.flags
    assert found.normalised.tolist() == [0.0] * 4
    assert (found.raw_range, found.violations, found.wrong_steps) == (0.0, (), 0)
    assert np.isnan(found.tau_b)


def test_the_raw_range_and_the_deviation_of_source_only_draws_stand_beside_the_curve():
    draws = np.random.default_rng(0).normal(size=(50, 4)) + np.array([5.0, 4.0, 3.0, 2.0])
    found = judged([5.0, 4.0, 3.0, 2.0], draws)
    assert found.raw_range == pytest.approx(3.0)
    assert found.source_only_deviation == pytest.approx(draws[:, 0].std())
    assert NO_DRAWS in judged([5.0, 4.0, 3.0, 2.0], np.empty((0, 4))).flags


def test_draws_take_classes_anew_and_not_only_rows():
    """Rows of a class are all alike here, so repeats do not differ: what differs between draws are the classes."""
    rng = np.random.default_rng(3)
    table = np.repeat(rng.random((12, 6)) + 0.1, 6, axis=0)
    source = Data("s", table[:36], Classes.of(np.repeat(np.arange(6), 6)))
    target = Data("t", table[36:], Classes.of(np.repeat(np.arange(6), 6)))
    found = curves(source, target, ShiftPlan(names=("gap",), draws=15, repeats=4, steps=3))
    assert found.repeats["gap"].std(axis=0).max() < 1e-12
    assert found.draws["gap"].std(axis=0).min() > 1e-3


def test_a_side_with_too_few_classes_says_that_they_are_not_drawn():
    source, target = sides(source=5, target=2)
    found = shift(source, target, ShiftPlan(names=("gap",), draws=4, repeats=2, steps=3))
    assert found.curves.fixed == ("target",)
    assert any("too few classes" in note for note in shift_object(found)["notes"])


def test_singletons_are_left_out_or_count_as_nothing_as_the_paper_had_it():
    from basanite.representation.measures.all_measures import Options

    source, target = sides()
    omit, zero = (
        shift(source, target, ShiftPlan(names=("ferm1",), options=Options(singletons=how), draws=0, steps=4)).judged[0]
        for how in ("omit", "zero")
    )
    assert omit.mean[1] > zero.mean[1]
    assert zero.mean[1] < zero.mean[2]
    assert zero.mean[-2] < zero.mean[-1]


def test_leep_and_otce_take_part_where_their_inputs_are_there():
    source, target = sides()
    rng = np.random.default_rng(0)
    both = [
        Data(one.name, one.features, one.classes, Source(rng.dirichlet(np.ones(3), size=one.rows)))
        for one in (source, target)
    ]
    found = curves(*both, ShiftPlan(names=("leep", "otce_wd", "h_score"), draws=0, repeats=1, steps=2))
    assert set(found.repeats) == {"leep", "otce_wd", "h_score"}
    assert found.repeats["otce_wd"][0, 0] < found.repeats["otce_wd"][0, -1]
    with pytest.raises(FeaturesError, match="source_probabilities"):
        curves(source, target, ShiftPlan(names=("leep",)))


def test_mistakes_are_answered_with_the_cure():
    source, target = sides()
    with pytest.raises(UnknownNameError, match="silhouette"):
        curves(source, target, ShiftPlan(names=("silhouete",)))
    with pytest.raises(FeaturesError, match="same layer"):
        curves(source, data(dimensions=9), ShiftPlan())
    with pytest.raises(FeaturesError, match="at least 2"):
        curves(source, target, ShiftPlan(source_classes=99))


def test_the_chosen_classes_are_fixed_by_the_seed():
    source, target = sides(source=6)
    plan = ShiftPlan(names=("gap",), source_classes=3, target_classes=2, rows=5, draws=0, repeats=2, steps=2)
    found = curves(source, target, plan)
    assert found.classes == (3, 2)
    assert found.levels[0] == Level(5, 0)


def test_the_report_has_a_chart_for_each_family_and_the_table_of_levels():
    found = shift(*sides(), ShiftPlan(names=("ferm1", "rs", "h_score"), draws=4, repeats=2, steps=3))
    report = shift_report(found)
    charts = next(section for section in report.sections if section.title == "Curves").figures
    assert [chart.title for chart in charts] == ["Cosine measures", "Clustering measures", "Transferability measures"]
    assert all(chart.y.low == 0.0 and chart.y.high == 1.0 for chart in charts)


def test_normalising_leaves_undefined_levels_undefined():
    assert np.isnan(scale_to_unit(np.array([1.0, np.nan, 3.0]))).tolist() == [False, True, False]
    assert np.isnan(scale_to_unit(np.full(3, np.nan))).all()


@pytest.mark.parametrize("seed", range(6))
def test_rank_correlations_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, size=12).astype(float), rng.integers(0, 6, size=12).astype(float)
    assert kendall_tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic)
    assert spearman_rho(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_rank_correlations_of_nothing_are_undefined():
    assert np.isnan(kendall_tau_b([1.0], [2.0]))
    assert np.isnan(spearman_rho([1.0, 1.0], [1.0, 2.0]))
    assert kendall_tau_b([1.0, 2.0, np.nan], [1.0, 2.0, 0.0]) == 1.0
