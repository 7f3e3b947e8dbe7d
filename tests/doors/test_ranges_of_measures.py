"""Intervals of representation measures and of gains lie in the range of the measure, whatever the data are."""

import re

import numpy as np
import pytest
from tests.cli.running import here
from tests.doors.features import measured
from tests.harness.analysis.folders import folder

from basanite.harness.results import write_predictions, write_truth
from basanite.representation.catalogue import RANGES, measure_metric
from basanite.representation.measures.all_measures import NAMES
from basanite.work.agreement import RANGES as AGREEMENT_RANGES

CLASSES = 4
SIGHT = {(6, "a"): 0.1, (6, "b"): 9.0}
"""One system sees hardly anything, another nearly everything."""
EVERY = [word for name in NAMES for word in ("--metric", name)]
"""Asks for every measure by name: some are only then given."""
KINDS = ("noise", "perfect", "nearly perfect", "constant", "negative")


def arrays(kind, rows=48):
    """Features of each kind, with every part that a measure may need."""
    rng = np.random.default_rng(KINDS.index(kind))
    labels = np.arange(rows) % CLASSES
    centres = np.eye(CLASSES, 6) + 0.1
    features = {
        "noise": rng.random((rows, 6)),
        "perfect": centres[labels],
        "nearly perfect": centres[labels] + 1e-3 * rng.random((rows, 6)),
        "constant": np.ones((rows, 6)),
        "negative": rng.normal(size=(rows, 6)),
    }[kind]
    right = {"perfect": labels, "constant": np.zeros(rows, int)}.get(kind, rng.integers(0, CLASSES, rows))
    return {
        "features": features,
        "labels": labels,
        "predictions": right,
        "source_probabilities": np.eye(CLASSES)[labels] if "perfect" in kind else rng.dirichlet(np.ones(3), rows),
        "source_features": features[::2],
        "source_labels": labels[::2],
    }


def outside(name, entry, ends):
    numbers = [entry[key] for key in ("low", "value", "high") if entry.get(key) is not None]
    return [(name, number, ends) for number in numbers if not ends[0] <= number <= ends[1]]


def ends_of(name, **settings):
    return measure_metric(name, classes=CLASSES, **settings).ends


@pytest.fixture(scope="module", params=KINDS)
def shown(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("measures")
    groups = "\n".join(f"{at},{'ab'[at // 4 % 2]}" for at in range(48))
    (place / "groups.csv").write_text(f"row,half\n{groups}\n")
    return measured(place, "--metadata", "groups.csv", *EVERY, "--draws", "100", **arrays(request.param))


@pytest.mark.req("S-26", "F-27")
def test_values_and_intervals_of_every_measure_stay_in_range(shown):
    found = [each for name, value in shown["values"].items() for each in outside(name, value, ends_of(name))]
    for levels in shown["breakdowns"].values():
        for values in levels.values():
            found += [each for name, value in values.items() for each in outside(name, value, ends_of(name))]
    assert found == []


@pytest.mark.req("S-26", "F-27")
def test_differences_of_groups_stay_in_the_range_of_differences(shown):
    assert shown["differences"]
    for one in shown["differences"]:
        low, high = ends_of(one["metric"])
        assert outside(one["metric"], {**one, "value": one["difference"]}, (low - high, high - low)) == []


@pytest.mark.req("S-26")
def test_no_measure_is_without_a_range(tmp_path):
    shown = measured(tmp_path, *EVERY, "--draws", "20", **arrays("noise"))
    names = {*shown["values"], *(name for level in shown["breakdowns"]["class"].values() for name in level)}
    assert names == RANGES.keys() - {"rival_cosine"}  # which is a part of a class's ferm1


@pytest.mark.req("S-26")
def test_noise_has_no_interval_below_zero_for_what_cannot_be_negative(tmp_path):
    rng = np.random.default_rng(0)
    words = (word for name in ("rs", "calinski_harabasz", "h_score") for word in ("--metric", name))
    given = {"features": rng.random((30, 4)), "labels": np.arange(30) % 3}
    values = measured(tmp_path, *words, "--draws", "200", **given)["values"]
    assert {name: values[name]["low"] for name in ("rs", "calinski_harabasz", "h_score")} == pytest.approx(
        {"rs": 0.0, "calinski_harabasz": 0.0, "h_score": 0.0}
    )


@pytest.mark.req("S-26")
def test_gains_of_few_folds_stay_between_what_two_ratings_can_differ(tmp_path):
    folder(tmp_path / "result", metric="mrmse", rows=24, folds=2, signal=SIGHT)
    made = judged(tmp_path / "result")
    for one in made:
        assert -4 <= one["low"] <= one["gain"] <= one["high"] <= 4
    assert max(one["high"] - one["low"] for one in made) > 0.8 * 4  # so wide that it would leave the range


@pytest.mark.req("S-26")
def test_gains_of_the_fewest_folds_of_map_stay_between_what_two_precisions_can_differ(tmp_path):
    """Of two items to find, every run but one finds none, and that one finds them in some folds only."""
    path, rng = tmp_path / "result", np.random.default_rng(0)
    folder(path, metric="map11", rows=50, folds=5, targets=("run",))
    truth = np.repeat([1.0, 0.0], [2, 48])
    write_truth(path, "video", "run", truth)
    for run in sorted(one.name for one in (path / "predictions" / "video").iterdir()):
        scores = (2 if run == "6b" else -9) * truth + rng.normal(size=(5, 50))
        write_predictions(path, "video", run, "run", scores)
    made = judged(path)
    for one in made:
        assert -1 <= one["low"] <= one["gain"] <= one["high"] <= 1
    assert max(2 * one["gain"] - one["low"] for one in made) > 1  # so wide that it would leave the range


@pytest.mark.req("S-26", "H-45")
def test_gains_of_too_few_folds_of_map_have_no_interval(tmp_path):
    folder(tmp_path / "result", metric="map11", rows=24, folds=2, signal=SIGHT)
    for one in judged(tmp_path / "result"):
        assert -1 <= one["gain"] <= 1
        assert (one["low"], one["high"], one["finding"]) == (None, None, "no reliable interval")


def judged(path):
    """The verdicts on the results in a folder."""
    ended = here("harness", "analyse", path, "--draws", "100", "--json")
    assert ended.code == 0, ended.stderr
    verdicts = ended.data["tasks"]["video"]["verdicts"]
    assert verdicts
    return verdicts


JUDGES = {
    "noise": lambda rng: rng.integers(1, 6, (24, 3)),
    "perfect": lambda rng: np.repeat(rng.integers(1, 6, (24, 1)), 3, axis=1),
    "constant": lambda rng: np.full((24, 3), 3),
    "opposite": lambda rng: np.array([[1, 5, 3], [5, 1, 3]] * 12),
}


@pytest.mark.req("S-26")
@pytest.mark.parametrize("kind", JUDGES)
def test_figures_of_agreement_stay_in_range(kind, tmp_path):
    table = JUDGES[kind](np.random.default_rng(1))
    lines = [f"p{item},j{judge},{table[item, judge]}" for item, judge in np.ndindex(table.shape)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,judge,rating", *lines]) + "\n")
    ended = here("judge", "agreement", "votes.csv", "--draws", "200", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    group = ended.data["groups"][""]
    ends = {
        re.sub(r"\W+", "_", name.replace("'", "").lower()).strip("_"): pair for name, pair in AGREEMENT_RANGES.items()
    }
    assert group["figures"].keys() == ends.keys()
    assert [each for name, one in group["figures"].items() for each in outside(name, one, ends[name])] == []
    assert all(outside("kappa", one, (-1, 1)) == [] for one in group["pairs"])
