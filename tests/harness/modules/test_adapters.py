"""scikit-learn estimators and plain functions from a dotted path; preprocessors for tables."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from basanite import registry
from basanite.errors import SettingError, UnknownNameError
from basanite.harness.foreign.programs import Surroundings, enter
from basanite.harness.modules.adapters import adapt
from basanite.harness.modules.catalogue import find_module


def word_lengths(items, *, longest=20):
    """How many words each text has, and their mean length."""
    cut = [item.split() for item in items]
    return np.array([[len(words), min(longest, np.mean([len(word) for word in words]))] for words in cut])


def nearest_mean(rows, target, new_rows):
    """1 where a row is nearer to the mean of the positive rows."""
    means = [rows[target == value].mean(axis=0) for value in (0, 1)]
    return np.linalg.norm(new_rows - means[0], axis=1) - np.linalg.norm(new_rows - means[1], axis=1)


@pytest.fixture(autouse=True)
def no_plan():
    """A sealed plan that another test of this process read would have these modules run in boxes."""
    enter(Surroundings())


@pytest.fixture(scope="module")
def table():
    dice = np.random.default_rng(0)
    rows = dice.normal(size=(120, 6))
    return rows, (rows[:, 0] + rows[:, 1] > 0).astype(float)


def test_a_transformer_is_a_preprocessor_or_a_learner_of_one_layer(table):
    module = find_module("sklearn.decomposition:PCA")
    assert {module.role, *module.also} == {"preprocessor", "features", "learner"}
    made = module.make({"n_components": 2}, 1)
    made.fit(table[0][:80])
    wanted = PCA(2, random_state=1).fit(table[0][:80]).transform(table[0])
    np.testing.assert_allclose(made.transform(table[0]), wanted)
    np.testing.assert_allclose(made.transform(table[0], 1), wanted)
    assert made.layers == 1
    assert "components_" in made.states()[0]
    assert not made.shallow().states()[0]
    with pytest.raises(SettingError, match="no layer 2"):
        made.transform(table[0], 2)


def test_a_classifier_has_a_grid_and_gives_decision_values(table):
    module = find_module("sklearn.linear_model:LogisticRegression")
    assert {module.role, *module.also} == {"strong", "linear"}
    made = module.make({"grid": {"C": [0.1, 1.0]}, "max_iter": 500}, 0)
    assert list(made.grid()) == [{"C": 0.1}, {"C": 1.0}]
    made.fit(table[0][:80], table[1][:80], made.grid()[1])
    peer = LogisticRegression(max_iter=500).fit(table[0][:80], table[1][:80])
    np.testing.assert_allclose(made.score(table[0]), peer.decision_function(table[0]))


def test_a_classifier_of_many_values_gives_the_expected_one(table):
    target = np.digitize(table[0][:, 0], [-0.5, 0.5]).astype(float)
    made = adapt(LogisticRegression, "x").make({}, 0)
    made.fit(table[0], target, {})
    peer = LogisticRegression().fit(table[0], target)
    np.testing.assert_allclose(made.score(table[0]), peer.predict_proba(table[0]) @ [0, 1, 2])


def test_a_regressor_gets_our_dice(table):
    scores = []
    for seed in (4, 4, 5):
        made = adapt(RandomForestRegressor, "x").make({"n_estimators": 5}, seed)
        made.fit(table[0], table[0][:, 0], {})
        scores.append(made.score(table[0]))
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
    peer = RandomForestRegressor(5, random_state=4).fit(table[0], table[0][:, 0])
    np.testing.assert_array_equal(scores[0], peer.predict(table[0]))


def test_plain_functions_extract_or_predict(table):
    extraction = adapt(word_lengths, "here:word_lengths").make({"longest": 4}, 0)
    extraction.fit(["a b"])
    assert extraction.transform(["one of three", "longest words"]).tolist() == [[3, 10 / 3], [2, 4]]
    prediction = adapt(nearest_mean, "here:nearest_mean").make({}, 0)
    assert list(prediction.grid()) == [{}]
    prediction.fit(table[0][:80], table[1][:80], {})
    assert ((prediction.score(table[0][80:]) > 0) == table[1][80:]).mean() > 0.8


def test_what_is_no_module_is_refused():
    for wrong in ("math:pi", "collections:OrderedDict", "operator:add"):
        with pytest.raises(UnknownNameError, match="neither a scikit-learn estimator"):
            find_module(wrong)
    with pytest.raises(SettingError, match="no parameter 'neurons'"):
        adapt(PCA, "x").make({"neurons": 3}, 0)


def test_tables_as_they_are_standardised_and_as_pixels(table):
    rows = np.hstack([table[0], np.full((120, 1), 7.0)])
    found = {name: registry.load("modules", name).make({}, 0) for name in ("identity", "scaled", "pixels")}
    found["identity"].fit(rows[:50])
    np.testing.assert_array_equal(found["identity"].transform(rows), rows)
    found["scaled"].fit(rows[:50])
    np.testing.assert_allclose(
        found["scaled"].transform(rows), StandardScaler().fit(rows[:50]).transform(rows), atol=1e-12
    )
    found["pixels"].fit(np.arange(8).reshape(2, 4))
    np.testing.assert_allclose(found["pixels"].transform([[7.0, 0, 3.5, 14]]), [[1, 0, 0.5, 2]])
    with pytest.raises(SettingError, match="never negative"):
        found["pixels"].fit(rows)
    with pytest.raises(SettingError, match="not rows of numbers"):
        found["identity"].transform(["a text"])
