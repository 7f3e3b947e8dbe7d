"""`basanite measure run` on files: every measure is what peers and plain definitions give, edge cases as ruled."""

import tracemalloc

import numpy as np
import ot
import polars as pl
import pytest
import zarr
from permetrics import ClusteringMetric
from scipy.stats import pearsonr
from sklearn import metrics as peers
from sklearn.covariance import ledoit_wolf
from tests.cli.running import here
from tests.doors.features import COSINE, EXACT, NAMES, every_part, measured, refused, values
from tests.metrics.labelled_features import clouds, cosines, distances, plain_ferm


@pytest.fixture(scope="module")
def arrays():
    return every_part()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("features")


@pytest.fixture(scope="module")
def whole(arrays, folder):
    return measured(folder, "--draws", "200", **arrays)


@pytest.fixture(scope="module")
def found(whole):
    return {name: value["value"] for name, value in whole["values"].items()}


def codes_of(arrays):
    return np.searchsorted(NAMES, arrays["labels"])


# --- cosine measures ---


@pytest.mark.req("F-1", "F-9")
def test_ferm_and_its_companions_are_their_definitions_by_pairs(arrays, found):
    wanted = plain_ferm(arrays["features"], codes_of(arrays))
    assert {name: found[name] for name in COSINE} == pytest.approx(wanted, **EXACT)


@pytest.mark.req("F-1")
def test_each_class_has_its_means_its_ratio_and_its_nearest_rival(arrays, whole):
    cosine, labels = cosines(arrays["features"]), arrays["labels"]
    for name, by_class in whole["breakdowns"]["class"].items():
        own = labels == name
        inside = cosine[np.ix_(own, own)][np.triu_indices(own.sum(), 1)].mean()
        outside = cosine[np.ix_(own, ~own)].mean()
        others = {other: cosine[np.ix_(own, labels == other)].mean() for other in set(labels) - {name}}
        assert by_class["intra"]["value"] == pytest.approx(inside, **EXACT)
        assert by_class["inter"]["value"] == pytest.approx(outside, **EXACT)
        assert by_class["ferm1"]["value"] == pytest.approx(inside / outside, **EXACT)
        assert by_class["ferm1"]["parts"]["rival_cosine"] == pytest.approx(max(others.values()), **EXACT)
        assert whole["rivals"][name] == max(others, key=others.get)


@pytest.mark.req("F-1")
def test_order_names_length_of_rows_and_rotation_change_no_ferm(arrays, found, tmp_path):
    rng = np.random.default_rng(2)
    order = rng.permutation(90)
    turned, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    scaled = arrays["features"] * 10 ** rng.uniform(-3, 3, (90, 1))
    labels = codes_of(arrays)[order] * 7 - 100
    other = values(tmp_path, "--metric", "gap", features=(scaled @ turned)[order], labels=labels)
    assert other["ferm1"] == pytest.approx(found["ferm1"], **EXACT)
    assert other["gap"] == pytest.approx(found["gap"], **EXACT)


@pytest.mark.req("F-1")
def test_pooled_pairs_are_a_named_reading_of_ferm2(arrays, tmp_path):
    cosine, labels = cosines(arrays["features"]), arrays["labels"]
    same, off = labels[:, None] == labels, ~np.eye(90, dtype=bool)
    pooled = values(
        tmp_path, "--metric", "ferm2", "--set", "weighting=pairs", features=arrays["features"], labels=labels
    )
    assert pooled["ferm2"] == pytest.approx(cosine[same & off].mean() / cosine[~same].mean(), **EXACT)


@pytest.mark.req("F-9")
def test_the_companions_are_labelled_as_ours_and_bounded_on_centred_features(arrays, tmp_path):
    features = arrays["features"] - arrays["features"].mean(axis=0)
    shown = measured(tmp_path, "--draws", "0", features=features, labels=arrays["labels"])
    wanted = plain_ferm(features, codes_of(arrays))
    for name in ("gap", "collapse"):
        assert "defined by Basanite" in shown["values"][name]["flags"]
        assert "negative_features" not in shown["values"][name]["flags"]
        assert shown["values"][name]["value"] == pytest.approx(wanted[name], **EXACT)
    assert -2 <= shown["values"]["gap"]["value"] <= 2
    assert "A measure of Basanite's own, not of the FERM paper." in shown["notes"]
    corners = values(tmp_path, features=np.repeat(np.eye(3), 4, axis=0), labels=np.repeat(np.arange(3), 4))
    assert (corners["collapse"], corners["gap"]) == (pytest.approx(0), pytest.approx(1))


# --- clustering measures ---


@pytest.mark.req("F-2")
def test_clustering_measures_are_those_of_peers(arrays, found):
    features, codes = arrays["features"], codes_of(arrays)
    peer = ClusteringMetric(X=features, y_pred=codes)
    assert found["silhouette"] == pytest.approx(peers.silhouette_score(features, codes), **EXACT)
    assert found["davies_bouldin"] == pytest.approx(peers.davies_bouldin_score(features, codes), **EXACT)
    assert found["calinski_harabasz"] == pytest.approx(peers.calinski_harabasz_score(features, codes), **EXACT)
    assert found["dunn"] == pytest.approx(peer.dunn_index(use_modified=False), **EXACT)
    assert found["rs"] == pytest.approx(peer.r_squared_index(), **EXACT)
    away, apart = pairs_of(features, codes)
    assert found["point_biserial"] == pytest.approx(pearsonr(away, apart).statistic, **EXACT)
    assert found["c_root_k"] == pytest.approx(np.sqrt(shares_of(features, codes)).mean() / np.sqrt(5), **EXACT)


def pairs_of(features, codes):
    upper = np.triu_indices(len(codes), 1)
    return distances(features)[upper], (codes[:, None] != codes)[upper]


def shares_of(features, codes):
    """BSS over TSS of every feature."""
    total = ((features - features.mean(axis=0)) ** 2).sum(axis=0)
    means = np.array([features[codes == code].mean(axis=0) for code in np.unique(codes)])[codes]
    return ((means - features.mean(axis=0)) ** 2).sum(axis=0) / total


def rivals_of(features, codes):
    """What the other readings of each measure give, by the settings that ask for them."""
    centres = np.array([features[codes == code].mean(axis=0) for code in range(5)])
    nearest = distances(centres)[np.triu_indices(5, 1)].min()
    radii = np.linalg.norm(features - centres[codes], axis=1)
    diameter = distances(features)[codes[:, None] == codes].max()
    away, apart = pairs_of(features, codes)
    correlation, share = pearsonr(away, apart).statistic, apart.mean()
    sizes = np.array([np.sqrt((radii[codes == code] ** 2).mean()) for code in range(5)])
    between = distances(centres) + np.where(np.eye(5), np.inf, 0)
    each = peers.silhouette_samples(features, codes)
    return {
        ("silhouette", "average=macro"): np.mean([each[codes == code].mean() for code in range(5)]),
        ("davies_bouldin", "q=2"): ((sizes[:, None] + sizes) / between).max(axis=1).mean(),
        ("dunn", "dunn=centroids"): nearest / radii.max(),
        ("dunn", "dunn=centroid_diameter"): nearest / diameter,
        ("dunn", "dunn=point_centroid"): ClusteringMetric(X=features, y_pred=codes).dunn_index(),
        ("point_biserial", "point_biserial=nbclust"): correlation * np.sqrt((len(away) - 1) / len(away)),
        ("point_biserial", "point_biserial=clustercrit"): (away[~apart].mean() - away[apart].mean())
        * np.sqrt(share * (1 - share)),
        ("c_root_k", "c_root_k=root_of_mean"): np.sqrt(shares_of(features, codes).mean() / 5),
    }


@pytest.mark.req("F-2")
def test_other_readings_of_a_measure_are_settings_and_the_signature_names_them(arrays, tmp_path):
    features, codes = arrays["features"], codes_of(arrays)
    for (name, setting), wanted in rivals_of(features, codes).items():
        words = ("--metric", name, "--set", setting, "--draws", "0")
        shown = measured(tmp_path, *words, features=features, labels=codes)
        assert shown["values"][name]["value"] == pytest.approx(wanted, **EXACT), setting
        assert setting.replace("=", ":") in shown["signature"]


@pytest.mark.req("F-2", "F-4")
def test_coincident_centroids_and_constant_features_are_settled_by_name(tmp_path):
    cross = {"features": np.array([[-1.0, 0], [1, 0], [0, -2], [0, 2], [9, 9], [9, 10]]), "labels": [0, 0, 1, 1, 2, 2]}
    shown = measured(tmp_path, "--metric", "davies_bouldin", "--draws", "0", **cross)["values"]["davies_bouldin"]
    assert "coincident_centroids" in shown["flags"]
    assert "infinite" in shown["flags"]
    dropped = values(tmp_path, "--metric", "davies_bouldin", "--set", "coincident=drop", **cross)["davies_bouldin"]
    assert dropped == pytest.approx(peers.davies_bouldin_score(cross["features"], cross["labels"]), **EXACT)
    features, labels = clouds(5)
    wide = {"features": np.hstack([features, np.full((len(labels), 3), 7.0)]), "labels": labels}
    plain, zero, nothing = (
        measured(tmp_path, "--metric", "c_root_k", "--set", f"constants={kind}", "--draws", "0", **wide)["values"]
        for kind in ("omit", "zero", "nan")
    )
    wanted = np.sqrt(shares_of(features, labels)).mean() / np.sqrt(5)
    assert plain["c_root_k"]["value"] == pytest.approx(wanted, **EXACT)
    assert plain["c_root_k"]["parts"]["constant_features"] == 3
    assert zero["c_root_k"]["value"] == pytest.approx(wanted * 6 / 9, **EXACT)
    assert nothing["c_root_k"]["value"] is None


# --- transfer measures ---


@pytest.mark.req("F-3")
def test_leep_and_h_score_are_their_definitions(arrays, whole, tmp_path):
    theta, codes, features = arrays["source_probabilities"], codes_of(arrays), arrays["features"]
    joint = np.array([theta[codes == code].sum(axis=0) for code in range(5)]) / 90
    chance = (joint / joint.sum(axis=0))[codes]
    leep, h_score = whole["values"]["leep"], whole["values"]["h_score"]
    assert leep["value"] == pytest.approx(np.log((chance * theta).sum(axis=1)).mean(), **EXACT)
    shares = np.bincount(codes) / 90
    assert leep["parts"]["above_constant"] == pytest.approx(leep["value"] - (shares * np.log(shares)).sum(), rel=1e-8)
    means = np.array([features[codes == code].mean(axis=0) for code in range(5)])[codes]
    trace = np.trace(np.linalg.pinv(np.cov(features.T)) @ np.cov(means.T))
    assert h_score["value"] == pytest.approx(trace, rel=1e-8)
    assert h_score["parts"]["per_class"] == pytest.approx(trace / 4, rel=1e-8)
    covariance, share = ledoit_wolf(features)
    shrunk = values(tmp_path, "--metric", "h_score", "--set", "shrunk=yes", features=features, labels=codes)["h_score"]
    wanted = (1 - share) * np.trace(np.linalg.inv(covariance) @ np.cov(means.T, bias=True))
    assert shrunk == pytest.approx(wanted, rel=1e-8)


def transport_of(arrays, plan, cost):
    """W_D and W_T under a plan."""
    table = np.zeros((5, 5))
    for row, code in enumerate(arrays["source_labels"]):
        np.add.at(table[code], codes_of(arrays), plan[row])
    margin = table.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (plan * cost).sum(), -np.where(table > 0, table * np.log(table / margin), 0).sum()


@pytest.mark.req("F-3")
def test_otce_gives_its_parts_and_the_score_of_the_weights_given(arrays, whole, tmp_path):
    cost = ot.dist(arrays["source_features"], arrays["features"])
    distance, uncertainty = transport_of(arrays, ot.emd(ot.unif(40), ot.unif(90), cost), cost)
    assert whole["values"]["otce_wd"]["value"] == pytest.approx(distance, rel=1e-8)
    assert whole["values"]["otce_wt"]["value"] == pytest.approx(uncertainty, rel=1e-6)
    assert whole["values"]["otce_wt"]["parts"]["minus_wt"] == -whole["values"]["otce_wt"]["value"]
    assert "otce" not in whole["values"]["otce_wt"]["parts"]
    words = ("--metric", "otce_wd", "--metric", "otce_wt", "--draws", "0")
    weighed = measured(tmp_path, *words, "--set", "otce_weights=2,-3,0.5", **arrays)["values"]["otce_wt"]["parts"]
    assert weighed["otce"] == pytest.approx(2 * distance - 3 * uncertainty + 0.5, rel=1e-6)
    entropic = values(tmp_path, *words[:4], "--set", "plan=entropic", **arrays)
    plan = ot.sinkhorn(
        ot.unif(40), ot.unif(90), cost, 0.1 * cost.mean(), method="sinkhorn_log", stopThr=1e-12, numItermax=9999
    )
    distance, uncertainty = transport_of(arrays, plan, cost)
    assert entropic["otce_wd"] == pytest.approx(distance, rel=1e-6)
    assert entropic["otce_wt"] == pytest.approx(uncertainty, rel=1e-5)


@pytest.mark.req("F-3", "F-4")
def test_otce_draws_rows_by_seed_and_says_how_many(arrays, tmp_path):
    words = ("--metric", "otce_wd", "--set", "otce_rows=30", "--draws", "0")
    first, again, other = (measured(tmp_path, *words, "--seed", seed, **arrays)["values"]["otce_wd"] for seed in "112")
    assert first == again
    assert first["value"] != other["value"]
    assert "subsampled" in first["flags"]
    assert first["parts"] == {"source_rows": 30, "target_rows": 30}


# --- edge cases ---


def one(folder, features, labels, *words):
    shown = measured(folder, "--draws", "0", *words, features=np.array(features, float), labels=np.array(labels))
    return shown["values"], " ".join(shown["notes"])


@pytest.mark.req("F-4")
def test_zero_rows_and_single_rows_are_counted_and_flagged(tmp_path):
    features, labels = clouds(4, rows=60)
    features[[3, 10]] = 0
    shown, notes = one(tmp_path, features, labels)
    assert shown["ferm1"]["value"] == pytest.approx(plain_ferm(features, labels)["ferm1"], **EXACT)
    assert "zero_rows" in shown["ferm1"]["flags"]
    assert "all zero" in notes
    labels[7] = 9
    omitted, zero = (
        one(tmp_path, features, labels, "--set", f"singletons={how}")[0]["ferm1"] for how in ("omit", "zero")
    )
    assert "singletons" in omitted["flags"]
    assert omitted["value"] == pytest.approx(plain_ferm(features, labels)["ferm1"], **EXACT)
    assert zero["value"] == pytest.approx(plain_ferm(features, labels, zero=True)["ferm1"], **EXACT)
    codes = np.unique(labels, return_inverse=True)[1]
    silhouette = one(tmp_path, features, labels)[0]["silhouette"]["value"]
    assert silhouette == pytest.approx(peers.silhouette_score(features, codes), **EXACT)


@pytest.mark.req("F-4")
def test_a_class_without_direction_voids_ferm1_by_name_and_leaves_ferm4(tmp_path):
    features = [[1, 0], [-1, 0], [0, 1], [0.1, 1], [1, 1], [1, 1.2]]
    shown, _ = one(tmp_path, features, ["lost", "lost", "a", "a", "b", "b"])
    assert shown["ferm1"]["value"] is None
    assert {"inter_zero", "no_direction"} <= set(shown["ferm1"]["flags"])
    assert any("'lost'" in flag for flag in shown["ferm1"]["flags"])
    assert shown["ferm1"]["parts"]["median_ratio"] is not None
    wanted = plain_ferm(np.array(features, float), np.array([0, 0, 1, 1, 2, 2]))["ferm4"]
    assert shown["ferm4"]["value"] == pytest.approx(wanted, **EXACT)


@pytest.mark.req("F-4")
def test_denominators_of_zero_near_zero_and_below_are_flagged_with_their_parts(tmp_path):
    apart, _ = one(tmp_path, np.repeat(np.eye(2), 2, axis=0), [0, 0, 1, 1])
    assert (apart["ferm2"]["value"], "inter_zero" in apart["ferm2"]["flags"]) == (None, True)
    nearly = one(tmp_path, [[1, 0.001], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 1])[0]["ferm2"]
    assert "unstable" in nearly["flags"]
    assert 0 < nearly["parts"]["inter"] < 0.01
    assert nearly["value"] == pytest.approx(nearly["parts"]["intra"] / nearly["parts"]["inter"])
    below = one(tmp_path, [[1, 0.1], [1, 0], [-1, 0.1], [-1, 0.2]], [0, 0, 1, 1])[0]["ferm2"]
    assert "negative_inter" in below["flags"]
    assert below["value"] < 0


@pytest.mark.req("F-4")
def test_collapsed_and_constant_data_are_infinite_or_undefined_and_never_zero(tmp_path):
    collapsed, _ = one(tmp_path, np.repeat([[0.1, 0.7], [1.3, 0.2], [5.1, 5.7]], 4, axis=0), np.repeat(range(3), 4))
    for name in ("calinski_harabasz", "dunn"):
        assert "infinite" in collapsed[name]["flags"], name
    assert collapsed["rs"]["value"] == pytest.approx(1)
    same, _ = one(tmp_path, np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    for name in ("calinski_harabasz", "rs", "c_root_k", "dunn", "point_biserial"):
        assert (same[name]["value"], "undefined" in same[name]["flags"]) == (None, True), name
    alone, _ = one(tmp_path, np.eye(3) + 0.1, ["a", "b", "c"])
    assert {alone[name]["value"] for name in ("ferm1", "ferm2", "ferm3", "ferm4", "silhouette")} == {None}


@pytest.mark.req("F-4", "F-11")
def test_what_cannot_be_measured_is_refused_with_its_rows(tmp_path):
    features, labels = clouds(6)
    assert "two classes" in refused(tmp_path, features=features, labels=np.zeros(len(labels)))
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = features.copy()
        spoiled[[17, 90], 2] = bad
        text = refused(tmp_path, features=spoiled, labels=labels)
        assert "17" in text
        assert "90" in text
    theta = np.full((len(labels), 2), 0.7)
    assert "sum to 1" in refused(tmp_path, features=features, labels=labels, source_probabilities=theta)


# --- warnings ---


@pytest.mark.req("F-10")
def test_negative_features_and_too_few_rows_are_warned_of(arrays, whole, tmp_path):
    assert "negative_features" not in whole["values"]["ferm1"]["flags"]
    assert "rows_at_most_dimensions" not in whole["values"]["h_score"]["flags"]
    shown, notes = one(tmp_path, arrays["features"] - 1, arrays["labels"])
    assert "negative_features" in shown["ferm1"]["flags"]
    assert "Do not center" in notes.replace("centre", "center")
    wide = np.random.default_rng(0).normal(size=(30, 60))
    shown, notes = one(tmp_path, wide, np.arange(30) % 6)
    assert "rows_at_most_dimensions" in shown["h_score"]["flags"]
    assert shown["h_score"]["value"] == pytest.approx(5)
    assert "no more rows than dimensions" in notes


# --- files ---


@pytest.mark.req("F-11")
def test_every_format_gives_the_same_values(tmp_path):
    features, codes = clouds(7, rows=40)
    labels = NAMES[codes]
    columns = {f"f{at}": features[:, at] for at in range(6)}
    np.savez_compressed(tmp_path / "packed.npz", features=features, labels=labels)
    np.save(tmp_path / "plain.npy", np.asfortranarray(features))
    np.save(tmp_path / "labels.npy", labels)
    pl.DataFrame({"features": features.tolist(), "label": labels.tolist()}).write_parquet(tmp_path / "list.parquet")
    pl.DataFrame({**columns, "labels": labels.tolist()}).write_parquet(tmp_path / "wide.parquet")
    group = zarr.open_group(str(tmp_path / "group.zarr"), mode="w")
    group.create_array("features", data=features, chunks=(7, 4))
    group.create_array("labels", data=codes)
    wanted = values(tmp_path, features=features, labels=labels)
    for file in ("packed.npz", "list.parquet", "wide.parquet", "group.zarr"):
        assert values(tmp_path, file) == wanted, file
    assert values(tmp_path, "plain.npy", "--labels", "labels.npy") == wanted


@pytest.mark.req("F-11")
def test_objects_random_bytes_and_truncated_archives_are_refused_in_words(tmp_path):
    features, labels = clouds(7, rows=40)
    np.savez(tmp_path / "whole.npz", features=features, labels=labels)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:-200])
    (tmp_path / "noise.npz").write_bytes(np.random.default_rng(0).bytes(500))
    np.savez(tmp_path / "objects.npz", features=np.array([[Evil()]] * 4, dtype=object), labels=[0, 0, 1, 1])
    for file in ("cut.npz", "noise.npz", "objects.npz", "nothing.npz"):
        ended = here("measure", "run", file, cwd=tmp_path)
        assert (ended.code in (1, 2), file.split(".")[0] in ended.stderr) == (True, True), ended.stderr
        assert "Traceback" not in ended.stderr
    assert not Evil.woken


class Evil:
    """An object that would notice if it were unpickled."""

    woken = False

    def __setstate__(self, state):
        type(self).woken = True

    def __getstate__(self):
        return {"x": 1}


# --- one pass, one sweep ---


@pytest.mark.req("F-1", "F-5")
def test_memory_grows_neither_with_the_square_of_the_rows_nor_with_copies_of_them(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(6000) % 5
    np.savez(tmp_path / "set.npz", features=rng.random((6000, 3)) + labels[:, None], labels=labels)
    words = ("set.npz", "--metric", "silhouette", "--metric", "dunn", "--metric", "point_biserial", "--draws", "0")
    tracemalloc.start()
    shown = measured(tmp_path, *words)["values"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 4 / 4  # a quarter of the matrix of distances in the narrowest type
    some = np.load(tmp_path / "set.npz")
    assert shown["silhouette"]["value"] == pytest.approx(peers.silhouette_score(some["features"], labels), rel=1e-8)


@pytest.mark.req("F-6")
def test_narrow_tiles_and_pytorch_agree_within_the_stated_bounds_and_dunn_exactly(tmp_path):
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 4
    features = 100 * rng.random((4, 30))[labels] + rng.random((400, 30))
    features[1] = features[0] + 1e-6 * rng.random(30)  # the least distance is lost in a product of float32
    np.savez(tmp_path / "set.npz", features=features, labels=labels)
    away, same = distances(features), labels[:, None] == labels
    wanted = values(tmp_path, "set.npz")
    assert wanted["dunn"] == pytest.approx(away[~same].min() / away[same].max(), **EXACT)
    torch64 = values(tmp_path, "set.npz", "--backend", "torch")
    assert torch64 == pytest.approx(wanted, rel=1e-9, abs=1e-10)
    narrow = values(tmp_path, "set.npz", "--set", "precision=float32")
    assert narrow == pytest.approx(wanted, rel=1e-5)
    assert narrow["dunn"] == wanted["dunn"]
