"""The unusual cross-validation, against a loop that does it as the plan tells it."""

import numpy as np
import pytest
import scipy.sparse
from tests.harness.small_modules import Ridge

from basanite.harness.steps import layout as layouts
from basanite.harness.steps.classification import Measure, classify_folds, score_predictions
from basanite.harness.steps.layout import Layout, ModuleError

HERE = "tests.harness.small_modules"
LAYOUT = Layout((20, 20, 19), 41, 50)


def data(seed=0, positives=0.3):
    dice = np.random.default_rng(seed)
    features = dice.normal(size=(150, 6))
    signal = features[:, 0] + dice.normal(size=150)
    return features, (signal > np.quantile(signal, 1 - positives)).astype(float)


def run(features, values, module="RIDGE", metric="map11", limits=None, layout=LAYOUT, **more):
    return classify_folds(
        {"codes_0": features},
        {"values": values[: layout.visible]},
        part="codes_0",
        module=f"{HERE}:{module}",
        parameters={},
        seeds=[1] * len(layout.folds),
        layout=layout.plain(),
        metric=metric,
        range=limits,
        **more,
    )


def average_precision(truth, scores):
    """11-point interpolated average precision, by the definition: the best precision at each recall or higher."""
    levels = sorted(set(scores), reverse=True)
    points = [((truth[scores >= level]).sum(), (scores >= level).sum()) for level in levels]
    total = truth.sum()
    best = [max((hits / all_ for hits, all_ in points if 10 * hits >= tenth * total), default=0) for tenth in range(11)]
    return sum(best) / 11


def rmse(truth, scores):
    return float(np.sqrt(np.mean((np.clip(scores, 1, 5) - truth) ** 2)))


def by_hand(features, values, measure, sign, layout=LAYOUT):
    """Train on one fold, choose on the others and validation, predict all of test."""
    starts = np.cumsum([0, *layout.folds])
    found, chosen = [], []
    for fold in range(len(layout.folds)):
        train = list(range(starts[fold], starts[fold + 1]))
        rest = [row for row in range(layout.visible) if row not in train]
        best = None
        for point in Ridge.points:
            model = Ridge({})
            model.fit(features[train], values[train], point)
            value = sign * measure(values[rest], model.score(features[rest]))
            if best is None or value > best[0]:
                best = (value, point, model.score(features[layout.visible :]))
        found.append(best[2])
        chosen.append(best[1])
    return np.array(found), chosen


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("module", ["RIDGE", "MANY"])
def test_labels_are_learned_from_one_fold_chosen_on_the_others_and_predicted_for_all_of_test(module, seed):
    features, values = data(seed)
    found = run(features, values, module)
    scores, chosen = by_hand(features, values, average_precision, 1)
    assert np.allclose(found["scores"], scores, atol=1e-10)
    assert found["chosen"] == chosen


@pytest.mark.parametrize("seed", range(4))
def test_ratings_are_chosen_by_their_own_metric_after_clipping(seed):
    dice = np.random.default_rng(seed)
    features = dice.normal(size=(150, 6)) * 3
    values = np.clip(np.round(3 + features[:, 0] + dice.normal(size=150)), 1, 5)
    found = run(features, values, metric="mrmse", limits=[1, 5])
    scores, chosen = by_hand(features, values, rmse, -1)
    assert np.allclose(found["scores"], scores, atol=1e-10)
    assert found["chosen"] == chosen
    assert len({point["penalty"] for point in found["chosen"]}) >= 1


def test_of_equal_parameters_the_earlier_is_chosen():
    features, values = np.zeros((150, 2)), data()[1]
    found = run(features, values)
    assert [len(set(points)) for points in found["validation"]] == [1, 1, 1]
    assert found["chosen"] == [Ridge.points[0]] * 3
    assert Measure("mrmse").best_of([2.0, 1.0, 1.0]) == 1


def test_the_truth_of_the_test_rows_is_not_even_there():
    features, values = data()
    changed = np.where(np.arange(150) < LAYOUT.visible, values, 1 - values)
    assert np.array_equal(run(features, values)["scores"], run(features, changed)["scores"])


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_blocks_of_rows_change_nothing(monkeypatch, kind):
    features, values = data()
    module = "MANY" if kind is np.asarray else "SPARSE"
    whole = run(kind(features), values, module)
    monkeypatch.setattr(layouts, "BLOCK", 7)
    small = run(kind(features), values, module)
    assert np.allclose(whole["scores"], small["scores"], atol=1e-12)
    assert whole["chosen"] == small["chosen"]


@pytest.mark.parametrize("module", ["RIDGE", "MANY"])
def test_a_fold_without_positives_gets_a_constant_scorer_with_a_flag(module):
    features, values = data()
    values[LAYOUT.fold(1)] = 0
    found = run(features, values, module)
    assert np.array_equal(found["scores"][1], np.zeros(50))
    assert found["flags"][1] == ["constant scorer: every row of the training fold has the value 0"]
    assert found["flags"][0] == found["flags"][2] == []
    assert len(set(found["scores"][0])) == 50


def test_no_fold_with_positives_is_no_crash_either():
    features, values = data()
    values[: LAYOUT.visible] = 0
    found = run(features, values)
    assert np.array_equal(found["scores"], np.zeros((3, 50)))


def test_validation_rows_without_positives_leave_the_choice_open_and_say_so():
    features, values = data()
    values[:] = 0
    values[:5] = 1
    found = run(features, values)
    assert found["validation"][0] == [None, None, None]
    assert found["flags"][0] == ["parameters not chosen: the metric is undefined on the validation rows"]
    assert found["chosen"][0] == Ridge.points[0]


def test_a_test_set_without_positives_is_undefined_and_an_error_only_if_the_plan_is_strict():
    predictions, truth = {"scores": np.ones((2, 3))}, {"values": np.zeros(3)}
    found = score_predictions(predictions, truth, "map11", None)
    assert found == {"values": [None, None], "flags": [["undefined: no test row has this label"]] * 2}
    with pytest.raises(ModuleError, match="strict"):
        score_predictions(predictions, truth, "map11", None, strict=True)


def test_clipped_predictions_are_counted():
    found = score_predictions(
        {"scores": np.array([[0.0, 3.0, 9.0]])}, {"values": np.array([1.0, 3.0, 5.0])}, "mrmse", [1, 5]
    )
    assert found == {"values": [0.0], "flags": [["2 predictions outside the range were clipped"]]}


@pytest.mark.parametrize(
    ("module", "words"),
    [("SPOILT", "not finite"), ("TOO_SURE", "outside 0..1"), ("BROKEN", "cannot learn")],
)
def test_scores_that_cannot_be_used_are_an_error(module, words):
    with pytest.raises(Exception, match=words):
        run(*data(), module)


def test_in_full_mode_what_a_fold_chose_is_trained_on_the_rows_of_all_folds():
    features, values = data()
    plain, full = run(features, values), run(features, values, full=True)
    assert full["chosen"] == plain["chosen"]
    dealt = sum(LAYOUT.folds)
    for fold, point in enumerate(full["chosen"]):
        model = Ridge({})
        model.fit(features[:dealt], values[:dealt], point)
        assert full["scores"][fold] == pytest.approx(model.score(features[LAYOUT.visible :]))
    assert not np.allclose(full["scores"], plain["scores"])
