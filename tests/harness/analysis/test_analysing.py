"""The analysis of a whole folder: claims with planted answers, families of tests, rankings, gaps, the same bytes."""

import json
import math

import pytest
from tests.harness.analysis.folders import folder

from basanite.analysis.comparison import holm
from basanite.harness.analysis.run_analysis import READINGS, Options, analyse, ranking_sentence, write_analysis
from basanite.harness.analysis.verdicts import NO_MARGIN, ONE_MODEL

FEW = Options(draws=120)


def verdicts(result):
    found = analyse(result, FEW).tasks["video"].judgements
    return {(one.claim.name, one.contrast.team): one for one in found}


def test_four_contrasts_are_tested_for_every_team_and_two_are_headlines(tmp_path):
    task = analyse(folder(tmp_path), FEW).tasks["video"]
    found = [(one.contrast.first, one.contrast.second) for one in task.judgements]
    assert found == [
        ("6a", "3a"), ("6b", "3b"), ("6a", "1"), ("6b", "1"), ("6a", "4a"), ("6b", "4b"), ("6a", "5a"), ("6b", "5b"),
    ]  # fmt: skip
    assert {one.claim.name for one in task.judgements if one.claim.headline} == {"central", "comparable"}


@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_planted_differences_give_their_verdicts(metric, tmp_path):
    result = folder(tmp_path, metric=metric, rows=500, signal={(6, "b"): 0.9}, margin=0.1)
    found = verdicts(result)
    assert found["central", "a"].contrast.finding == "better"
    assert found["comparable", "a"].contrast.state == "supported"
    assert found["central", "b"].contrast.finding == "outperformed"
    assert found["comparable", "b"].contrast.state == "not supported"


def test_without_a_margin_nothing_is_called_comparable(tmp_path):
    result = folder(tmp_path, margin=None)
    found = analyse(result, FEW).tasks["video"]
    assert {one.contrast.finding for one in found.judgements if one.claim.name == "comparable"} == {NO_MARGIN}
    assert any("margin" in note for note in found.notes)


def test_holm_goes_over_the_tests_of_all_teams(tmp_path):
    task = analyse(folder(tmp_path, teams=("a", "b", "c"), rows=80), FEW).tasks["video"]
    assert len(task.judgements) == 12
    wanted = holm([one.contrast.p for one in task.judgements])
    assert [one.contrast.p_adjusted for one in task.judgements] == pytest.approx(wanted)


def test_where_six_fails_against_four_or_five_the_plans_reading_is_printed(tmp_path):
    result = folder(tmp_path, signal={(6, "a"): 1.0, (6, "b"): 3.0, (5, "b"): 1.0})
    found = verdicts(result)
    assert found["learns", "a"].reading == READINGS[4]
    assert found["depth", "a"].reading == READINGS[5]
    assert found["learns", "b"].reading == ""
    assert found["central", "a"].reading == ""


def test_one_seed_speaks_of_one_model_and_three_of_the_algorithm(tmp_path):
    one = analyse(folder(tmp_path / "one"), FEW)
    assert all(found.contrast.note == ONE_MODEL for found in one.tasks["video"].judgements)
    assert "one trained model" in one.notes[0]
    three = analyse(folder(tmp_path / "three", replications=3, noise_of_seeds=0.1), FEW)
    assert all(found.contrast.note == "" for found in three.tasks["video"].judgements)
    assert three.tasks["video"].runs["6a"].seed_deviation > 0
    assert one.tasks["video"].runs["6a"].seed_deviation is None


def test_verdicts_come_from_the_interval_and_never_from_bars_or_folds(tmp_path):
    result = folder(tmp_path, rows=60, signal={(6, "a"): 1.35})
    one = verdicts(result)["central", "a"]
    assert one.by_t < 0.05  # folds alone would have called it better
    assert one.contrast.state == "undecided"


def test_teams_are_ranked_by_task_and_metric_with_what_is_significant(tmp_path):
    task = analyse(folder(tmp_path, signal={(6, "b"): 3.5}), FEW)
    top = task.tasks["video"].rankings[0]
    assert (top.condition, top.order, top.ranges) == (6, ("b", "a"), {"b": (1, 1), "a": (2, 2)})
    assert "significant" in ranking_sentence(top, task.teams, 0.05)
    assert {one.metric for one in task.tasks["video"].rankings if one.condition == 6} == {"map11", "map"}


def test_a_small_difference_is_ranked_but_said_not_to_be_significant(tmp_path):
    found = analyse(folder(tmp_path, rows=60, signal={(6, "b"): 2.02}), FEW)
    top = found.tasks["video"].rankings[0]
    assert set(top.ranges.values()) == {(1, 2)}
    assert ranking_sentence(top, found.teams, 0.05).endswith("no difference is significant.")


def test_with_ratings_the_lowest_is_first(tmp_path):
    found = analyse(folder(tmp_path, metric="mrmse", signal={(6, "b"): 4.0}), FEW).tasks["video"].rankings[0]
    assert (found.best, found.order) == ("low", ("b", "a"))
    assert found.values["b"] < found.values["a"]


def test_runs_that_are_missing_leave_gaps_and_not_errors(tmp_path):
    found = analyse(folder(tmp_path, gone=("6b", "5b")), FEW).tasks["video"]
    assert "6b" not in found.runs
    assert found.states["6b"] == ("not provided", "no learner")
    assert found.rankings[0].missing == {"b": "not provided: no learner"}
    assert {one.contrast.team for one in found.judgements} == {"a"}


def test_the_average_precision_without_interpolation_stands_beside_that_of_the_plan(tmp_path):
    found = analyse(folder(tmp_path), FEW).tasks["video"].runs["6a"]
    assert found.plain is not None
    assert found.plain != pytest.approx(found.estimate.value)
    assert analyse(folder(tmp_path / "ratings", metric="mrmse"), FEW).tasks["video"].runs["6a"].plain is None


def test_the_same_folder_gives_the_same_bytes(tmp_path):
    result = folder(tmp_path)
    write_analysis(result, analyse(result, FEW))
    first = (tmp_path / "analysis.json").read_bytes()
    write_analysis(result, analyse(result, FEW))
    assert (tmp_path / "analysis.json").read_bytes() == first
    told = json.loads(first)
    assert told["format"] == "basanite-harness-analysis/1"
    assert told["tasks"]["video"]["runs"]["6a"]["by_target"].keys() == {"run", "sit"}


def test_the_plan_says_how_much_is_drawn_unless_something_else_is_asked_for(tmp_path):
    def edit(manifest):
        manifest["plan"]["analysis"] = {"draws": 150, "alpha": 0.01}
        return manifest

    result = folder(tmp_path, edit=edit)
    assert Options.of(result) == Options(150, 0, 0.01)
    assert Options.of(result, 400).draws == 400
    assert analyse(result).settings["draws"] == 150


def test_draws_in_which_a_class_has_no_positive_are_counted(tmp_path):
    import numpy as np

    from basanite.harness.results import write_truth

    result = folder(tmp_path, rows=60)
    truth = np.zeros(60)
    truth[3] = 1
    write_truth(tmp_path, "video", "run", truth)
    found = analyse(result, FEW).tasks["video"]
    assert found.runs["6a"].estimate.undefined > 20
    assert any("no positive" in note for note in found.notes)
    assert not math.isnan(found.runs["6a"].estimate.error)


def test_what_is_marked_on_a_run_stands_with_the_results_of_its_task(tmp_path):
    from dataclasses import replace

    from basanite.harness.results import write_status

    result = folder(tmp_path)
    marked = [replace(one, flags=("trained by team",)) if one.run == "6a" else one for one in result.status()]
    write_status(tmp_path, marked)
    assert "Run 6a: trained by team." in analyse(result, FEW).tasks["video"].notes
