"""Do intervals hold the truth, and does the paired test stay quiet, as often as they say? (S-23)

For every registered metric: a family's simulator makes a large population of units for two systems that could change
places on every unit. Campaigns are samples of it, so the true value is known. Printed and written: the share of
campaigns whose interval holds the truth, the share that got no interval, and the share in which the test found a
difference that is not there. Each family is written as soon as it is done; a run that was broken off goes on with the
families that the record lacks.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Sequence
from dataclasses import replace
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
CAMPAIGNS = 400
TEST_DRAWS = 999
LEVEL = 0.95
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "coverage.json"

Line = dict[str, Any]
Tables = Sequence[tuple[list[Population], tuple[UnitRows, UnitRows]]]


def simulators() -> dict[str, Simulator]:
    """The simulator of every family, from the files of `simulators/`."""
    folder = Path(__file__).parent / "simulators"
    modules = [importlib.import_module(f"simulators.{path.stem}") for path in sorted(folder.glob("*.py"))]
    return {family: made for module in modules for family, made in getattr(module, "SIMULATORS", {}).items()}


def families() -> dict[str, list[Metric]]:
    """Every registered metric, by its family."""
    found: dict[str, list[Metric]] = {}
    for name in registry.names("metrics"):
        metric: Metric = registry.load("metrics", name)
        found.setdefault(metric.family, []).append(metric)
    return dict(sorted(found.items()))


def populations(family: str, seed: int = 1) -> list[Population]:
    """The population of every metric of a family; a metric or family without one is an error."""
    metrics, known = families()[family], simulators()
    if family not in known:
        raise SystemExit(f"No simulator for the family {family}: add one to `simulators/`.")
    made = known[family](metrics, np.random.default_rng(seed))
    missing = {metric.name for metric in metrics} - {one.metric.name for one in made}
    if missing:
        raise SystemExit(f"The simulator of {family} leaves out {', '.join(sorted(missing))}.")
    return made


def campaign(people: Sequence[Population], units: int, design: Design) -> list[tuple[float, ...]]:
    """Of each metric in one campaign: does the interval hold the truth, is there none, do test and verdict err?"""
    generator = np.random.default_rng([design.seed, units])
    chosen, swap = generator.integers(0, POPULATION, units), generator.random((units, 1)) < 0.5
    tables = [(together, together[0].tables(chosen, swap)) for together in _together(people)]
    found: dict[int, tuple[float, ...]] = {}
    for (group, _), values, gaps in zip(tables, _values(tables, design), _gaps(tables, design), strict=True):
        for one, gap in zip(group, gaps, strict=True):
            judgement = judged(gap, one.metric, alpha=ALPHA)
            found[id(one)] = _outcome(one.truth_of(units), values[one.metric.name], judgement)
    return [found[id(one)] for one in people]


def _together(people: Sequence[Population]) -> list[list[Population]]:
    """Metrics that read the same rows, which are drawn once for all of them."""
    groups: dict[tuple[int, bool], list[Population]] = {}
    for one in people:
        groups.setdefault((id(one.first), one.metric.compute is None), []).append(one)
    return list(groups.values())


def _values(tables: Tables, design: Design) -> list[dict[str, Value]]:
    """The first system's values with their intervals, for each table."""
    frame = frame_of(tables[0][1][0])
    jobs = [
        Job(
            portion_of(frame, pair[0].rows, additive=group[0].metric.compute is None),
            tuple(one.metric for one in group),
            pair[0].columns,
        )
        for group, pair in tables
    ]
    return assess(frame, jobs, design)


def _gaps(tables: Tables, design: Design) -> list[list[Difference]]:
    """The differences of the two systems on the metrics of each table."""
    systems = [
        (name, table, tuple(one.metric for one in group))
        for group, pair in tables
        for name, table in zip("AB", pair, strict=True)
    ]
    entries, pairs = iter(enter(systems, design)), []
    for group, _ in tables:
        first, second = ([next(entries) for _ in group] for _ in "AB")
        pairs += list(zip(first, second, strict=True))
    found = iter(differences(pairs, draws=TEST_DRAWS, design=design))
    return [[next(found) for _ in group] for group, _ in tables]


def _outcome(truth: float, found: Value, gap: Difference) -> tuple[float, ...]:
    held = float("nan") if found.low is None else float(found.low <= truth <= found.high)
    return held, float(found.low is None), float(gap.p <= ALPHA), float(gap.verdict in ("first", "second", "different"))


def measure(
    family: str,
    campaigns: int,
    method: str = "percentile",
    *,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Line]:
    """The shares of every metric of a family at every size; `seed` is that of the first campaign."""
    people, lines = populations(family), list[Line]()
    design = Design(draws=5000 if method == "bca" else 1000, seed=seed, level=level, interval=method)
    designs = [replace(design, seed=seed + number) for number in range(campaigns)]
    for units in sizes:
        outcomes = np.array([campaign(people, units, each) for each in designs])
        lines += [_line(one, units, outcomes[:, place]) for place, one in enumerate(people)]
    return lines


def _line(one: Population, units: int, outcomes: Any) -> Line:
    held, missing, alarms, verdicts = outcomes.T
    covered = float(np.nanmean(held)) if not missing.all() else None
    return {
        "family": one.metric.family,
        "metric": one.metric.name,
        "truth": round(one.truth_of(units), 4),
        "units": units,
        "campaigns": len(outcomes),
        "coverage": covered and round(covered, 4),
        "no_interval": round(float(missing.mean()), 4),
        "false_alarms": round(float(alarms.mean()), 4),
        "false_verdicts": round(float(verdicts.mean()), 4),
    }


def record(method: str, lines: Sequence[Line]) -> dict[str, Any]:
    """What is written: how it was measured, and the lines in order."""
    order = sorted(lines, key=lambda line: (line["family"], line["metric"], line["units"]))
    fewest = min(line["campaigns"] for line in lines)
    return {"campaigns": fewest, "interval": method, "level": LEVEL, "alpha": ALPHA, "lines": order}


def kept_lines(path: Path, campaigns: int, method: str) -> list[Line]:
    """The lines of an earlier record that were measured in the same way, with as many campaigns."""
    if not path.exists():
        return []
    earlier = json.loads(path.read_text(encoding="utf-8"))
    lines = earlier["lines"] if earlier["interval"] == method else []
    return [line for line in lines if line.get("campaigns", 0) >= campaigns]


def show(lines: Sequence[Line]) -> None:
    """Print the table of a family."""
    print(f"{'metric':26}{'truth':>9}{'units':>6}{'coverage':>10}{'none':>8}{'alarms':>8}{'verdicts':>10}")
    for line in sorted(lines, key=lambda line: (line["metric"], line["units"])):
        shown = "-" if line["coverage"] is None else f"{line['coverage']:.1%}"
        rest = f"{line['no_interval']:>8.1%}{line['false_alarms']:>8.1%}{line['false_verdicts']:>10.1%}"
        print(f"{line['metric']:26}{line['truth']:>9.3f}{line['units']:>6}{shown:>10}{rest}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="simulated campaigns for each size")
    parser.add_argument("--interval", choices=["percentile", "bca"], default="percentile")
    parser.add_argument("--family", action="append", choices=list(families()), help="measure this one (again)")
    parser.add_argument("--output", type=Path, help="the record [default: results/coverage.json, for bca another]")
    options = parser.parse_args()
    usual = RESULTS if options.interval == "percentile" else RESULTS.with_stem(f"coverage_{options.interval}")
    options.output = options.output or usual
    return options


def main() -> None:
    """Measure family by family, print each table and write down what is there so far."""
    options = _arguments()
    lines = kept_lines(options.output, options.campaigns, options.interval)
    wanted = options.family or sorted(families().keys() - {line["family"] for line in lines})
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for family in wanted:
        start = time.process_time()
        found = measure(family, options.campaigns, options.interval)
        lines = [line for line in lines if line["family"] != family] + found
        written = json.dumps(record(options.interval, lines), indent=1)
        options.output.write_text(written + "\n", encoding="utf-8")
        print(f"\n{family}: {time.process_time() - start:.0f} CPU seconds")
        show(found)


if __name__ == "__main__":
    main()
