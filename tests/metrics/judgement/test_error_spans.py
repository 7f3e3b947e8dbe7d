"""Scores of judged translations against plain loops."""

import numpy as np
import pytest

from basanite.errors import SettingError
from basanite.metrics.judgement.error_spans import (
    Error,
    Judgements,
    mqm_score,
    standard_scores,
    system_intervals,
    system_scores,
)


def judgements(seed, segments=30, systems=3, judges=5):
    rng = np.random.default_rng(seed)
    rows = [
        (70 + 5 * system + 10 * (judge % 2) + rng.normal(0, 5), system, segment, segment // 5, judge)
        for segment in range(segments)
        for system in range(systems)
        for judge in rng.choice(judges, rng.integers(1, 4), replace=False)
    ]
    score, *numbers = np.array(rows).T
    return Judgements(score, *(column.astype(int) for column in numbers))


def by_loops(given):
    found = []
    for system in np.unique(given.system):
        means = [
            given.score[(given.system == system) & (given.segment == segment)].mean()
            for segment in np.unique(given.segment[given.system == system])
        ]
        found.append(np.mean(means))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_system_scores_the_mean_over_segments_of_the_mean_over_judges(seed):
    given = judgements(seed)
    assert system_scores(given).tolist() == pytest.approx(by_loops(given))


def test_intervals_draw_documents_and_judges():
    given = judgements(3)
    found = system_intervals(given, draws=300)
    assert [one.value for one in found] == pytest.approx(by_loops(given))
    assert all(one.low < one.value < one.high for one in found)
    steady = Judgements(given.score, given.system, given.segment, given.document, np.zeros_like(given.judge))
    widths = [np.mean([one.high - one.low for one in each]) for each in (found, system_intervals(steady, draws=300))]
    assert widths[0] > 1.5 * widths[1]


def test_scores_are_standardised_judge_by_judge():
    rng = np.random.default_rng(0)
    score, judge = rng.normal(60, 20, 50), rng.integers(0, 4, 50)
    score[judge == 3] = 80
    found = standard_scores(score, judge)
    for one in range(3):
        assert found[judge == one].mean() == pytest.approx(0, abs=1e-12)
        assert found[judge == one].std() == pytest.approx(1)
    assert not found[judge == 3].any()


def test_errors_cost_what_their_severity_says_and_never_more_than_no_translation_at_all():
    assert mqm_score([]) == 0
    assert mqm_score([Error("Minor"), Error("major"), Error("neutral")]) == 6
    assert mqm_score([Error("major", "Non-translation")]) == 25
    assert mqm_score([Error("critical")] * 9) == 25
    assert mqm_score([Error("major", "fluency/punctuation")]) == 5
    with pytest.raises(SettingError, match="minor, major"):
        mqm_score([Error("awful")])
