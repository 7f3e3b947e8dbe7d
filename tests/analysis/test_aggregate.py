"""Aggregates over tasks: intervals that cover, ranges of ranks that hold what the differences leave open (S-32)."""

from __future__ import annotations

import numpy as np
import pytest

from basanite.analysis.aggregate import BORDA, MEAN_RANK, NORMALIZED, WORST, TaskValues, aggregate
from basanite.analysis.intervals import UNDEFINED_DRAWS
from basanite.analysis.results import Design

DRAWS = 300
CLOSE = np.array([[0.62, 0.61, 0.60, 0.59], [0.60, 0.62, 0.61, 0.59], [0.61, 0.60, 0.62, 0.58]])
APART = np.array([[0.8, 0.7, 0.6, 0.5], [0.75, 0.6, 0.7, 0.4], [0.9, 0.8, 0.55, 0.6]])


def task(name, skills, size, dice):
    """A task whose systems are right on each item with these chances, and its resamples."""
    right = dice.random((len(skills), size)) < skills[:, None]
    picks = dice.integers(0, size, (DRAWS, size))
    names = [f"s{at}" for at in range(len(skills))]
    return TaskValues(
        name,
        "classification",
        "accuracy",
        "high",
        {system: float(hits.mean()) for system, hits in zip(names, right, strict=True)},
        anchors=(0.0, 1.0),
        draws={system: hits[picks].mean(axis=1) for system, hits in zip(names, right, strict=True)},
    )


def truth(skills, rule):
    """What the aggregate would be with endless units."""
    if rule == NORMALIZED:
        return dict(zip((f"s{at}" for at in range(4)), skills.mean(axis=0), strict=True))
    places = 1 + (skills[:, None, :] > skills[:, :, None]).sum(axis=2)
    found = places.mean(axis=0) if rule == MEAN_RANK else (4 - places).sum(axis=0)
    return dict(zip((f"s{at}" for at in range(4)), found, strict=True))


@pytest.mark.parametrize("rule", [NORMALIZED, MEAN_RANK, BORDA])
@pytest.mark.parametrize("skills", [CLOSE, APART], ids=["close", "apart"])
def test_intervals_cover_the_truth_also_where_systems_are_close(rule, skills):
    dice, held, given = np.random.default_rng(5), 0, 0
    wanted = truth(skills, rule)
    for _ in range(60):
        tasks = [
            task(f"t{at}", row, size, dice) for at, (row, size) in enumerate(zip(skills, (100, 60, 200), strict=True))
        ]
        for one in aggregate(tasks, rule, Design(draws=DRAWS)).systems:
            if one.low is not None:
                given += 1
                held += one.low - 1e-9 <= wanted[one.system] <= one.high + 1e-9
                assert one.low <= one.value <= one.high
    assert held / given > 0.9
    assert given > 150


def test_a_rank_is_open_where_the_difference_is_not_shown_and_closed_where_it_is():
    dice = np.random.default_rng(0)
    clear = [task(f"t{at}", np.array([0.95, 0.5, 0.1]), 300, dice) for at in range(2)]
    for one in aggregate(clear, MEAN_RANK, Design(draws=DRAWS)).systems:
        assert (one.low, one.high) == (None, None)
        assert one.flags == ("no interval: every rank is certain at this level",)
    mixed = [clear[0], task("t", np.array([0.6, 0.6, 0.1]), 300, dice)]
    found = {one.system: (one.low, one.high) for one in aggregate(mixed, MEAN_RANK, Design(draws=DRAWS)).systems}
    assert found == {"s0": (1.0, 1.5), "s1": (1.5, 2.0), "s2": (None, None)}
    points = {one.system: (one.low, one.high) for one in aggregate(mixed, BORDA, Design(draws=DRAWS)).systems}
    assert points == {"s0": (3.0, 4.0), "s1": (2.0, 3.0), "s2": (None, None)}


def test_who_lacks_a_task_leaves_the_ranks_of_others_as_they_are():
    dice = np.random.default_rng(1)
    first, second = (task(f"t{at}", np.array([0.6, 0.6, 0.1]), 300, dice) for at in range(2))
    del second.values["s2"], second.draws["s2"]
    found = aggregate([first, second], MEAN_RANK, Design(draws=DRAWS), missing=WORST)
    assert {one.system: one.parts["t1"] for one in found.systems}["s2"] == 3
    assert {one.system: (one.low, one.high) for one in found.systems}["s0"] == (1.0, 2.0)


def test_ranks_beside_a_system_whose_draws_are_undefined_have_no_interval_and_say_why():
    dice = np.random.default_rng(2)
    first, second = (task(f"t{at}", np.array([0.6, 0.6, 0.1]), 300, dice) for at in range(2))
    second.draws["s2"][:] = np.nan
    for one in aggregate([first, second], MEAN_RANK, Design(draws=DRAWS)).systems:
        assert (one.low, one.high, one.flags) == (None, None, (UNDEFINED_DRAWS,))
