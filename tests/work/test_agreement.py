"""Agreement of a plain table of judgements: the figures by other ways, and why one is undefined."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from basanite.work.agreement import FEW, MANY, NO_NUMBERS, Said, agreement_of


def stars(seed, items=20, judges=3, missing=0.2):
    """Random stars that lean on the item, some of them missing."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(3, 1, items)
    return [
        Said(f"j{judge}", f"i{item}", str(int(np.clip(round(worth[item] + rng.normal(0, 0.7)), 1, 5))))
        for item in range(items)
        for judge in range(judges)
        if rng.random() > missing
    ]


def by_item(said):
    found = {}
    for one in said:
        found.setdefault(one.item, {})[one.judge] = float(one.value)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_one_less_the_share_of_disagreement_over_all_pairs(seed):
    said = stars(seed)
    units = [list(values.values()) for values in by_item(said).values() if len(values) > 1]
    pooled = [value for values in units for value in values]
    observed = sum(sum((a - b) ** 2 for a, b in permutations(u, 2)) / (len(u) - 1) for u in units) / len(pooled)
    expected = np.mean([(a - b) ** 2 for a, b in permutations(pooled, 2)])
    found = agreement_of(said, draws=50).figures["alpha, interval"]
    assert found.value == pytest.approx(1 - observed / expected)
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("seed", range(3))
def test_kappa_of_two_judges_is_that_of_scikit_learn_and_their_mean_has_an_interval(seed):
    said = stars(seed, items=40)
    found = agreement_of(said, draws=50)
    items = by_item(said).values()
    for one, other in combinations(("j0", "j1", "j2"), 2):
        both = [(values[one], values[other]) for values in items if {one, other} <= values.keys()]
        peer = cohen_kappa_score(*zip(*both, strict=True), weights="quadratic", labels=[1, 2, 3, 4, 5])
        assert found.pairs[one, other].value == pytest.approx(peer)
    mean = found.figures["kappa, mean"]
    assert mean.value == pytest.approx(np.mean([pair.value for pair in found.pairs.values()]))
    assert mean.low < mean.value < mean.high


def test_what_cannot_be_told_is_undefined_with_its_reason():
    same = agreement_of([Said(judge, str(item), "4") for judge in "ab" for item in range(20)], draws=5)
    assert math.isnan(same.figures["alpha, ordinal"].value)
    assert all(value.is_defined or value.reason for value in same.figures.values())
    words = agreement_of([Said(judge, str(item), "RN"[item % 2]) for judge in "ab" for item in range(20)], draws=5)
    assert words.figures["ICC(A,1)"].reason == words.figures["Kendall's W"].reason == NO_NUMBERS
    alone = agreement_of([Said("a", str(item), "4") for item in range(20)], draws=5)
    assert not any(value.is_defined for value in alone.figures.values())


def test_a_figure_says_why_it_has_no_interval():
    few = agreement_of(stars(1, items=8, missing=0), draws=5)
    assert few.figures["alpha, interval"].reason == few.figures["ICC(1)"].reason == FEW
    many = agreement_of(stars(1, items=20, judges=14, missing=0), draws=5)
    assert many.figures["kappa, mean"].reason == MANY


def test_numbers_that_stand_for_kinds_are_compared_as_such():
    said = stars(2, missing=0)
    found = agreement_of(said, scale="nominal", draws=5)
    assert [name for name in found.figures if name.startswith("alpha")] == ["alpha, nominal"]
    assert not found.numeric
    pair = found.pairs["j0", "j1"]
    one, other = ([value[judge] for value in by_item(said).values()] for judge in ("j0", "j1"))
    assert pair.value == pytest.approx(cohen_kappa_score(one, other))
