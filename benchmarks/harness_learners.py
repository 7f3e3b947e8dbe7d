"""Both built-in deep learners on generated reviews, with default settings, beside no learning and a constant (H-37).

One split, ten folds of 1,000 labelled rows, five ratings, support vector regression on what each learner gives. A
learner sees the 14,000 rows that are no test rows, without labels. The constant is the best there is: the mean of the
test rows themselves, which no system knows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from measuring import measured, record, show

ROWS, N, FOLDS = 20_000, 10_000, 10
TEAMS = {"a": ("Closed form", "msda"), "b": ("Trained", "sda")}
GOALS = {
    "sda, 6b / 4b": (1.0, "at most"),
    "sda, 6b / constant": (1.0, "at most"),
    "msda, 6a / 4a": (1.0, "at most"),
    "msda, 6a / constant": (1.0, "at most"),
}
PLAN = """\
format = "basanite-plan/1"
name = "learners"
title = "Deep learners on generated reviews"
seed = 7

[tasks.text]
data = {{ reader = "generated-reviews", rows = {rows}, seed = 1 }}
targets = ["overall", "food", "ambiance", "service", "noise"]
metric = "mrmse"
range = [1, 5]
n = {n}
folds = {folds}
shared_split = true
margin = 0.05
"""
TEAM = """
[[teams]]
letter = "{letter}"
name = "{name}"
[teams.systems.text]
preprocessor = "words"
learner = "{module}"
linear = "svr-linear"
"""


def constant(out):
    """The mean over ratings of the error that the mean of the test rows would have."""
    import numpy as np

    return float(np.mean([np.load(path).std() for path in sorted((out / "truth" / "text").glob("[!c]*.npy"))]))


def run(folder, letter, rows, n):
    """One learner: its cost, the value of each run, and the constant."""
    name, module = TEAMS[letter]
    plan, out = folder / f"{module}.toml", folder / module
    plan.write_text(
        PLAN.format(rows=rows, n=n, folds=FOLDS) + TEAM.format(letter=letter, name=name, module=module), "utf-8"
    )
    command = [sys.executable, "-m", "basanite", "harness", "run", str(plan), "--out", str(out), "--json"]
    cost = measured(module, [*command, "--only", f"4{letter},5{letter},6{letter}"])
    if cost.code:
        raise SystemExit(f"{module}: ended with {cost.code}")
    told = json.loads(cost.output)["tasks"]["text"]["runs"]
    values = {name: {key: entry[key] for key in ("value", "standard_error")} for name, entry in told.items()}
    flags = {entry["run"]: entry["flags"] for entry in json.loads((out / "status.json").read_text("utf-8"))["runs"]}
    return cost, values, constant(out), flags


def main():
    """Run both, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 20,000 reviews and 10,000 labelled rows")
    asked = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    rows, n = round(ROWS * asked.scale), round(N * asked.scale)
    costs, values, flags, found = {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as made:
        for letter, (_, module) in TEAMS.items():
            costs[module], told, floor, marks = run(Path(made), letter, rows, n)
            values, flags = {**values, **told}, {**flags, **marks}
            top = told[f"6{letter}"]["value"]
            found[f"{module}, 6{letter} / 4{letter}"] = top / told[f"4{letter}"]["value"]
            found[f"{module}, 6{letter} / constant"] = top / floor
    print("  ".join(f"{run} {entry['value']:.4f}" for run, entry in values.items()), f" constant {floor:.4f}")
    show(found, GOALS)
    rounded = {run: {key: round(value, 4) for key, value in entry.items()} for run, entry in values.items()}
    size = {"reviews": rows, "labelled": n, "folds": FOLDS}
    record("harness_learners.jsonl", size, costs, found, GOALS, values=rounded, constant=round(floor, 4), flags=flags)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
