"""Two result folders: what differs between sites, and how far teams have come on."""

import json

import numpy as np
import pytest
from tests.harness.analysis.folders import folder

from basanite.harness.analysis.comparison import compare_folders, progress
from basanite.harness.analysis.run_analysis import Options
from basanite.harness.results import ResultFolder, write_scores

FEW = Options(draws=120)


def changed(path, gap, run="6a"):
    """The same folder with every value of one run moved."""
    result = ResultFolder(path)
    scores = [
        score.__class__(**{**vars(score), "value": score.value + gap}) if score.run == run else score
        for score in result.scores()
    ]
    write_scores(path, scores)
    return result


def test_equal_folders_agree_and_a_run_beyond_the_tolerance_is_listed(tmp_path):
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    assert compare_folders(one, two).beyond == ()
    changed(tmp_path / "two", 2e-6)
    found = compare_folders(one, two)
    assert [run.run for run in found.beyond] == ["6a"]
    assert found.beyond[0].difference == pytest.approx(2e-6)
    assert compare_folders(one, two, tolerance=1e-5).beyond == ()


def test_the_standard_error_over_folds_excuses_nothing(tmp_path):
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    changed(tmp_path / "two", 0.001)  # far below what folds vary by
    found = compare_folders(one, two)
    assert found.beyond[0].rule == "tolerance"


def test_with_several_seeds_sites_may_differ_by_what_seeds_do(tmp_path):
    given = {"replications": 3, "noise_of_seeds": 0.3}
    one, two = folder(tmp_path / "one", **given), folder(tmp_path / "two", **given)
    changed(tmp_path / "two", 0.001)
    found = compare_folders(one, two)
    assert found.beyond == ()
    assert {run.rule for run in found.runs} == {"between-seed deviation"}
    changed(tmp_path / "two", 0.5)
    assert [run.run for run in compare_folders(one, two).beyond] == ["6a"]


def test_both_manifests_differences_are_listed_with_their_place(tmp_path):
    def edit(manifest):
        manifest["software"]["numpy"] = "1"
        manifest["plan"]["teams"][0]["systems"]["video"]["learner"]["parameters"] = {"units": 3}
        return manifest

    found = compare_folders(folder(tmp_path / "one"), folder(tmp_path / "two", edit=edit))
    assert ("software.numpy", "2", "1") in found.facts
    assert ("plan.teams.1.systems.video.learner.parameters.units", "–", "3") in found.facts


def test_runs_at_one_site_only_and_other_folds_are_told(tmp_path):
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two", gone=("6b",))
    found = compare_folders(one, two)
    assert [(run.run, run.note) for run in found.beyond] == [("6b", "only the first has this run")]
    other = compare_folders(one, folder(tmp_path / "three", folds=4))
    assert {run.note for run in other.beyond} == {"other folds or targets"}


def test_predictions_of_a_foreign_folder_are_never_unpickled(tmp_path):
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    path = tmp_path / "two" / "predictions" / "video" / "6a" / "run.npy"
    np.save(path, np.array([{"evil": 1}], dtype=object), allow_pickle=True)
    from basanite.harness.results import ResultFolderError

    with pytest.raises(ResultFolderError):
        compare_folders(one, two)


def test_a_comparison_is_json_without_surprises(tmp_path):
    found = compare_folders(folder(tmp_path / "one"), folder(tmp_path / "two", gone=("6b",)))
    from basanite.canonical import dumps

    told = json.loads(dumps(found.as_dict()))
    assert told["agree"] is False
    assert told["beyond"] == ["video/6b"]


@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_progress_is_paired_where_rows_are_the_same(metric, tmp_path):
    before = folder(tmp_path / "before", metric=metric)
    after = folder(tmp_path / "after", metric=metric, signal={(6, "a"): 3.0})
    found = {one.run: one for one in progress(before, after, FEW).runs}
    assert found["6a"].verdict == "better"
    assert found["6a"].gain.low > 0
    assert (found["6b"].gain.value, found["6b"].gain.error, found["6b"].verdict) == (0.0, 0.0, "no change shown")
    assert all(one.paired for one in found.values())


def test_progress_on_other_rows_is_that_of_two_independent_values(tmp_path):
    before, after = folder(tmp_path / "before"), folder(tmp_path / "after", seed=1, signal={(6, "a"): 6.0})
    found = progress(before, after, FEW)
    one = next(one for one in found.runs if one.run == "6a")
    assert not one.paired
    assert one.gain.value == pytest.approx(one.after - one.before)
    assert any("independent" in note for note in found.notes)
    same = next(one for one in found.runs if one.run == "2b")
    assert same.gain.low < 0 < same.gain.high


def test_what_only_one_evaluation_has_and_other_teams_are_told(tmp_path):
    before, after = folder(tmp_path / "before", gone=("6b",)), folder(tmp_path / "after", names={"b": "Gamma"})
    found = progress(before, after, FEW)
    assert found.only == ("video/6b",)
    assert any("Gamma" in note for note in found.notes)
