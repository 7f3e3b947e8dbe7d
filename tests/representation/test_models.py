"""Features from models: any layer by name, in batches; transformed inputs; a curve over the epochs of a training."""

import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.representation.made import data, features

from basanite.errors import FeaturesError, UnknownNameError
from basanite.representation.data import read_data
from basanite.representation.measures.all_measures import measure
from basanite.representation.measures.ferm import ferm
from basanite.representation.model_features import (
    REPEATS,
    EpochCurve,
    Looked,
    extract,
    layers,
    robustness,
    save_features,
    transformed_features,
)
from basanite.synthetic.transforms import KINDS, Transformation, transform_pictures

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def pictures():
    """Pictures of two kinds: a bar that lies and a bar that stands, with noise."""
    rng = np.random.default_rng(0)
    table = 0.1 * rng.random((40, 8, 8))
    table[:20, 3:5, :] += 1
    table[20:, :, 3:5] += 1
    return table.astype(np.float32), np.repeat(["lying", "standing"], 20)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Flatten(), torch.nn.Linear(144, 2)
    )


@pytest.fixture(scope="module")
def perceptron(pictures):
    table, labels = pictures
    model = MLPClassifier((6, 5), max_iter=400, random_state=0, solver="lbfgs")
    return model.fit(table.reshape(40, -1), labels)


@pytest.mark.req("F-16")
def test_any_layer_of_a_torch_model_gives_features_in_batches(network, pictures):
    inputs = pictures[0][:, None]
    calls = []
    found = extract(network, inputs, layer="1", batch=16, progress=lambda done, total: calls.append((done, total)))
    with torch.no_grad():
        wanted = torch.relu(network[0](torch.as_tensor(inputs))).mean(dim=(2, 3)).numpy()
    assert found == pytest.approx(wanted, abs=1e-6)
    assert calls == [(16, 40), (32, 40), (40, 40)]
    assert extract(network, inputs, layer="1", pool="flatten").shape == (40, 144)
    assert extract(network, inputs, layer="4").shape == (40, 2)
    assert layers(network) == ("0", "1", "2", "3", "4")


@pytest.mark.req("F-16")
def test_a_model_is_left_as_it_was(network, pictures):
    network.train()
    first, again = (extract(network, pictures[0][:, None], layer="4") for _ in range(2))
    assert network.training
    assert (first == again).all()
    assert not network[1]._forward_hooks


@pytest.mark.req("F-16")
def test_layers_of_scikit_learn_models_give_features(perceptron, pictures):
    flat = pictures[0].reshape(40, -1).astype(float)
    hidden = np.maximum(flat @ perceptron.coefs_[0] + perceptron.intercepts_[0], 0)
    second = np.maximum(hidden @ perceptron.coefs_[1] + perceptron.intercepts_[1], 0)
    assert extract(perceptron, flat, layer="hidden1", batch=7) == pytest.approx(hidden, rel=1e-5)
    assert extract(perceptron, flat, layer="hidden2") == pytest.approx(second, rel=1e-5)
    pipeline = make_pipeline(StandardScaler(), PCA(3)).fit(flat)
    assert extract(pipeline, flat, layer="pca") == pytest.approx(pipeline.transform(flat), abs=1e-5)
    assert extract(pipeline, flat, layer="standardscaler").shape == (40, 64)
    assert extract(StandardScaler().fit(flat), flat, layer="transform").shape == (40, 64)


def test_an_unknown_layer_is_answered_with_the_nearest(perceptron, network):
    with pytest.raises(UnknownNameError, match="hidden1"):
        extract(perceptron, np.ones((2, 64)), layer="hiden1")
    with pytest.raises(UnknownNameError, match="There are: 0, 1"):
        extract(network, np.ones((2, 1, 8, 8)), layer="head")
    with pytest.raises(FeaturesError, match="no inputs"):
        extract(perceptron, np.ones((0, 64)), layer="hidden1")


def test_features_are_saved_as_the_file_that_measure_reads(tmp_path, perceptron, pictures):
    flat = pictures[0].reshape(40, -1)
    found = extract(perceptron, flat, layer="hidden1")
    save_features(tmp_path / "hidden.npz", found, pictures[1], predictions=perceptron.predict(flat))
    made = read_data(tmp_path / "hidden.npz")
    assert (made.features == found).all()
    assert made.correct.mean() == 1.0


# --- transformations ---


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_transformation_changes_pictures_by_itself(kind):
    picture = np.zeros((6, 9, 9))
    picture[:, 2:4, 1:8] = np.arange(7)
    found = transform_pictures(picture, np.random.default_rng(1), how=Transformation(kinds=(kind,)))
    assert found.shape == picture.shape
    assert not np.allclose(found, picture)
    assert np.allclose(transform_pictures(picture, np.random.default_rng(1), how=Transformation(kinds=())), picture)


def test_a_flip_alone_turns_about_half_of_the_pictures_over():
    pictures = np.random.default_rng(0).random((200, 4, 4))
    found = transform_pictures(pictures, np.random.default_rng(3), how=Transformation(kinds=("flip",)))
    flipped = np.array([np.allclose(a, b[:, ::-1]) for a, b in zip(found, pictures, strict=True)])
    kept = np.array([np.allclose(a, b) for a, b in zip(found, pictures, strict=True)])
    assert (flipped | kept).all()
    assert 70 < flipped.sum() < 130


def test_channels_first_and_last_are_transformed_alike():
    last = np.random.default_rng(0).random((3, 6, 6, 2))
    first = np.moveaxis(last, -1, 1)
    a = transform_pictures(last, np.random.default_rng(2))
    b = transform_pictures(first, np.random.default_rng(2), channels="first")
    assert np.allclose(np.moveaxis(a, -1, 1), b)


@pytest.mark.req("F-16")
def test_the_change_under_transformations_is_measured_in_five_seeded_repeats(perceptron, pictures):
    looked = Looked(perceptron, "hidden2", flat=True)
    table, labels = pictures
    found = robustness(looked, table, labels, names=("gap", "silhouette"), seed=3)
    repeats = list(transformed_features(looked, table, seed=3))
    values = [measure(one, labels, names=["gap"]).values["gap"].value for one in repeats]
    assert len(repeats) == REPEATS == found.changed["gap"].repeats == 5
    assert found.changed["gap"].mean == pytest.approx(np.mean(values))
    assert found.changed["gap"].deviation == pytest.approx(np.std(values, ddof=1))
    plain = measure(looked.features(table), labels, names=["gap"]).values["gap"].value
    assert found.change("gap") == pytest.approx(np.mean(values) - plain)
    again = robustness(looked, table, labels, names=("gap", "silhouette"), seed=3)
    assert again == found


# --- training ---


def test_a_callback_records_the_linear_measures_of_each_epoch():
    curve = EpochCurve()
    sets = [features(np.random.default_rng(1), spread=spread) for spread in (2.0, 1.0, 0.3)]
    for epoch, (table, labels) in enumerate(sets):
        curve(epoch, table, labels)
    assert curve.epochs == [0, 1, 2]
    for at, (table, labels) in enumerate(sets):
        assert curve.column("ferm1")[at] == pytest.approx(ferm(table, labels).values["ferm1"].value)
        wanted = measure(table, labels, names=["rs", "c_root_k"]).values
        assert curve.column("rs")[at] == pytest.approx(wanted["rs"].value)
        assert curve.column("c_root_k")[at] == pytest.approx(wanted["c_root_k"].value)
    assert (np.diff(curve.column("ferm1")) > 0).all()


def test_batches_of_an_epoch_give_what_the_whole_gives():
    made = data(classes=3, rows=20)
    order = np.random.default_rng(0).permutation(60)
    batches = [(made.features[part], made.classes.codes[part]) for part in np.array_split(order, 7)]
    found = EpochCurve().record_batches(0, batches)
    assert found == pytest.approx(EpochCurve().record(0, made.features, made.classes.codes))


def test_a_torch_model_is_followed_while_it_learns(pictures):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    table, labels = pictures
    inputs, targets = torch.as_tensor(table), torch.as_tensor((labels == "lying").astype(np.int64))
    curve, optimiser = EpochCurve(), torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(12):
        curve.record_model(epoch, model, table, labels, layer="2")
        for _ in range(5):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimiser.step()
    assert curve.column("ferm1")[-1] > curve.column("ferm1")[0]


def test_the_curve_can_be_written_as_a_report(tmp_path):
    curve = EpochCurve(name="my training")
    for epoch in range(3):
        curve(epoch, *features(np.random.default_rng(epoch)))
    curve.save(tmp_path / "curve.json")
    stored = json.loads((tmp_path / "curve.json").read_text())
    assert (stored["format"], stored["epochs"]) == ("basanite-epochs/1", [0, 1, 2])
    chart = curve.chart()
    assert (chart.kind, chart.series) == ("line", "Measure")
    assert EpochCurve().chart().summary == "No epoch has been recorded yet."
