"""The harness's own modules, from a plan to predictions and exported sets, against scikit-learn and plain loops."""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, LinearSVC
from tests.cli.running import here
from tests.doors.harness_results import HEAD, average_precision, rmse, run_plan
from tests.harness.plans import review_rows, write_csv

ROWS = review_rows(160, seed=4)
TEXTS = [row["text"] for row in ROWS]
FOOD = np.array([float(row["food"]) for row in ROWS])
REVIEWS = """
[tasks.reviews]
data = { reader = "reviews", path = "reviews.csv" }
targets = ["food"]
metric = "mrmse"
n = 60
folds = 2
"""
DIGITS = """
[tasks.digits]
data = "digits"
targets = ["8"]
metric = "map11"
n = 80
folds = 2
validation_cap = 100
features = "pixels"
"""


def team(letter, task, preprocessor, linear):
    """A team with a linear classifier, given as TOML."""
    return f"""
[[teams]]
letter = "{letter}"
name = "Team {letter}"
[teams.systems.{task}]
preprocessor = {preprocessor}
linear = {linear}
"""


def bag_of_words(texts, size):
    """The words chosen from the texts that may be seen, and how to count them, one word after the other."""
    totals = Counter(word for text in texts for word in re.findall(r"\b\w\w+\b", text.lower()))
    chosen = sorted(totals, key=lambda word: (-totals[word], word))[:size]

    def counted(some):
        cut = [re.findall(r"\b\w\w+\b", text.lower()) for text in some]
        return np.array([[float(words.count(word)) for word in chosen] for words in cut])

    return counted


RATERS = {
    "a": ('"svr-linear"', lambda cost: SVR(kernel="linear", C=cost)),
    "b": ('"logistic"', lambda cost: LogisticRegression(C=cost, tol=1e-8, max_iter=5000)),
    "c": (
        '{ module = "logistic", parameters = { output = "argmax" } }',
        lambda cost: LogisticRegression(C=cost, tol=1e-8, max_iter=5000),
    ),
    "d": (
        '{ module = "logistic", parameters = { solver = "liblinear" } }',
        lambda cost: OneVsRestClassifier(LogisticRegression(C=cost, tol=1e-8, max_iter=5000, solver="liblinear")),
    ),
}


def rated(model, letter, rows):
    """The rating that a fitted model gives: its prediction, its likeliest value, or the expected one."""
    if letter in ("a", "c"):
        return model.predict(rows)
    return model.predict_proba(rows) @ model.classes_


@pytest.fixture(scope="module")
def raters(tmp_path_factory):
    """Four teams that rate reviews by linear classifiers on a bag of words."""
    folder = tmp_path_factory.mktemp("raters")
    write_csv(folder / "reviews.csv", ROWS)
    words = '{ module = "bow", parameters = { size = 12 } }'
    teams = "".join(team(letter, "reviews", words, linear) for letter, (linear, _) in RATERS.items())
    return run_plan(folder, HEAD + REVIEWS + teams, "--only", "4a,4b,4c,4d")


@pytest.mark.req("H-9", "A18")
@pytest.mark.parametrize("letter", sorted(RATERS))
def test_ratings_of_linear_classifiers_are_scikit_learns(raters, letter):
    features = bag_of_words([TEXTS[row] for row in raters.seen("reviews", "food")], 12)(TEXTS)
    test = raters.split("reviews", "food")["test"]
    scores = raters.predictions("reviews", f"4{letter}", "food")
    for fold, rows in enumerate(raters.folds("reviews", "food")):
        point = raters.chosen(f"4{letter}", "food")[fold]
        model = RATERS[letter][1](point["C"]).fit(features[rows], FOOD[rows])
        np.testing.assert_allclose(scores[fold], rated(model, letter, features[test]), rtol=0, atol=1e-3)
        assert raters.values(f"4{letter}", "food")[fold] == pytest.approx(rmse(FOOD[test], scores[fold]))


@pytest.mark.req("A18")
def test_a_posterior_becomes_its_expected_value_and_on_request_its_likeliest(raters):
    expected, likeliest = (raters.predictions("reviews", run, "food") for run in ("4b", "4c"))
    assert set(likeliest.ravel()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert len(set(expected.ravel()) - {1.0, 2.0, 3.0, 4.0, 5.0}) > 5


@pytest.mark.req("H-7", "A25")
def test_exported_counts_are_those_of_the_most_frequent_words_of_rows_that_may_be_seen(raters, tmp_path):
    plan = raters.path.parent / "plan.toml"
    assert here("harness", "export", plan, "--out", tmp_path / "sets", "--team", "a").code == 0
    assert {path.name for path in (tmp_path / "sets").iterdir()} == {"a", "export.json"}  # nothing tells what is what
    assert [path.name for path in tmp_path.iterdir()] == ["sets"]
    place = tmp_path / "sets" / "a" / "reviews" / "food"
    counted = bag_of_words([TEXTS[row] for row in raters.seen("reviews", "food")], 12)
    for name, rows in raters.split("reviews", "food").items():
        found = scipy.sparse.load_npz(place / "features" / f"{name}.npz").toarray()
        wanted = counted([TEXTS[row] for row in rows])
        if name == "test":  # in an order that tells nothing
            found, wanted = (np.array(sorted(map(tuple, table))) for table in (found, wanted))
        assert np.array_equal(found, wanted)
        if name != "test":
            assert np.array_equal(np.load(place / "labels" / "food" / f"{name}.npy"), FOOD[rows])


MARKERS = {
    "a": ('"linear-svm"', lambda cost: LinearSVC(C=cost, tol=1e-6, dual=False, max_iter=10_000)),
    "b": ('"svc-linear"', lambda cost: SVC(kernel="linear", C=cost)),
    "c": ('"logistic-labels"', lambda cost: LogisticRegression(C=cost, tol=1e-8, max_iter=5000)),
    "d": (
        '{ module = "logistic-labels", parameters = { solver = "liblinear" } }',
        lambda cost: LogisticRegression(C=cost, tol=1e-8, max_iter=5000, solver="liblinear"),
    ),
}


def pixels():
    rows, labels = load_digits(return_X_y=True)
    return rows, (labels == 8).astype(float)


@pytest.fixture(scope="module")
def markers(tmp_path_factory):
    """Four teams and a support vector machine that tell eights."""
    folder = tmp_path_factory.mktemp("markers")
    teams = "".join(team(letter, "digits", '"pixels"', linear) for letter, (linear, _) in MARKERS.items())
    return run_plan(folder, HEAD + DIGITS + 'strong = "svm"\n' + teams, "--only", "1,4a,4b,4c,4d")


@pytest.mark.req("H-9", "A14", "A15")
@pytest.mark.parametrize("letter", sorted(MARKERS))
def test_labels_get_the_raw_decision_value_of_scikit_learns_linear_machines(markers, letter):
    rows, label = pixels()
    rows = rows / rows[markers.seen("digits")].max()
    test, scores = markers.split("digits")["test"], markers.predictions("digits", f"4{letter}", "8")
    for fold, part in enumerate(markers.folds("digits")):
        point = markers.chosen(f"4{letter}", "8")[fold]
        assert set(point) == {"C"}  # no kernel is chosen: it is linear
        wanted = MARKERS[letter][1](point["C"]).fit(rows[part], label[part]).decision_function(rows[test])
        np.testing.assert_allclose(scores[fold], wanted, rtol=0, atol=2e-3 * np.abs(wanted).max())
    assert scores.max() > 1 or scores.min() < 0  # no probability


def chi2_machine(cost, train, label, **more):
    """exp(-S/A) with A the mean distance in the fold."""
    table = -np.log(chi2_kernel(train, train, gamma=1))
    return SVC(kernel=lambda a, b: chi2_kernel(a, b, gamma=1 / table.mean()), C=cost, **more).fit(train, label)


@pytest.mark.req("H-8", "A13", "A23")
def test_kernel_and_c_of_the_strong_machine_are_chosen_from_the_plans_grid(markers):
    rows, label = pixels()
    rows = rows / rows[markers.seen("digits")].max()
    test, scores = markers.split("digits")["test"], markers.predictions("digits", "1", "8")
    for fold, part in enumerate(markers.folds("digits")):
        rest, best = np.setdiff1d(markers.seen("digits"), part), None
        for cost in (0.01, 0.1, 1.0, 10.0, 100.0):
            for kernel in ("linear", "chi2"):
                linear = kernel == "linear"
                made = SVC(kernel="linear", C=cost).fit(rows[part], label[part]) if linear else None
                model = made or chi2_machine(cost, rows[part], label[part])
                value = average_precision(label[rest], model.decision_function(rows[rest]).round(5))
                if best is None or value > best[0] + 1e-9:
                    best = (value, {"C": cost, "kernel": kernel}, model.decision_function(rows[test]))
        assert markers.chosen("1", "8")[fold] == best[1]
        np.testing.assert_allclose(scores[fold], best[2], rtol=0, atol=1e-3)


@pytest.mark.req("A13")
def test_the_setting_of_2009_is_a_preset_with_one_weighted_machine(tmp_path):
    text = HEAD + DIGITS + 'strong = { module = "svm", parameters = { preset = "wang2009" } }\n'
    result = run_plan(tmp_path, text)
    rows, label = pixels()
    rows, test = rows / rows[result.seen("digits")].max(), result.split("digits")["test"]
    assert result.chosen("1", "8") == [{"C": 100.0, "kernel": "chi2"}] * 2
    for fold, part in enumerate(result.folds("digits")):
        weight = {value: len(part) / (2 * (label[part] == value).sum()) for value in (0.0, 1.0)}
        wanted = chi2_machine(100.0, rows[part], label[part], class_weight=weight).decision_function(rows[test])
        np.testing.assert_allclose(result.predictions("digits", "1", "8")[fold], wanted, rtol=0, atol=1e-3)


def named_seed(*names):
    """The seed of a stream of the plan whose seed is 7."""
    digest = hmac.digest(b"typed:7", json.dumps(list(names)).encode(), "sha256")
    return int.from_bytes(digest, "big") & 0x7FFF_FFFF


def with_topics(module, **parameters):
    told = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    words = 'features = { module = "bow", parameters = { size = 40 } }\n'
    return HEAD + REVIEWS + words + f'strong = {{ module = "{module}", parameters = {{ {told} }} }}\n'


@pytest.mark.req("H-8", "A16", "A23")
def test_the_text_baseline_is_scikit_learns_topics_of_the_one_fold_and_ridge_on_their_shares(tmp_path):
    write_csv(tmp_path / "reviews.csv", ROWS)
    result = run_plan(tmp_path, with_topics("lda-ridge", topics=[5, 3], rounds=4, alpha=2.0))
    features = bag_of_words([TEXTS[row] for row in result.seen("reviews", "food")], 40)(TEXTS)
    dice = named_seed("classifier", "reviews", "food", "1", 1, 1)
    test = result.split("reviews", "food")["test"]
    for fold, rows in enumerate(result.folds("reviews", "food")):
        rest, best = np.setdiff1d(result.seen("reviews", "food"), rows), None
        for number in (3, 5):
            topics = LatentDirichletAllocation(number, random_state=dice, max_iter=4).fit(features[rows])
            line = Ridge(alpha=2.0).fit(topics.transform(features[rows]), FOOD[rows])
            value = rmse(FOOD[rest], line.predict(topics.transform(features[rest])))
            if best is None or value < best[0]:
                best = (value, {"topics": number}, line.predict(topics.transform(features[test])))
        assert result.chosen("1", "food")[fold] == best[1]
        np.testing.assert_allclose(result.predictions("reviews", "1", "food")[fold], best[2], rtol=0, atol=1e-5)


@pytest.mark.req("A16")
def test_topics_come_from_the_one_fold_unless_the_scope_is_all_of_training(tmp_path):
    """Texts of the second fold change places: the first fold's classifier may see that only with the wider scope."""
    write_csv(tmp_path / "reviews.csv", ROWS)
    first = {
        scope: run_plan(tmp_path, with_topics("lda-ridge", topics=[3], rounds=3, scope=f'"{scope}"'), out=scope)
        for scope in ("fold", "train")
    }
    rows, place = first["fold"].folds("reviews", "food")[1], {}
    for one, other in zip(rows, np.roll(rows, 1), strict=True):
        place[int(one)] = int(other)
    moved = [{**row, "text": TEXTS[place.get(at, at)]} for at, row in enumerate(ROWS)]
    moved = [
        {**row, "text": row["text"].replace("evening", "evening evening")} if at in place else row
        for at, row in enumerate(moved)
    ]
    write_csv(tmp_path / "reviews.csv", moved)
    for scope, before in first.items():
        again = run_plan(tmp_path, with_topics("lda-ridge", topics=[3], rounds=3, scope=f'"{scope}"'), out=f"{scope}2")
        same = np.array_equal(
            before.predictions("reviews", "1", "food")[0][:10], again.predictions("reviews", "1", "food")[0][:10]
        )
        assert same is (scope == "fold")


@pytest.mark.req("A16")
def test_supervised_topics_are_an_option_that_learns_a_planted_rating_and_repeats_itself(tmp_path):
    dice, rows = np.random.default_rng(0), []
    for row in ROWS:
        share = (int(row["food"]) - 1) / 4
        words = [("tasty", "fresh")[dice.integers(2)] if dice.random() < share else "stale" for _ in range(14)]
        rows.append({**row, "text": " ".join(words)})
    write_csv(tmp_path / "reviews.csv", rows)
    one, two = (
        run_plan(tmp_path, with_topics("slda", topics=[2], rounds=60), out=name).predictions("reviews", "1", "food")
        for name in ("one", "two")
    )
    assert np.array_equal(one, two)
    truth = np.load(tmp_path / "one" / "truth" / "reviews" / "food.npy")
    assert rmse(truth, one[0]) < 0.75 * truth.std()
