"""Small real metrics and tables that the tests of the analysis share."""

import numpy as np

from basanite.kernel import ANY, Metric, Scores, UnitRows


def _mean(sums):
    return sums[..., 0] / sums[..., 1]


def _f1(sums):
    return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1] + sums[..., 2])


def _highest(sums):
    return sums.max(axis=-1)


def _nothing(_):
    raise NotImplementedError("the tests start from rows")


def metric(name, reduce, columns, **options):
    return Metric(name, "", "", "tests", _nothing, reduce, columns=columns, **{"range": ANY, **options})


MEAN = metric("mean", _mean, ("x", "count"), linear=True)
COST = metric("cost", _mean, ("x", "count"), linear=True, best="low")
SHARE = metric("share", _mean, ("x", "count"), linear=True, proportion=True, carrier="count")
RATIO = metric("ratio", _mean, ("errors", "words"))
F1 = metric("f1", _f1, ("tp", "fp", "fn"))
HIGHEST = metric("highest", _highest, ("a", "b", "c"), optimistic=True)


def names(count):
    return tuple(f"u{number:04}" for number in range(count))


def table(rows, columns=("x", "count"), units=None, **more):
    rows = np.asarray(rows, dtype=np.float64)
    return UnitRows(more.pop("unit", "unit"), units or names(len(rows)), columns, rows, **more)


def means(values, **more):
    values = np.asarray(values, dtype=np.float64)
    return table(np.column_stack([values, np.ones(len(values))]), **more)


def counts(generator, units, *, skill=0.7):
    positives = generator.integers(1, 8, units)
    hits = generator.binomial(positives, skill)
    return table(np.column_stack([hits, generator.integers(0, 4, units), positives - hits]), ("tp", "fp", "fn"))


def scores(tables, *, system="A", metrics=(MEAN,), **more):
    return Scores("toy", system, tuple(metrics), tables, metrics[0].name, more.pop("settings", {}), {}, **more)
