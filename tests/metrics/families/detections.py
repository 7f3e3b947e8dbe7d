"""Detection, end to end and identification: units are queries or documents over the same small truth."""

import inspect

import numpy as np
from tests.metrics.detections import block
from tests.metrics.families.case import Case

from basanite.metrics.retrieval.query_value import JudgedDetections, Returned
from basanite.metrics.retrieval.thresholds import SCALE


class Decisions(Case):
    """Arrays of units x items by name, what the metric must be told, and what it is told of each unit."""

    def __init__(self, tables, settings, per_unit):
        self.tables, self.settings, self.per_unit = tables, settings, per_unit

    def __len__(self):
        return len(next(iter(self.tables.values())))

    def taken(self, order):
        tables = {name: table[order] for name, table in self.tables.items()}
        per_unit = {name: [kept[at] for at in order] for name, kept in self.per_unit.items()}
        return Decisions(tables, self.settings, per_unit)

    def rows(self, metric):
        wanted = inspect.signature(metric.statistics).parameters
        kind = next(iter(wanted.values())).annotation
        told = {**self.settings, **self.per_unit}
        return metric.statistics(BLOCKS[kind](self), **{name: told[name] for name in wanted if name in told})

    def arrays(self):
        return [*self.tables.values(), *(kept for kept in self.settings.values() if isinstance(kept, np.ndarray))]

    def awkward(self):
        self.tables["relevant"][5] = True
        return self

    def without_carriers(self):
        self.tables["relevant"][:] = False
        return self

    def best(self, metric):
        # Of identification: counts, and percent of other things than the best.
        return None if metric.family == "identification" and metric.best == "high" else super().best(metric)


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
    return Decisions(tables, {**told, "grid": grid}, {"thresholds": thresholds})


FAMILIES = {"detection": sample, "end_to_end": sample, "identification": sample}
