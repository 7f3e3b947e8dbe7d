"""Values, means and standard errors by hand, and the plan's own tests against scipy and all patterns of signs."""

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.harness.analysis.folders import folder

from basanite.harness.analysis.verdicts import (
    all_values,
    bars_overlap,
    flag_summary,
    fold_tests,
    mean_over_replications,
)
from basanite.harness.results import ResultFolder, write_scores


def test_every_value_of_a_run_is_kept_by_fold_and_target(tmp_path):
    result = folder(tmp_path)
    found = all_values(result, "video")["6a", 1]
    wanted = {(s.fold, s.target): s.value for s in result.scores() if s.run == "6a"}
    assert found.values.shape == (5, 2)
    assert {(k + 1, t): found.values[k, c] for k in range(5) for c, t in enumerate(found.targets)} == wanted


def test_standard_errors_are_across_targets_for_a_fold_and_across_folds_for_the_mean(tmp_path):
    found = all_values(folder(tmp_path, targets=("run", "sit", "eat")), "video")["6a", 1]
    means = [sum(row) / 3 for row in found.values]
    deviation = (sum((value - means[0]) ** 2 for value in found.values[0]) / 2) ** 0.5
    assert found.by_fold[0] == pytest.approx((means[0], deviation / 3**0.5))
    middle = sum(means) / 5
    spread = (sum((mean - middle) ** 2 for mean in means) / 4) ** 0.5
    assert found.overall == pytest.approx((middle, spread / 5**0.5))


def test_undefined_values_leave_the_mean_and_are_counted(tmp_path):
    result = folder(tmp_path)
    scores = [
        score.__class__(**{**vars(score), "value": None}) if score.target == "run" and score.fold == 1 else score
        for score in result.scores()
    ]
    write_scores(tmp_path, scores)
    found = all_values(ResultFolder(tmp_path), "video")["6a", 1]
    assert found.undefined_count == 1
    assert found.by_fold[0][0] == found.values[0, 1]


@pytest.mark.parametrize("seed", range(4))
def test_the_plans_view_is_a_paired_t_and_all_sign_flips(seed):
    rng = np.random.default_rng(seed)
    one, two = rng.normal(0.3, 1, 8), rng.normal(size=8)
    gaps = one - two
    exceeding = [abs(np.dot(signs, gaps)) >= abs(gaps.sum()) - 1e-12 for signs in itertools.product((1, -1), repeat=8)]
    by_t, by_signs = fold_tests(one, two)
    assert by_t == pytest.approx(stats.ttest_rel(one, two).pvalue)
    assert by_signs == pytest.approx(np.mean(exceeding))


def test_equal_runs_have_p_of_one_and_many_folds_no_sign_flips():
    same = np.array([0.5, 0.6])
    assert fold_tests(same, same) == (1.0, 1.0)
    assert fold_tests(same + 1, same) == (0.0, 0.5)
    rng = np.random.default_rng(1)
    assert np.isnan(fold_tests(rng.normal(size=20), rng.normal(size=20))[1])


def test_bars_meet_where_one_ends_where_the_other_begins():
    assert bars_overlap((1.0, 0.5), (2.0, 0.5))
    assert not bars_overlap((1.0, 0.4), (2.0, 0.5))


def test_replications_are_averaged_value_by_value(tmp_path):
    result = folder(tmp_path, replications=3, noise_of_seeds=0.3)
    every = all_values(result, "video")
    mean = mean_over_replications(every)["6a"]
    assert mean.values == pytest.approx(sum(every["6a", number].values for number in (1, 2, 3)) / 3)


def test_flags_are_counted_and_numbers_added_up():
    assert flag_summary(["constant scorer: x", "2 predictions were clipped", "3 predictions were clipped"]) == (
        "constant scorer: x (1 value)",
        "5 predictions were clipped",
    )
    assert flag_summary([]) == ()
