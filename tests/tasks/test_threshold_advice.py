"""Advice on thresholds: what decides a query comes from other queries, and without a clear gain it is: keep."""

import math

import numpy as np
import pytest
from tests.tasks import folders

import basanite
from basanite.analysis.advice import Gain
from basanite.analysis.results import Difference
from basanite.cli.held_key import HeldKeyScorer
from basanite.errors import SettingError
from basanite.figures import Chart
from basanite.metrics.retrieval.query_value import values
from basanite.metrics.retrieval.thresholds import SCALE
from basanite.reports.advice import advice_report
from basanite.reports.charts import vega_lite
from basanite.tasks import Inputs
from basanite.tasks.retrieval.threshold_advice import Method, advise

BETA = 20.0


def season(queries=40, documents=120, *, threshold=50_000, seed=1):
    """A truth and a system whose scores are far apart but overlap, decided by one threshold."""
    rng = np.random.default_rng(seed)
    relevant = rng.random((queries, documents)) < 0.05
    relevant[::7] = False
    logit = rng.normal(-3, 1.2, relevant.shape) + 5 * relevant
    score = (SCALE / (1 + np.exp(-logit))).round().astype(int)
    return relevant, score >= threshold, score


def opened(tmp_path, case, **settings):
    files = folders.run(tmp_path, *case)
    work = HeldKeyScorer("clir", settings, draws=400)
    return work, work.run(Inputs(files["submission"], files["reference"]))


def advice(tmp_path, case, method=None, **settings):
    work, run = opened(tmp_path, case, **settings)
    return advise(run, "Alpha", work.design, method)


def by_hand(relevant, score, folds):
    """Each query's threshold: of all that make a difference, the largest that is best on the other folds."""
    fold = np.arange(len(relevant)) % folds
    chosen = []
    for query in range(len(relevant)):
        rest = fold != fold[query]
        candidates = [*np.unique(score[rest]), SCALE + 1]
        gained = [values(relevant[rest], score[rest] >= at, beta=BETA)["aqwv"] for at in candidates]
        chosen.append(max(at for at, gain in zip(candidates, gained, strict=True) if gain >= max(gained) - 1e-12))
    return np.array(chosen)


@pytest.mark.req("S-15")
def test_one_threshold_is_chosen_on_the_queries_of_other_folds(tmp_path):
    case = season(9, 30)
    found = advice(tmp_path, case, folds=3).gains[0]
    wanted = by_hand(case[0], case[2], 3)
    assert found.policy.by_unit == pytest.approx(np.where(wanted > SCALE, np.inf, wanted / SCALE))
    decided = case[2] >= wanted[:, None]
    assert found.value == pytest.approx(values(case[0], decided, beta=BETA)["aqwv"])


@pytest.mark.parametrize("method", [Method(), Method("logistic"), Method(count="queries")])
def test_the_truth_of_a_query_has_no_part_in_what_decides_it(tmp_path, method):
    relevant, returned, score = season(12, 40)
    turned = relevant.copy()
    turned[2] = ~turned[2]
    first, second = (
        advice(tmp_path / name, (truth, returned, score), method, folds=4)
        for name, truth in (("a", relevant), ("b", turned))
    )
    for one, other in zip(first.gains, second.gains, strict=True):
        same_fold = [2, 6, 10]
        assert one.policy.by_unit[2] == other.policy.by_unit[2]
        assert one.policy.by_unit[same_fold] == pytest.approx(other.policy.by_unit[same_fold])
    changed = [
        one.policy.by_unit[0] != other.policy.by_unit[0] for one, other in zip(first.gains, second.gains, strict=True)
    ]
    assert any(changed)


def test_a_system_that_is_optimal_already_is_told_to_keep_its_decisions(tmp_path):
    relevant, _, score = season()
    found = advice(tmp_path, (relevant, relevant, np.where(relevant, score, 0)))
    assert found.submitted == 1.0
    assert found.advice == "keep"
    assert advice_report(found).sentences[0].startswith("Keep the submitted decisions")


@pytest.mark.req("S-15")
def test_a_threshold_far_off_is_told_to_move_and_the_gain_has_a_paired_interval(tmp_path):
    case = season(threshold=3_000)
    found = advice(tmp_path, case)
    best = found.best
    assert best is not None
    assert best.difference.low > 0
    assert best.difference.difference == pytest.approx(best.value - found.submitted)
    assert best.difference.low < best.difference.difference < best.difference.high
    assert found.submitted == pytest.approx(values(*case[:2], beta=BETA)["aqwv"])


@pytest.mark.parametrize(
    ("low", "high", "verdict", "clear"),
    [
        (-0.01, 0.2, "first", False),
        (0.0, 0.2, "first", False),
        (None, None, "first", False),
        (0.01, 0.2, "undecided", False),
        (-0.2, -0.1, "second", False),
        (0.01, 0.2, "first", True),
    ],
)
def test_a_gain_whose_interval_holds_0_is_never_clear(low, high, verdict, clear):
    assert Gain(None, 0.5, Difference("aqwv", "global", "keep", 0.1, low, high, 0.01, 0.01, verdict)).clear is clear


@pytest.mark.req("S-14")
def test_the_cross_fitted_value_stands_beside_maxima_that_are_labelled_optimistic(tmp_path):
    case = season(30, 60)
    found = advice(tmp_path, case)
    scored = basanite.score("clir", **folders.run(tmp_path, *case), draws=50).values
    assert found.gains[0].value == pytest.approx(scored["mqwv_crossfit"].value)
    assert found.optimistic == {name: pytest.approx(scored[name].value) for name in ("mqwv", "oracle")}
    report = advice_report(found)
    rows = {row[0]: row for row in report.sections[0].figures[0].rows}
    assert all("optimistic" in rows[name][-1] for name in ("mqwv", "oracle"))
    assert "optimistic" in report.sentences[-1]


def test_too_few_queries_give_no_interval_and_the_advice_to_keep(tmp_path):
    found = advice(tmp_path, season(10, 60, threshold=3_000))
    assert [gain.difference.low for gain in found.gains] == [None, None]
    assert found.advice == "keep"


def test_both_intervals_hold_together_and_both_charts_can_be_drawn(tmp_path):
    report = advice_report(advice(tmp_path, season(threshold=3_000)))
    assert report.data["policies"]["global"]["level"] == pytest.approx(0.975)
    drawn = [figure for section in report.sections for figure in section.figures if isinstance(figure, Chart)]
    assert [chart.kind for chart in drawn] == ["bars", "line"]
    assert all(vega_lite(chart)["data"] for chart in drawn)


def test_a_system_without_scores_is_told_that_there_is_nothing_to_choose(tmp_path):
    relevant, returned, score = season(20, 40)
    found = advice(tmp_path, (relevant, returned, np.full_like(score, 50_000)))
    assert found.advice == "keep"
    assert any("M30" in note for note in found.notes)


def test_without_any_relevant_document_the_value_is_undefined_and_the_advice_is_keep(tmp_path):
    relevant, returned, score = season(20, 20)
    found = advice(tmp_path, (np.zeros_like(relevant), returned, score))
    assert math.isnan(found.submitted)
    assert found.advice == "keep"
    assert advice_report(found).sentences[1] == "The gain of global is undefined."


def test_tasks_without_queries_are_refused():
    with pytest.raises(SettingError, match="clir or e2e"):
        advise(object(), "Alpha", None)
