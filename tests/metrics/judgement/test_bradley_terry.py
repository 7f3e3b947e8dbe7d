"""Bradley-Terry with ties and position against scipy's optimiser on the likelihood of each comparison written out."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from basanite.metrics.judgement.bradley_terry import (
    UnconnectedError,
    circular_triads,
    comparisons_of,
    fit,
    separate_groups,
    with_intervals,
)


def season(seed, *, systems=4, size=300, tie=0.7, position=0.4):
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, systems)
    first = rng.integers(0, systems, size)
    second = (first + rng.integers(1, systems, size)) % systems
    one, other = np.exp(strength[first] + position), np.exp(strength[second])
    even = tie * np.sqrt(one * other)
    drawn = rng.random(size) * (one + other + even)
    outcome = np.where(drawn < one, 0, np.where(drawn < one + other, 1, 2))
    made = comparisons_of(
        first, second, outcome, systems=systems, item=rng.integers(0, 30, size), judge=rng.integers(0, 6, size)
    )
    return made, strength - strength.mean()


def likelihood(given, strengths, position, tie):
    total = 0.0
    for first, second, outcome in zip(given.first, given.second, given.outcome, strict=True):
        one, other = np.exp(strengths[first] + position), np.exp(strengths[second])
        even = tie * np.sqrt(one * other)
        total += np.log((one, other, even)[outcome] / (one + other + even))
    return total


@pytest.mark.parametrize("prior", [None, 0.8])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_fit_is_the_maximum_that_another_optimiser_finds(seed, prior):
    given, _ = season(seed, size=150)

    def loss(at):
        strengths = np.append(0, at[:3])
        held = (
            0 if prior is None else (((strengths - strengths.mean()) ** 2).sum() + at[3] ** 2 + at[4] ** 2) / prior**2
        )
        return held / 2 - likelihood(given, strengths, at[3], np.exp(at[4]))

    peer = minimize(loss, np.zeros(5), method="BFGS")
    wanted = np.append(0, peer.x[:3])
    found = fit(given, prior=prior)
    assert found.strengths == pytest.approx(wanted - wanted.mean(), abs=1e-4)
    assert (found.position, found.tie) == pytest.approx((peer.x[3], np.exp(peer.x[4])), abs=1e-4)
    assert found.log_likelihood == pytest.approx(-peer.fun, abs=1e-7)
    assert ("0.8" in found.regularised) == (prior is not None)


def test_without_ties_and_position_it_is_plain_bradley_terry():
    wins = np.array([[0, 7, 4], [3, 0, 6], [2, 5, 0]])
    pairs = [(i, j) for i, j in itertools.permutations(range(3), 2) for _ in range(wins[i, j])]
    given = comparisons_of(*np.array(pairs).T, np.zeros(len(pairs)), systems=3)
    found = fit(given, position=False)
    worth = np.ones(3)
    for _ in range(2000):  # Zermelo's old iteration
        games = (wins + wins.T) / (worth[:, None] + worth[None])
        worth = wins.sum(axis=1) / games.sum(axis=1)
    assert found.strengths == pytest.approx(np.log(worth) - np.log(worth).mean(), abs=1e-6)
    assert (found.position, found.tie) == (0, 0)


def test_a_position_effect_is_found_and_does_not_leak_into_strengths():
    given, _ = season(3, size=4000, position=0.8)
    found = fit(given)
    assert found.position == pytest.approx(0.8, abs=0.2)
    assert found.tie == pytest.approx(0.7, abs=0.15)


def test_systems_that_wins_do_not_tie_together_are_refused_by_name_or_held_by_a_named_prior():
    given = comparisons_of([0, 0, 2], [1, 1, 3], [0, 0, 2], systems=4)
    assert separate_groups(given) == [[0], [1], [2, 3]]
    with pytest.raises(UnconnectedError, match=r"3 groups.*name a prior"):
        fit(given)
    held = fit(given, prior=1.0)
    assert "standard deviation 1" in held.regularised
    assert held.strengths[0] > held.strengths[1]


def test_a_position_effect_without_end_is_refused():
    given = comparisons_of([0, 1, 0], [1, 0, 1], [0, 0, 0], systems=2)
    with pytest.raises(UnconnectedError, match="without end"):
        fit(given)


def test_a_tie_joins_two_systems_both_ways():
    assert separate_groups(comparisons_of([0], [1], [2], systems=2)) == [[0, 1]]


@pytest.mark.parametrize("seed", range(4))
def test_circular_triads_are_counted_by_majority(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 6, 60)
    second = (first + rng.integers(1, 6, 60)) % 6
    outcome = rng.integers(0, 3, 60)
    wins = np.zeros((6, 6))
    for one, other, said in zip(first, second, outcome, strict=True):
        if said < 2:
            wins[(one, other) if said == 0 else (other, one)] += 1
    circles = 0
    for i, j, k in itertools.combinations(range(6), 3):
        for a, b, c in ((i, j, k), (i, k, j)):
            circles += wins[a, b] > wins[b, a] and wins[b, c] > wins[c, b] and wins[c, a] > wins[a, c]
    assert circular_triads(comparisons_of(first, second, outcome, systems=6)) == circles


def test_intervals_draw_items_and_judges_and_hold_the_estimate():
    given, truth = season(5, size=400)
    found = with_intervals(given, draws=60, seed=1)
    assert all(one.low <= one.value <= one.high for one in found.intervals)
    assert sum(one.low <= true <= one.high for one, true in zip(found.intervals, truth, strict=True)) >= 3


def test_judges_of_opposite_tastes_widen_the_intervals():
    rng = np.random.default_rng(6)
    judge = rng.integers(0, 6, 600)
    outcome = (rng.random(600) < np.where(judge < 3, 0.15, 0.85)).astype(int)
    first, second = np.zeros(600, int), np.ones(600, int)
    crossed = with_intervals(
        comparisons_of(first, second, outcome, systems=2, judge=judge), draws=100, position=False
    ).intervals[0]
    items = with_intervals(comparisons_of(first, second, outcome, systems=2), draws=100, position=False).intervals[0]
    assert crossed.high - crossed.low > 3 * (items.high - items.low)


def styled(seed, size=1500, effect=1.5):
    """Comparisons of three systems, in which a longer text wins more often than its system deserves."""
    rng = np.random.default_rng(seed)
    strength = np.array([0.5, 0.0, -0.5])
    first = rng.integers(0, 3, size)
    second = (first + rng.integers(1, 3, size)) % 3
    length = np.clip(0.4 * (second - first) * -1 + 0.3 * rng.normal(size=size), -1, 1)  # worse systems write more
    one, other = np.exp(strength[first] + 0.2 + effect * length), np.exp(strength[second])
    even = 0.5 * np.sqrt(one * other)
    drawn = rng.random(size) * (one + other + even)
    outcome = np.where(drawn < one, 0, np.where(drawn < one + other, 1, 2))
    return comparisons_of(first, second, outcome, systems=3, controls=length[:, None], item=rng.integers(0, 200, size))


@pytest.mark.parametrize("seed", [0, 1])
def test_controls_are_what_the_likelihood_written_out_says(seed):
    given = styled(seed, size=400)
    found = fit(given)

    def loss(at):
        strengths, position, effect, tie = np.array([0, at[0], at[1]]), at[2], at[3], np.exp(at[4])
        one = np.exp(strengths[given.first] + position + effect * given.controls[:, 0])
        other = np.exp(strengths[given.second])
        chances = np.stack([one, other, tie * np.sqrt(one * other)])
        return -np.log(chances / chances.sum(axis=0))[given.outcome, np.arange(len(given))].sum()

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    strengths = np.array([0, best.x[0], best.x[1]])
    assert found.strengths == pytest.approx(strengths - strengths.mean(), abs=1e-4)
    assert found.controls == pytest.approx([best.x[3]], abs=1e-4)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)


def test_strengths_are_free_of_a_style_that_judges_like():
    given = styled(3)
    naive = fit(comparisons_of(given.first, given.second, given.outcome, systems=3))
    found = with_intervals(given, draws=100)
    assert np.argsort(-found.strengths).tolist() == [0, 1, 2]
    assert abs(found.strengths - [0.5, 0, -0.5]).max() < abs(naive.strengths - [0.5, 0, -0.5]).max()
    low, high = found.control_intervals[0].low, found.control_intervals[0].high
    assert low < 1.5 < high
    assert low > 0
