"""A plan runs to the end: every run of every team, each piece of work once, gaps instead of crashes."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import here
from tests.harness.plans import ALPHA, BETA, DIGITS, HEAD, HERE, REVIEWS, review_rows, write_csv, written
from tests.harness.small_modules import Components, Ridge, Scaled

from basanite.errors import SettingError
from basanite.harness.data.splits import partition_digest
from basanite.harness.evaluation import ready
from basanite.harness.pipeline import Builder
from basanite.harness.results import ResultFolder, ResultFolderError
from basanite.harness.running import run_plan
from basanite.harness.steps.graph import steps_in_order
from basanite.metrics.retrieval.average_precision import values as average_precision

ALL = ("0", "1", "2a", "2b", "3a", "3b", "4a", "4b", "5a", "5b", "6a", "6b")
TEXT_TEAM = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.reviews]
preprocessor = "{HERE}:WORDS"
learner = "{HERE}:COMPONENTS"
linear = "{HERE}:RIDGE"
"""


def carried_out(folder, text=HEAD + DIGITS + ALPHA + BETA, out="result", **options):
    return run_plan(ready(written(folder, text)), folder / out, **options)


def content(folder, *, without=("times.jsonl",)):
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in without)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def states(result):
    """How each run ended, but for the floor."""
    return {status.run: status.state for status in result.status() if status.run != "0"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result of the small plan with two teams."""
    return carried_out(tmp_path_factory.mktemp("whole"))


def test_two_teams_make_eleven_runs_of_a_task_beside_the_floor(whole):
    assert whole.runs("digits") == ALL == whole.done("digits")
    assert {score.run for score in whole.scores()} == set(ALL)


def test_every_run_has_a_value_for_each_fold_and_target_of_one_replication(whole):
    split = whole.split("digits", "8")
    assert [len(fold) for fold in split.folds] == [100] * 3
    for run in ALL:
        found = [(score.target, score.fold, score.replication) for score in whole.scores() if score.run == run]
        assert found == [(target, fold, 1) for target in ("0", "8") for fold in (1, 2, 3)]
        assert whole.predictions("digits", run, "8").shape == (3, len(split.test))


def test_scores_are_those_of_the_predictions_kept(whole):
    for score in whole.scores():
        kept = whole.predictions("digits", score.run, score.target)[score.fold - 1]
        assert score.value == pytest.approx(
            average_precision(whole.truth("digits", score.target), kept)["map11"], abs=1e-12
        )
        assert (score.metric, score.status) == ("ap11", "done")


@pytest.mark.parametrize(("run", "layer"), [("5a", 1), ("6a", 3)])
def test_a_learner_trains_on_all_training_and_validation_rows_and_the_classifier_on_one_fold_of_its_codes(
    whole, run, layer
):
    evaluation = ready(Path(whole.path.parent / "plan.toml"))
    pixels, truth = evaluation.data["digits"].items, evaluation.data["digits"].targets["8"]
    split = whole.split("digits", "8")
    seen = np.concatenate([*split.folds, split.validation])
    scaled, learner, classifier = Scaled({}), Components({}), Ridge({})
    scaled.fit(pixels[seen])
    learner.fit(scaled.transform(pixels[seen]))
    score = next(score for score in whole.scores() if (score.run, score.target, score.fold) == (run, "8", 2))
    codes = learner.transform(scaled.transform(pixels[split.folds[1]]), layer)
    classifier.fit(codes, truth[split.folds[1]], score.chosen)
    expected = classifier.score(learner.transform(scaled.transform(pixels[split.test]), layer))
    assert np.allclose(whole.predictions("digits", run, "8")[1], expected, atol=1e-8)


def test_the_shallow_learner_is_the_one_layer_mode_of_the_deep_one(whole, tmp_path):
    text = HEAD + DIGITS + ALPHA.replace("COMPONENTS", "SEPARATE")
    separate = carried_out(tmp_path, text, only=["5a", "6a"])
    for run in ("5a", "6a"):
        ours, theirs = (result.predictions("digits", run, "8") for result in (whole, separate))
        assert np.allclose(ours, theirs, atol=1e-10)
    assert not np.allclose(whole.predictions("digits", "5a", "8"), whole.predictions("digits", "6a", "8"), atol=1e-3)


def with_log(text, log):
    for module in ("SCALED", "COMPONENTS", "SEPARATE"):
        choice = f'{{ module = "{HERE}:{module}", parameters = {{ log = "{log}" }} }}'
        text = text.replace(f'"{HERE}:{module}"', choice)
    return text.replace(
        f'{{ module = {{ module = "{HERE}:SEPARATE", parameters = {{ log = "{log}" }} }}, parameters',
        '{ module = "' + HERE + ':SEPARATE", parameters',
    ).replace("units = 20", f'units = 20, log = "{log}"')


def test_shared_work_is_done_once_and_a_second_run_does_none(tmp_path):
    log = tmp_path / "log"
    text = with_log(HEAD + DIGITS + ALPHA + BETA, log)
    result = carried_out(tmp_path, text)
    lines = log.read_text().splitlines()
    assert [line for line in lines if line.startswith("fit")] == ["fit 1258"]
    assert [line for line in lines if line.startswith("learn")] == [
        "learn 1258 in 3",
        "learn 1258 in 1",
        "learn 1258 in 3",
    ]
    before = content(result.path, without=())
    seen = []
    again = run_plan(ready(written(tmp_path, text)), tmp_path / "result", watcher=_watcher(seen))
    assert set(seen) == {"reused"}
    assert log.read_text().splitlines() == lines
    assert content(again.path, without=()) == before


def _watcher(seen):
    from basanite.harness.running import Watcher

    return Watcher(progress=lambda outcome, finished, total: seen.append(outcome.state))


def test_fitted_preprocessing_sees_training_and_validation_rows_and_never_a_test_row(tmp_path):
    log = tmp_path / "log"
    write_csv(tmp_path / "reviews.csv", review_rows(200))
    text = HEAD + REVIEWS.replace(
        f'features = "{HERE}:WORDS"', f'features = {{ module = "{HERE}:WORDS", parameters = {{ log = "{log}" }} }}'
    )
    result = carried_out(tmp_path, text.replace('"overall", "food"', '"food"'))
    items = [row["text"] for row in review_rows(200)]
    split = result.split("reviews", "food")
    seen = {items[row] for row in (*split.training, *split.validation)}
    assert set(log.read_text().splitlines()) == seen
    assert len(split.test) == 60
    assert not seen & {items[row] for row in split.test}


def test_the_ratings_that_are_not_the_target_reach_nobody(tmp_path):
    rows = review_rows(200)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    write_csv(tmp_path / "one" / "reviews.csv", rows)
    turned = [
        {**row, **{name: str(6 - int(row[name])) for name in ("overall", "service", "noise", "ambiance")}}
        for row in rows
    ]
    write_csv(tmp_path / "two" / "reviews.csv", turned)
    one, two = (carried_out(tmp_path / name, HEAD + REVIEWS + TEXT_TEAM) for name in ("one", "two"))
    for run in one.done("reviews"):
        assert np.array_equal(one.predictions("reviews", run, "food"), two.predictions("reviews", run, "food"))
        assert not np.array_equal(
            one.predictions("reviews", run, "overall"), two.predictions("reviews", run, "overall")
        )
    stored = b"".join(path.read_bytes() for path in (one.path / "steps").rglob("*.npy"))
    service = np.array([float(row["service"]) for row in rows])
    assert service[:20].tobytes() not in stored


def test_a_run_that_cannot_be_or_fails_leaves_a_gap_and_the_others_go_on(tmp_path):
    text = HEAD + DIGITS.replace("STRONG", "NEEDS_COUNTS") + ALPHA.replace("RIDGE", "BROKEN") + BETA
    text = text.replace(f'learner = {{ module = "{HERE}:SEPARATE", parameters = {{ units = 20 }} }}\n', "")
    result = carried_out(tmp_path, text)
    assert states(result) == {
        **dict.fromkeys(("1", "3a", "3b"), "not applicable"),
        **dict.fromkeys(("2a", "4a", "5a", "6a"), "failed"),
        **dict.fromkeys(("2b", "4b"), "done"),
        **dict.fromkeys(("5b", "6b"), "not provided"),
    }
    reasons = {status.run: status.reason for status in result.status()}
    assert reasons["1"] == "needs-counts needs counts and gets nonneg"
    assert reasons["4a"] == "classify digits/0 4a: ValueError: this classifier cannot learn"
    assert reasons["6b"] == "team b has no learner for this task"
    assert {score.run for score in result.scores()} == {"0", "2b", "4b"}
    with pytest.raises(ResultFolderError):
        result.predictions("digits", "6b", "0")


def test_a_learner_without_a_one_layer_mode_does_not_provide_condition_5(tmp_path, monkeypatch):
    monkeypatch.delattr(Components, "shallow")
    result = carried_out(tmp_path, HEAD + DIGITS + BETA, only=["5b", "6b"])
    assert states(result) == {"5b": "not provided", "6b": "done"}


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("LEARNS_IN_TEST", "changed its state|other codes"),
        ("LOOKS_AT_BATCH", "other codes when rows come in other batches"),
    ],
)
def test_a_learner_that_changes_during_the_test_is_refused(tmp_path, module, words):
    result = carried_out(tmp_path, HEAD + DIGITS + ALPHA.replace("COMPONENTS", module))
    assert states(result) == {**dict.fromkeys(("1", "2a", "3a", "4a"), "done"), "5a": "failed", "6a": "failed"}
    reason = next(status.reason for status in result.status() if status.run == "6a")
    assert re.search(words, reason)


@pytest.mark.req("A37")
def test_replications_have_seeds_of_their_own_and_their_spread_is_told(tmp_path):
    text = HEAD.replace("seed = 7", "seed = 7\nreplications = 3") + DIGITS + ALPHA.replace("COMPONENTS", "RANDOM")
    result = carried_out(tmp_path, text, only=["4a", "6a"])
    codes = [result.predictions("digits", "6a", "0", replication=number) for number in (1, 2, 3)]
    assert not np.allclose(codes[0], codes[1])
    assert not np.allclose(codes[1], codes[2])
    assert (result.path / "predictions" / "digits" / "6a.r2").is_dir()
    told = json.loads(here("harness", "status", result.path, "--json").stdout)["tasks"]["digits"]["runs"]
    assert told["6a"]["between_seed_sd"] > 0
    assert told["4a"]["between_seed_sd"] == 0
    alone = carried_out(tmp_path, HEAD + DIGITS + ALPHA.replace("COMPONENTS", "RANDOM"), out="alone", only=["6a"])
    assert np.array_equal(alone.predictions("digits", "6a", "0"), codes[0])


def test_options_that_depart_from_the_plan_are_written_down_with_what_they_did(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(200))
    options = 'shared_split = true\nvalidation_cap = 20\nshuffle_seed = 4\ngroup_by = "restaurant"\n'
    plain = carried_out(tmp_path, HEAD + REVIEWS, out="plain").manifest
    changed = carried_out(tmp_path, HEAD + REVIEWS + options).manifest
    assert plain["deviations"] == []
    assert [words[-4:-1].strip(" (") for words in changed["deviations"]] == ["A10", "A11", "A24", "A5"]
    assert list(plain["splits"]["reviews"]) == ["overall", "food"]
    assert list(changed["splits"]["reviews"]) == ["shared"]
    assert plain["splits"]["reviews"]["food"]["group_overlap"] == 1.0
    shared = changed["splits"]["reviews"]["shared"]
    assert (shared["group_overlap"], shared["validation"]) == (0.0, 20)
    assert [sum(counts.values()) for counts in shared["values_in_folds"]] == [30, 30, 30]


def test_splits_are_written_with_their_digests(whole):
    split = whole.split("digits", "0")
    assert whole.manifest["partitions"] == {"digits/shared": partition_digest(split)}


def test_selected_runs_are_redone_as_a_numbered_iteration_with_a_reason(tmp_path):
    first = carried_out(tmp_path)
    before = {run: first.predictions("digits", run, "8") for run in ALL}
    changed = HEAD + DIGITS + ALPHA + BETA.replace("units = 20", "units = 5")
    with pytest.raises(SettingError, match="another plan"):
        carried_out(tmp_path, changed)
    with pytest.raises(SettingError, match="--reason"):
        carried_out(tmp_path, changed, only=["6b"])
    with pytest.raises(SettingError, match="There is no run '7b'"):
        carried_out(tmp_path, changed, only=["7b"], reason="x")
    again = carried_out(tmp_path, changed, only=["6b"], reason="a wrong number of units")
    differs = {run for run in ALL if not np.array_equal(again.predictions("digits", run, "8"), before[run])}
    assert differs == {"6b"}
    assert again.manifest["iteration"] == 2
    history = [(entry["number"], entry["runs"], entry["reason"]) for entry in again.manifest["iterations"]]
    assert history == [(1, [], ""), (2, ["6b"], "a wrong number of units")]
    assert again.runs("digits") == ALL
    assert len(list(again.scores())) == 12 * 2 * 3
    kept = content(again.path)
    assert content(carried_out(tmp_path, changed).path) == kept


def test_runs_on_other_splits_are_never_mixed(tmp_path):
    carried_out(tmp_path, only=["1"])
    with pytest.raises(SettingError, match="other splits"):
        carried_out(tmp_path, (HEAD + DIGITS + ALPHA + BETA).replace("n = 300", "n = 303"), only=["1"], reason="x")


def test_runs_may_be_added_one_by_one_and_the_whole_plan_completes_them(tmp_path, whole):
    carried_out(tmp_path, only=["1"])
    result = carried_out(tmp_path, only=["2a", "3a"])
    assert result.manifest["iteration"] == 1
    assert result.runs("digits") == ("0", "1", "2a", "3a")
    assert content(carried_out(tmp_path).path) == content(whole.path)


def test_a_folder_that_is_no_result_is_told(tmp_path):
    with pytest.raises(ResultFolderError, match="Is it a result folder"):
        _ = ResultFolder(tmp_path).manifest
    (tmp_path / "manifest.json").write_text('{"format": "basanite-harness-result/9"}')
    with pytest.raises(ResultFolderError, match="result/9"):
        _ = ResultFolder(tmp_path).manifest


def test_texts_are_cut_into_words_once_for_all_splits_and_teams(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(200))
    text = HEAD + REVIEWS + TEXT_TEAM
    text = text.replace(f'features = "{HERE}:WORDS"', 'features = "bow"')
    result = carried_out(
        tmp_path, text.replace(f'preprocessor = "{HERE}:WORDS"', 'preprocessor = "words"'), only=["1", "4a"]
    )
    names = [step["name"] for step in json.loads((result.path / "steps.json").read_text())["steps"]]
    assert [name for name in names if name.startswith("prepare")] == ["prepare reviews"]
    assert len([name for name in names if name.startswith("preprocess")]) == 4


def test_the_group_of_every_test_row_is_kept(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(200))
    result = carried_out(tmp_path, HEAD + REVIEWS)
    test = result.split("reviews", "food").test
    assert result.clusters("reviews", "food").tolist() == [row % 7 for row in test]


def test_data_without_groups_have_no_clusters(whole):
    assert whole.clusters("digits", "8") is None


def test_no_step_before_the_scorer_stands_on_the_truth_of_a_test_row(tmp_path):
    write_csv(tmp_path / "reviews.csv", review_rows(200))
    evaluation = ready(written(tmp_path, HEAD + REVIEWS + TEXT_TEAM))
    builder = Builder(evaluation)
    planned = list(builder.planned_runs())
    task = evaluation.plan.tasks["reviews"]
    kinds = {key: given.step.parameters["kind"] for key, given in builder.given.items()}
    for entry in planned:
        below = {kinds.get(step.key): step for step in steps_in_order([entry.predictions])}
        assert "truth" not in below
        values = builder.given[below["labels"].key].value["values"]
        assert len(values) == builder.layout(task, entry.target).visible
    assert {kinds.get(step.key) for step in planned[0].scores.inputs.values()} == {"truth", None}
