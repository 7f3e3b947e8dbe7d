"""`basanite harness run` deals, trains and predicts as the protocol says: told from the files that it writes."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from tests.cli.running import here
from tests.doors.harness_results import HEAD, Result, average_precision, rmse, run_plan
from tests.harness.plans import review_rows, write_csv
from tests.harness.small_modules import Components, Ridge, Scaled, Words

PROBES = "tests.doors.harness_probes"
SMALL = "tests.harness.small_modules"
LABELS = ("Eat", "Run", "Sit")
GRADES = f"""
[tasks.grades]
data = {{ reader = "table", path = "grades.csv" }}
targets = ["grade"]
metric = "mrmse"
range = [1.0, 5.0]
features = "{PROBES}:as_given"
strong = "{PROBES}:first_column"
"""
CLIPS = f"""
[tasks.clips]
data = {{ reader = "table", path = "clips.csv", group = "film" }}
targets = ["Eat", "Run", "Sit"]
metric = "map11"
n = 90
folds = 5
features = "{PROBES}:as_given"
strong = "{SMALL}:STRONG"
"""
TEXTS = f"""
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["overall", "food"]
metric = "mrmse"
n = 90
folds = 3
features = "{SMALL}:WORDS"
strong = "{SMALL}:STRONG"
"""
TEXT_TEAM = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.reviews]
preprocessor = "{SMALL}:WORDS"
learner = "{SMALL}:COMPONENTS"
linear = "{SMALL}:RIDGE"
"""


def write_grades(folder, counts):
    """A table with so many rows of each grade, in an order without meaning."""
    grades = np.repeat(np.arange(1, len(counts) + 1), counts)
    np.random.default_rng(1).shuffle(grades)
    write_csv(folder / "grades.csv", [{"x": f"{row % 13}", "grade": str(grade)} for row, grade in enumerate(grades)])
    return grades


def clip_rows(rows=200):
    """Clips with up to three labels, of which the last is rare and never stands alone."""
    dice = np.random.default_rng(3)
    found = []
    for number in range(rows):
        labels = dice.random(2) < (0.3, 0.5)
        rare = bool(labels[0] and number % 9 == 0)
        given = dice.normal(size=3) + np.array([*labels, rare])
        plain = {"row": str(number), **{f"x{at}": f"{value:.4f}" for at, value in enumerate(given)}}
        told = dict(zip(LABELS, map(str, map(int, (*labels, rare))), strict=True))
        found.append({**plain, "film": f"f{number % 8}", **told})
    return found


def largest_remainder(counts, n):
    """By exact fractions; of equal remainders the earlier class goes first."""
    exact = [Fraction(count * n, sum(counts)) for count in counts]
    order = sorted(range(len(counts)), key=lambda at: (int(exact[at]) - exact[at], at))
    seats = [int(share) for share in exact]
    for at in order[: n - sum(seats)]:
        seats[at] += 1
    return seats


def plan_folds(rows, values, folds):
    """createStratifiedFolds as the plan writes it: j from 1, fold j % K; its fold 0 is our K."""
    counts = Counter(values[row] for row in rows)
    order = sorted(rows, key=lambda row: (counts[values[row]], values[row], row))
    slots = {number: [] for number in range(folds)}
    for j, row in enumerate(order, start=1):
        slots[j % folds].append(row)
    return [slots[number % folds] for number in range(1, folds + 1)]


def counted(values, rows, classes):
    held = Counter(int(values[row]) for row in rows)
    return [held[label] for label in classes]


@pytest.mark.req("H-14", "A8")
@pytest.mark.parametrize(
    ("counts", "train"),
    [((69, 69, 69), 145), ((100, 60, 43), 142), ((3, 40, 40, 40, 80), 142), ((1, 1, 100, 100, 5), 145)],
    ids=["ties", "rounded down", "five grades", "single rows"],
)
def test_samples_have_exactly_n_rows_by_largest_remainder(tmp_path, counts, train):
    grades, classes = write_grades(tmp_path, counts), range(1, len(counts) + 1)
    result = run_plan(tmp_path, HEAD + GRADES + "n = 50\nfolds = 5\n")
    split, dealt = result.split("grades", "grade"), np.concatenate(result.folds("grades", "grade"))
    chosen = np.concatenate([dealt, split["validation"]])
    assert (len(dealt), len(chosen)) == (50, train)
    assert np.array_equal(np.sort(np.concatenate([chosen, split["test"]])), np.arange(sum(counts)))
    assert counted(grades, chosen, classes) == largest_remainder(counts, train)
    assert counted(grades, dealt, classes) == largest_remainder(counted(grades, chosen, classes), 50)


@pytest.mark.req("H-15", "A4", "A5")
@pytest.mark.parametrize("folds", [2, 4, 7])
def test_folds_are_dealt_from_the_rarest_grade_as_in_the_plans_pseudocode(tmp_path, folds):
    grades = write_grades(tmp_path, (40, 20, 20, 60, 7))
    result = run_plan(tmp_path, HEAD + GRADES + f"n = 71\nfolds = {folds}\n")
    dealt = [fold.tolist() for fold in result.folds("grades", "grade")]
    assert dealt == plan_folds(sorted(chain.from_iterable(dealt)), grades, folds)
    assert {len(fold) for fold in dealt} <= {71 // folds, 71 // folds + 1}


@pytest.mark.req("A5")
def test_rows_are_shuffled_before_they_are_dealt_only_if_the_plan_says_so(tmp_path):
    write_grades(tmp_path, (60, 60))
    plain, again, other = (
        run_plan(tmp_path, HEAD + GRADES + f"n = 60\nfolds = 3\n{option}", out=f"out{number}")
        for number, option in enumerate(("", "shuffle_seed = 4\n", "shuffle_seed = 5\n"))
    )
    rows = [[fold.tolist() for fold in result.folds("grades", "grade")] for result in (plain, again, other)]
    assert rows[0] != rows[1] != rows[2] != rows[0]
    held = [sorted(chain.from_iterable(folds)) for folds in rows]
    assert held[0] == held[1] == held[2]
    assert plain.manifest["deviations"] == []
    assert "A5" in again.manifest["deviations"][0]


@pytest.mark.req("H-13", "A43")
def test_ten_folds_of_ten_thousand_rows_and_a_share_of_seven_tenths_unless_a_task_says_otherwise(tmp_path):
    write_grades(tmp_path, (30, 30, 40))
    other = GRADES.replace("tasks.grades", "tasks.other") + "n = 40\nfolds = 4\ntrain_share = 0.5\n"
    result = run_plan(tmp_path, HEAD + GRADES + other)
    told = result.manifest["plan"]
    assert [told["tasks"]["grades"][key] for key in ("folds", "n", "train_share")] == [10, 10_000, 0.7]
    assert told["replications"] == 1
    assert [len(fold) for fold in result.folds("grades", "grade")] == [7] * 10
    assert [len(fold) for fold in result.folds("other", "grade")] == [10] * 4
    assert len(result.split("other", "grade")["test"]) == 50
    assert {one["replication"] for one in result.scores} == {1}


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Result:
    """A run of clips with several labels by a team that writes down what it is given."""
    folder = tmp_path_factory.mktemp("clips")
    write_csv(folder / "clips.csv", clip_rows())
    log = f'parameters = {{ log = "{folder / "log"}" }}'
    team = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.clips]
preprocessor = {{ module = "{PROBES}:WATCHING", {log} }}
learner = {{ module = "{PROBES}:LEARNING", {log} }}
linear = {{ module = "{PROBES}:CLASSIFYING", {log} }}
"""
    return run_plan(folder, HEAD + CLIPS + team)


def log_of(result, what):
    lines = (json.loads(line) for line in (result.path.parent / "log").read_text("utf-8").splitlines())
    return [line for line in lines if line["what"].startswith(what)]


def table_of(result):
    with (result.path.parent / "clips.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    items = np.array([[float(row[name]) for name in ("row", "x0", "x1", "x2")] for row in rows])
    return items, {name: np.array([float(row[name]) for row in rows]) for name in LABELS}


@pytest.mark.req("A6", "H-15")
def test_a_clip_goes_by_its_first_label_in_the_declared_order(clips):
    _, labels = table_of(clips)
    first = [next((at for at, name in enumerate(LABELS) if labels[name][row]), -1) for row in range(200)]
    dealt = [fold.tolist() for fold in clips.folds("clips")]
    assert dealt == plan_folds(sorted(chain.from_iterable(dealt)), first, 5)
    told = clips.manifest["splits"]["clips"]["shared"]["positives_in_folds"]
    assert told == [{name: int(labels[name][fold].sum()) for name in LABELS} for fold in dealt]


@pytest.mark.req("A6")
def test_folds_may_be_dealt_by_all_labels_and_then_every_label_is_spread(clips, tmp_path):
    write_csv(tmp_path / "clips.csv", clip_rows())
    other = run_plan(tmp_path, HEAD + CLIPS + "iterative = true\n")
    _, labels = table_of(clips)

    def spread(result, name):
        held = [labels[name][fold].sum() for fold in result.folds("clips")]
        return max(held) - min(held)

    assert max(spread(other, name) for name in LABELS) <= 1 < max(spread(clips, name) for name in LABELS)
    assert set(other.seen("clips")) == set(clips.seen("clips"))
    assert [words for words in other.manifest["deviations"] if "A6" in words]


@pytest.mark.req("A7")
def test_a_fold_without_positives_gets_a_constant_scorer_that_is_flagged_here_and_in_the_report(clips):
    _, labels = table_of(clips)
    empty = [not labels["Sit"][fold].any() for fold in clips.folds("clips")]
    assert True in empty
    assert False in empty
    for run in ("1", "4a", "6a"):
        assert [any("constant scorer" in words for words in told) for told in clips.flags(run, "Sit")] == empty
        scores = clips.predictions("clips", run, "Sit")
        assert [len(set(row)) == 1 for row in scores] == empty
    assert clips.states["6a"] == "done"
    page = clips.path.parent / "report.html"
    assert here("harness", "report", clips.path, "--draws", "100", "--html", page).code == 0
    assert "constant scorer" in page.read_text("utf-8")


@pytest.mark.req("H-16")
def test_each_classifier_learns_from_one_fold_and_nothing_else(clips):
    _, labels = table_of(clips)
    folds = [sorted(fold.tolist()) for fold in clips.folds("clips")]
    wanted = {(tuple(fold), name) for fold in folds for name in LABELS if len(set(labels[name][fold])) > 1}
    found = set()
    for line in log_of(clips, "classify"):
        rows = line["rows"]
        names = [name for name in LABELS if line["target"] == labels[name][rows].tolist()]
        assert names, "the labels are those of the rows"
        found.add((tuple(sorted(rows)), names[0]))
    assert found == wanted


def ridge_by_hand(features, values, result, task, name, measure, sign):
    """Train on one fold, choose on the others and on validation, predict all of test, for every fold."""
    found, chosen, test = [], [], result.split(task, name)["test"]
    for fold in result.folds(task, name):
        rest = np.setdiff1d(result.seen(task, name), fold)
        best = None
        for point in Ridge.points:
            model = Ridge({})
            model.fit(features[fold], values[fold], point)
            value = sign * measure(values[rest], model.score(features[rest]))
            if best is None or value > best[0]:
                best = (value, point, model.score(features[test]))
        found.append(best[2])
        chosen.append(best[1])
    return np.array(found), chosen


@pytest.mark.req("H-16", "A23", "H-17", "A25")
@pytest.mark.parametrize(("run", "layer"), [("4a", 0), ("5a", 1), ("6a", 3)])
@pytest.mark.parametrize("target", ["Eat", "Run"])
def test_labels_are_predicted_as_a_plain_loop_over_the_folds_predicts_them(clips, run, layer, target):
    items, labels = table_of(clips)
    seen = clips.seen("clips")
    features = (items - items[seen].mean(axis=0))[:, 1:]
    learner = Components({"units": 3})
    learner.fit(features[seen])
    scores, chosen = ridge_by_hand(
        learner.transform(features, layer), labels[target], clips, "clips", "shared", average_precision, 1
    )
    assert np.allclose(clips.predictions("clips", run, target), scores, atol=1e-8)
    assert clips.chosen(run, target) == chosen
    truth = clips.truth("clips", target)
    assert np.array_equal(truth, labels[target][clips.split("clips")["test"]])
    wanted = [average_precision(truth, one) for one in clips.predictions("clips", run, target)]
    assert clips.values(run, target) == pytest.approx(wanted)


@pytest.mark.req("A23")
def test_nothing_is_fitted_again_and_of_equal_parameters_the_first_is_chosen(clips, tmp_path):
    fits = Counter((tuple(sorted(line["rows"])), tuple(line["target"]), line["point"]) for line in log_of(clips, "cl"))
    assert {line["point"] for line in log_of(clips, "classify")} == {point["penalty"] for point in Ridge.points}
    assert all(len(rows) == 18 for rows, _, _ in fits)
    same = [{**row, "x0": "1", "x1": "1", "x2": "1", "row": "1"} for row in clip_rows()]
    write_csv(tmp_path / "clips.csv", same)
    flat = run_plan(tmp_path, HEAD + CLIPS)
    assert flat.chosen("1", "Eat") == [Ridge.points[0]] * 5


@pytest.mark.req("H-17", "A25")
def test_a_learner_trains_once_without_labels_on_training_and_validation_rows(clips):
    seen, test = sorted(clips.seen("clips").tolist()), set(clips.split("clips")["test"].tolist())
    deep, shallow, fitted = (log_of(clips, what) for what in ("learn 3", "learn 1", "preprocess"))
    assert [len(lines) for lines in (deep, shallow, fitted)] == [1, 1, 1]
    for line in (*deep, *shallow, *fitted):
        assert sorted(line["rows"]) == seen
        assert not test & set(line["rows"])
        assert line["width"] == 4  # the columns of the table that are no label and no group


@pytest.mark.req("A24")
def test_validation_may_be_capped_by_a_stratified_sample_and_that_is_recorded(clips, tmp_path):
    write_csv(tmp_path / "clips.csv", clip_rows())
    few = run_plan(tmp_path, HEAD + CLIPS + "validation_cap = 20\n")
    whole, capped = clips.split("clips"), few.split("clips")
    _, labels = table_of(clips)
    first = np.array([next((at for at, name in enumerate(LABELS) if labels[name][row]), -1) for row in range(200)])
    assert (len(whole["validation"]), len(capped["validation"])) == (50, 20)
    assert set(capped["validation"]) < set(whole["validation"])
    assert all(np.array_equal(whole[name], capped[name]) for name in whole if name != "validation")
    kinds = sorted(set(first[whole["validation"]]))
    wanted = largest_remainder(counted(first, whole["validation"], kinds), 20)
    assert counted(first, capped["validation"], kinds) == wanted
    assert clips.manifest["deviations"] == []
    assert [words for words in few.manifest["deviations"] if "20 extra validation rows" in words]


@pytest.mark.req("A11")
def test_films_fall_on_both_sides_unless_they_are_kept_together_and_the_overlap_is_told(clips, tmp_path):
    write_csv(tmp_path / "clips.csv", clip_rows())
    whole = run_plan(tmp_path, HEAD + CLIPS + 'group_by = "film"\n')

    def both(result):
        seen, test = {row % 8 for row in result.seen("clips")}, result.split("clips")["test"]
        return float(np.mean([row % 8 in seen for row in test]))

    told = [result.manifest["splits"]["clips"]["shared"]["group_overlap"] for result in (clips, whole)]
    assert told == [both(clips), both(whole)] == [1.0, 0.0]
    assert [words for words in whole.manifest["deviations"] if "A11" in words]


@pytest.mark.req("H-18", "A42")
def test_two_teams_make_eleven_runs_of_a_task_and_condition_1_is_run_once(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(120))
    text = HEAD + TEXTS.replace("n = 90", "n = 30") + TEXT_TEAM
    two = text + TEXT_TEAM.replace('"a"', '"b"').replace("Alpha", "Beta")
    found = run_plan(tmp_path, two)
    wanted = ["1", "2a", "2b", "3a", "3b", "4a", "4b", "5a", "5b", "6a", "6b"]
    assert list(found.states) == wanted
    assert set(found.states.values()) == {"done"}
    told = found.ended.data["tasks"]["reviews"]["runs"]
    assert list(told) == ["0", *wanted]
    assert [told[run]["condition"] for run in ("1", "2a", "3b", "4a", "5b", "6a")] == [
        "FE/SOTA", "FE/SLC", "PRE/SOTA", "PRE/SLC", "PRE/SUL/SLC", "PRE/DUL/SLC",
    ]  # fmt: skip
    three = two + TEXT_TEAM.replace('"a"', '"s"').replace("Alpha", "Sigma")
    assert len(run_plan(tmp_path, three, out="three").states) == 16


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Result:
    """A run on reviews with two ratings as targets."""
    folder = tmp_path_factory.mktemp("texts")
    write_csv(folder / "reviews.csv", review_rows(200))
    return run_plan(folder, HEAD + TEXTS + TEXT_TEAM)


@pytest.mark.req("H-13", "A10")
def test_each_rating_has_a_split_of_its_own_stratified_by_it_unless_all_share_one(texts, tmp_path):
    rows = review_rows(200)
    assert list(texts.manifest["splits"]["reviews"]) == ["overall", "food"]
    tests = [texts.split("reviews", name)["test"] for name in ("overall", "food")]
    assert not np.array_equal(*tests)
    for name, test in zip(("overall", "food"), tests, strict=True):
        values = [int(row[name]) for row in rows]
        whole = counted(values, range(200), range(1, 6))
        kept = largest_remainder(whole, 140)
        assert counted(values, test, range(1, 6)) == [all_ - train for all_, train in zip(whole, kept, strict=True)]
    write_csv(tmp_path / "reviews.csv", rows)
    shared = run_plan(tmp_path, HEAD + TEXTS + 'shared_split = true\nstratify_by = "overall"\n')
    assert list(shared.manifest["splits"]["reviews"]) == ["shared"]
    assert [path.name for path in (shared.path / "splits" / "reviews").iterdir()] == ["shared.npz"]
    assert [words for words in shared.manifest["deviations"] if "A10" in words]
    assert texts.manifest["deviations"] == []


@pytest.mark.req("H-16", "A23")
def test_ratings_are_chosen_by_their_own_metric_after_clipping(texts):
    rows = review_rows(200)
    features = Words({}).transform([row["text"] for row in rows])
    for name in ("overall", "food"):
        values = np.array([float(row[name]) for row in rows])
        scores, chosen = ridge_by_hand(features, values, texts, "reviews", name, rmse, -1)
        assert np.allclose(texts.predictions("reviews", "4a", name), scores, atol=1e-8)
        assert texts.chosen("4a", name) == chosen
        assert texts.values("4a", name) == pytest.approx([rmse(texts.truth("reviews", name), one) for one in scores])


@pytest.mark.req("H-2", "A9")
def test_ratings_that_are_not_the_target_reach_nobody(texts, tmp_path):
    turned = [
        {**row, **{name: str(6 - int(row[name])) for name in ("overall", "service", "noise", "ambiance")}}
        for row in review_rows(200)
    ]
    write_csv(tmp_path / "reviews.csv", turned)
    other = run_plan(tmp_path, HEAD + TEXTS + TEXT_TEAM)
    for run in texts.states:
        one, two = (result.predictions("reviews", run, "food") for result in (texts, other))
        assert np.array_equal(one, two)
    assert not np.array_equal(
        texts.predictions("reviews", "6a", "overall"), other.predictions("reviews", "6a", "overall")
    )
    kept = b"".join(path.read_bytes() for path in sorted(texts.path.rglob("*.np?")))
    service = np.array([float(row["service"]) for row in review_rows(200)])
    assert service[:20].tobytes() not in kept


@pytest.mark.req("A12")
def test_columns_are_targets_and_what_they_hold_values_in_plan_files_and_report(texts, tmp_path):
    assert set(texts.scores[0]) >= {"target", "value"}
    assert "values_in_folds" in texts.manifest["splits"]["reviews"]["food"]
    found = texts.analysis(task="reviews")
    assert found["targets"] == ["overall", "food"]
    assert set(found["runs"]["6a"]["by_target"]) == {"overall", "food"}
    write_csv(tmp_path / "reviews.csv", review_rows(50))
    (plan := tmp_path / "plan.toml").write_text(HEAD + TEXTS.replace("targets", "classes"), encoding="utf-8")
    ended = here("harness", "run", plan)
    assert ended.code == 1
    assert "classes" in ended.stdout + ended.stderr


@pytest.mark.req("A27")
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("LEARNS_IN_TEST", "nothing may learn during the test"),
        ("LOOKS_AT_BATCH", "other codes when rows come in other batches"),
    ],
)
def test_a_learner_that_changes_during_the_test_fails_and_the_others_go_on(tmp_path, module, words):
    write_csv(tmp_path / "reviews.csv", review_rows(120))
    text = HEAD + TEXTS.replace('"overall", ', "") + TEXT_TEAM.replace("COMPONENTS", module)
    found = run_plan(tmp_path, text, "--only", "4a,5a,6a", code=1)
    assert found.states == {"4a": "done", "5a": "failed", "6a": "failed"}
    assert words in found.reasons["6a"]


@pytest.mark.req("A25")
def test_what_the_evaluation_teams_extractor_is_fitted_on_has_no_test_row_in_it(tmp_path):
    log = f'features = {{ module = "{SMALL}:WORDS", parameters = {{ log = "{tmp_path / "log"}" }} }}'
    rows = review_rows(120)
    write_csv(tmp_path / "reviews.csv", rows)
    text = TEXTS.replace('"overall", ', "").replace(f'features = "{SMALL}:WORDS"', log)
    found = run_plan(tmp_path, HEAD + text)
    seen = {rows[row]["text"] for row in found.seen("reviews", "food")}
    assert set((tmp_path / "log").read_text("utf-8").splitlines()) == seen
    assert len(seen) == 84


@pytest.mark.req("H-5")
def test_the_shallow_learner_is_the_one_layer_mode_of_the_deep_one(tmp_path):
    """Trained by itself, as a learner that is not greedy has it, or taken out of the deep one: the same codes."""
    text = f"""
[tasks.digits]
data = "digits"
targets = ["8"]
metric = "map11"
n = 150
folds = 3
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.digits]
preprocessor = "{SMALL}:SCALED"
learner = "{SMALL}:COMPONENTS"
linear = "{SMALL}:RIDGE"
"""
    taken = run_plan(tmp_path, HEAD + text, "--only", "5a,6a")
    alone = run_plan(tmp_path, HEAD + text.replace("COMPONENTS", "SEPARATE"), "--only", "5a,6a", out="alone")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    scaled, learner = Scaled({}), Components({})
    scaled.fit(pixels[taken.seen("digits")])
    rows = scaled.transform(pixels)
    learner.fit(rows[taken.seen("digits")])
    for run, layer in (("5a", 1), ("6a", 3)):
        scores, _ = ridge_by_hand(
            learner.transform(rows, layer), (labels == 8).astype(float), taken, "digits", "shared", average_precision, 1
        )
        assert np.allclose(taken.predictions("digits", run, "8"), scores, atol=1e-8)
        assert np.allclose(alone.predictions("digits", run, "8"), scores, atol=1e-8)
