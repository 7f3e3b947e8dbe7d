"""Features from models, curves over epochs, and pictures of features: by the functions users call, and in reports."""

import json
import re

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.neural_network import MLPClassifier
from tests.cli.running import here
from tests.doors.features import EXACT, ferm1_of, measured, values
from tests.metrics.labelled_features import clouds, plain_ferm

from basanite.representation.model_features import EpochCurve, Looked, extract, layers, robustness, save_features
from basanite.synthetic.transforms import Transformation

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def pictures():
    """Pictures of two kinds: a bar that lies and a bar that stands, with noise."""
    table = 0.1 * np.random.default_rng(0).random((40, 8, 8))
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
    model = MLPClassifier((6, 5), max_iter=400, random_state=0, solver="lbfgs")
    return model.fit(pictures[0].reshape(40, -1), pictures[1])


@pytest.mark.req("F-16")
def test_any_layer_of_a_model_gives_features_in_batches_and_the_model_stays_as_it_was(network, perceptron, pictures):
    inputs, calls = pictures[0][:, None], []
    network.train()
    found = extract(network, inputs, layer="1", batch=16, progress=lambda done, total: calls.append((done, total)))
    with torch.no_grad():
        wanted = torch.relu(network[0](torch.as_tensor(inputs))).mean(dim=(2, 3)).numpy()
    assert found == pytest.approx(wanted, abs=1e-6)
    assert calls == [(16, 40), (32, 40), (40, 40)]
    assert network.training
    assert (extract(network, inputs, layer="4") == extract(network, inputs, layer="4")).all()  # no dropout
    assert layers(network) == ("0", "1", "2", "3", "4")
    flat = pictures[0].reshape(40, -1).astype(float)
    hidden = np.maximum(flat @ perceptron.coefs_[0] + perceptron.intercepts_[0], 0)
    assert extract(perceptron, flat, layer="hidden1", batch=7) == pytest.approx(hidden, rel=1e-5)


@pytest.mark.req("F-16")
def test_saved_features_are_the_file_that_the_command_measures(perceptron, pictures, tmp_path):
    flat = pictures[0].reshape(40, -1)
    features = extract(perceptron, flat, layer="hidden2")
    save_features(tmp_path / "hidden.npz", features, pictures[1], predictions=perceptron.predict(flat))
    found = values(tmp_path, "hidden.npz")
    assert found["silhouette"] == pytest.approx(silhouette_score(features, pictures[1]), rel=1e-6)
    assert found["accuracy"] == 1.0


@pytest.mark.req("F-16")
def test_the_change_under_transformations_is_measured_in_five_seeded_repeats(perceptron, pictures):
    table, labels = pictures
    looked = Looked(perceptron, "hidden2", flat=True)
    found, again, other = (robustness(looked, table, labels, names=("silhouette",), seed=seed) for seed in (3, 3, 4))
    assert found.changed["silhouette"].repeats == 5
    assert found == again
    assert found.changed != other.changed
    wanted = silhouette_score(extract(perceptron, table.reshape(40, -1), layer="hidden2"), labels)
    assert found.plain["silhouette"] == pytest.approx(wanted, rel=1e-5)
    assert found.change("silhouette") == found.changed["silhouette"].mean - found.plain["silhouette"] != 0


@pytest.mark.req("F-16")
def test_each_kind_of_transformation_is_made_by_itself(pictures):
    """A mean over the whole picture sees no flip; it sees whatever is cut off or filled in at the edges."""
    table = np.random.default_rng(1).random((12, 8, 8, 3)).astype(np.float32)
    labels = np.arange(12) % 2
    pixels = torch.nn.Sequential(torch.nn.Identity())
    looked = Looked(pixels, "0", channels="first")
    changes = {
        kind: robustness(
            looked, table.transpose(0, 3, 1, 2), labels, names=("gap",), how=Transformation(kinds=(kind,))
        ).changed["gap"]
        for kind in ("flip", "scale", "resize", "rotate")
    }
    plain = robustness(looked, table.transpose(0, 3, 1, 2), labels, names=("gap",), how=Transformation(kinds=()))
    assert plain.change("gap") == pytest.approx(0, abs=1e-7)
    assert changes["flip"].deviation == pytest.approx(0, abs=1e-7)
    for kind in ("scale", "resize", "rotate"):
        assert changes[kind].deviation > 1e-6, kind
    whole = Looked(pixels, "0", channels="first", pool="flatten")
    flipped = robustness(
        whole, table.transpose(0, 3, 1, 2), labels, names=("gap",), how=Transformation(kinds=("flip",))
    )
    assert abs(flipped.change("gap")) > 1e-6


# --- training ---


class Counted:
    """Features that count how often each row is read."""

    def __init__(self, features):
        self.features, self.shape = features, features.shape
        self.reads = np.zeros(len(features), int)

    def __getitem__(self, rows):
        self.reads[rows] += 1
        return self.features[rows]


def test_a_callback_records_the_linear_measures_of_each_epoch(tmp_path):
    curve = EpochCurve(name="my training")
    sets = [clouds(1, spread=spread) for spread in (0.6, 0.3, 0.1)]
    for epoch, (features, labels) in enumerate(sets):
        curve(epoch, features, labels)
    for at, (features, labels) in enumerate(sets):
        assert curve.column("ferm1")[at] == pytest.approx(ferm1_of(features, labels), **EXACT)
        assert curve.column("ferm4")[at] == pytest.approx(plain_ferm(features, labels)["ferm4"], **EXACT)
        wanted = calinski_harabasz_score(features, labels)
        assert curve.column("calinski_harabasz")[at] == pytest.approx(wanted, rel=1e-9)
    assert (np.diff(curve.column("ferm1")) > 0).all()
    curve.save(tmp_path / "curve.json")
    stored = json.loads((tmp_path / "curve.json").read_text())
    assert (stored["format"], stored["epochs"]) == ("basanite-epochs/1", [0, 1, 2])
    assert [one["ferm1"] for one in stored["values"]] == pytest.approx(curve.column("ferm1"), rel=1e-9)


def test_a_torch_model_is_followed_while_it_learns(pictures):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    table, labels = pictures
    inputs, targets = torch.as_tensor(table), torch.as_tensor((labels == "lying").astype(np.int64))
    curve, optimiser = EpochCurve(), torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(8):
        curve.record_model(epoch, model, table, labels, layer="2")
        for _ in range(5):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimiser.step()
    assert curve.column("ferm1")[-1] > curve.column("ferm1")[0]


@pytest.mark.req("F-5", "F-11", "F-19")
def test_batches_of_any_cut_add_up_to_the_whole_and_each_row_is_read_once(tmp_path):
    features, labels = clouds(4, rows=600)
    whole = values(tmp_path, features=features, labels=labels)
    order = np.random.default_rng(0).permutation(600)
    parts = [Counted(features[part]) for part in np.array_split(order, 7)]
    named = [labels[part] for part in np.array_split(order, 7)]
    found = EpochCurve().record_batches(0, zip(parts, named, strict=True))
    assert {"ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse", "calinski_harabasz", "rs", "c_root_k"} == set(found)
    for name, value in found.items():
        assert value == pytest.approx(whole[name], **EXACT), name
    reads = np.concatenate([part.reads for part in parts])
    assert reads.min() == 1
    assert reads.sum() <= 600 + len(parts[0].reads)  # the first batch is looked at for a pilot mean, too


# --- projections ---


def points_of(folder, method, seed):
    """The rows of the picture in the report, from its table of data: class, first, second and row."""
    words = ("set.npz", "--metric", "gap", "--draws", "0", "--projection", method, "--seed", seed)
    ended = here("measure", "run", *words, "--report", "report.html", cwd=folder)
    assert ended.code == 0, ended.stderr
    page = (folder / "report.html").read_text()
    table = page[page.index("Rows in two dimensions") :].split("<tbody>")[1].split("</tbody>")[0]
    names = re.findall(r"<bdi>(.*?)</bdi>", table)
    numbers = np.array(re.findall(r'data-v="(.*?)"', table), float).reshape(len(names), 3)
    return names, numbers[:, :2], numbers[:, 2].astype(int)


@pytest.mark.req("F-15")
def test_projections_fill_0_to_1_by_class_and_the_seed_decides_them(tmp_path):
    features, labels = clouds(2, rows=45, classes=3, spread=0.05)
    measured(tmp_path, "--draws", "0", features=features, labels=labels)
    components, near, again = (points_of(tmp_path, method, "0") for method in ("pca", "tsne", "tsne"))
    for names, points, rows in (components, near):
        assert names == [str(labels[row]) for row in rows]
        assert sorted(rows) == list(range(45))
        assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([0, 0], [1, 1])
    wanted = PCA(2).fit_transform(features)[components[2]]
    for axis in (0, 1):
        assert abs(np.corrcoef(components[1][:, axis], wanted[:, axis])[0, 1]) == pytest.approx(1, abs=1e-6)
    _, points, rows = near
    assert (points == again[1]).all()
    centres = np.array([points[labels[rows] == code].mean(axis=0) for code in range(3)])
    assert (np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1) == labels[rows]).mean() > 0.95
