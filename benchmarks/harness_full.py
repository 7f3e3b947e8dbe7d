"""The text protocol at the published size: 433,697 reviews, five ratings, two teams, ten folds (H-43).

Runs the plan, then its analysis and its report, each in a process of its own with one thread, and reads from the
system's account what each took; memory counts pages of mapped files too. All ratings share one split, so that each
learner is trained once and its codes are one matrix for all of them: with a split of its own, each rating would need
these matrices again. The data are generated once under `build/data`. A run that was interrupted goes on where it
stopped; its times are then those of its steps.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

from measuring import measured, record, show

ROOT = Path(__file__).parents[1]
PUBLISHED, N, FOLDS = 433_697, 10_000, 10
GOALS = {"memory, GiB": (16.0, "at most"), "disk, GB": (30.0, "at most")}
PLAN = """\
format = "basanite-plan/1"
name = "full"
title = "The text protocol at the published size"
seed = 7

[tasks.text]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["overall", "food", "ambiance", "service", "noise"]
metric = "mrmse"
range = [1, 5]
n = {n}
folds = {folds}
shared_split = true
margin = 0.05
features = "bow"
strong = "tfidf-ridge"

[[teams]]
letter = "a"
name = "Logistic"
[teams.systems.text]
preprocessor = "words"
learner = "msda"
linear = "logistic"

[[teams]]
letter = "b"
name = "Regression"
[teams.systems.text]
preprocessor = "words"
learner = {{ module = "msda", parameters = {{ noise = 0.8 }} }}
linear = "svr-linear"
"""


def ready(rows):
    """The folder with reviews and plan, made now if it is not there."""
    from basanite.synthetic.reviews import write_reviews

    folder = ROOT / "build" / "data" / f"harness-full-{rows}"
    if not (folder / "plan.toml").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        write_reviews(folder / "reviews.csv", rows, seed=1)
        (folder / "plan.toml").write_text(PLAN.format(n=min(N, rows // 3), folds=FOLDS), "utf-8")
    return folder


def stages(out):
    """Seconds of the steps, by kind and run."""
    found = defaultdict(float)
    for line in (out / "times.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        kind, _, rest = entry["step"].partition(" ")
        found[f"{kind} {rest.rpartition(' ')[2]}" if kind == "classify" else kind] += entry["seconds"]
    return {name: round(seconds, 1) for name, seconds in sorted(found.items())}


def bytes_in(folder):
    """What the files of a folder take on disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def main():
    """Run, analyse and report, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviews", type=int, default=PUBLISHED)
    asked = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    folder = ready(asked.reviews)
    out, ours = folder / "result", [sys.executable, "-m", "basanite", "harness"]
    resumed = (out / "steps.json").is_file()
    costs = {
        "run": measured("harness run", [*ours, "run", str(folder / "plan.toml"), "--out", str(out), "--json"]),
        "analyse": measured("harness analyse", [*ours, "analyse", str(out), "--json"]),
        "report": measured("harness report", [*ours, "report", str(out), "--html", str(folder / "report.html")]),
    }
    failed = [name for name, cost in costs.items() if cost.code]
    if failed:
        raise SystemExit(f"{', '.join(failed)} did not end well")
    told = json.loads(costs["run"].output)["tasks"]["text"]["runs"]
    values = {name: round(entry["value"], 4) for name, entry in told.items()}
    took = stages(out)
    print("  ".join(f"{run} {value}" for run, value in values.items()))
    print("  ".join(f"{name} {seconds} s" for name, seconds in took.items()))
    used = {"memory, GiB": max(cost.peak for cost in costs.values()) / 1024, "disk, GB": bytes_in(folder) / 1e9}
    show(used, GOALS)
    size = {"reviews": asked.reviews, "labelled": N, "folds": FOLDS, "resumed": resumed}
    record("harness_full.jsonl", size, costs, used, GOALS, values=values, stages=took)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
