"""Does the paired test stay quiet where there is nothing to find? (S-23)

For every registered metric: a family's simulator makes a large population of units for two systems that could change
places on every unit. Campaigns are samples of it. Printed and written: the share of campaigns in which the test found a
difference that is not there. How often intervals contain the true value is measured by `coverage.py`, from files to
values.

Each family is written as soon as it is done; a run that was broken off goes on with the families that the record lacks.
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
from basanite.analysis.paired import differences, enter
from basanite.analysis.results import Design, Difference
from basanite.kernel import Metric, UnitRows
from simulators.population import POPULATION, Population, Simulator

SIZES = (15, 30, 100, 300)
CAMPAIGNS = 400
TEST_DRAWS = 999
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "false_alarms.json"

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


def campaign(people: Sequence[Population], units: int, design: Design) -> list[float]:
    """Of each metric in one campaign: does the test err?"""
    generator = np.random.default_rng([design.seed, units])
    chosen, swap = generator.integers(0, POPULATION, units), generator.random((units, 1)) < 0.5
    tables = [(together, together[0].tables(chosen, swap)) for together in _together(people)]
    found: dict[int, float] = {}
    for (group, _), gaps in zip(tables, _gaps(tables, design), strict=True):
        found |= {id(one): float(gap.p <= ALPHA) for one, gap in zip(group, gaps, strict=True)}
    return [found[id(one)] for one in people]


def _together(people: Sequence[Population]) -> list[list[Population]]:
    """Metrics that read the same rows, which are drawn once for all of them."""
    groups: dict[tuple[int, bool], list[Population]] = {}
    for one in people:
        groups.setdefault((id(one.first), one.metric.compute is None), []).append(one)
    return list(groups.values())


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


def measure(family: str, campaigns: int, *, sizes: Sequence[int] = SIZES, seed: int = 0) -> list[Line]:
    """The shares of every metric of a family at every size; `seed` is that of the first campaign."""
    people, lines = populations(family), list[Line]()
    designs = [Design(draws=2, seed=seed + number) for number in range(campaigns)]  # tests have signs of their own
    for units in sizes:
        outcomes = np.array([campaign(people, units, each) for each in designs])
        lines += [_line(one, units, outcomes[:, place]) for place, one in enumerate(people)]
    return lines


def _line(one: Population, units: int, alarms: Any) -> Line:
    return {
        "family": one.metric.family,
        "metric": one.metric.name,
        "units": units,
        "campaigns": len(alarms),
        "false_alarms": round(float(alarms.mean()), 4),
    }


def record(lines: Sequence[Line]) -> dict[str, Any]:
    """What is written: how it was measured, and the lines in order."""
    order = sorted(lines, key=lambda line: (line["family"], line["metric"], line["units"]))
    return {"campaigns": min(line["campaigns"] for line in lines), "alpha": ALPHA, "lines": order}


def kept_lines(path: Path, campaigns: int) -> list[Line]:
    """The lines of an earlier record with as many campaigns."""
    lines = json.loads(path.read_text(encoding="utf-8"))["lines"] if path.exists() else []
    return [line for line in lines if line["campaigns"] >= campaigns]


def show(lines: Sequence[Line]) -> None:
    """Print the table of a family."""
    print(f"{'metric':26}{'units':>6}{'alarms':>8}")
    for line in sorted(lines, key=lambda line: (line["metric"], line["units"])):
        print(f"{line['metric']:26}{line['units']:>6}{line['false_alarms']:>8.1%}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="simulated campaigns for each size")
    parser.add_argument("--family", action="append", choices=list(families()), help="measure this one (again)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the record")
    return parser.parse_args()


def main() -> None:
    """Measure family by family, print each table and write down what is there so far."""
    options = _arguments()
    lines = kept_lines(options.output, options.campaigns)
    wanted = options.family or sorted(families().keys() - {line["family"] for line in lines})
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for family in wanted:
        start = time.process_time()
        found = measure(family, options.campaigns)
        lines = [line for line in lines if line["family"] != family] + found
        written = json.dumps(record(lines), indent=1)
        options.output.write_text(written + "\n", encoding="utf-8")
        print(f"\n{family}: {time.process_time() - start:.0f} CPU seconds")
        show(found)


if __name__ == "__main__":
    main()
