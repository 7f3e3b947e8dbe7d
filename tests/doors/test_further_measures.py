"""LogME, NCE, TransRate, RankMe, effective rank and CKA, LEEP and OTCE, and curves along layers, by `measure`."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from tests.cli.running import here

from basanite.representation.model_features import EpochCurve

NAMES = ("logme", "nce", "transrate", "rankme", "effective_rank")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Two layers of one made-up model and a source set, with what a head says of each row."""
    folder, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(4)
    labels = np.repeat(["ant", "bee", "cow"], 14)
    centres = rng.random((3, 5)) * 3
    for name, spread in (("low", 1.5), ("high", 0.4)):
        rows = np.abs(np.repeat(centres, 14, axis=0) + spread * rng.normal(size=(42, 5)))
        said = rng.dirichlet(np.ones(4), size=42)
        np.savez(folder / f"{name}.npz", features=rows, labels=labels, source_probabilities=said)
    source = np.abs(rng.normal(size=(20, 5)))
    np.savez(folder / "source.npz", features=source, labels=np.arange(20) % 4)
    return folder


def arrays(path):
    with np.load(path) as found:
        return dict(found)


def evidence(rows, target):
    """The largest log evidence a row, by the density itself and a general optimizer."""

    def loss(logs):
        alpha, beta = np.exp(logs)
        spread = rows @ rows.T / alpha + np.eye(len(rows)) / beta
        return -multivariate_normal(np.zeros(len(rows)), spread).logpdf(target) / len(rows)

    return -min(
        minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 4000}).fun
        for start in ([0, 0], [2, 2])
    )


def entropy_rank(lengths, extra=0.0):
    shares = lengths / lengths.sum() + extra
    return np.exp(-sum(share * np.log(share) for share in shares if share > 0))


def rate(rows):
    return 0.5 * np.log(np.linalg.det(np.eye(rows.shape[1]) + rows.T @ rows / (len(rows) * 1e-4)))


@pytest.mark.req("F-25")
def test_further_measures_equal_the_published_formulas(sets):
    found = here(
        "measure",
        "run",
        sets / "high.npz",
        *(word for name in NAMES for word in ("--metric", name)),
        "--draws",
        0,
        "--json",
    ).data["values"]
    data = arrays(sets / "high.npz")
    rows, codes = data["features"], np.unique(data["labels"], return_inverse=True)[1]
    value = {name: found[name]["value"] for name in NAMES}
    assert value["logme"] == pytest.approx(
        np.mean([evidence(rows, (codes == k).astype(float)) for k in range(3)]), abs=1e-6
    )
    heads = data["source_probabilities"].argmax(axis=1)
    joint = {(z, y): np.mean((heads == z) & (codes == y)) for z in range(4) for y in range(3)}
    wanted = sum(p * np.log(p / np.mean(heads == z)) for (z, _), p in joint.items() if p)
    assert value["nce"] == pytest.approx(wanted, rel=1e-9)
    centred = rows - rows.mean(axis=0)
    wanted = rate(centred) - np.mean([rate(centred[codes == k]) for k in range(3)])
    assert value["transrate"] == pytest.approx(wanted, rel=1e-9)
    squares = np.linalg.eigvalsh(rows.T @ rows)
    assert value["rankme"] == pytest.approx(entropy_rank(np.sqrt(squares), 1e-7), rel=1e-6)
    squares = np.linalg.eigvalsh(centred.T @ centred)
    assert value["effective_rank"] == pytest.approx(entropy_rank(np.sqrt(squares)), rel=1e-6)
    assert all(found[name]["low"] is None for name in NAMES)


@pytest.mark.req("F-25", "F-26")
def test_layers_are_compared_along_the_model_with_cka_leep_and_otce(sets, tmp_path):
    words = ["low.npz", "high.npz", "--along", "layer", "--source", "source.npz", "--draws", 0]
    metrics = ["--metric", "leep", "--metric", "otce", "--metric", "silhouette", "--metric", "rankme"]
    ended = here("measure", "compare", *words, *metrics, "--report", tmp_path / "r.html", "--json", cwd=sets)
    first, second = (arrays(sets / f"{name}.npz")["features"] for name in ("low", "high"))
    left, right = (np.eye(42) - 1 / 42) @ first @ first.T, (np.eye(42) - 1 / 42) @ second @ second.T
    centre = np.eye(42) - 1 / 42
    left, right = centre @ first @ first.T @ centre, centre @ second @ second.T @ centre
    wanted = (left * right).sum() / np.sqrt((left**2).sum() * (right**2).sum())  # HSIC of linear kernels
    assert ended.data["cka"]["low/high"] == pytest.approx(wanted, rel=1e-9)
    values = ended.data["sets"]["low"]["values"]
    assert {"leep", "otce_wd", "otce_wt", "silhouette", "ferm1", "rankme"} <= set(values)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for title in (
        "Cosine measures along the layers",
        "Clustering measures along the layers",
        "Similarity of the sets (CKA)",
    ):
        assert title in page
    shifted = here(
        "measure",
        "shift",
        "low.npz",
        "high.npz",
        "--metric",
        "leep",
        "--metric",
        "otce",
        "--metric",
        "nce",
        "--draws",
        0,
        "--repeats",
        1,
        "--levels",
        2,
        "--json",
        cwd=sets,
    )
    assert set(shifted.data["measures"]) == {"leep", "otce_wd", "otce_wt", "nce"}
    refused = here("measure", "shift", "low.npz", "source.npz", "--metric", "nce", cwd=sets)
    assert (refused.code, "source_probabilities" in refused.stderr) == (2, True)


@pytest.mark.req("F-26")
def test_every_measure_can_be_followed_over_the_epochs_of_a_training(sets, tmp_path):
    curve = EpochCurve(names=("ferm1", "silhouette", "dunn", "rankme"))
    for epoch, name in enumerate(("low", "high")):
        data = arrays(sets / f"{name}.npz")
        curve.record_batches(epoch, [(data["features"][part::3], data["labels"][part::3]) for part in range(3)])
        found = here(
            "measure", "run", sets / f"{name}.npz", "--metric", "silhouette", "--metric", "dunn", "--draws", 0, "--json"
        ).data["values"]
        assert curve.column("silhouette")[epoch] == pytest.approx(found["silhouette"]["value"], rel=1e-4)
        assert curve.column("dunn")[epoch] == pytest.approx(found["dunn"]["value"], rel=1e-4)
    curve.save(tmp_path / "curve.json")
    assert np.isfinite(curve.column("rankme")).all()


@pytest.mark.req("F-14", "F-25")
def test_further_measures_are_taken_of_groups_too(sets, tmp_path):
    sides = np.array(["left", "right"])[np.arange(42) % 2]
    table = "\n".join(["row,side", *(f"{row},{side}" for row, side in enumerate(sides))])
    (tmp_path / "sides.csv").write_text(table + "\n", encoding="utf-8")
    metrics = ["--metric", "rankme", "--metric", "silhouette"]
    words = [sets / "high.npz", "--metadata", tmp_path / "sides.csv", *metrics, "--draws", 0, "--json"]
    found = here("measure", "run", *words).data["breakdowns"]["side"]
    rows = arrays(sets / "high.npz")["features"]
    for side in ("left", "right"):
        squares = np.linalg.eigvalsh(rows[sides == side].T @ rows[sides == side])
        assert found[side]["rankme"]["value"] == pytest.approx(entropy_rank(np.sqrt(squares), 1e-7), rel=1e-6)
        assert "silhouette" in found[side]
