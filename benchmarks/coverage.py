"""Do intervals hold the truth, and does the paired test stay quiet, as often as they say? (S-23)

For every registered metric: a family's simulator makes a large population of units for two systems that could change
places on every unit. Campaigns are samples of it, so the true value is known. Printed and written: the share of
campaigns whose interval holds the truth, the share that got no interval, and the share in which the test found a
difference that is not there.
"""

from __future__ import annotations

import argparse
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite import registry
from basanite.analysis.intervals import assess
from basanite.analysis.paired import differences, enter, judged
from basanite.analysis.resampling import Job, frame_of, portion_of
from basanite.analysis.results import Design, Difference, Value
from basanite.kernel import Metric, Rows, UnitRows
from basanite.metrics import detection, end_to_end, identification, thresholds

SIZES = (15, 30, 100, 300)
CAMPAIGNS = 200
POPULATION = 4000
TEST_DRAWS = 999
RESULTS = Path(__file__).parent / "results" / "coverage.json"
BETA = 40.0


@dataclass(frozen=True)
class Population:
    """All units of two exchangeable systems, as rows of one metric."""

    metric: Metric
    first: Rows
    second: Rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; a metric without any has numbered ones."""
        return self.metric.columns or tuple(map(str, range(self.first.shape[1])))

    @cached_property
    def truth(self) -> float:
        """The value that a campaign of both systems' units estimates."""
        return self.metric.of(np.concatenate([self.first, self.second]))

    def tables(self, chosen: Any, swap: Any) -> tuple[UnitRows, UnitRows]:
        """Both systems on some units, having changed places on some of them."""
        names, first, second = tuple(f"{at:04}" for at in range(len(chosen))), self.first[chosen], self.second[chosen]
        pair = np.where(swap, second, first), np.where(swap, first, second)
        return UnitRows("unit", names, self.columns, pair[0]), UnitRows("unit", names, self.columns, pair[1])


Simulator = Callable[[Sequence[Metric], np.random.Generator], list[Population]]


def simulate_detection(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Queries over 100 documents: some without relevant ones, hard and easy, each with a level of noise of its own."""
    relevant = generator.random((POPULATION, 100)) < generator.choice([0.0, 0.01, 0.03, 0.1], POPULATION)[:, None]
    quality = generator.normal(3.4, 1.0, POPULATION)
    blocks = [_detections(relevant, quality, generator) for _ in range(2)]
    return [
        Population(bound, *(bound.statistics(block, **extra) for block in blocks))
        for bound, extra in map(partial(_bound, blocks[0]), metrics)
    ]


def _detections(relevant: Any, quality: Any, generator: np.random.Generator) -> detection.Detections:
    noise = generator.normal(0, 1, relevant.shape) + generator.normal(0, 0.4, len(relevant))[:, None]
    score = 1 / (1 + np.exp(2.5 - quality[:, None] * relevant - noise))
    whole = np.round(score * thresholds.SCALE).astype(np.int32)
    return detection.Detections(
        [str(at) for at in range(len(relevant))], relevant, whole >= 0.6 * thresholds.SCALE, whole
    )


def _bound(block: detection.Detections, metric: Metric) -> tuple[Metric, dict[str, Any]]:
    """The metric with its settings, and what its statistics ask for; thresholds are those of the population."""
    grid = thresholds.score_grid(np.sort(block.score[block.relevant]), 60)
    has = block.relevant.any(axis=1).mean()
    known = {
        "beta": BETA,
        "grid": grid,
        "balance": 1 / has,
        "shift": 0.0,
        "thresholds": np.full(len(block.units), _best(block)),
    }
    asked = inspect.signature(metric.statistics).parameters
    return metric.bind(**known), {name: value for name, value in known.items() if name in asked}


def _best(block: detection.Detections) -> int:
    histogram = thresholds.Histogram()
    for truth, score in zip(block.relevant, block.score, strict=True):
        histogram.add(thresholds.Ranked.of(truth, score))
    return thresholds.best_threshold(histogram, beta=BETA)


def simulate_end_to_end(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """The same queries, each returned pair with the share of five judges who found its summary relevant."""
    relevant = generator.random((POPULATION, 100)) < generator.choice([0.0, 0.01, 0.03, 0.1], POPULATION)[:, None]
    quality = generator.normal(3.4, 1.0, POPULATION)
    blocks = []
    for _ in range(2):
        found = end_to_end.Returned.of(_detections(relevant, quality, generator))
        share = generator.binomial(5, np.where(found.relevant, 0.8, 0.3)) / 5
        blocks.append(end_to_end.JudgedDetections([str(at) for at in range(POPULATION)], found, share))
    bound = [metric.bind(beta=BETA) for metric in metrics]
    return [Population(metric, *(metric.statistics(block) for block in blocks)) for metric in bound]


def simulate_identification(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Documents of one domain in four; counts are left out, for they grow with the number of documents."""
    relevant = generator.random((POPULATION, 1)) < 0.25
    sure = generator.random((POPULATION, 1))
    blocks = [
        detection.Detections((), relevant, generator.random(relevant.shape) < np.where(relevant, sure, sure / 4))
        for _ in range(2)
    ]
    shares = [metric for metric in metrics if metric not in identification.COUNTS]
    return [Population(metric, *(metric.statistics(block) for block in blocks)) for metric in shares]


SIMULATORS: Mapping[str, Simulator] = {
    "detection": simulate_detection,
    "end_to_end": simulate_end_to_end,
    "identification": simulate_identification,
}


def registered() -> list[Metric]:
    """Every registered metric."""
    return [registry.load("metrics", name) for name in registry.names("metrics")]


def populations(seed: int) -> list[Population]:
    """The population of every registered metric; one without a simulator is an error."""
    metrics, made = registered(), []
    missing = sorted({metric.family for metric in metrics} - SIMULATORS.keys())
    if missing:
        raise SystemExit(f"No simulator for the families {', '.join(missing)}: add one to SIMULATORS.")
    for family, simulate in SIMULATORS.items():
        made += simulate([metric for metric in metrics if metric.family == family], np.random.default_rng(seed))
    return made


def campaign(people: Sequence[Population], units: int, seed: int, method: str) -> list[tuple[float, ...]]:
    """Of each metric in one campaign: does the interval hold the truth, is there none, do test and verdict err?"""
    generator = np.random.default_rng([seed, units])
    chosen, swap = generator.integers(0, POPULATION, units), generator.random((units, 1)) < 0.5
    design = Design(draws=5000 if method == "bca" else 1000, seed=seed, interval=method)
    pairs = [one.tables(chosen, swap) for one in people]
    frame = frame_of(pairs[0][0])
    jobs = [
        Job(portion_of(frame, pair[0].rows), (one.metric,), one.columns)
        for one, pair in zip(people, pairs, strict=True)
    ]
    values = [found for each in assess(frame, jobs, design) for found in each.values()]
    return [_outcome(*each) for each in zip(people, values, _gaps(people, pairs, design), strict=True)]


def _gaps(people: Sequence[Population], pairs: Sequence[tuple[UnitRows, UnitRows]], design: Design) -> list[Difference]:
    """The judged difference of the two systems on each metric."""
    systems = [
        (name, table, (one.metric,))
        for one, pair in zip(people, pairs, strict=True)
        for name, table in zip("AB", pair, strict=True)
    ]
    entries = enter(systems, design)
    found = differences(list(zip(entries[::2], entries[1::2], strict=True)), draws=TEST_DRAWS, design=design)
    return [judged(gap, one.metric, alpha=0.05) for gap, one in zip(found, people, strict=True)]


def _outcome(one: Population, found: Value, gap: Difference) -> tuple[float, ...]:
    held = float("nan") if found.low is None else float(found.low <= one.truth <= found.high)
    return held, float(found.low is None), float(gap.p <= 0.05), float(gap.verdict in ("first", "second", "different"))


def measure(campaigns: int, method: str) -> list[dict[str, Any]]:
    """The shares of every metric at every size."""
    people, lines = populations(seed=1), []
    for units in SIZES:
        outcomes = np.array([campaign(people, units, seed, method) for seed in range(campaigns)])
        for place, one in enumerate(people):
            lines.append(_line(one, units, outcomes[:, place]))
    return sorted(lines, key=lambda line: (line["family"], line["metric"], line["units"]))


def _line(one: Population, units: int, outcomes: Any) -> dict[str, Any]:
    held, missing, alarms, verdicts = outcomes.T
    covered = float(np.nanmean(held)) if not missing.all() else None
    return {
        "family": one.metric.family,
        "metric": one.metric.name,
        "truth": round(one.truth, 4),
        "units": units,
        "coverage": covered and round(covered, 4),
        "no_interval": round(float(missing.mean()), 4),
        "false_alarms": round(float(alarms.mean()), 4),
        "false_verdicts": round(float(verdicts.mean()), 4),
    }


def main() -> None:
    """Measure, print the table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="simulated campaigns for each size")
    parser.add_argument("--interval", choices=["percentile", "bca"], default="percentile")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    start = time.process_time()
    lines = measure(options.campaigns, options.interval)
    print(f"{'metric':16}{'truth':>8}{'units':>6}{'coverage':>10}{'none':>8}{'alarms':>8}{'verdicts':>10}")
    for line in lines:
        shown = "-" if line["coverage"] is None else f"{line['coverage']:.1%}"
        rest = f"{line['no_interval']:>8.1%}{line['false_alarms']:>8.1%}{line['false_verdicts']:>10.1%}"
        print(f"{line['metric']:16}{line['truth']:>8.3f}{line['units']:>6}{shown:>10}{rest}")
    print(f"nominal: coverage 95 %, alarms 5 %; {time.process_time() - start:.0f} CPU seconds")
    report = {
        "campaigns": options.campaigns,
        "interval": options.interval,
        "level": 0.95,
        "alpha": 0.05,
        "lines": lines,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
