"""What holds for every registered metric, and that none is forgotten. A new kind of block adds one line to `BLOCKS`."""

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.metrics.detections import block

import basanite.metrics
import basanite.tasks
from basanite import registry
from basanite.kernel import Metric
from basanite.metrics.end_to_end import JudgedDetections, Returned
from basanite.metrics.thresholds import SCALE

NAMES = registry.names("metrics")
SEEDS = (0, 1, 2)


@dataclass
class Case:
    """Units to be measured, what the metric must be told, and how to take some of the units, or one twice."""

    tables: dict[str, Any]
    """By name, arrays of units x items."""
    settings: dict[str, Any]
    per_unit: dict[str, list[float]]

    def __len__(self):
        return len(next(iter(self.tables.values())))

    def taken(self, order):
        tables = {name: table[order] for name, table in self.tables.items()}
        return Case(tables, self.settings, {name: [kept[at] for at in order] for name, kept in self.per_unit.items()})

    def block(self, metric):
        kind = next(iter(inspect.signature(metric.statistics).parameters.values())).annotation
        assert kind in BLOCKS, f"{metric.name}: say in BLOCKS how to make {kind}"
        return BLOCKS[kind](self)

    def rows(self, metric):
        wanted = inspect.signature(metric.statistics).parameters
        told = {**self.settings, **self.per_unit}
        return metric.statistics(self.block(metric), **{name: told[name] for name in wanted if name in told})

    def arrays(self):
        return [*self.tables.values(), *(kept for kept in self.settings.values() if isinstance(kept, np.ndarray))]


def detections(case):
    return block(*(case.tables[name] for name in ("relevant", "returned", "score")))


def judged(case):
    made = detections(case)
    return JudgedDetections(made.units, Returned.of(made), case.tables["share"][case.tables["returned"]])


BLOCKS = {"Detections": detections, "JudgedDetections": judged}


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    relevant = rng.random((12, 30)) < 0.2
    relevant[:, 0], relevant[3], relevant[:, 1] = True, False, False
    noise = rng.integers(0, 40_000, relevant.shape)
    tables = {
        "relevant": relevant,
        "returned": relevant.copy() if perfect else rng.random(relevant.shape) < 0.3,
        "score": (noise + (60_000 * relevant if perfect else 20_000 * relevant)).astype(np.int32),
        "share": np.ones(relevant.shape) if perfect else rng.integers(0, 4, relevant.shape) / 3,
    }
    told = {"beta": 20.0, "balance": 12 / 11, "shift": 0.0}
    grid = np.append(np.arange(0, SCALE, 5000), SCALE + 1).astype(np.int32)
    thresholds = [50_000.0] * 12 if perfect else rng.integers(0, SCALE, 12).astype(float).tolist()
    return Case(tables, {**told, "grid": grid}, {"thresholds": thresholds})


def metric_and_case(name, seed=0, **more):
    case = sample(seed, **more)
    return registry.load("metrics", name).bind(**case.settings), case


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_says_what_it_is_and_whose_it_is(name):
    metric = registry.load("metrics", name)
    assert isinstance(metric, Metric)
    assert metric.name == name
    assert len(metric.summary) > 20
    assert len(metric.citation) > 20
    # A metric on a grid of thresholds names its columns only when the grid is known.
    assert metric.carrier is None or not metric.columns or metric.carrier in metric.columns


def test_no_metric_in_the_source_is_left_unregistered():
    found = {}
    for package in (basanite.metrics, basanite.tasks):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            content = vars(importlib.import_module(module.name))
            found |= {item.name: item for item in content.values() if isinstance(item, Metric)}
    assert sorted(found) == sorted(NAMES)
    assert all(registry.load("metrics", name) is metric for name, metric in found.items())


def test_every_metric_of_a_task_is_registered_and_the_primary_one_is_among_them():
    for name in registry.names("tasks"):
        task = registry.load("tasks", name)
        names = [metric.name for metric in task.metrics]
        assert set(names) <= set(NAMES)
        assert task.primary in names
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_units_does_not_matter(name, seed):
    metric, case = metric_and_case(name, seed)
    order = np.random.default_rng(seed).permutation(len(case))
    rows, turned = case.rows(metric), case.taken(order).rows(metric)
    assert np.array_equal(turned, rows[order])
    assert metric.of(turned) == pytest.approx(metric.of(rows), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_as_they_were(name):
    metric, case = metric_and_case(name)
    before = [array.copy() for array in case.arrays()]
    for array in case.arrays():
        array.flags.writeable = False
    rows = case.rows(metric)
    rows.flags.writeable = False
    metric.of(rows)
    metric.value(rows)
    assert all(np.array_equal(old, new) for old, new in zip(before, case.arrays(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_weighted_sums_of_rows_are_the_rows_of_units_that_come_that_often(name, seed):
    metric, case = metric_and_case(name, seed)
    order = np.random.default_rng(seed + 100).integers(0, len(case), 20)
    weights = np.bincount(order, minlength=len(case)).astype(float)
    value = float(metric.value(weights @ case.rows(metric)))
    assert value == pytest.approx(metric.of(case.taken(order).rows(metric)), rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_many_sums_are_reduced_at_once_and_alike(name):
    metric, case = metric_and_case(name)
    rows = case.rows(metric)
    sums = np.random.default_rng(5).integers(0, 3, (2, 4, len(rows))).astype(float) @ rows
    together = metric.value(sums)
    assert together.shape == (2, 4)
    single = [[float(metric.value(part)) for part in half] for half in sums]
    assert together == pytest.approx(np.array(single), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_system_has_the_best_value_there_is(name):
    metric, case = metric_and_case(name, perfect=True)
    best = metric.of(case.rows(metric))
    others = [metric_and_case(name, seed) for seed in SEEDS]
    values = [other.of(other_case.rows(other)) for other, other_case in others]
    if metric.best == "high":
        assert best == 1 or metric.family == "identification"  # counts, and percent of other things than the best
        assert max(values) < best
    elif metric.best == "low":
        assert best == 0
        assert min(values) > best


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_one_for_each_unit_and_hold_no_nan(name, seed):
    metric, case = metric_and_case(name, seed)
    case.tables["relevant"][5] = True
    rows = case.rows(metric)
    assert rows.shape[0] == len(case)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    assert not metric.columns or rows.shape[1] == len(metric.columns)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_of_nothing_is_undefined_and_never_0(name):
    metric, case = metric_and_case(name)
    assert np.isnan(metric.value(np.zeros(case.rows(metric).shape[1])))


@pytest.mark.parametrize("name", [name for name in NAMES if registry.load("metrics", name).carrier])
def test_a_value_without_units_that_carry_it_is_undefined(name):
    metric, case = metric_and_case(name)
    case.tables["relevant"][:] = False
    rows = case.rows(metric)
    if metric.columns:
        assert not rows[:, metric.columns.index(metric.carrier)].any()
    assert np.isnan(metric.of(rows))
