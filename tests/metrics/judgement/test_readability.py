"""The three readability metrics, the plan's null and the crossed bootstrap, against plain loops."""

import itertools
import math

import numpy as np
import pytest

from basanite.metrics.judgement import readability
from basanite.metrics.judgement.crossed import leads, redrawn
from basanite.metrics.judgement.readability import (
    METRICS,
    Readings,
    best_constant,
    gold_of,
    novices_as_machines,
    rows,
    to_scale,
    values,
)

NAMES = [metric.name for metric in METRICS]


def panel(seed, passages=20, experts=4, novices=5, missing=0.0):
    rng = np.random.default_rng(seed)
    true = rng.normal(3, 1, (passages, 1))
    marks = [np.clip(np.rint(true + rng.normal(0, s, (passages, n))), 1, 5) for s, n in ((0.6, experts), (1, novices))]
    marks[1][rng.random(marks[1].shape) < missing] = np.nan
    marks[1][:, 0] = np.where(np.isnan(marks[1]).all(axis=1), 3, marks[1][:, 0])
    return marks[0], marks[1], np.clip(true[:, 0] + rng.normal(0, 0.7, passages), 1, 5)


def by_loops(experts, novices, machine):
    """The three metrics as the plan writes them, text by text."""
    differences, hits, means = [], [], []
    for judges, others, own in zip(experts.tolist(), novices.tolist(), machine.tolist(), strict=True):
        judges, others = ([mark for mark in marks if not math.isnan(mark)] for marks in (judges, others))
        gold = sum(judges) / len(judges)
        differences.append(sum(abs(gold - other) for other in others) / len(others) - abs(gold - own))
        width = max(judges) - min(judges)
        hits.append(1 / (1 + width) if min(judges) <= own <= max(judges) else 0)
        means.append(gold)
    correlation = np.corrcoef(means, machine)[0, 1]
    return np.mean(differences), np.mean(hits), correlation


@pytest.mark.parametrize("seed", range(8))
def test_the_three_metrics_are_those_of_the_plan(seed):
    given = panel(seed, missing=0.3 if seed % 2 else 0)
    assert list(values(*given).values()) == pytest.approx(by_loops(*given), abs=1e-12)


def test_a_rating_on_the_edge_of_the_range_hits_and_one_beyond_it_does_not():
    experts, novices = np.array([[2.0, 3.0]] * 4), np.full((4, 1), 3.0)
    assert values(experts, novices, [2, 3, 1.99, 3.01])["proportional_target"] == pytest.approx(0.25)


def test_a_constant_machine_has_no_correlation():
    experts, novices, machine = panel(0)
    assert math.isnan(values(experts, novices, np.full(len(machine), 3.3))["correlation"])


def exact_null(experts, novices):
    """Every way to choose a novice for each passage, all equally likely."""
    choices = itertools.product(*[[mark for mark in marks if not np.isnan(mark)] for marks in novices])
    with np.errstate(all="ignore"):
        return np.array([list(values(experts, novices, np.array(chosen)).values()) for chosen in choices]).T


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_drawn_null_is_the_exact_one(seed):
    experts, novices, _ = panel(seed, passages=5, novices=4, missing=0.2)
    drawn, exact = readability.null_values(experts, novices, draws=40_000, seed=seed), exact_null(experts, novices)
    for found, wanted in zip(drawn, exact, strict=True):
        found, wanted = found[~np.isnan(found)], wanted[~np.isnan(wanted)]
        assert set(np.round(found, 9)) <= set(np.round(wanted, 9))
        error = 5 * wanted.std() / math.sqrt(len(found))
        assert found.mean() == pytest.approx(wanted.mean(), abs=error + 1e-12)
        assert np.quantile(found, 0.9) == pytest.approx(np.quantile(wanted, 0.9), abs=0.05)


def test_undefined_draws_of_the_correlation_stay_undefined_and_are_counted():
    experts, novices = np.array([[1.0, 2], [4, 5]]), np.array([[3.0, 4], [3, 4]])
    drawn = readability.null_values(experts, novices, draws=1000, seed=0)
    test = readability.judge_against_null(0.5, drawn[2])
    assert 400 < test.undefined < 600
    assert test.p == pytest.approx((np.nansum(drawn[2] >= 0.5) + 1) / (1000 - test.undefined + 1))


def test_p_is_never_0_and_equal_values_count_as_reached():
    drawn = np.linspace(0, 1, 9999)
    assert readability.judge_against_null(2.0, drawn).p == 1 / 10_000
    assert readability.judge_against_null(1.0 + 1e-10, drawn).p == 2 / 10_000
    assert math.isnan(readability.judge_against_null(math.nan, drawn).p)


@pytest.mark.parametrize("draws", [39, 100, 999, 10_000])
def test_a_value_lies_above_the_critical_one_exactly_if_its_p_is_in_the_upper_tail(draws):
    drawn = np.random.default_rng(draws).integers(0, 200, draws) / 7
    for value in np.unique(np.concatenate([drawn, drawn + 0.01])):
        test = readability.judge_against_null(float(value), drawn)
        assert test.above == (test.p <= 0.025)


def test_the_same_seed_gives_the_same_null_in_blocks_of_any_size(monkeypatch):
    experts, novices, _ = panel(5, passages=31)
    whole = readability.null_values(experts, novices, draws=500, seed=3)
    monkeypatch.setattr(readability, "BLOCK", 100)
    assert np.allclose(readability.null_values(experts, novices, draws=500, seed=3), whole, rtol=0, atol=1e-12)
    assert not np.array_equal(readability.null_values(experts, novices, draws=500, seed=4), whole)


def test_mean_and_spread_of_the_null_have_a_closed_form_and_strays_are_noticed():
    experts, novices, _ = panel(6, missing=0.3)
    drawn = readability.null_values(experts, novices, draws=10_000, seed=0)[0]
    spread = readability.exact_spread(experts, novices)
    exact = np.sqrt(sum(np.nanvar(np.abs(novices - gold_of(experts).mean[:, None]), axis=1))) / len(experts)
    assert spread == pytest.approx(exact)
    assert not readability.strays(drawn, spread)
    assert readability.strays(drawn + 0.1, spread)
    assert readability.strays(drawn * 1.2, spread)


def crossed_by_loops(block, passages, novices):
    """The leads in one draw: copies of passages and novices written out."""
    experts, machine = block.experts[passages], block.machine[passages]
    people = block.novices[passages][:, novices]
    own = values(experts, people, machine)
    each = [values(experts, people, column) for column in people.T]
    with np.errstate(all="ignore"):
        return [own[NAMES[0]], *(own[name] - np.nanmean([one[name] for one in each]) for name in NAMES[1:])]


def test_a_crossed_draw_is_the_data_with_copies_of_passages_and_novices():
    from basanite.metrics.judgement import crossed

    block = Readings((), *panel(7, missing=0.1))
    rng = np.random.default_rng(0)
    for _ in range(10):
        passages, novices = rng.integers(0, 20, 20), rng.integers(0, 5, 5)
        kept, people = (
            np.bincount(drawn, minlength=size)[None].astype(float) for drawn, size in ((passages, 20), (novices, 5))
        )
        found = crossed._lead_values(block, kept, people)[:, 0]
        assert found == pytest.approx(crossed_by_loops(block, passages, novices), abs=1e-9)


def test_the_crossed_interval_is_wider_where_novices_are_biased_each_in_their_own_way():
    rng = np.random.default_rng(1)
    experts, _, machine = panel(8, passages=60)
    steady = np.clip(gold_of(experts).mean[:, None] + rng.normal(0, 1, (60, 8)), 1, 5)
    biased = np.clip(gold_of(experts).mean[:, None] + np.array([-2, -1.5, -1, 0, 0, 0, 0, 0.0]), 1, 5)
    widths = []
    for novices in (steady, biased):
        lead = leads(Readings((), experts, novices, machine), draws=1000, seed=0)[NAMES[0]]
        alone = readability.exact_spread(experts, novices) * 2 * 1.96
        widths.append((lead.high - lead.low) / alone)
    assert widths[1] > 1.5 * widths[0]


def test_rows_redrawn_for_intervals_hold_the_mean_of_the_drawn_novices():
    block = Readings((), *panel(9, missing=0.2))
    made = redrawn(block)(0)(200)
    assert made.shape == (200, 20, rows(block).shape[1])
    assert np.isfinite(made).all()
    means = made[..., 0].sum(axis=0) / made[..., 1].sum(axis=0)
    assert np.allclose(means, rows(block)[:, 0], atol=0.25)
    assert np.array_equal(made[:, :, 2:], np.broadcast_to(rows(block)[:, 2:], (200, 20, 8)))


def test_no_other_constant_is_better_than_the_best_one():
    experts, novices, _ = panel(10)
    best = best_constant(experts)
    tried = [values(experts, novices, np.full(20, constant))[NAMES[0]] for constant in np.linspace(1, 5, 401)]
    assert max(tried) <= values(experts, novices, np.full(20, best))[NAMES[0]] + 1e-12


def test_each_novice_is_scored_against_the_others():
    experts, novices, _ = panel(11)
    found = novices_as_machines(experts, novices)
    for at, one in enumerate(found):
        others = np.delete(novices, at, axis=1)
        assert list(one.values()) == pytest.approx(by_loops(experts, others, novices[:, at]), abs=1e-12)


def test_ratings_are_brought_to_the_nearest_step_of_the_scale():
    assert to_scale([1.0, 1.49, 1.5, 4.6, 5.0], 1, 5).tolist() == [1, 1, 2, 5, 5]
    assert to_scale([0.1, 0.74], 0, 1, 0.5).tolist() == [0, 0.5]
