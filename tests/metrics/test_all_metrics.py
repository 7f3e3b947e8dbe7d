"""What holds for every registered metric, and that none is forgotten. A family gives its samples in `families/`."""

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import basanite.metrics
import basanite.tasks
from basanite import registry
from basanite.kernel import Metric

NAMES = registry.names("metrics")
SEEDS = (0, 1, 2)
KINDS = (0, "perfect", "awkward", *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:]))


def families():
    folder = Path(__file__).parent / "families"
    modules = [importlib.import_module(f"tests.metrics.families.{path.stem}") for path in sorted(folder.glob("*.py"))]
    return {family: sample for module in modules for family, sample in getattr(module, "FAMILIES", {}).items()}


SAMPLES = families()


def metric_and_case(name, seed=0, **more):
    metric = registry.load("metrics", name)
    assert metric.family in SAMPLES, f"say in tests/metrics/families how to sample {metric.family}"
    case = SAMPLES[metric.family](seed, **more)
    return metric.bind(**case.settings), case


def drawn(metric, rows, weights):
    """The value of rows that count as often as their weights say."""
    with np.errstate(all="ignore"):
        return float(metric.drawn(rows, np.asarray(weights, dtype=float)[None])[0])


def one_of_each_statistics(names):
    """The first metric of each statistics function; the others, whose rows are the same ones, are left to slow runs."""
    seen = {}
    for name in names:
        seen.setdefault(registry.load("metrics", name).statistics, name)
    return [pytest.param(name, marks=() if name in seen.values() else pytest.mark.slow) for name in names]


def summed(names):
    return [name for name in names if registry.load("metrics", name).compute is None]


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_says_what_it_is_and_whose_it_is(name):
    metric = registry.load("metrics", name)
    assert isinstance(metric, Metric)
    # Where two families have a value of the same name, the registry tells them apart: `labels.map`.
    assert name in (metric.name, f"{metric.family}.{metric.name}")
    assert len(metric.summary) > 20
    assert len(metric.citation) > 20
    # A metric on a grid of thresholds names its columns only when the grid is known.
    assert metric.carrier is None or not metric.columns or metric.carrier in metric.columns


def test_no_metric_in_the_source_is_left_unregistered():
    found = {}
    for package in (basanite.metrics, basanite.tasks):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            content = vars(importlib.import_module(module.name))
            found |= {id(item): item for item in content.values() if isinstance(item, Metric)}
    registered = {id(metric): metric for metric in (registry.load("metrics", name) for name in NAMES)}
    assert sorted(one.name for one in found.values()) == sorted(one.name for one in registered.values())
    assert found.keys() == registered.keys()


def test_every_metric_of_a_task_is_registered_and_the_primary_one_is_among_them():
    registered = [registry.load("metrics", name) for name in NAMES]
    for name in registry.names("tasks"):
        task = registry.load("tasks", name)
        names = [metric.name for metric in task.metrics]
        assert all(any(metric is one for one in registered) for metric in task.metrics if metric.by_rows)
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


@pytest.mark.parametrize("name", one_of_each_statistics(NAMES))
def test_inputs_are_left_as_they_were(name):
    metric, case = metric_and_case(name)
    before = [array.copy() for array in case.arrays()]
    for array in case.arrays():
        array.flags.writeable = False
    rows = case.rows(metric)
    rows.flags.writeable = False
    metric.of(rows)
    drawn(metric, rows, np.ones(len(rows)))
    assert all(np.array_equal(old, new) for old, new in zip(before, case.arrays(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_weighted_rows_are_the_rows_of_units_that_come_that_often(name, seed):
    metric, case = metric_and_case(name, seed)
    order = np.random.default_rng(seed + 100).integers(0, len(case), 20)
    weights = np.bincount(order, minlength=len(case))
    value = drawn(metric, case.rows(metric), weights)
    assert value == pytest.approx(metric.of(case.taken(order).rows(metric)), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", summed(NAMES))
def test_many_sums_are_reduced_at_once_and_alike(name):
    metric, case = metric_and_case(name)
    rows = case.rows(metric)
    sums = np.random.default_rng(5).integers(0, 3, (2, 4, len(rows))).astype(float) @ rows
    together = metric.value(sums)
    assert together.shape == (2, 4)
    single = [[float(metric.value(part)) for part in half] for half in sums]
    assert together == pytest.approx(np.array(single), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(summed(NAMES))))
def test_many_draws_are_computed_at_once_and_alike(name):
    metric, case = metric_and_case(name)
    rows = case.rows(metric)
    weights = np.random.default_rng(5).integers(0, 3, (6, len(rows))).astype(float)
    single = [drawn(metric, rows, one) for one in weights]
    assert metric.drawn(rows, weights) == pytest.approx(np.array(single), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_system_has_the_best_value_there_is(name):
    metric, case = metric_and_case(name, perfect=True)
    if metric.best == "none":
        return
    value, best = metric.of(case.rows(metric)), case.best(metric)
    others = [metric_and_case(name, seed) for seed in SEEDS]
    values = [other.of(other_case.rows(other)) for other, other_case in others]
    assert best is None or value == pytest.approx(best, abs=1e-12)
    assert max(values) < value if metric.best == "high" else min(values) > value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", one_of_each_statistics(NAMES))
def test_rows_are_one_for_each_unit_and_hold_no_nan(name, seed):
    metric, case = metric_and_case(name, seed)
    case = case.awkward()
    rows = case.rows(metric)
    assert rows.shape[0] == len(case)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    assert not metric.columns or rows.shape[1] == len(metric.columns)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_of_nothing_is_undefined_and_never_0(name):
    metric, case = metric_and_case(name)
    rows = case.rows(metric)
    assert np.isnan(drawn(metric, rows, np.zeros(len(rows))))


@pytest.mark.parametrize("name", [name for name in NAMES if registry.load("metrics", name).carrier])
def test_a_value_without_units_that_carry_it_is_undefined(name):
    metric, case = metric_and_case(name)
    rows = case.without_carriers().rows(metric)
    if metric.columns:
        assert not rows[:, metric.columns.index(metric.carrier)].any()
    assert np.isnan(metric.of(rows))


@pytest.mark.parametrize(
    "kind", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:]), "perfect", "awkward"]
)
@pytest.mark.parametrize("name", NAMES)
def test_values_and_draws_stay_in_the_declared_range(name, kind):
    metric, case = metric_and_case(name, 0 if isinstance(kind, str) else kind, perfect=kind == "perfect")
    rows = (case.awkward() if kind == "awkward" else case).rows(metric)
    weights = np.random.default_rng(7).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), 200).astype(float)
    with np.errstate(all="ignore"):
        found = np.concatenate([[metric.of(rows)], metric.drawn(rows, weights)])
    low, high = metric.ends
    slack = 1e-12 * max(abs(end) for end in (1.0, *metric.ends) if np.isfinite(end))
    defined = found[~np.isnan(found)]
    assert ((defined >= low - slack) & (defined <= high + slack)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_range_is_told_in_words(name):
    metric = registry.load("metrics", name)
    assert metric.possible
    assert metric.ends[0] < metric.ends[1]
