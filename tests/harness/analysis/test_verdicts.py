"""Verdicts: what each bound allows to be said, adjusted over all tests that make a claim."""

import math

import pytest
from scipy import stats

from basanite.harness.analysis.verdicts import NO_MARGIN, ONE_MODEL, Contrast, judge_contrasts


def contrast(gain, kind="superior", margin=None, error=0.01, **more):
    return Contrast("claim", "text", "a", "6", "3", gain, error, 20.0, kind, margin, **more)


def one(*args, **more):
    return judge_contrasts([contrast(*args, **more)])[0]


@pytest.mark.parametrize(
    ("gain", "margin", "finding", "state"),
    [
        (0.05, 0.03, "comparable", "supported"),
        (0.0, 0.03, "comparable", "supported"),
        (-0.005, 0.03, "comparable", "supported"),
        (-0.015, 0.03, "inconclusive", "undecided"),
        (-0.022, 0.08, "outperformed by less than the margin", "not supported"),
        (-0.06, 0.03, "outperformed", "not supported"),
        (0.0, None, NO_MARGIN, "undecided"),
        (-0.06, None, "outperformed", "not supported"),
    ],
)
def test_comparable_needs_a_margin_and_a_bound_below_it(gain, margin, finding, state):
    found = one(gain, "not inferior", margin)
    assert (found.finding, found.state) == (finding, state)


@pytest.mark.parametrize(
    ("gain", "finding", "state"),
    [(0.05, "better", "supported"), (0.005, "inconclusive", "undecided"), (-0.05, "outperformed", "not supported")],
)
def test_superiority_is_shown_by_rejecting_that_there_is_none(gain, finding, state):
    found = one(gain)
    assert (found.finding, found.state) == (finding, state)
    assert found.p == pytest.approx(stats.t.sf(gain / 0.01, 20))


def test_holm_goes_over_the_tests_that_make_claims_and_no_others():
    many = [contrast(0.018), contrast(0.019), contrast(0.2), contrast(0.0, "not inferior", None)]
    found = judge_contrasts(many)
    assert math.isnan(found[3].p_adjusted)  # without a margin nothing is tested there
    assert found[0].p_adjusted == pytest.approx(max(2 * found[1].p, found[0].p))
    assert judge_contrasts(many[:1])[0].p_adjusted == found[0].p


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("margin", [None, 0.03])
def test_the_reason_of_a_verdict_is_true_at_every_level_of_the_tests(alpha, margin):
    """Each bound that is said to lie above or below something does, with the confidence that stands beside it."""
    kind = "superior" if margin is None else "not inferior"
    line = -(margin or 0.0)
    for found in judge_contrasts([contrast(at / 1000, kind, margin) for at in range(-80, 81, 4)], alpha=alpha):
        lower, upper = (found.gain + sign * stats.t.ppf(1 - alpha, 20) * 0.01 for sign in (-1, 1))
        sure, reason = f"one-sided {100 - 100 * alpha:g}%", found.reason
        assert sure in reason
        said = f"{sure} lower bound {lower:.4f} is above" in reason
        assert said == (lower > line and upper >= 0), reason
        assert (f"{sure} upper bound {upper:.4f} is below 0" in reason) == (upper < 0), reason
        assert ("becomes" in reason) == (found.state == "undecided" and found.p <= alpha < found.p_adjusted), reason


def test_equal_systems_are_not_called_comparable_when_the_error_is_large():
    assert one(0.0, "not inferior", 0.01, error=0.05).finding == "inconclusive"


def test_the_smallest_detectable_gain_comes_from_the_error_alone():
    small, large = one(0.0), one(0.3)
    assert small.smallest_detectable == large.smallest_detectable
    assert small.smallest_detectable == pytest.approx((stats.t.ppf(0.95, 20) + stats.t.ppf(0.8, 20)) * 0.01)


def test_with_fewer_than_three_seeds_a_verdict_is_for_one_trained_model():
    assert judge_contrasts([contrast(0.05)])[0].note == ONE_MODEL
    assert judge_contrasts([contrast(0.05)], replications=2)[0].note == ONE_MODEL
    assert judge_contrasts([contrast(0.05)], replications=3)[0].note == ""


def test_without_any_error_the_sign_decides():
    assert one(0.1, error=0.0).p == 0.0
    assert one(0.0, error=0.0).p == 1.0
