"""The data of the harness benchmark: reviews, plans, and for the naive script the splits and seeds of our run.

Made once per size under `build/data/`. Run as a program it makes one size, so that the process that measures stays
small.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS, N, FOLDS, WORDS, CAP = 6_000, 1_000, 10, 1_000, 500
TARGETS = ("overall", "food", "ambiance", "service", "noise")
TOPICS, COSTS, NOISES = (10, 20, 40), (0.01, 0.1, 1.0), (0.5, 0.8)
PARAMETERS = {"words": WORDS, "topics": TOPICS, "costs": COSTS, "noises": NOISES, "cap": CAP, "format": 1}

PLAN = """\
format = "basanite-plan/1"
name = "bench"
title = "The text protocol at bench size"
seed = 7

[tasks.text]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = {targets}
metric = "mrmse"
range = [1, 5]
n = {n}
folds = {folds}
{cap}
features = {{ module = "bow" }}
strong = {{ module = "lda-ridge", parameters = {{ topics = {topics} }} }}

[[teams]]
letter = "a"
name = "Logistic"

[teams.systems.text]
preprocessor = {{ module = "words", parameters = {{ size = {words}, weight = "binary" }} }}
learner = {{ module = "msda", parameters = {{ units = {words}, noise = {noises[0]} }} }}
linear = {{ module = "logistic", parameters = {{ C = {costs} }} }}

[[teams]]
letter = "b"
name = "Regression"

[teams.systems.text]
preprocessor = {{ module = "words", parameters = {{ size = {words}, weight = "count" }} }}
learner = {{ module = "msda", parameters = {{ units = {words}, noise = {noises[1]} }} }}
linear = {{ module = "svr-linear", parameters = {{ C = {costs} }} }}
"""


def sizes(scale):
    """Reviews and rows in folds at a scale."""
    return max(round(ROWS * scale), 300), max(round(N * scale), 100)


def ready(scale):
    """The folder of one size, made now if it is not there or was made otherwise."""
    rows, _ = sizes(scale)
    folder = ROOT / "build" / "data" / f"harness-{rows}"
    stamp, wanted = folder / "parameters.json", json.loads(json.dumps(PARAMETERS))
    if not stamp.exists() or json.loads(stamp.read_text()) != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([sys.executable, __file__, str(scale), str(folder)], check=True)
        stamp.write_text(json.dumps(PARAMETERS))
    return folder


def plan(n, cap):
    """The plan as text."""
    lists = {"targets": json.dumps(TARGETS), "topics": json.dumps(TOPICS), "costs": json.dumps(COSTS)}
    capped = f"validation_cap = {cap}" if cap else ""
    return PLAN.format(n=n, folds=FOLDS, words=WORDS, noises=NOISES, cap=capped, **lists)


def make(scale, folder):
    """Write everything of one size."""
    import numpy as np

    from basanite.harness.evaluation import ready as evaluation_of
    from basanite.harness.pipeline import Builder
    from basanite.harness.results import split_arrays
    from basanite.synthetic.reviews import write_reviews

    rows, n = sizes(scale)
    write_reviews(folder / "reviews.csv", rows, seed=1)
    (folder / "plan.toml").write_text(plan(n, None))
    (folder / "capped.toml").write_text(plan(n, CAP))
    evaluation = evaluation_of(folder / "plan.toml")
    for target, partition in evaluation.partitions["text"].items():
        np.savez(folder / f"{target}.npz", **split_arrays(partition))
    planned = Builder(evaluation).planned_runs()
    seeds = {f"{entry.run.name}/{entry.target}": entry.predictions.parameters["seeds"][0] for entry in planned}
    (folder / "seeds.json").write_text(json.dumps(seeds))


if __name__ == "__main__":
    make(float(sys.argv[1]), Path(sys.argv[2]))
