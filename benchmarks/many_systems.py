"""How often the comparison of many equal systems decides any pair, which should be in at most 5% of cases (P-40, S-1).

    python -m benchmarks.many_systems --keep
    python -m benchmarks.many_systems --time 2000 --keep

All systems have the same value in the population: units differ, systems are exchangeable on each, and values are yes
or no, or strongly skewed. A cell counts the simulated boards on which at least one pair is called different. It is run
with standard errors of each draw and with those of the data; the comparison takes the first up to `OWN_ERRORS` units.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from basanite.analysis import many_systems
from basanite.analysis.results import Design
from basanite.kernel import ANY, Metric, Rows, Scores, UnitRows

SYSTEMS = 120
BOARDS = 200
DRAWS = 1_000
UNITS = (30, 100, 300, 1000)


def _nothing(_: object) -> None:
    raise NotImplementedError("the simulation starts from rows")


MEAN = Metric("mean", "", "", "", _nothing, lambda sums: sums[..., 0] / sums[..., 1], range=ANY, linear=True)


def simulated(kind: str, units: int, generator: np.random.Generator) -> Rows:
    """`[units, systems]`: values of equal systems."""
    hard = generator.normal(size=(units, 1))
    noise = generator.normal(size=(units, SYSTEMS))
    return (hard + noise > 0.8).astype(float) if kind == "yes or no" else np.exp(hard / 2 + noise)


def scores_of(values: Rows) -> Iterator[Scores]:
    """The systems as a task would give them."""
    units = tuple(f"u{at:05}" for at in range(len(values)))
    for system in range(values.shape[1]):
        rows = np.column_stack([values[:, system], np.ones(len(values))])
        table = UnitRows("unit", units, ("x", "count"), rows)
        yield Scores("simulated", f"s{system}", (MEAN,), {"mean": table}, "mean", {}, {})


def alarms(kind: str, units: int, errors: str, boards: int) -> int:
    """On how many boards some pair is decided."""
    many_systems.OWN_ERRORS = units if errors == "of each draw" else 0
    many_systems.FEWEST_TEST_DRAWS = DRAWS
    found = 0
    for board in range(boards):
        design = Design(seed=board)
        values = simulated(kind, units, np.random.default_rng([board, units]))
        field = many_systems.entrants(scores_of(values), "mean", design)
        found += bool(many_systems.compare_many(field, design).better.any())
    return found


def timed(systems: int, units: int) -> dict[str, object]:
    """CPU time and memory of testing all pairs of many systems, from a tenth of the resamples."""
    global SYSTEMS
    SYSTEMS, many_systems.FEWEST_TEST_DRAWS = systems, DRAWS
    values = simulated("yes or no", units, np.random.default_rng(1)) + np.linspace(0, 0.3, systems)
    began = time.process_time()
    field = many_systems.entrants(scores_of(values), "mean", Design())
    many_systems.compare_many(field, Design())
    spent = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"systems": systems, "units": units, "draws": DRAWS, "cpu_s": round(spent, 1), "peak_mib": round(peak)}


def main() -> None:
    """Run every cell, print it, and append it to the results if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--keep", action="store_true", help="append to benchmarks/results/many_systems.jsonl")
    parser.add_argument("--time", type=int, nargs="*", help="time so many systems on 300 units instead")
    given = parser.parse_args()
    path = Path(__file__).parent / "results" / "many_systems.jsonl"
    for systems in given.time or ():
        line = timed(systems, 300)
        print(json.dumps(line), flush=True)
        if given.keep:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    for units in UNITS if given.time is None else ():
        for kind in ("yes or no", "skewed"):
            for errors in ("of each draw", "of the data"):
                found = alarms(kind, units, errors, given.boards)
                line = {"values": kind, "units": units, "systems": SYSTEMS, "errors": errors, "draws": DRAWS}
                line |= {"boards": given.boards, "false_alarms": found}
                print(json.dumps(line), flush=True)
                if given.keep:
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
