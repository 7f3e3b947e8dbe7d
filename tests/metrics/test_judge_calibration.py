"""Corrected values: against the formula worked out item by item, against ppi-python, and the honest limits."""

import numpy as np
import pytest

from basanite.metrics.calibration import (
    FEWEST_LABELS,
    SHARE,
    HumanPart,
    calibrated,
    few_labels,
    people_alone,
    why_too_few,
)


def wider(labels, items):
    """What makes up for few labels where the interval knows the number of items."""
    return few_labels(labels - 1) / few_labels(items - 1)


def part_of(labelled, stratum=None, cluster=None):
    size = len(labelled)
    stratum = np.zeros(size, int) if stratum is None else stratum
    cluster = np.arange(size) if cluster is None else cluster
    return HumanPart(labelled, stratum, cluster, np.random.default_rng(5).random(size))


def world(seed, items=400, labels=80):
    rng = np.random.default_rng(seed)
    people = rng.random(items)
    judge = np.clip(0.6 * people + 0.3 + 0.2 * rng.normal(size=items), 0, 1)
    return judge, people, part_of(np.isin(np.arange(items), rng.choice(items, labels, replace=False)))


@pytest.mark.parametrize("seed", range(5))
def test_a_fixed_factor_gives_the_estimate_and_error_of_ppi_with_the_rest_as_its_unlabelled_set(seed, monkeypatch):
    judge, people, part = world(seed)
    chosen = part.labelled
    factor = 0.7
    monkeypatch.setattr("basanite.metrics.calibration._tuned_factor", lambda *given: factor)
    found = calibrated(judge, people, part, (-10.0, 10.0))
    n, rest = int(chosen.sum()), int((~chosen).sum())
    share = factor * rest / len(judge)  # the judge's mean over all items is partly that over the judged ones
    by_hand = share * judge[~chosen].mean() + (people[chosen] - share * judge[chosen]).mean()
    assert found.value == pytest.approx(by_hand, abs=1e-12)
    error = np.sqrt(share**2 * judge[~chosen].var() / rest + (people[chosen] - share * judge[chosen]).var(ddof=1) / n)
    mine = np.sqrt(((found.items - found.items.mean()) ** 2).sum()) / len(judge) / wider(n, len(judge))
    assert mine == pytest.approx(error, rel=0.02)  # theirs takes the judge's spread from the unjudged items alone


@pytest.mark.parametrize("seed", range(3))
def test_the_tuned_value_is_that_of_ppi_python(seed):
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is installed for this test alone")
    judge, people, part = world(seed, items=2000, labels=500)
    chosen = part.labelled
    found = calibrated(judge, people, part, SHARE)
    theirs = float(np.squeeze(ppi.ppi_mean_pointestimate(people[chosen], judge[chosen], judge[~chosen])))
    low, high = (float(np.squeeze(end)) for end in ppi.ppi_mean_ci(people[chosen], judge[chosen], judge[~chosen], 0.05))
    error = np.sqrt(((found.items - found.items.mean()) ** 2).sum()) / len(judge) / wider(500, len(judge))
    assert found.value == pytest.approx(theirs, abs=0.1 * error)
    assert 2 * 1.959964 * error == pytest.approx(high - low, rel=0.02)


def test_without_a_judge_it_is_the_mean_and_error_of_people_alone():
    _, people, part = world(1)
    found, said = people_alone(people, part, SHARE), people[part.labelled]
    assert found.value == pytest.approx(said.mean(), abs=1e-12)
    error = np.sqrt(((found.items - found.value) ** 2).sum()) / len(people)
    assert error / wider(80, 400) == pytest.approx(said.std(ddof=1) / np.sqrt(80), rel=1e-9)


def test_strata_count_by_their_size_and_not_by_how_many_were_judged():
    rng = np.random.default_rng(2)
    stratum = np.repeat([0, 1], [900, 100])
    people = np.where(stratum == 0, 0.2, 0.9) + 0.05 * rng.normal(size=1000)
    labelled = np.isin(np.arange(1000), [*range(50), *range(900, 950)])
    part = part_of(labelled, stratum)
    alone = people_alone(people, part, SHARE)
    by_hand = 0.9 * people[:50].mean() + 0.1 * people[900:950].mean()
    assert alone.value == pytest.approx(by_hand, abs=1e-12)
    judge = rng.random(1000)
    among = np.concatenate([np.full(900, 0.0), np.full(100, 1.0)])
    both = calibrated(0.7 * among + 0.2, people, part, SHARE)  # knows the stratum and nothing else: it adds nothing
    assert both.value == pytest.approx(by_hand, abs=1e-9)
    assert abs(calibrated(judge, people, part, SHARE).value - by_hand) < 0.01


@pytest.mark.parametrize("design", ["simple", "strata", "clusters"])
def test_the_spread_of_items_is_that_of_repeated_samples(design):
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(80), 5) if design == "clusters" else np.arange(400)
    values, errors = [], []
    for _ in range(400):
        ease = rng.random(400)[cluster]
        people = np.clip(ease + 0.1 * rng.normal(size=400), 0, 1)
        judge = np.clip(0.5 * people + 0.4 * rng.random(400), 0, 1)
        stratum = (ease > 0.5).astype(int) if design == "strata" else np.zeros(400, int)
        labelled, strata = np.zeros(400, bool), np.unique(stratum)
        for one in strata:
            labelled[rng.choice(np.flatnonzero(stratum == one), 100 // len(strata), replace=False)] = True
        found = calibrated(judge, people, HumanPart(labelled, stratum, cluster, rng.random(400)), SHARE)
        sums = np.bincount(cluster, found.items - found.value)
        values.append(found.value)
        errors.append(np.sqrt((sums**2).sum()) / 400 / wider(100, 80 if design == "clusters" else 400))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.12)
    assert np.mean(values) == pytest.approx(0.5, abs=0.005)


def test_a_judge_that_is_always_right_leaves_the_spread_of_items_alone():
    rng = np.random.default_rng(4)
    people = rng.random(1000)
    part = part_of(np.arange(1000) < 100)
    found = calibrated(people, people, part, SHARE)
    error = np.sqrt(((found.items - found.value) ** 2).sum()) / 1000
    assert abs(found.value - people.mean()) < 0.005
    assert error == pytest.approx(people.std() / np.sqrt(1000) * wider(100, 1000), rel=0.05)


def test_items_in_another_order_give_the_same_numbers():
    judge, people, part = world(6)
    order = np.random.default_rng(1).permutation(len(judge))
    turned = HumanPart(part.labelled[order], part.stratum[order], part.cluster[order], part.dice[order])
    first, second = calibrated(judge, people, part, SHARE), calibrated(judge[order], people[order], turned, SHARE)
    assert np.allclose(first.items[order], second.items, rtol=0, atol=1e-12)


def test_too_few_labels_are_refused_with_how_many_more_are_needed():
    few = part_of(np.arange(200) < 38)
    assert why_too_few(few) == f"people judged 38 items; {FEWEST_LABELS} are needed: 12 more"
    assert why_too_few(part_of(np.arange(200) < 50)) == ""
    together = part_of(np.arange(200) < 100, cluster=np.arange(200) // 10)
    assert why_too_few(together) == "people judged items of 10 clusters; 30 are needed: 20 more"
    thin = part_of(np.arange(200) < 60, stratum=np.where(np.arange(200) >= 58, 1, 0))
    assert why_too_few(thin) == "people judged too few items in 1 of 2 strata: 3 more are needed"
