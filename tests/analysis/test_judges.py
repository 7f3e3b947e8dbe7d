"""Judges: rules of combination by hand and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.analysis.tables_of_votes import FIVE, panels, votes_in

from basanite.analysis import votes as dawid_skene
from basanite.analysis.votes import Combination, panel_of, shares, votes_of
from basanite.errors import SettingError


def test_the_rules_differ_as_their_names_say_and_a_tie_is_not_relevant_unless_set():
    votes = votes_in(FIVE)
    assert panel_of(votes).shares().tolist() == [1, 1, 0, 0, 0]
    assert panel_of(votes, Combination(tie="R")).shares().tolist() == [1, 1, 1, 0, 0]
    assert panel_of(votes, Combination(rule="any")).shares().tolist() == [1, 1, 1, 0, 1]
    assert panel_of(votes, Combination(rule="all")).shares().tolist() == [1, 0, 0, 0, 0]
    assert np.allclose(panel_of(votes, Combination("raw")).shares(), [1, 2 / 3, 1 / 2, 0, 1 / 4])


def test_a_combination_names_its_rule_and_tie_rule():
    assert str(Combination(tie="R")) == "majority, a tie is relevant"
    assert str(Combination(rule="dawid_skene")) == "Dawid-Skene, a tie is not relevant"
    assert len({str(Combination(rule=rule)) for rule in ("majority", "any", "all", "dawid_skene")}) == 4
    for wrong in ({"rule": "mean"}, {"tie": "Y"}, {"judging": "both"}):
        with pytest.raises(SettingError):
            Combination(**wrong)


def test_an_item_without_votes_is_undefined_under_every_rule():
    votes = votes_of([0], [1], [True], judges=1, items=3)
    for rule in ("majority", "any", "all", "dawid_skene"):
        assert np.isnan(panel_of(votes, Combination(rule=rule)).shares()).tolist() == [True, False, True]
    assert np.isnan(panel_of(votes, Combination("raw")).shares()).sum() == 2


def simulated(skills, items=150, seed=3, share=0.4):
    """Judges with these chances to be right on every item, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < share
    table = np.array([np.where(rng.random(items) < skill, truth, ~truth) for skill in skills], dtype=float)
    return votes_in(table), truth


def test_dawid_skene_weighs_good_judges_above_a_majority_of_poor_ones():
    votes, truth = simulated([0.97, 0.95, 0.55, 0.55, 0.55])
    right = {
        rule: (panel_of(votes, Combination(rule=rule)).shares() == truth).mean() for rule in ("majority", "dawid_skene")
    }
    assert right["dawid_skene"] > 0.95 > right["majority"]
    skills = dawid_skene.fit(votes).model.finds_relevant
    assert skills[:2].min() > 0.85 > 0.75 > skills[2:].max()


def test_with_judges_of_equal_skill_it_is_the_majority():
    votes, _ = simulated([0.9] * 5)
    same = panel_of(votes, Combination(rule="dawid_skene")).shares() == panel_of(votes).shares()
    assert same.mean() > 0.98


def test_every_step_raises_the_posterior_and_restarts_are_reported():
    votes, _ = simulated([0.9, 0.7, 0.6])
    one_coin = np.array([False, False, True])
    model = dawid_skene.best_judges(votes, np.nan_to_num(shares(votes)), one_coin)
    values = []
    for _ in range(25):
        values.append(dawid_skene.log_posterior(model, votes))
        model = dawid_skene.best_judges(votes, model.posterior(votes), one_coin)
    assert (np.diff(values) > -1e-9).all()
    fitted = dawid_skene.fit(votes)
    assert fitted.restarts[0].start == "majority"
    assert len(fitted.restarts) == dawid_skene.STARTS
    best = max(restart.log_posterior for restart in fitted.restarts)
    assert dawid_skene.log_posterior(fitted.model, votes) == pytest.approx(best, rel=1e-6)
    assert all(restart.settled for restart in fitted.restarts)


def test_a_judge_of_fewer_than_twenty_items_has_one_coin():
    table = np.random.default_rng(2).integers(0, 2, (3, 40)).astype(float)
    table[0, 19:], table[1, 20:] = np.nan, np.nan
    model = dawid_skene.fit(votes_in(table)).model
    assert model.one_coin.tolist() == [True, False, False]
    assert model.finds_relevant[0] == model.finds_other[0]
    assert model.finds_relevant[2] != model.finds_other[2]


@settings(max_examples=25, deadline=None)
@given(panels())
def test_the_fit_is_the_same_every_time_and_never_certain_of_a_judge(table):
    votes = votes_in(table)
    first, second = dawid_skene.fit(votes), dawid_skene.fit(votes)
    assert np.array_equal(first.posterior, second.posterior, equal_nan=True)
    coins = np.concatenate([first.model.finds_relevant, first.model.finds_other])
    assert ((coins > 0) & (coins < 1)).all()
