"""The closed-form deep learner: against real corruption, layer by layer, and in any batches."""

import numpy as np
import pytest
import scipy.sparse

from basanite.errors import SettingError
from basanite.harness.modules.msda import MSDA, MarginalisedAutoencoder, denoising_weights, largest_columns


@pytest.fixture(scope="module")
def rows():
    dice = np.random.default_rng(1)
    hidden = dice.normal(size=(500, 3))
    return (hidden @ dice.normal(size=(3, 8)) + 0.3 * dice.normal(size=(500, 8)) > 0.4).astype(float)


def test_a_layer_is_the_average_over_many_explicit_corruptions(rows):
    dice, noise, copies = np.random.default_rng(0), 0.4, 3_000
    bias = np.ones((len(rows), 1))
    outer = np.zeros((9, 9))
    cross = np.zeros((8, 9))
    for _ in range(copies):
        left = np.hstack([rows * (dice.random(rows.shape) > noise), bias])
        outer += left.T @ left
        cross += rows.T @ left
    explicit = np.linalg.solve(outer + 1e-9 * np.eye(9), cross.T).T
    clean = np.hstack([rows, bias])
    closed = denoising_weights(clean.T @ clean, noise=noise, ridge=0.0)
    np.testing.assert_allclose(closed, explicit, atol=0.01)


def test_three_layers_of_one_algorithm_and_each_can_be_taken_out(rows):
    deep = MSDA.make({"units": 8}, 0)
    deep.fit(rows)
    assert deep.layers == len(deep.states()) == 3
    assert {state["weights"].shape for state in deep.states()} == {(8, 9)}
    below = rows
    for layer in (1, 2, 3):
        clean = np.hstack([below, np.ones((len(rows), 1))])
        weights = denoising_weights(clean.T @ clean, noise=0.5, ridge=1e-5)
        np.testing.assert_allclose(deep.states()[layer - 1]["weights"], weights, atol=1e-9)
        below = np.tanh(clean @ weights.T)
        np.testing.assert_allclose(deep.transform(rows, layer), below, atol=1e-9)
    np.testing.assert_array_equal(deep.transform(rows), deep.transform(rows, 3))
    with pytest.raises(SettingError, match="no layer 4"):
        deep.transform(rows, 4)


def test_the_one_layer_mode_is_the_first_layer_of_the_deep_one(rows):
    deep = MSDA.make({}, 0)
    shallow = deep.shallow()
    for learner in (deep, shallow):
        learner.fit(rows)
    assert MSDA.greedy
    assert shallow.layers == 1
    np.testing.assert_array_equal(shallow.transform(rows), deep.transform(rows, 1))


def test_the_architecture_is_no_parameter():
    assert "layers" not in MSDA.schema["properties"]
    assert MSDA.schema["additionalProperties"] is False


def test_blocks_sparsity_and_precision_change_nothing_that_matters(rows, monkeypatch):
    whole = MarginalisedAutoencoder()
    whole.fit(rows)
    monkeypatch.setattr("basanite.harness.modules.msda.BLOCK", 37)
    blocked, single = MarginalisedAutoencoder(), MarginalisedAutoencoder(precision="float32")
    blocked.fit(scipy.sparse.csr_array(rows))
    single.fit(rows)
    np.testing.assert_allclose(blocked.transform(rows), whole.transform(rows), atol=1e-9)
    np.testing.assert_allclose(single.transform(rows), whole.transform(rows), atol=2e-3)
    assert single.transform(rows).dtype == np.float32
    np.testing.assert_allclose(blocked.transform(rows[3:50]), whole.transform(rows)[3:50], atol=1e-9)


def test_only_the_largest_columns_are_used(rows):
    wide = np.hstack([np.zeros((500, 2)), rows * 2, rows * 0.01])
    assert largest_columns(wide, 8).tolist() == list(range(2, 10))
    assert largest_columns(scipy.sparse.csr_array(wide), 8).tolist() == list(range(2, 10))
    learner = MarginalisedAutoencoder(units=8)
    learner.fit(wide)
    assert learner.transform(wide).shape == (500, 8)


def test_without_training_weights_are_random_and_repeat_themselves(rows):
    learners = [MSDA.make({"trained": False}, seed) for seed in (1, 1, 2)]
    for learner in learners:
        learner.fit(rows)
    codes = [learner.transform(rows) for learner in learners]
    np.testing.assert_array_equal(codes[0], codes[1])
    assert not np.array_equal(codes[0], codes[2])
    other = MSDA.make({"trained": False}, 1)
    other.fit(1 - rows)
    np.testing.assert_array_equal(other.states()[2]["weights"], learners[0].states()[2]["weights"])


def test_codes_of_deeper_layers_lie_nearer_together_for_words_of_one_meaning():
    """Two words that never stand together but keep the same company get codes that are alike: what depth is for."""
    dice = np.random.default_rng(3)
    topic = dice.integers(0, 2, 2_000)
    company = dice.random((2_000, 10)) < np.where(np.arange(10) < 5, 0.7, 0.05)[::1][None, :]
    company = np.where(topic[:, None] == 0, company, company[:, ::-1])
    synonym = dice.integers(0, 4, 2_000)
    words = np.eye(8)[topic * 4 + synonym]
    learner = MarginalisedAutoencoder()
    learner.fit(np.hstack([words, company]))
    alone = np.hstack([np.eye(8), np.zeros((8, 10))])

    def contrast(layer):
        codes = learner.transform(alone, layer)
        likeness = np.corrcoef(codes)
        same, other = likeness[:4, :4][np.triu_indices(4, 1)].mean(), likeness[:4, 4:].mean()
        return same - other

    assert contrast(1) > 0.05
    assert contrast(3) > contrast(1)


def test_impossible_settings_are_refused():
    for wrong in ({"layers": 0}, {"units": 0}, {"noise": 1.0}):
        with pytest.raises(SettingError, match="layers of"):
            MarginalisedAutoencoder(**wrong)
