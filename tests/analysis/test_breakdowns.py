"""Breakdowns: levels of units and of items inside units, with whole units drawn."""

import time

import numpy as np
import pytest
from tests.analysis.samples import MEAN, means, metric, scores, table

from basanite.analysis.resampling import weights
from basanite.analysis.results import Design
from basanite.analysis.system import breakdowns, left_out
from basanite.kernel import LevelRows

CARRIED = metric("carried", MEAN.reduce, ("x", "count"), carrier="count")
WHOLE = metric("whole", MEAN.reduce, ("x", "count"), by_item=False)


def by_genre(units=40):
    """Units with two genres inside: the second genre is there in the first 20 units only."""
    rows = {"news": np.column_stack([np.arange(units), np.ones(units)]), "talk": np.full((20, 2), 2.0)}
    rows["talk"][15:] = 0
    levels = {level: LevelRows(np.arange(len(part)), part) for level, part in rows.items()}
    return means(np.arange(units) / 2, levels={"genre": levels})


def test_a_unit_factor_groups_rows():
    one = means([1, 2, 3, 10], factors={"kind": np.array(["a", "a", "b", ""])})
    found = breakdowns(scores({"mean": one}), Design())["kind"]
    assert {level: cell["mean"].value for level, cell in found.items()} == {"a": 1.5, "b": 3.0}
    assert found["a"]["mean"].units == 2
    assert found["b"]["mean"].flags == ("too few for an interval",)


def test_units_without_a_level_are_counted_in_a_note():
    one = means([1, 2, 3, 10], factors={"kind": np.array(["a", "a", "b", ""])})
    assert left_out(scores({"mean": one})) == ("kind: not known for 1 of 4 units (unit), left out there",)


def test_a_level_of_items_has_its_own_rows_and_says_how_many_units_carry_it():
    found = breakdowns(scores({"carried": by_genre()}, metrics=(CARRIED,)), Design())["genre"]
    assert found["news"]["carried"].value == pytest.approx(19.5)
    assert found["talk"]["carried"].value == pytest.approx(1.0)
    assert found["talk"]["carried"].units == 20
    assert found["talk"]["carried"].parts == {"relevant_units": 15}


def test_a_level_of_items_is_drawn_with_the_weights_of_whole_units():
    one = by_genre()
    part = LevelRows(np.arange(5, 40), np.column_stack([np.sqrt(np.arange(35.0)), np.ones(35)]))
    one = means(one.rows[:, 0], levels={"genre": {"web": part}})
    found = breakdowns(scores({"mean": one}), Design(draws=200, seed=9, interval="percentile"))["genre"]["web"]["mean"]
    drawn = weights(40, draws=200, seed=9)[:, 5:]
    by_hand = np.quantile((drawn @ part.rows[:, 0]) / drawn.sum(axis=1), [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(by_hand))


def test_a_level_with_clusters_draws_whole_clusters():
    clusters = np.arange(60) // 2
    part = LevelRows(np.arange(60), np.column_stack([np.repeat(np.arange(30.0), 2), np.ones(60)]))
    one = table(part.rows, clusters=clusters, levels={"genre": {"web": part}})
    alone = means(np.arange(30.0), levels={"genre": {"web": LevelRows(np.arange(30), part.rows[::2])}})
    found, other = (breakdowns(scores({"mean": each}), Design())["genre"]["web"]["mean"] for each in (one, alone))
    assert (found.low, found.high) == pytest.approx((other.low, other.high))


def test_a_metric_of_whole_units_is_left_out_of_item_factors():
    one = by_genre()
    found = breakdowns(scores({"mean": one, "whole": one}, metrics=(MEAN, WHOLE)), Design())
    assert set(found["genre"]["news"]) == {"mean"}


def test_a_level_with_one_unit_and_a_level_with_none_have_no_interval():
    levels = {
        "one": LevelRows(np.array([3]), np.array([[2.0, 1]])),
        "none": LevelRows(np.empty(0, int), np.empty((0, 2))),
    }
    found = breakdowns(scores({"mean": means(np.arange(30.0), levels={"genre": levels})}), Design())["genre"]
    assert (found["one"]["mean"].value, found["one"]["mean"].low) == (2.0, None)
    assert np.isnan(found["none"]["mean"].value)
    assert found["none"]["mean"].units == 0


def test_thirty_levels_of_a_large_table_take_well_below_a_second():
    part = LevelRows(np.arange(1300), np.ones((1300, 2)) + np.arange(1300)[:, None] % 7)
    one = table(part.rows, levels={"genre": {f"level {number}": part for number in range(30)}})
    start = time.process_time()
    breakdowns(scores({"mean": one}), Design())
    assert time.process_time() - start < 1
