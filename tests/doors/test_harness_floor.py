"""The floor: run 0 learns nothing, and stands beside everything that claims to have learned (H-38, S-31)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from pptx import Presentation
from scipy import stats
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, SVR
from tests.cli.running import here
from tests.doors.harness_results import HEAD, rmse, run_plan
from tests.harness.analysis.folders import folder
from tests.harness.plans import write_csv

BLIND = {(number, "a"): 0.0 for number in (2, 3, 4, 5, 6)} | {(1, ""): 0.0}


def analysed(path, *words):
    ended = here("harness", "analyse", path, "--draws", "200", "--json", *words)
    assert ended.code == 0, ended.stderr
    return ended.data["tasks"]["video"]


def planted(path, **more):
    folder(path, teams=("a",), names={"a": "Alpha"}, **more)
    return analysed(path)


@pytest.mark.req("S-31", "H-38", case="bad")
@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_a_claim_is_not_interpretable_where_neither_system_learned_anything(tmp_path, metric):
    told = planted(tmp_path, metric=metric, signal=BLIND, margin=2.0)  # so wide a margin that all is comparable
    assert {one["state"] for one in told["verdicts"]} == {"not interpretable"}
    assert {one["finding"] for one in told["verdicts"]} == {"neither learned anything"}
    printed = " ".join(here("harness", "analyse", tmp_path, "--draws", "200").stdout.split())
    assert "not interpretable: neither learned anything" in printed
    assert "supported:" not in printed
    assert "The strong classifier is not strong here: runs 1, 3a do not beat run 0" in " ".join(told["flags"])


@pytest.mark.req("S-31", "H-38", case="good")
def test_one_system_above_the_floor_is_enough_and_bounds_are_those_of_the_t_distribution(tmp_path):
    told = planted(tmp_path, metric="mrmse", rows=300, signal={**BLIND, (6, "a"): 1.0})
    states = {one["claim"]: one["state"] for one in told["verdicts"]}
    assert states["central"] == states["learns"] == "supported"
    floor = told["runs"]["6a"]["over_floor"]
    central = next(one for one in told["verdicts"] if one["claim"] == "central")
    assert floor["gain"] == pytest.approx(told["runs"]["0"]["value"] - told["runs"]["6a"]["value"])
    assert floor["beats"] is True
    assert told["runs"]["4a"]["over_floor"]["beats"] is False
    # run 3a is blind as the floor is, so its gain over it is exactly 0, and both gains are one and the same
    width = stats.t.ppf(0.95, central["degrees_of_freedom"]) * central["standard_error"]
    assert floor["lower"] == pytest.approx(central["gain"] - width)
    assert central["above_floor"] == pytest.approx([floor["lower"], 0.0])


@pytest.mark.req("S-31")
def test_the_floor_stands_in_the_table_the_graphs_the_report_and_the_slides(tmp_path):
    planted(tmp_path / "result")
    page, slides = tmp_path / "page.html", tmp_path / "slides.pptx"
    ended = here("harness", "report", tmp_path / "result", "--draws", "100", "--html", page, "--pptx", slides)
    assert ended.code == 0, ended.stderr
    assert "floor, learns nothing" in page.read_text("utf-8").partition("Claims and their tests")[0]
    names, words = [], []
    for slide in Presentation(slides).slides:
        for shape in slide.shapes:
            if getattr(shape, "has_chart", False) and "graph 3" in slide.shapes.title.text:
                names += list(shape.chart.plots[0].categories)
            if shape.has_text_frame:
                words += [shape.text_frame.text]
    assert "0 FLOOR" in names
    assert any("floor, learns nothing" in text for text in words)
    shown = here("harness", "status", tmp_path / "result").stdout
    assert "FLOOR" in shown


@pytest.mark.req("S-31", case="bad")
def test_a_result_from_before_the_floor_says_how_to_add_it(tmp_path):
    told = planted(tmp_path, gone=("0",))
    assert any("There is no run 0" in flag and "--only 0" in flag for flag in told["flags"])


TEXT = """
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["overall"]
metric = "mrmse"
range = [1, 5]
n = 200
folds = 5
features = "bow"
strong = "{strong}"
[[teams]]
letter = "a"
name = "Alpha"
"""
WORDS = [f"word{at:02}" for at in range(60)]


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """400 reviews of ten words, which the rating makes likelier or rarer."""
    dice, made = np.random.default_rng(4), []
    for _ in range(400):
        rating = int(dice.integers(1, 6))
        shares = np.exp(0.3 * (rating - 3) * np.linspace(-2, 2, 60))
        words = dice.choice(WORDS, 10, p=shares / shares.sum())
        made.append({"text": " ".join(words), "restaurant": "one", "overall": str(rating)})
    path = tmp_path_factory.mktemp("words")
    write_csv(path / "reviews.csv", made)
    counts = np.array([[one["text"].split().count(word) for word in WORDS] for one in made], float)
    return path, counts, np.array([float(one["overall"]) for one in made])


def tfidf(kind, rows, values, cost):
    weights = TfidfTransformer().fit(rows)
    model = Ridge(alpha=1 / cost) if kind == "tfidf-ridge" else SVR(kernel="linear", C=cost)
    model.fit(weights.transform(rows), values)
    return lambda new: model.predict(weights.transform(new))


def naive_bayes(kind, rows, values, cost):
    high = values > values.mean()
    sides = [1 + (rows[side] > 0).sum(axis=0) for side in (high, ~high)]
    ratio = np.log(sides[0] / sides[0].sum() / (sides[1] / sides[1].sum()))
    model = SVR(kernel="linear", C=cost).fit((rows > 0) * ratio, values)
    return lambda new: model.predict((new > 0) * ratio)


@pytest.mark.req("H-40")
@pytest.mark.parametrize(("kind", "peer"), [("tfidf-ridge", tfidf), ("tfidf-svm", tfidf), ("nb-svm", naive_bayes)])
def test_strong_classifiers_of_text_predict_what_scikit_learn_predicts_and_beat_the_floor(reviews, kind, peer):
    path, counts, ratings = reviews
    result = run_plan(path, HEAD + TEXT.format(strong=kind), "--only", "1", out=kind)
    test = result.split("reviews", "overall")["test"]
    predicted = result.predictions("reviews", "1", "overall")
    for fold, (rows, chosen) in enumerate(
        zip(result.folds("reviews", "overall"), result.chosen("1", "overall"), strict=True)
    ):
        wanted = peer(kind, counts[rows], ratings[rows], chosen["C"])(counts[test])
        np.testing.assert_allclose(predicted[fold], wanted, atol=2e-3)
        constant = result.predictions("reviews", "0", "overall")[fold]
        np.testing.assert_allclose(constant, ratings[rows].mean())
        assert rmse(ratings[test], predicted[fold]) < rmse(ratings[test], constant) - 0.05
    told = here("harness", "analyse", result.path, "--draws", "100", "--json").data["tasks"]["reviews"]
    assert told["runs"]["1"]["over_floor"]["beats"] is True
    assert not any("not strong" in flag for flag in told["flags"])


@pytest.mark.req("H-40")
def test_nb_svm_of_labels_is_the_published_mixture(tmp_path):
    dice = np.random.default_rng(9)
    labels = dice.random(400) < 0.5
    rows = (dice.random((400, 30)) < np.where(labels[:, None], np.linspace(0.1, 0.5, 30), 0.3)).astype(float)
    lines = [
        {**{f"w{at}": str(int(cell)) for at, cell in enumerate(row)}, "good": str(int(label))}
        for row, label in zip(rows, labels, strict=True)
    ]
    write_csv(tmp_path / "rows.csv", lines)
    text = """
[tasks.words]
data = { reader = "table", path = "rows.csv" }
targets = ["good"]
metric = "map11"
n = 200
folds = 5
features = "pixels"
strong = "nb-svm"
[[teams]]
letter = "a"
name = "Alpha"
"""
    result = run_plan(tmp_path, HEAD + text, "--only", "1")
    test, predicted = result.split("words")["test"], result.predictions("words", "1", "good")
    for fold, fitted in enumerate(result.folds("words")):
        here_, y = rows[fitted], labels[fitted]
        sides = [1 + here_[side].sum(axis=0) for side in (y, ~y)]
        ratio = np.log(sides[0] / sides[0].sum() / (sides[1] / sides[1].sum()))
        model = SVC(kernel="linear", C=result.chosen("1", "good")[fold]["C"]).fit(here_ * ratio, y)
        mixed = 0.75 * np.abs(model.coef_).mean() + 0.25 * model.coef_[0]
        np.testing.assert_allclose(predicted[fold], rows[test] * ratio @ mixed + model.intercept_, atol=2e-3)


@pytest.mark.req("H-45", case="bad")
@pytest.mark.parametrize("design", [{"folds": 4}, {"rows": 49}])
def test_map_of_few_folds_or_items_has_no_interval_and_no_claim_is_decided(tmp_path, design):
    told = planted(tmp_path, signal={(6, "a"): 9.0}, **design)
    assert {one["low"] for one in told["runs"].values()} == {one["high"] for one in told["runs"].values()} == {None}
    for one in told["verdicts"]:
        assert (one["state"], one["finding"]) == ("undecided", "no reliable interval")
        assert (one["low"], one["high"], one["bootstrap"]) == (None, None, None)
        assert "it takes 5 folds and 50 items" in one["reason"]
    page = tmp_path / "page.html"
    assert here("harness", "report", tmp_path, "--draws", "100", "--html", page).code == 0
    assert "No interval is shown" in page.read_text("utf-8")
    assert "nan" not in here("harness", "analyse", tmp_path, "--draws", "200").stdout


@pytest.mark.req("H-45", case="good")
def test_ratings_and_larger_designs_keep_their_intervals_and_axes_contain_them(tmp_path):
    assert planted(tmp_path / "few", metric="mrmse", folds=3)["runs"]["6a"]["low"] is not None
    told = planted(tmp_path / "enough", rows=60)
    slides = tmp_path / "slides.pptx"
    assert here("harness", "report", tmp_path / "enough", "--draws", "200", "--pptx", slides).code == 0
    gains = [
        shape.chart
        for slide in Presentation(slides).slides
        for shape in slide.shapes
        if getattr(shape, "has_chart", False) and "gains with" in slide.shapes.title.text
    ]
    low, high = (pick(one[end] for one in told["verdicts"]) for pick, end in ((min, "low"), (max, "high")))
    assert gains[0].value_axis.minimum_scale <= low < high <= gains[0].value_axis.maximum_scale


@pytest.mark.req("H-45")
def test_the_check_of_a_plan_says_beforehand_that_there_will_be_no_interval(tmp_path):
    dice = np.random.default_rng(2)
    lines = [{"x": str(one), "good": str(int(one > 0))} for one in dice.normal(size=120).round(3)]
    write_csv(tmp_path / "rows.csv", lines)
    text = HEAD + '[tasks.rows]\ndata = { reader = "table", path = "rows.csv" }\ntargets = ["good"]\n'
    text += 'metric = "map11"\nn = 40\nfolds = 4\n[[teams]]\nletter = "a"\nname = "Alpha"\n'
    (tmp_path / "plan.toml").write_text(text)
    found = here("harness", "check", tmp_path / "plan.toml", "--json").data["claims"]
    assert all(
        "no interval of MAP is reliable with 4 folds and 36 test items" in " ".join(one["reasons"]) for one in found
    )
    assert json.dumps(found)
