"""The text protocol of the harness against a plain scikit-learn script of the same protocol, on the same splits.

Each runs in a process of its own with one thread; CPU seconds come from the system's account. Every fold of every run
and rating must have the same error in both, to 1e-5. The table at the end multiplies each stage by the rows of the
published size: that is an extrapolation, and says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections import defaultdict
from pathlib import Path

from harness_data import FOLDS, ready, sizes
from measuring import measured, record, show

HERE = Path(__file__).parent
PUBLISHED = 433_697
TOLERANCE = 1e-5
GOALS = {
    "exact / naive, CPU": (0.5, "at most"),
    "capped / naive, CPU": (0.3, "at most"),
    "second run / first, CPU": (0.02, "at most"),
}
STAGES = {
    "lda": ("1", "3a", "3b"),
    "logistic": ("2a", "4a", "5a", "6a"),
    "svr": ("2b", "4b", "5b", "6b"),
}


def ours(name, plan, out):
    """One run of our command."""
    cost = measured(name, [sys.executable, "-m", "basanite", "harness", "run", str(plan), "--out", str(out), "--json"])
    if cost.code:
        raise SystemExit(f"{name}: ended with {cost.code}")
    return cost


def contenders(folder):
    """The naive script, our exact run, the same again, and the run with a cap on validation rows."""
    exact, capped = folder / "exact", folder / "capped"
    for out in (exact, capped):
        shutil.rmtree(out, ignore_errors=True)
    costs = {
        "exact": ours("basanite harness run, exact", folder / "plan.toml", exact),
        "again": ours("the same again", folder / "plan.toml", exact),
        "capped": ours("basanite harness run, capped", folder / "capped.toml", capped),
        "naive": measured("scikit-learn script", [sys.executable, str(HERE / "peers/naive_harness.py"), str(folder)]),
    }
    if costs["naive"].code:
        raise SystemExit("the naive script did not end well")
    return costs


def differences(folder, naive):
    """The largest difference of a fold's error in each run."""
    found = defaultdict(float)
    for line in (folder / "exact" / "scores.jsonl").read_text().splitlines():
        score = json.loads(line)
        wanted = naive["errors"][f"{score['run']}/{score['target']}"][score["fold"] - 1]
        found[score["run"]] = max(found[score["run"]], abs(score["value"] - wanted))
    return dict(found)


def our_stages(folder):
    """Seconds of our steps by stage; one thread, so they are CPU seconds but for waiting."""
    found = defaultdict(float)
    for line in (folder / "exact" / "times.jsonl").read_text().splitlines():
        entry = json.loads(line)
        kind, _, rest = entry["step"].partition(" ")
        run = rest.rpartition(" ")[2]
        named = {"prepare": "preprocessing", "preprocess": "preprocessing", "learn": "learner"}.get(kind)
        classifier = next((name for name, runs in STAGES.items() if run in runs), "")
        found[named or (classifier if kind == "classify" else "other")] += entry["seconds"]
    return dict(found)


def naive_stages(naive):
    """The stages of the naive script under the same names."""
    found = defaultdict(float)
    for name, seconds in naive["stages"].items():
        found[name.partition(" ")[0]] += seconds
    return dict(found)


def show_stages(theirs, mine, rows):
    """Both by stage, and what proportion to rows would make of them at the published size."""
    factor = PUBLISHED / rows
    print(f"\n{'stage':16}{'naive s':>10}{'ours s':>10}{f'x {factor:.0f}: naive h':>18}{'ours h':>10}")
    for name in sorted({*theirs, *mine}):
        pair = theirs.get(name, 0.0), mine.get(name, 0.0)
        print(f"{name:16}{pair[0]:10.1f}{pair[1]:10.1f}{pair[0] * factor / 3600:18.2f}{pair[1] * factor / 3600:10.2f}")
    print("The hours are extrapolated in proportion to rows, not run.")


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 6,000 reviews and 1,000 labelled rows")
    return parser.parse_args()


def main():
    """Make the data, run everything, compare, show and record."""
    asked = arguments()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    folder, (rows, n) = ready(asked.scale), sizes(asked.scale)
    costs = contenders(folder)
    naive = json.loads(costs["naive"].output)
    found = {
        "exact / naive, CPU": costs["exact"].cpu / costs["naive"].cpu,
        "capped / naive, CPU": costs["capped"].cpu / costs["naive"].cpu,
        "second run / first, CPU": costs["again"].cpu / costs["exact"].cpu,
    }
    show(found, GOALS)
    apart, stages = differences(folder, naive), (naive_stages(naive), our_stages(folder))
    wrong = {run: value for run, value in apart.items() if value > TOLERANCE}
    show_stages(*stages, rows)
    print(f"largest difference of a fold: {max(apart.values()):.1e}{f'; TOO FAR APART: {wrong}' if wrong else ''}")
    shown = {
        kind: {name: round(value, 2) for name, value in found.items()}
        for kind, found in zip(("naive", "ours"), stages, strict=True)
    }
    size = {"reviews": rows, "labelled": n, "folds": FOLDS}
    record("harness.jsonl", size, costs, found, GOALS, stages=shown, apart=max(apart.values()), disagree=sorted(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
