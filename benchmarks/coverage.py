"""Do intervals hold the truth, and does the paired test stay quiet, as often as they say? (S-23)

For every registered metric: a family's simulator makes a large population of units for two systems that could change
places on every unit. Campaigns are samples of it, so the true value is known. Printed and written: the share of
campaigns whose interval holds the truth, the share that got no interval, and the share in which the test found a
difference that is not there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basanite import registry
from basanite.analysis.intervals import assess
from basanite.analysis.paired import differences, enter, judged
from basanite.analysis.resampling import Job, frame_of, portion_of
from basanite.analysis.results import Design, Difference, Value
from basanite.kernel import Metric, UnitRows
from simulators.population import POPULATION, Population, Simulator

SIZES = (15, 30, 100, 300)
CAMPAIGNS = 200
TEST_DRAWS = 999
RESULTS = Path(__file__).parent / "results" / "coverage.json"


def simulators() -> dict[str, Simulator]:
    """The simulator of every family, from the files of `simulators/`."""
    folder = Path(__file__).parent / "simulators"
    modules = [importlib.import_module(f"simulators.{path.stem}") for path in sorted(folder.glob("*.py"))]
    return {family: made for module in modules for family, made in getattr(module, "SIMULATORS", {}).items()}


def registered() -> list[Metric]:
    """Every registered metric."""
    return [registry.load("metrics", name) for name in registry.names("metrics")]


def populations(seed: int) -> list[Population]:
    """The population of every registered metric; one without a simulator is an error."""
    metrics, made, known = registered(), list[Population](), simulators()
    missing = sorted({metric.family for metric in metrics} - known.keys())
    if missing:
        raise SystemExit(f"No simulator for the families {', '.join(missing)}: add one to `simulators/`.")
    for family, simulate in known.items():
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
        Job(portion_of(frame, pair[0].rows, additive=one.metric.compute is None), (one.metric,), one.columns)
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
