"""Krippendorff's alpha of 10,000 items x 50 judges: us from counts of values, and its definition by pairs.

Each runs in a process of its own and its CPU time starts with the table in memory. The pairwise contender takes all
pairs of an item's ratings at once in numpy, item by item, and pairs of values for what is expected; pairs of all half a
million ratings would never end. The `krippendorff` package is run on the same table beside it. All must agree to 1e-9.
This process imports nothing large: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys

from measuring import best, record, show

ITEMS, JUDGES, MISSING = 10_000, 50, 0.1
GOALS = {
    "pairwise / us, CPU": (20.0, "at least"),
    "krippendorff package / us, CPU": (1.0, "at least"),
}

BEGIN = """
import json, sys, time
import numpy as np
items, judges, missing = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(1)
table = np.clip(np.rint(rng.normal(3, 1, (items, 1)) + rng.normal(0, 1, (items, judges))), 1, 5)
table[rng.random(table.shape) < missing] = np.nan
"""

END = """
print(json.dumps({"cpu": cpu, "alpha": found}))
"""

US = """
from basanite.metrics.judgement.alpha import alpha
start = time.process_time()
found = [alpha(table, level).value for level in ("ordinal", "interval")]
cpu = time.process_time() - start
"""

PAIRWISE = """
start = time.process_time()
found = []
for level in ("ordinal", "interval"):
    units = [row[~np.isnan(row)] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    values, often = np.unique(np.concatenate(units), return_counts=True)
    scale = np.cumsum(often) - often / 2 if level == "ordinal" else values
    units = [scale[np.searchsorted(values, unit)] for unit in units]
    observed = sum(((unit[:, None] - unit) ** 2).sum() / (len(unit) - 1) for unit in units)
    expected = often @ (scale[:, None] - scale) ** 2 @ often / (often.sum() - 1)
    found.append(1 - observed / expected)
cpu = time.process_time() - start
"""

PEER = """
import krippendorff
start = time.process_time()
levels = ("ordinal", "interval")
found = [float(krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)) for level in levels]
cpu = time.process_time() - start
"""


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 10,000 items, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Run all, show and record."""
    asked = arguments()
    items = max(round(ITEMS * asked.scale), 50)

    def ran(name, code):
        sizes = map(str, (items, JUDGES, MISSING))
        return best(name, [sys.executable, "-c", BEGIN + code + END, *sizes], asked.repeat)

    costs = {
        "us": ran("basanite", US),
        "pairwise": ran("pairs within items", PAIRWISE),
        "peer": ran("krippendorff", PEER),
    }
    told = {name: json.loads(cost.output) for name, cost in costs.items()}
    found = {
        "pairwise / us, CPU": told["pairwise"]["cpu"] / told["us"]["cpu"],
        "krippendorff package / us, CPU": told["peer"]["cpu"] / told["us"]["cpu"],
    }
    wrong = [name for name, each in told.items() if not all(map(_same, each["alpha"], told["us"]["alpha"]))]
    show(found, GOALS)
    print(f"values: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree to 1e-9'}")
    record("agreement.jsonl", {"items": items, "judges": JUDGES}, costs, found, GOALS, disagree=wrong)
    return 1 if wrong else 0


def _same(one, other):
    return math.isclose(one, other, abs_tol=1e-9)


if __name__ == "__main__":
    raise SystemExit(main())
