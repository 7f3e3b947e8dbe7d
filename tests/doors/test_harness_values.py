"""What `basanite harness run` calls a value: average precision, ratings, gaps, and plans that it refuses."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.cli.running import here
from tests.doors.harness_results import HEAD, average_precision, refused, rmse, run_plan
from tests.harness.plans import RATINGS, review_rows, write_csv
from tests.harness.small_modules import Ridge

PROBES = "tests.doors.harness_probes"
SMALL = "tests.harness.small_modules"
FINE = "The food was good and the evening went by quickly."
LABELS = f"""
[tasks.clips]
data = {{ reader = "table", path = "clips.csv" }}
targets = ["Eat"]
metric = "map11"
n = 40
folds = 2
features = "{PROBES}:as_given"
strong = "{PROBES}:first_column"
"""
TEAM = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.clips]
preprocessor = "{SMALL}:SCALED"
learner = "{SMALL}:COMPONENTS"
linear = "{SMALL}:RIDGE"
"""
REVIEWS = f"""
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["food"]
metric = "mrmse"
n = 60
folds = 3
features = "{SMALL}:WORDS"
strong = "{SMALL}:STRONG"
"""


def write_clips(folder, scores, labels, more=None):
    """A table whose first column is the score that a run gives, since its classifier takes that column."""
    rows = [{"x": repr(float(score)), "Eat": str(int(label))} for score, label in zip(scores, labels, strict=True)]
    for at, row in enumerate(rows):
        row["y"] = repr(float(more[at] if more is not None else at % 7))
    write_csv(folder / "clips.csv", [{name: row[name] for name in ("x", "y", "Eat")} for row in rows])


def by_floating_point(truth, scores):
    """The eleven points with recall compared in floating point, as one must not do it."""
    order = np.argsort(-scores)
    hits = np.cumsum(truth[order])
    recall, precision = hits / hits[-1], hits / np.arange(1, len(hits) + 1)
    return float(np.mean([precision[recall >= level].max(initial=0) for level in np.linspace(0, 1, 11)]))


@pytest.mark.req("A20")
@pytest.mark.parametrize("seed", [1, 2])
def test_recall_is_compared_in_integers(tmp_path, seed):
    dice = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [20, 80])
    dice.shuffle(labels)
    write_clips(tmp_path, dice.permutation(100), labels)
    result = run_plan(tmp_path, HEAD + LABELS + "train_share = 0.5\n")
    truth, scores = result.truth("clips", "Eat"), result.predictions("clips", "1", "Eat")[0]
    assert truth.sum() == 10
    wanted = average_precision(truth, scores)
    assert result.values("1", "Eat") == pytest.approx([wanted] * 2, abs=1e-12)
    assert abs(by_floating_point(truth, scores) - wanted) > 1e-3  # the case can tell them apart


@pytest.mark.req("A19")
def test_tied_scores_are_one_step_whatever_the_order_of_rows(tmp_path):
    labels = (np.arange(160) % 4 == 0).astype(int)
    write_clips(tmp_path, np.ones(160), labels)
    flat = run_plan(tmp_path, HEAD + LABELS + "train_share = 0.5\n", out="flat")
    assert flat.values("1", "Eat") == pytest.approx([0.25] * 2, abs=1e-12)
    found = []
    for name, order in (("first", np.argsort(labels, kind="stable")), ("last", np.argsort(-labels, kind="stable"))):
        coarse = np.where(labels == 1, np.arange(160) % 3, np.arange(160) % 2)[order]
        write_clips(tmp_path, coarse, labels[order])
        result = run_plan(tmp_path, HEAD + LABELS + "train_share = 0.5\n", out=name)
        truth, scores = result.truth("clips", "Eat"), result.predictions("clips", "1", "Eat")[0]
        backwards = average_precision(truth[::-1], scores[::-1])
        assert result.values("1", "Eat") == pytest.approx([backwards] * 2, abs=1e-12)
        found.append(backwards)
    assert all(value < 1 for value in found)


@pytest.mark.req("A15")
def test_raw_scores_are_ranked_far_beyond_where_a_squashed_one_saturates(tmp_path):
    labels = (np.arange(120) % 3 == 0).astype(int)
    write_clips(tmp_path, 40 + 10.0 * labels + np.arange(120) / 1e4, labels)
    result = run_plan(tmp_path, HEAD + LABELS)
    assert result.values("1", "Eat") == [1.0, 1.0]
    assert result.predictions("clips", "1", "Eat").max() > 49  # kept as they are
    assert result.manifest["modules"][f"{PROBES}:first_column"]["scale"] == "margin"


@pytest.mark.req("A15", case="bad")
@pytest.mark.parametrize(
    ("module", "words"),
    [("TOO_SURE", "says it gives probabilities, and some are outside 0..1"), ("SPOILT", "scores that are not finite")],
)
def test_a_nan_or_a_probability_beyond_one_is_an_error_of_that_run(tmp_path, module, words):
    labels = (np.arange(120) % 3 == 0).astype(int)
    write_clips(tmp_path, np.arange(120), labels)
    result = run_plan(tmp_path, HEAD + LABELS + TEAM.replace("RIDGE", module), "--only", "1,4a", code=1)
    assert result.states == {"1": "done", "4a": "failed"}
    assert words in result.reasons["4a"]


@pytest.mark.req("A15")
def test_a_submission_that_is_declared_a_probability_must_be_one(tmp_path):
    (tmp_path / "key.csv").write_text("id,A\n1,1\n2,0\n", encoding="utf-8")
    (tmp_path / "run.csv").write_text("id,A\n1,50\n2,40\n", encoding="utf-8")
    words = ("score", "labels", "--reference", tmp_path / "key.csv", "--submission", tmp_path / "run.csv", "--json")
    assert here(*words).data["values"]["map11"]["value"] == 1.0
    ended = here(*words, "--set", "scale=probability")
    assert (ended.code, ended.data["counts"]) == (1, {"H-20": 2})


@pytest.mark.req("A18")
def test_ratings_are_clipped_for_the_value_and_the_clips_are_counted(tmp_path):
    dice = np.random.default_rng(2)
    grades = dice.integers(1, 6, 100)
    rows = [
        {"x": f"{grade + off:.3f}", "grade": str(grade)}
        for grade, off in zip(grades, dice.normal(0, 2, 100), strict=True)
    ]
    write_csv(tmp_path / "grades.csv", rows)
    text = LABELS.replace("clips", "grades").replace('"Eat"', '"grade"').replace("map11", "mrmse")
    result = run_plan(tmp_path, HEAD + text + "range = [1.0, 5.0]\n")
    scores = result.predictions("grades", "1", "grade")
    outside = int(((scores[0] < 1) | (scores[0] > 5)).sum())
    assert outside > 5
    assert result.flags("1", "grade") == [[f"{outside} predictions outside the range were clipped"]] * 2
    assert result.values("1", "grade") == pytest.approx([rmse(result.truth("grades", "grade"), one) for one in scores])
    assert f"{2 * outside} predictions" in str(result.analysis(task="grades")["runs"]["1"]["flags"])


@pytest.mark.req("A22")
def test_average_precision_without_interpolation_stands_beside_the_plans(tmp_path):
    dice = np.random.default_rng(5)
    labels = (dice.random(200) < 0.3).astype(int)
    write_clips(tmp_path, labels + dice.normal(size=200), labels)
    result = run_plan(tmp_path, HEAD + LABELS)
    truth, scores = result.truth("clips", "Eat"), result.predictions("clips", "1", "Eat")[0]
    found = result.analysis(task="clips")["runs"]["1"]
    assert found["map"] == pytest.approx(average_precision_score(truth, scores))
    assert found["value"] == pytest.approx(average_precision(truth, scores))
    assert abs(found["map"] - found["value"]) > 1e-4


@pytest.mark.req("A22")
def test_in_full_mode_what_a_fold_chose_is_trained_on_the_rows_of_all_folds(tmp_path):
    dice = np.random.default_rng(5)
    labels = (dice.random(200) < 0.3).astype(int)
    x, y = labels + dice.normal(size=200), dice.normal(size=200)
    write_clips(tmp_path, x, labels, y)
    text = HEAD + LABELS.replace(f'"{PROBES}:first_column"', f'"{SMALL}:STRONG"')
    plain, full = run_plan(tmp_path, text, out="plain"), run_plan(tmp_path, text + "full = true\n", out="full")
    assert full.chosen("1", "Eat") == plain.chosen("1", "Eat")
    rows, dealt = np.column_stack([x, y]), np.concatenate(full.folds("clips"))
    for fold, point in enumerate(full.chosen("1", "Eat")):
        model = Ridge({})
        model.fit(rows[dealt], labels[dealt], point)
        wanted = model.score(rows[full.split("clips")["test"]])
        assert full.predictions("clips", "1", "Eat")[fold] == pytest.approx(wanted)
    assert not np.allclose(full.predictions("clips", "1", "Eat"), plain.predictions("clips", "1", "Eat"))
    assert [words for words in full.manifest["deviations"] if "A22" in words]


@pytest.mark.req("A35", "A17")
def test_a_run_is_done_failed_not_provided_or_not_applicable_and_the_report_bears_the_gaps(tmp_path):
    labels = (np.arange(120) % 3 == 0).astype(int)
    write_clips(tmp_path, np.arange(120) + 40 * labels, labels)
    whole = TEAM.replace('"a"', '"b"').replace("Alpha", "Beta")
    broken = TEAM.replace("RIDGE", "BROKEN")
    partial = "".join(line for line in TEAM.splitlines(True) if "learner" not in line)
    partial = partial.replace('"a"', '"c"').replace("Alpha", "Gamma")
    strong = LABELS.replace(f"{PROBES}:first_column", f"{SMALL}:NEEDS_COUNTS")
    result = run_plan(tmp_path, HEAD + strong + broken + whole + partial, code=1)
    assert result.states == {
        **dict.fromkeys(("1", "3a", "3b", "3c"), "not applicable"),
        **dict.fromkeys(("2a", "4a", "5a", "6a"), "failed"),
        **dict.fromkeys(("2b", "4b", "5b", "6b", "2c", "4c"), "done"),
        **dict.fromkeys(("5c", "6c"), "not provided"),
    }
    assert result.reasons["1"] == "needs-counts needs counts and gets dense"
    assert result.reasons["3a"] == "needs-counts needs counts and gets nonneg"
    assert "this classifier cannot learn" in result.reasons["4a"]
    assert result.reasons["6c"] == "team c has no learner for this task"
    assert {one["run"] for one in result.scores} == {"0", "2b", "4b", "5b", "6b", "2c", "4c"}
    found = result.analysis(task="clips")
    deep = next(one for one in found["rankings"] if one["condition"] == 6)
    assert (deep["order"], set(deep["missing"])) == (["b"], {"a", "c"})
    page = tmp_path / "report.html"
    assert here("harness", "report", result.path, "--draws", "100", "--html", page).code == 0
    assert "not provided: team c has no learner for this task" in page.read_text("utf-8")
    ended = here("harness", "status", result.path, "--json").data["tasks"]["clips"]["runs"]
    assert (ended["6c"]["state"], ended["6c"]["value"]) == ("not provided", None)


@pytest.mark.req("A17")
def test_topics_need_counts_and_what_is_no_count_does_not_reach_them(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(120))
    team = TEAM.replace("clips", "reviews").replace(f"{SMALL}:SCALED", "word-shares")
    team = team.replace(f"{SMALL}:RIDGE", "svr-linear")
    strong = REVIEWS.replace(f'"{SMALL}:STRONG"', '{ module = "lda-ridge", parameters = { topics = [2], rounds = 2 } }')
    result = run_plan(tmp_path, HEAD + strong + team, "--only", "1,3a,4a")
    assert result.states == {"1": "done", "3a": "not applicable", "4a": "done"}
    assert result.reasons["3a"] == "lda-ridge needs counts and gets nonneg"
    told = result.manifest["modules"]
    assert [(told[name]["needs"], told[name]["gives"]) for name in ("word-shares",)] == [("items", "nonneg")]
    assert told["lda-ridge"]["needs"] == "counts"


def review(text, **ratings):
    return {"text": text, "restaurant": "r1", **dict.fromkeys(RATINGS, "3"), **ratings}


@pytest.mark.req("A41", "H-2")
def test_reviews_are_measured_in_code_points_after_nfc_and_stripping(tmp_path):
    kept = ["x" * 30, "e\u0301" * 30, "\U0001f600" * 30, "  " + "y" * 30 + "\n"]
    short = ["x" * 29, "  " + "x" * 29 + " \n", "e\u0301" * 29, "\U0001f600" * 29]
    rows = [*review_rows(120), *map(review, kept), *map(review, short)]
    write_csv(tmp_path / "reviews.csv", rows)
    log = f'features = {{ module = "{SMALL}:WORDS", parameters = {{ log = "{tmp_path / "log"}" }} }}'
    text = REVIEWS.replace(f'features = "{SMALL}:WORDS"', log)
    result = run_plan(tmp_path, HEAD + text + "train_share = 0.97\n")
    counts = result.manifest["data"]["reviews"]["counts"]
    assert (counts["reviews"], counts["dropped"], counts["shortest"]) == (124, 4, 30)
    seen = set((tmp_path / "log").read_text("utf-8").splitlines())
    normal = {unicodedata.normalize("NFC", text).strip() for text in kept}
    assert len(seen & normal) >= 2  # the others are test rows
    assert not seen & {unicodedata.normalize("NFC", text).strip() for text in short}


@pytest.mark.req("H-2")
def test_counts_found_are_told_beside_the_published_ones_and_the_file_may_have_any_of_three_formats(tmp_path):
    import polars as pl

    rows = [review(FINE), *({**row, "restaurant": "r9"} for row in review_rows(100))]
    write_csv(tmp_path / "reviews.csv", rows)
    frame = pl.DataFrame([{**row, **{name: int(row[name]) for name in RATINGS}} for row in rows])
    frame.write_ndjson(tmp_path / "reviews.jsonl")
    frame.write_parquet(tmp_path / "reviews.parquet")
    found = [
        run_plan(tmp_path, HEAD + REVIEWS.replace("reviews.csv", f"reviews.{kind}"), out=kind)
        for kind in ("csv", "jsonl", "parquet")
    ]
    assert len({result.manifest["data"]["reviews"]["digest"] for result in found}) == 1
    assert "reviews 101 (433697 published)" in found[0].ended.stderr
    assert "restaurants 2 (10066 published)" in found[0].ended.stderr
    lengths = [len(row["text"]) for row in rows]
    counts = found[0].manifest["data"]["reviews"]["counts"]
    assert (counts["shortest"], counts["longest"]) == (min(lengths), max(lengths))
    assert counts["mean_words"] == round(sum(len(row["text"].split()) for row in rows) / 101, 1)


@pytest.mark.req("H-2", case="bad")
def test_a_rating_beyond_the_scale_is_refused_with_its_line(tmp_path):
    write_csv(tmp_path / "reviews.csv", [review(FINE), review(FINE, food="6")])
    ended = refused(tmp_path, HEAD + REVIEWS)
    assert "reviews.csv:3" in ended.stdout + ended.stderr
    assert "H-2" in ended.stdout + ended.stderr


@pytest.mark.req("H-32", case="bad")
@pytest.mark.parametrize("name", ["Alpha", "  ALPHA "], ids=["same name", "other spelling"])
def test_a_second_system_of_one_team_is_refused(tmp_path, name):
    write_clips(tmp_path, np.arange(120), (np.arange(120) % 3 == 0).astype(int))
    ended = refused(tmp_path, HEAD + LABELS + TEAM + TEAM.replace('"a"', '"b"').replace("Alpha", name))
    assert "H-32" in ended.stdout + ended.stderr
    twice = TEAM + TEAM.partition('name = "Alpha"\n')[2]
    assert refused(tmp_path, HEAD + LABELS + twice).code == 1  # one table twice is no TOML
    letters = refused(tmp_path, HEAD + LABELS + TEAM + TEAM.replace("Alpha", "Beta"))
    assert "two teams have the letter" in letters.stdout + letters.stderr


@pytest.mark.req("H-32")
@pytest.mark.parametrize("one", [True, False], ids=["one code", "two codes"])
def test_the_report_says_whether_one_code_serves_all_modalities(tmp_path, one):
    write_clips(tmp_path, np.arange(120), (np.arange(120) % 3 == 0).astype(int))
    write_csv(tmp_path / "reviews.csv", review_rows(120))
    other = f"""[teams.systems.reviews]
preprocessor = "{SMALL}:WORDS"
learner = "{f"{SMALL}:COMPONENTS" if one else "msda"}"
linear = "{SMALL}:RIDGE"
"""
    result = run_plan(tmp_path, HEAD + LABELS + REVIEWS + TEAM + other, "--only", "1")
    page = tmp_path / "report.html"
    assert here("harness", "report", result.path, "--draws", "100", "--html", page).code == 0
    told = page.read_text("utf-8")
    assert ("one learner with one code hash serves" in told) is one
    assert ("2 code hashes serve" in told) is not one


@pytest.mark.req("H-5", case="bad")
def test_a_module_stands_in_its_role_only_and_an_unknown_one_is_answered(tmp_path):
    write_clips(tmp_path, np.arange(120), (np.arange(120) % 3 == 0).astype(int))
    wrong = refused(tmp_path, HEAD + LABELS + TEAM.replace(f"{SMALL}:COMPONENTS", "svm"))
    assert "svm is a strong module and stands as `learner`" in wrong.stdout + wrong.stderr
    unknown = refused(tmp_path, HEAD + LABELS + TEAM.replace(f"{SMALL}:COMPONENTS", "msdaa"))
    assert "msda" in unknown.stdout + unknown.stderr


@pytest.mark.req("H-5")
def test_plug_ins_of_all_roles_are_listed_and_a_plan_may_name_each(tmp_path):
    names = {line.split()[1] for line in here("plugins").stdout.splitlines() if line.startswith("modules")}
    assert names >= {"hog3d", "bow", "contrast", "words", "svm", "lda-ridge", "linear-svm", "svr-linear", "sda", "isa"}
    dice = np.random.default_rng(0)
    labels = (np.arange(120) % 3 == 0).astype(int)
    write_clips(tmp_path, np.abs(labels + dice.normal(size=120)), labels, np.abs(dice.normal(size=120)))
    text = LABELS.replace(f"{PROBES}:as_given", "pixels").replace(f"{PROBES}:first_column", "svm")
    team = TEAM.replace(f"{SMALL}:SCALED", "pixels").replace(f"{SMALL}:COMPONENTS", "msda")
    result = run_plan(tmp_path, HEAD + text + team.replace(f"{SMALL}:RIDGE", "linear-svm"))
    assert set(result.states.values()) == {"done"}
    roles = {name: told["role"] for name, told in result.manifest["modules"].items()}
    assert roles == {"linear-svm": "linear", "msda": "learner", "pixels": "features", "svm": "strong"}


@pytest.mark.req("H-3")
@pytest.mark.parametrize(
    ("name", "targets", "metric"),
    [("digits", 10, "map11"), ("breast_cancer", 1, "map11"), ("diabetes", 1, "mrmse")],
)
def test_real_data_come_without_a_download(tmp_path, name, targets, metric):
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name}")()
    text = f'[tasks.real]\ndata = "{name}"\nmetric = "{metric}"\nn = 60\nfolds = 2\nfeatures = "identity"\n'
    result = run_plan(tmp_path, HEAD + text + f'strong = "{PROBES}:first_column"\n')
    assert result.manifest["data"]["real"]["rows"] == len(loaded.target)
    assert len(result.manifest["plan"]["tasks"]["real"]["targets"]) == targets
    for target in result.manifest["plan"]["tasks"]["real"]["targets"]:
        test = result.split("real", "shared" if metric == "map11" else target)["test"]
        wanted = loaded.target[test]
        truth = result.truth("real", target)
        if name == "digits":
            wanted = (wanted == int(target)).astype(float)
        elif name == "breast_cancer":
            wanted = 1 - wanted  # malignant is 0 there
        assert np.array_equal(truth, wanted.astype(float))
        assert np.array_equal(result.predictions("real", "1", target)[0], loaded.data[test][:, 0])


@pytest.mark.req("H-3")
def test_generated_reviews_are_as_many_as_asked_for_the_same_every_time_and_correlated(tmp_path):
    text = '[tasks.made]\ndata = {{ reader = "generated-reviews"{more} }}\nmetric = "mrmse"\nn = 60\nfolds = 2\n'
    text += 'features = "bow"\n'
    small = run_plan(tmp_path, HEAD + text.format(more=""), "--only", "1", out="small")
    assert small.manifest["data"]["made"]["rows"] == 2000
    some = [run_plan(tmp_path, HEAD + text.format(more=", rows = 400"), out=name) for name in ("one", "two")]
    other = run_plan(tmp_path, HEAD + text.format(more=", rows = 400, seed = 9"), out="other")
    digests = [result.manifest["data"]["made"]["digest"] for result in (*some, other)]
    assert digests[0] == digests[1] != digests[2]
    counts = some[0].manifest["data"]["made"]["counts"]
    assert (counts["reviews"], counts["dropped"]) == (400, 0)
    assert counts["shortest"] >= 30
    assert counts["longest"] <= 750
    assert counts["restaurants"] > 5
    targets = some[0].manifest["plan"]["tasks"]["made"]["targets"]
    assert targets == list(RATINGS)
    shared = run_plan(tmp_path, HEAD + text.format(more=", rows = 400") + "shared_split = true\n", out="shared")
    table = np.column_stack([shared.truth("made", name) for name in RATINGS])
    assert set(table.ravel()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert np.corrcoef(table.T)[np.triu_indices(5, 1)].mean() > 0.1
