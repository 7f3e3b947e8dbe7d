"""Many systems on one metric: the same decisions as pair by pair, and what a test cannot decide is left out."""

from itertools import combinations, pairwise
from statistics import NormalDist

import numpy as np
import pytest
from tests.analysis.samples import COST, F1, MEAN, counts, means, scores, table

from basanite.analysis import many_systems
from basanite.analysis.comparison import groups, rank_ranges, romano_wolf, studentise
from basanite.analysis.many_systems import clean_cuts, compare_many, entrants
from basanite.analysis.paired import IncomparableError, contest, enter
from basanite.analysis.results import Design

DESIGN = Design(seed=3, draws=200)


def lined_up(tables, metric=MEAN):
    return entrants((scores({metric.name: one}, system=name, metrics=(metric,)) for name, one in tables.items()),
                    metric.name, DESIGN)  # fmt: skip


def by_pairs(tables, metric=MEAN, left_out=()):
    """The decisions of the ordinary step-down on the same draws, over all pairs but those left out."""
    entries = {one.system: one for one in enter([(name, one, (metric,)) for name, one in tables.items()], DESIGN)}
    pairs = [pair for pair in combinations(tables, 2) if set(pair) not in left_out]
    lined = [(entries[first], entries[second]) for first, second in pairs]
    p_values = romano_wolf(*studentise(lined, draws=10_000, seed=DESIGN.seed))
    sign = 1 if metric.best == "high" else -1
    return {
        pair if sign * (one.value - other.value) > 0 else pair[::-1]
        for pair, (one, other), p in zip(pairs, lined, p_values, strict=True)
        if p <= DESIGN.alpha
    }


def decisions(found):
    order = found.ranking.order
    return {(order[first], order[second]) for first, second in np.argwhere(found.better)}


def skilled(units, systems=9, seed=0):
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=units)
    return {f"s{at}": means(shared + at * 0.15 + generator.normal(size=units) * (1 + at % 3)) for at in range(systems)}


@pytest.mark.parametrize("metric", [MEAN, COST])
def test_the_decisions_are_those_of_the_step_down_over_pairs(metric):
    tables = skilled(120)
    found = compare_many(lined_up(tables, metric), DESIGN)
    wanted = by_pairs(tables, metric)
    assert 3 < len(wanted) < found.family
    assert decisions(found) == wanted
    assert found.ranking.groups == groups(found.ranking.order, wanted)
    assert found.ranking.rank_ranges == rank_ranges(found.ranking.order, wanted)
    assert set(found.ranking.not_worse_than_best) == {
        name for name in tables if (found.ranking.order[0], name) not in wanted
    }


def test_a_metric_that_is_no_mean_is_decided_alike():
    generator = np.random.default_rng(1)
    tables = {f"s{at}": counts(generator, 150, skill=0.55 + at * 0.04) for at in range(8)}
    found = compare_many(lined_up(tables, F1), DESIGN)
    wanted = by_pairs(tables, F1)
    assert wanted
    assert decisions(found) == wanted


def test_with_many_units_the_errors_of_the_data_decide_nearly_alike(monkeypatch):
    tables = skilled(280)
    with_own = decisions(compare_many(lined_up(tables), DESIGN))
    monkeypatch.setattr(many_systems, "OWN_ERRORS", 0)
    with_shared = decisions(compare_many(lined_up(tables), DESIGN))
    assert len(with_own ^ with_shared) <= 2
    assert with_own


def test_near_copies_are_undecided_and_cost_the_others_nothing():
    tables = skilled(120)
    wanted = by_pairs(tables)
    changed = tables["s0"].rows[:, 0].copy()
    changed[:3] += 0.5
    found = compare_many(lined_up({**tables, "copy": means(changed), "twin": tables["s8"]}), DESIGN)
    assert found.tested == found.family - 2
    got = decisions(found)
    assert not got & {("copy", "s0"), ("s0", "copy"), ("s8", "twin"), ("twin", "s8")}
    assert len({pair for pair in got if not set(pair) & {"copy", "twin"}} ^ wanted) <= 2
    assert {other for winner, other in got if winner == "twin"} == {other for winner, other in got if winner == "s8"}


def test_a_pair_that_one_unit_dominates_is_undecided_as_it_is_pair_by_pair():
    tables = skilled(100)
    outlying = tables["s8"].rows[:, 0].copy()
    outlying[7] += 400.0
    tables["s9"] = means(outlying)
    entries = enter([(name, one, (MEAN,)) for name, one in tables.items()], DESIGN)
    pulls = contest(entries[0], entries[-1]).pulls
    assert (pulls**2).max() > 0.2 * (pulls**2).sum()
    found = compare_many(lined_up(tables), DESIGN)
    assert found.ranking.order[0] == "s9"
    assert not any("s9" in pair for pair in decisions(found))
    assert found.ranking.rank_ranges["s9"] == (1, 10)


def test_too_few_units_decide_nothing():
    tables = {f"s{at}": means(np.full(12, float(at)) + np.arange(12) * 0.01) for at in range(4)}
    found = compare_many(lined_up(tables), DESIGN)
    assert not found.better.any()
    assert found.tested == 0
    assert "undecided without a test" in " ".join(found.notes)


def test_an_undefined_system_comes_last_and_takes_no_power_from_the_others():
    generator = np.random.default_rng(2)
    tables = {f"s{at}": counts(generator, 120, skill=0.4 + at * 0.06) for at in range(6)}
    empty = table(np.zeros((120, 3)), ("tp", "fp", "fn"))
    with_it = compare_many(lined_up({**tables, "nothing": empty}, F1), DESIGN)
    without = compare_many(lined_up(tables, F1), DESIGN)
    assert with_it.ranking.order[-1] == "nothing"
    assert decisions(with_it) == decisions(without) != set()


def test_more_units_than_fit_are_drawn_in_groups(monkeypatch):
    tables = skilled(600)
    whole = compare_many(lined_up(tables), DESIGN)
    monkeypatch.setattr(many_systems, "MOST_THINGS", 150)
    field = lined_up(tables)
    assert field.things == 150
    assert field.values == pytest.approx([one.rows[:, 0].mean() for one in tables.values()])
    grouped = compare_many(field, DESIGN)
    assert len(decisions(whole) ^ decisions(grouped)) <= 3
    low, high = whole.detectable
    assert grouped.detectable == pytest.approx((low, high), rel=0.25)


def test_the_differences_that_show_are_those_of_the_pairs():
    tables = skilled(200, systems=4)
    found = compare_many(lined_up(tables), DESIGN)
    spreads = [
        (one.rows[:, 0] - other.rows[:, 0]).std(ddof=1) / np.sqrt(200)
        for one, other in combinations(tables.values(), 2)
    ]
    step = NormalDist().inv_cdf(1 - 0.05 / 6 / 2) + NormalDist().inv_cdf(0.8)
    assert found.detectable == pytest.approx((step * min(spreads), step * max(spreads)), rel=0.05)


def test_systems_on_other_units_or_settings_are_refused():
    tables = skilled(40, systems=3)
    other = means(np.arange(39.0))
    with pytest.raises(IncomparableError, match="s0 and odd were scored differently"):
        lined_up({**tables, "odd": other})
    mixed = [scores({"mean": tables["s0"]}, system="a"), scores({"mean": tables["s1"]}, system="b", settings={"x": 1})]
    with pytest.raises(IncomparableError, match="scored differently"):
        entrants(iter(mixed), "mean", DESIGN)


def test_cuts_are_where_all_above_beat_all_below():
    generator = np.random.default_rng(5)
    for _ in range(200):
        size = int(generator.integers(2, 9))
        better = np.triu(generator.random((size, size)) < 0.85, 1)
        names = [str(at) for at in range(size)]
        beaten = {(names[first], names[second]) for first, second in np.argwhere(better)}
        edges = [0, *clean_cuts(better), size]
        assert tuple(tuple(names[a:b]) for a, b in pairwise(edges)) == groups(names, beaten)
