"""`basanite measure run` by row, by group and by class, and its intervals: against peers and looks at every pair."""

import numpy as np
import pytest
from sklearn import metrics as peers
from tests.cli.running import here
from tests.doors.features import COSINE, EXACT, every_part, ferm1_of, measured
from tests.metrics.labelled_features import clouds, cosines, distances


@pytest.mark.req("F-13")
def test_the_worst_rows_are_listed_with_their_silhouette_and_their_cosines(tmp_path):
    features, codes = clouds(9, spread=0.2)
    codes[5] = (codes[5] + 1) % 5
    worst = measured(tmp_path, "--draws", "0", "--worst", "120", features=features, labels=codes)["worst"]
    each, cosine = peers.silhouette_samples(features, codes), cosines(features)
    assert sorted(row["row"] for row in worst) == list(range(120))
    assert worst[0]["row"] == each.argmin()
    assert [row["silhouette"] for row in worst] == sorted(row["silhouette"] for row in worst)
    for row in worst[:30]:
        at = row["row"]
        others = {code: cosine[at, codes == code].mean() for code in range(5) if code != codes[at]}
        own = (codes == codes[at]) & (np.arange(120) != at)
        assert row["silhouette"] == pytest.approx(each[at], rel=1e-8, abs=1e-9)
        assert row["own_cosine"] == pytest.approx(cosine[at, own].mean(), **EXACT)
        assert row["rival_cosine"] == pytest.approx(max(others.values()), **EXACT)
        assert (row["class"], row["rival"]) == (str(codes[at]), str(max(others, key=others.get)))


@pytest.fixture(scope="module")
def two_groups(tmp_path_factory):
    """Two groups of the same classes: in the second the rows scatter far more. And one class more in the first."""
    folder, rng = tmp_path_factory.mktemp("groups"), np.random.default_rng(8)
    centres = 3 * rng.random((5, 6))
    labels = np.concatenate([np.repeat(np.arange(5), 25), np.repeat(np.arange(4), 25)])
    spread = np.where(np.arange(225) < 125, 0.3, 1.5)[:, None]
    features = np.abs(centres[labels] + spread * rng.normal(size=(225, 6)))
    kinds = ["tight"] * 125 + ["loose"] * 100
    chance = np.where(rng.random(225) < 0.5, "a", "b")
    rows = "\n".join(f"{at},{kind},{half}" for at, (kind, half) in enumerate(zip(kinds, chance, strict=True)))
    (folder / "groups.csv").write_text(f"row,kind,half\n{rows}\n")
    shown = measured(folder, "--metadata", "groups.csv", "--draws", "150", features=features, labels=labels)
    return features, labels, np.array(kinds), shown


@pytest.mark.req("F-14")
def test_every_measure_is_given_for_each_group_with_an_interval(two_groups):
    features, labels, kinds, shown = two_groups
    for level in ("tight", "loose"):
        rows, got = kinds == level, shown["breakdowns"]["kind"][level]
        assert set(got) >= {*COSINE, "silhouette", "davies_bouldin", "calinski_harabasz", "dunn", "rs", "h_score"}
        assert got["ferm1"]["value"] == pytest.approx(ferm1_of(features[rows], labels[rows]), **EXACT)
        wanted = peers.silhouette_score(features[rows], labels[rows])
        assert got["silhouette"]["value"] == pytest.approx(wanted, **EXACT)
        assert got["ferm1"]["low"] < got["ferm1"]["value"] < got["ferm1"]["high"]
        assert got["ferm1"]["units"] == rows.sum()


@pytest.mark.req("F-14")
def test_groups_are_compared_in_pairs_on_the_classes_that_both_have(two_groups):
    features, labels, kinds, shown = two_groups
    by_name = {(one["factor"], one["metric"]): one for one in shown["differences"]}
    shared = labels < 4
    first, second = (
        ferm1_of(features[rows], labels[rows]) for rows in (shared & (kinds == "loose"), shared & (kinds == "tight"))
    )
    assert by_name["kind", "ferm1"]["difference"] == pytest.approx(first - second, **EXACT)
    for name in ("ferm1", "gap", "silhouette", "rs"):
        one = by_name["kind", name]
        assert (one["first"], one["second"], one["classes"]) == ("loose", "tight", 4)
        assert one["low"] < one["difference"] < one["high"] < 0
        assert one["verdict"] == "second"
    chance = by_name["half", "ferm1"]
    assert chance["low"] <= 0 <= chance["high"]
    assert chance["verdict"] not in ("first", "second")


@pytest.mark.req("F-18")
def test_what_is_accurate_but_badly_formed_is_flagged_by_class_and_group(tmp_path):
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(4), 40)
    centres = np.array([[4.0, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]])
    features = centres[codes] + 0.2 * rng.random((160, 3))
    labels = np.array(["twin", "other twin", "apart", "far"])[codes]
    predictions = labels.copy()
    predictions[40:44] = "far"  # 90 % right
    predictions[80:100] = "far"  # 50 % right
    groups = np.where(codes < 2, "twins", "rest")
    shown = measured(
        tmp_path, "--draws", "100", features=features, labels=labels, predictions=predictions, groups=groups
    )
    by_class = shown["breakdowns"]["class"]
    accuracy = {name: got["accuracy"]["value"] for name, got in by_class.items()}
    assert accuracy == {"twin": 1.0, "other twin": 0.9, "apart": 0.5, "far": 1.0}
    assert all(
        got["accuracy"]["low"] <= got["accuracy"]["value"] <= got["accuracy"]["high"] for got in by_class.values()
    )
    assert shown["values"]["accuracy"]["value"] == pytest.approx((predictions == labels).mean())
    flagged = {(one["factor"], one["level"]) for one in shown["accurate_but_badly_formed"]}
    assert flagged == {("class", "twin"), ("class", "other twin"), ("group", "twins")}
    text = here("measure", "run", "set.npz", "--draws", "0", cwd=tmp_path).stdout
    assert "accurate but badly formed" in text


# --- intervals ---


def silhouette_of(features, labels, weights):
    """The silhouette over all pairs of different rows, each row as heavy as it was drawn often."""
    own = labels[:, None] == np.unique(labels)
    counts, sums = weights @ own, distances(features) @ (own * weights[:, None])
    others = counts[own.argmax(axis=1)] - weights  # a row and its copies are no pair
    inside = sums[own] / np.maximum(others, 1)
    near = np.where(own | (counts == 0), np.inf, sums / np.maximum(counts, 1)).min(axis=1)
    return np.average(np.where(others > 0, (near - inside) / np.maximum(near, inside), 0), weights=weights)


def point_biserial_of(features, labels, weights):
    """The correlation of distance and different classes over all pairs of different rows."""
    upper = np.triu_indices(len(labels), 1)
    away, apart = distances(features)[upper], (labels[:, None] != labels)[upper].astype(float)
    heavy = np.outer(weights, weights)[upper]
    table = np.cov(np.stack([away, apart]), aweights=heavy)
    return table[0, 1] / np.sqrt(table[0, 0] * table[1, 1])


def bootstrap(measure, features, labels, draws, copies):
    """A measure in draws of rows inside each class, with pairs of copies left out or counted: its middle 95 %."""
    rng = np.random.default_rng(99)
    members = [np.flatnonzero(labels == name) for name in np.unique(labels)]
    found = []
    for _ in range(draws):
        rows = np.concatenate([rng.choice(own, len(own)) for own in members])
        weights = np.bincount(rows, minlength=len(labels)).astype(float)
        ones = np.ones(len(rows))
        found.append(measure(features[rows], labels[rows], ones) if copies else measure(features, labels, weights))
    return np.quantile(found, [0.025, 0.975])


@pytest.mark.req("F-20", "S-5")
@pytest.mark.parametrize(
    ("name", "measure"),
    [("ferm1", ferm1_of), ("silhouette", silhouette_of), ("point_biserial", point_biserial_of)],
)
def test_intervals_are_those_of_draws_without_pairs_of_copies(name, measure, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 4)
    features = 0.4 * rng.random((10, 5))[labels] + rng.gamma(0.5, size=(40, 5))
    shown = measured(tmp_path, "--metric", name, "--draws", "4000", features=features, labels=labels)["values"][name]
    without, naive = (bootstrap(measure, features, labels, 800, copies) for copies in (False, True))
    width = without[1] - without[0]
    assert np.abs(np.array([shown["low"], shown["high"]]) - without).max() < 0.15 * width
    assert naive[0] - shown["low"] > 0.5 * width  # copies of a row would count as similar pairs and move the draws up


@pytest.mark.req("F-20", "S-5")
def test_no_interval_excludes_its_estimate_and_dunn_and_otce_are_never_bootstrapped(tmp_path):
    whole = measured(tmp_path, "--draws", "200", **every_part())
    halves = "interval from half-samples without replacement"
    for name, value in whole["values"].items():
        assert value["low"] <= value["value"] <= value["high"], name
        assert (halves in value["flags"]) == (name in ("dunn", "otce_wd", "otce_wt")), name


@pytest.mark.req("F-20", "S-5")
def test_an_h_score_with_as_many_dimensions_as_rows_is_not_bootstrapped(tmp_path):
    rng = np.random.default_rng(2)
    labels = np.arange(24) % 3
    wide, narrow = (
        measured(tmp_path, "--metric", "h_score", "--draws", "60", features=rng.random((24, width)), labels=labels)
        for width in (23, 4)
    )
    halves = "interval from half-samples without replacement"
    assert halves in wide["values"]["h_score"]["flags"]
    assert halves not in narrow["values"]["h_score"]["flags"]
