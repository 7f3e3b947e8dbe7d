"""The denoising autoencoder: gradients, learning, layers, dice, and going on after an interruption."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from basanite.harness.modules.autoencoder import (  # noqa: E402
    SDA,
    DenoisingAutoencoder,
    LayerTask,
    LayerTraining,
    Training,
)

QUICK = {"units": 12, "epochs": 3, "batch": 16, "noise": 0.3, "device": "cpu"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def rows():
    dice = np.random.default_rng(0)
    return np.abs(dice.normal(size=(80, 4)) @ dice.normal(size=(4, 20)))


def training_of(rows, loss="squared", **settings):
    dice = np.random.default_rng(1)
    weights = dice.normal(size=(6, rows.shape[1])).astype(np.float32)
    task = LayerTask(0, loss, weights, np.full(6, 0.1, np.float32))
    mean = (rows / rows.max()).mean(axis=0).astype(np.float32)
    return LayerTraining(Training(units=6, **settings), task, mean, torch.device("cpu"), seed=0)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_gradients_are_the_slopes_of_the_loss(rows, loss):
    training = training_of(rows, loss=loss, sparsity=0.1)
    training.parts = {name: part.detach().double().requires_grad_() for name, part in training.parts.items()}
    block = torch.from_numpy(rows / rows.max())
    kept = (torch.rand(block.shape, generator=torch.Generator().manual_seed(2)) > 0.3).double()

    def of(*parts):
        training.parts = dict(zip(training.NAMES, parts, strict=True))
        return training.loss(block, kept)

    assert torch.autograd.gradcheck(of, tuple(training.parts.values()))


def test_restoring_gets_better_with_training(rows):
    training = training_of(rows, rate=0.01)
    block = torch.from_numpy((rows / rows.max()).astype(np.float32))
    losses = [training.step(block) for _ in range(200)]
    assert np.mean(losses[-20:]) < 0.5 * np.mean(losses[:20])


def test_there_are_three_layers_at_least_and_each_can_be_taken_out(rows):
    learner = SDA.make(QUICK, 1)
    learner.fit(rows)
    assert learner.layers == 3
    assert [learner.transform(rows, layer).shape for layer in (1, 2, 3)] == [(80, 12)] * 3
    assert np.array_equal(learner.transform(rows), learner.transform(rows, 3))
    assert [sorted(state) for state in learner.states()] == [["bias", "weights"]] * 3


def test_the_one_layer_mode_is_the_first_layer_of_the_deep_one(rows):
    deep, shallow = SDA.make(QUICK, 1), SDA.make(QUICK, 1).shallow()
    deep.fit(rows)
    shallow.fit(rows)
    assert np.array_equal(shallow.transform(rows), deep.transform(rows, 1))


def test_the_same_seed_gives_the_same_codes_and_another_others(rows):
    codes = []
    for seed in (1, 1, 2):
        learner = SDA.make(QUICK, seed)
        learner.fit(rows)
        codes.append(learner.transform(rows))
    assert np.array_equal(codes[0], codes[1])
    assert not np.allclose(codes[0], codes[2])


def test_codes_do_not_depend_on_the_batch_they_come_in(rows):
    learner = SDA.make(QUICK, 1)
    learner.fit(rows)
    parts = np.concatenate([learner.transform(rows[at : at + 7]) for at in range(0, 80, 7)])
    assert parts == pytest.approx(learner.transform(rows), abs=1e-5)


def test_sparse_rows_are_the_same_rows(rows):
    import scipy.sparse

    dense, sparse = SDA.make({**QUICK, "binary": True}, 1), SDA.make({**QUICK, "binary": True}, 1)
    counts = (rows > rows.mean()).astype(float) * 3
    dense.fit(counts)
    sparse.fit(scipy.sparse.csr_array(counts))
    assert np.array_equal(dense.transform(counts), sparse.transform(scipy.sparse.csr_array(counts)))


def test_without_training_the_weights_are_those_that_training_begins_with(rows):
    random, none = SDA.make({**QUICK, "trained": False}, 1), SDA.make({**QUICK, "epochs": 0}, 1)
    random.fit(rows)
    none.fit(rows)
    assert np.array_equal(random.transform(rows), none.transform(rows))


class Interrupted:
    """Rows that are cut off after so many batches, as by a power failure."""

    def __init__(self, rows, after):
        self.rows, self.shape, self.left, self.taken = rows, rows.shape, after, 0

    def sum(self, axis):
        return self.rows.sum(axis=axis)

    def max(self):
        return self.rows.max()

    def min(self):
        return self.rows.min()

    def __abs__(self):
        return abs(self.rows)

    def __getitem__(self, chosen):
        if isinstance(chosen, np.ndarray):
            self.taken += 1
            if self.taken > self.left:
                raise KeyboardInterrupt
        return self.rows[chosen]


@pytest.mark.parametrize("after", [3, 7, 17, 29, 44])
def test_an_interrupted_training_goes_on_and_ends_in_the_same_codes(rows, after):
    whole = SDA.make(QUICK, 1)
    whole.fit(rows)
    with pytest.raises(KeyboardInterrupt):
        SDA.make(QUICK, 1).fit(Interrupted(rows, after))
    rest, again = Interrupted(rows, 10**6), SDA.make(QUICK, 1)
    again.fit(rest)
    assert np.array_equal(again.transform(rows), whole.transform(rows))
    # a layer looks at its held rows, then has three epochs of five batches and a look: only the cut one is redone
    layers, calls = divmod(after, 19)
    epochs = max(0, calls - 1) // 6
    assert rest.taken == 57 - 19 * layers - (6 * epochs + 1 if epochs else 0)


def test_every_layer_has_the_loss_that_fits_its_inputs_and_codes_stay_between_0_and_1(rows):
    for settings, inputs, first in (({}, rows, "cross-entropy"), ({}, rows - 1, "squared")):
        learner = SDA.make({**QUICK, **settings}, 1)
        learner.fit(inputs)
        assert [learner._loss(number, inputs) for number in range(3)] == [first, "cross-entropy", "cross-entropy"]
        assert all(min(told["losses"]) >= told["bound"] for told in learner.history)
        for layer in (1, 2, 3):
            codes = learner.transform(inputs, layer)
            assert (codes.min(), codes.max()) == (0.0, 1.0)


def test_a_layer_is_kept_as_it_was_when_held_rows_were_restored_best(rows):
    learner = SDA.make({**QUICK, "epochs": 400, "rate": 0.02, "patience": 2}, 1)
    learner.fit(rows)
    for told in learner.history:
        losses = told["losses"]
        assert 3 < len(losses) < 401
        best = next(at for at in range(len(losses)) if min(losses[at + 1 :], default=1.0) >= 0.999 * losses[at])
        assert len(losses) - 1 - best == 2


def test_cross_entropy_is_refused_for_inputs_that_it_has_no_bound_for(rows):
    from basanite.errors import SettingError

    with pytest.raises(SettingError, match=r"never negative.*Use auto or squared"):
        SDA.make({**QUICK, "loss": "cross-entropy"}, 1).fit(rows - 1)


def test_a_spoilt_checkpoint_is_no_checkpoint(rows, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        SDA.make(QUICK, 1).fit(Interrupted(rows, 12))
    (path,) = (tmp_path / "basanite" / "checkpoints").glob("*.npz")
    path.write_bytes(path.read_bytes()[:200])
    learner = SDA.make(QUICK, 1)
    learner.fit(rows)
    assert len(learner.stack) == 3


def test_what_cannot_be_is_said():
    from basanite.errors import SettingError

    with pytest.raises(SettingError, match="noise"):
        DenoisingAutoencoder(noise=1.0)
    if not torch.cuda.is_available():
        with pytest.raises(SettingError, match="no accelerator"):
            SDA.make({**QUICK, "device": "cuda"}, 1).fit(np.ones((4, 4)))


@pytest.mark.gpu
def test_an_accelerator_gives_the_codes_of_the_processor(rows):
    near, far = (
        SDA.make({**QUICK, "device": device, "noise": 0.0, "noise_above": 0.0}, 1) for device in ("cpu", "cuda")
    )
    near.fit(rows)
    far.fit(rows)
    assert far.transform(rows) == pytest.approx(near.transform(rows), abs=1e-3)
