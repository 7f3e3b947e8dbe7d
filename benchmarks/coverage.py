"""Do intervals contain the true value as often as they say, on the path that users run? (S-25)

For every task a world of units with a known value; a campaign is a sample of it, written as the files of the task and
scored by `basanite.score` with the task's own settings. Written for every registered metric, at 30, 100 and 300 units
and at 30 clusters of three to five: the share of campaigns whose interval contains the true value, and the share
without one.

Each world is written as soon as it is measured; a run that was broken off goes on with what the record lacks.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import basanite
from basanite import registry
from basanite.analysis.interval_methods import exact_bounds
from basanite.analysis.results import Analysis, Value
from basanite.kernel import Metric
from campaigns.world import Pick, World, drawn, everyone, metadata_of

CELLS = ((30, False), (100, False), (300, False), (30, True))
"""Units of a campaign, or clusters of them."""
CAMPAIGNS = 1000
LEVEL = 0.95
GOAL, SURE = (0.93, 0.97), 0.99
RESULTS = Path(__file__).parent / "results" / "coverage.json"

Line = dict[str, Any]


def worlds() -> dict[str, Callable[[np.random.Generator], World]]:
    """What makes each world, from the files of `campaigns/`."""
    folder = Path(__file__).parent / "campaigns"
    modules = [importlib.import_module(f"campaigns.{path.stem}") for path in sorted(folder.glob("*.py"))]
    return {name: make for module in modules for name, make in getattr(module, "WORLDS", {}).items()}


def metrics_of(world: World) -> list[Metric]:
    """The registered metrics that are read from a world."""
    found = [registry.load("metrics", name) for name in registry.names("metrics")]
    return [one for one in found if one.name in (world.metrics.get(one.family, ("",)) or (one.name,))]


def values_in(world: World, analysis: Analysis) -> dict[str, Value]:
    """The values of a campaign: those of all units, and those of the level that the world looks at."""
    factor, level = world.level or ("", "")
    return {**analysis.breakdowns.get(factor, {}).get(level, {}), **analysis.values}


def scored(world: World, picks: Sequence[Pick], **more: Any) -> dict[str, Value]:
    """A campaign from its files to its values, as a user has it."""
    with tempfile.TemporaryDirectory() as folder:
        files = {**world.write(Path(folder), picks), **metadata_of(world, Path(folder), picks)}
        return values_in(world, basanite.score(world.task, **files, **more))


def measure(name: str, campaigns: int, *, cells: Sequence[tuple[int, bool]] = CELLS, seed: int = 0) -> list[Line]:
    """The lines of every metric of a world at every size."""
    world = worlds()[name](np.random.default_rng(1))
    truth = {key: value.value for key, value in scored(world, everyone(world), draws=1).items()}
    lines: list[Line] = []
    for units, clustered in cells:
        if clustered and not world.clusters:
            continue
        outcomes: dict[str, list[tuple[float, Value]]] = {}
        for number in range(campaigns):
            rng = np.random.default_rng([seed, number, units, clustered])
            picks = drawn(world, units, rng, clustered=clustered)
            found = scored(world, picks)
            for metric in metrics_of(world):
                grown = len(picks) / world.units if metric.name in world.scales else 1.0
                value = found.get(metric.name, Value(math.nan, None, None, 0))
                outcomes.setdefault(f"{metric.family}/{metric.name}", []).append((truth[metric.name] * grown, value))
        for key, found_of in outcomes.items():
            if key.split("/")[1] in world.of_size:
                mean = float(np.mean([value.value for _, value in found_of]))
                outcomes[key] = [(mean, value) for _, value in found_of]
        lines += [_line(name, key, (units, clustered), found_of) for key, found_of in outcomes.items()]
    return lines


def _line(world: str, key: str, cell: tuple[int, bool], outcomes: Sequence[tuple[float, Value]]) -> Line:
    family, metric = key.split("/")
    given = [(truth, value) for truth, value in outcomes if value.low is not None and value.high is not None]
    above = sum(value.low > truth + 1e-12 for truth, value in given if value.low is not None)
    below = sum(value.high < truth - 1e-12 for truth, value in given if value.high is not None)
    methods = sorted({value.method for _, value in given})
    return {
        "family": family,
        "metric": metric,
        "world": world,
        "units": cell[0],
        "clusters": cell[1],
        "truth": round(float(np.mean([truth for truth, _ in outcomes])), 4),
        "method": " or ".join(methods),
        "campaigns": len(outcomes),
        "intervals": len(given),
        "coverage": round(1 - (above + below) / len(given), 4) if given else None,
        "above": above,
        "below": below,
    }


def fails(line: Mapping[str, Any]) -> str:
    """`narrow` or `wide` if the 99 % Monte Carlo interval of a line lies outside 93 to 97 %, else nothing.

    >>> fails({"coverage": 0.9, "intervals": 1000, "method": "wilson"}), fails({"coverage": 0.9, "intervals": 100})
    ('narrow', '')
    """
    if line["coverage"] is None:
        return ""
    low, high = exact_bounds(line["coverage"], line["intervals"], SURE)
    exact = line.get("method") == "exact"
    return "narrow" if high < GOAL[0] else "wide" if low > GOAL[1] and not exact else ""


def record(lines: Sequence[Line]) -> dict[str, Any]:
    """What is written: how it was measured, and the lines in order."""
    order = sorted(lines, key=lambda line: (line["family"], line["metric"], line["clusters"], line["units"]))
    fewest = min((line["campaigns"] for line in lines), default=0)
    return {"campaigns": fewest, "level": LEVEL, "goal": GOAL, "sure": SURE, "lines": order}


def kept_lines(path: Path, campaigns: int) -> list[Line]:
    """The lines of an earlier record with as many campaigns."""
    lines = json.loads(path.read_text(encoding="utf-8"))["lines"] if path.exists() else []
    return [line for line in lines if line["campaigns"] >= campaigns]


def show(lines: Sequence[Line]) -> Iterator[str]:
    """The lines of a world as a table."""
    yield f"{'metric':26}{'method':13}{'units':>6}{'held':>8}{'above':>7}{'below':>7}{'none':>7}"
    for one in sorted(lines, key=lambda line: (line["metric"], line["clusters"], line["units"])):
        held = "-" if one["coverage"] is None else f"{one['coverage']:.1%}"
        none = 1 - one["intervals"] / one["campaigns"]
        size = f"{one['units']}{'c' if one['clusters'] else ''}"
        counts = f"{one['above']:>7}{one['below']:>7}{none:>7.0%}"
        yield f"{one['metric']:26}{one['method']:13}{size:>6}{held:>8}{counts}  {fails(one)}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="simulated campaigns for each size")
    parser.add_argument("--world", action="append", choices=list(worlds()), help="measure this one (again)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the record")
    return parser.parse_args()


def main() -> None:
    """Measure world by world, print each table and write down what is there so far."""
    options = _arguments()
    lines = kept_lines(options.output, options.campaigns)
    wanted = options.world or [name for name in worlds() if name not in {line["world"] for line in lines}]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for world in wanted:
        start = time.process_time()
        found = measure(world, options.campaigns)
        lines = [line for line in lines if line["world"] != world] + found
        options.output.write_text(json.dumps(record(lines), indent=1) + "\n", encoding="utf-8")
        print(f"\n{world}: {time.process_time() - start:.0f} CPU seconds")
        print("\n".join(show(found)), flush=True)


if __name__ == "__main__":
    main()
