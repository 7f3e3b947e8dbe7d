"""Independent subspace analysis: turns stay turns, planted subspaces are found, and phase does not matter."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from basanite.harness.modules.subspaces import (  # noqa: E402
    ISA,
    energies,
    orthonormal,
    random_rotation,
    sparseness,
    sparsest_rotation,
    whiten,
)

QUICK = {"components": 8, "group": 2, "steps": 30, "sample": 400, "device": "cpu"}


def planted(groups, rows, dice):
    """Groups of two numbers that are large together or not at all, whatever the direction."""
    sizes = dice.exponential(size=(rows, groups, 1)) ** 2
    angles = dice.uniform(0, 2 * np.pi, (rows, groups))
    pairs = sizes * np.stack([np.cos(angles), np.sin(angles)], axis=2)
    flat = pairs.reshape(rows, -1)
    return flat / flat.std(axis=0)


def test_the_weights_stay_orthonormal():
    inputs = torch.from_numpy(planted(4, 500, np.random.default_rng(0)).astype(np.float32))
    turn = sparsest_rotation(inputs, random_rotation(8, np.random.default_rng(1)), group=2, steps=50)
    assert turn @ turn.T == pytest.approx(np.eye(8), abs=1e-5)


def test_planted_subspaces_are_recovered():
    dice = np.random.default_rng(0)
    mixing = random_rotation(8, dice)
    inputs = torch.from_numpy((planted(4, 6000, dice) @ mixing.T).astype(np.float32))
    turn = sparsest_rotation(inputs, random_rotation(8, np.random.default_rng(3)), group=2, steps=500)
    shares = ((turn @ mixing) ** 2).reshape(4, 2, 4, 2).sum(axis=(1, 3)) / 2
    assert sorted(shares.argmax(axis=1)) == [0, 1, 2, 3]
    assert shares.max(axis=1).min() > 0.95


def test_the_gradient_is_the_slope_of_what_is_minimised():
    dice = np.random.default_rng(2)
    inputs = torch.from_numpy(dice.normal(size=(40, 6)))
    weights = torch.from_numpy(random_rotation(6, dice).astype(float)).requires_grad_()
    slope = torch.autograd.grad(energies(inputs @ weights.T, 2).sum() / len(inputs), weights)[0]
    assert sparseness(inputs, weights.detach(), 2)[1].numpy() == pytest.approx(slope.numpy(), abs=1e-9)


def test_the_code_of_a_quadrature_pair_does_not_depend_on_phase():
    dice, places = np.random.default_rng(4), np.arange(16)
    waves = 2 * np.pi * np.array([1, 2, 3, 4]) / 16
    chosen, phases = dice.integers(0, 4, 4000), dice.uniform(0, 2 * np.pi, 4000)
    rows = np.cos(waves[chosen][:, None] * places + phases[:, None])
    learner = ISA.make({**QUICK, "steps": 300, "sample": 4000}, 0)
    learner.fit(rows)
    for wave in waves:
        turned = np.cos(wave * places + np.linspace(0, 2 * np.pi, 40)[:, None])
        codes = learner.transform(turned, 1)
        assert codes.std(axis=0).max() < 0.1 * codes.max()


def test_whitening_gives_every_component_variance_one():
    dice = np.random.default_rng(5)
    rows = torch.from_numpy(dice.normal(size=(3000, 6)) @ dice.normal(size=(6, 6)) + 3)
    mean, whitening = whiten(rows, 4)
    white = (rows.numpy() - mean) @ whitening.T
    assert np.cov(white.T, bias=True) == pytest.approx(np.eye(4), abs=1e-3)


def test_orthonormal_is_the_nearest_turn():
    weights = torch.from_numpy(np.random.default_rng(6).normal(size=(5, 5)))
    values, vectors = np.linalg.eigh((weights @ weights.T).numpy())
    wanted = vectors @ np.diag(values**-0.5) @ vectors.T @ weights.numpy()
    assert orthonormal(weights).numpy() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("shape", [(), (4, 8, 8)], ids=["rows", "windows"])
def test_there_are_three_layers_of_one_algorithm_and_each_can_be_taken_out(shape):
    rows = np.random.default_rng(7).normal(size=(60, 256))
    parameters = {**QUICK, **({"shape": list(shape), "patch": [2, 4, 4], "stride": [1, 2, 2]} if shape else {})}
    learner = ISA.make(parameters, 1)
    learner.fit(rows)
    assert learner.layers == 3
    assert [sorted(state) for state in learner.states()] == [["mean", "weights", "whitening"]] * 3
    singles = [learner.transform(rows, layer) for layer in (1, 2, 3)]
    assert np.array_equal(learner.transform(rows), np.hstack(singles))
    shallow = ISA.make(parameters, 1).shallow()
    shallow.fit(rows)
    assert shallow.transform(rows) == pytest.approx(singles[0], abs=1e-6)


def test_windows_keep_the_order_of_time():
    rows = np.random.default_rng(8).normal(size=(50, 6, 4, 4))
    parameters = {**QUICK, "shape": [6, 4, 4], "patch": [2, 4, 4], "stride": [1, 2, 2]}
    learner = ISA.make(parameters, 1)
    learner.fit(rows.reshape(50, -1))
    forth = learner.transform(rows.reshape(50, -1), 1).reshape(50, 5, -1)
    later = np.roll(rows, 1, axis=1).reshape(50, -1)
    assert learner.transform(later, 1).reshape(50, 5, -1)[:, 1:] == pytest.approx(forth[:, :-1], abs=1e-5)


def test_the_same_seed_gives_the_same_codes_whatever_the_batch():
    rows = np.random.default_rng(9).normal(size=(300, 20))
    learners = [ISA.make(QUICK, 1), ISA.make(QUICK, 1)]
    for learner in learners:
        learner.fit(rows)
    assert np.array_equal(*(learner.transform(rows) for learner in learners))
    parts = np.concatenate([learners[0].transform(rows[at : at + 37]) for at in range(0, 300, 37)])
    assert parts == pytest.approx(learners[0].transform(rows), abs=1e-5)


def test_groups_that_cannot_be_made_are_refused():
    from basanite.errors import SettingError

    with pytest.raises(SettingError, match="groups"):
        ISA.make({"components": 9, "group": 2}, 0)
