"""Validate and score the full-size retrieval set: us, a plain pandas scorer, and the floor, on the same archives.

Each contender runs in a process of its own, one after the other; its CPU time (with that of its children), wall time
and peak memory come from the system's own accounts. Every scorer must agree with the generator's exact value.
This process imports nothing large: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from clir_data import BAD, BETA, DOCUMENTS, GOOD, ready
from measuring import best, record, show

HERE = Path(__file__).parent
QUERIES = 1300
FORMS = ("aqwv", "aqwv_all", "aqwv_relevant")
DRAWN = (*FORMS, "adwv", "pmiss", "pfa", "oracle", "auc")
"""The metrics whose intervals the goals include; best thresholds re-chosen in every draw stand outside them."""
PANDAS_TO_FLOOR = 9.5
"""CPU of a well-written pandas scorer over that of the floor, measured before; ours must come within 1.5 times."""
GOALS = {
    "us / floor, CPU": (1.5, "at most"),
    "peak, MiB": (150.0, "at most"),
    "two workers / one, wall": (0.55, "at most"),
    "bad / good, worst CPU": (5.0, "at most"),
    "pandas / us, CPU": (7.0, "at least"),
    "pandas / floor, CPU": (PANDAS_TO_FLOOR * 1.5, "at most"),
}


def basanite(verb, key, submission, *options):
    """Our command line for one submission."""
    return [
        *(sys.executable, "-m", "basanite", verb, "clir", "--reference", str(key), "--submission", str(submission)),
        *map(str, options),
        "--json",
    ]


def floor(*archives):
    """Decompress and count lines, nothing else."""
    return ["sh", "-c", 'for file in "$@"; do gzip -dc "$file" | wc -l; done', "sh", *map(str, archives)]


def contenders(folder, repeat):
    """Floor, pandas and us on one good submission."""
    key, system = folder / "key.tgz", folder / "Alpha.tgz"
    metadata = [f"--metadata={path}" for path in sorted((folder / "metadata").iterdir())]
    everything = basanite("score", key, system, *metadata, "--set", f"beta={BETA}")
    score = [*everything, *(f"--metric={name}" for name in DRAWN)]
    peer = [sys.executable, str(HERE / "peers" / "pandas_clir.py"), str(key), str(system), str(BETA)]
    return {
        "floor": best("gzip -dc | wc -l, both", floor(key, system), repeat, reads=str),
        "pandas": best("pandas, merge per query", peer, repeat),
        "us": best("basanite score, one process", [*score, "--workers", "1"], repeat),
        "us2": best("basanite score, two workers", [*score, "--workers", "2"], repeat),
        "all": best("basanite score, all metrics", everything, repeat),
    }


def damaged(folder, repeat):
    """Validation of a good archive and of bad ones."""
    key = folder / "key.tgz"
    costs = {"good": best("validate, good", basanite("validate", key, folder / "Alpha.tgz"), repeat)}
    for name in BAD:
        costs[name] = best(f"validate, {name}", basanite("validate", key, folder / name), repeat, code=1)
    return costs


def values(cost):
    """The three forms of AQWV that a scorer printed, of whichever shape."""
    found = json.loads(cost.output)
    found = found.get("values", found)
    plain = {name: found.get(name) for name in FORMS}
    return {name: value["value"] if isinstance(value, dict) else value for name, value in plain.items()}


def disagreements(costs, exact):
    """The scorers whose values are not the generator's, to 1e-9."""
    wrong = []
    for name in ("pandas", "us", "us2", "all"):
        found = values(costs[name])
        if any(not math.isclose(found.get(form) or math.nan, exact[form], abs_tol=1e-9) for form in FORMS):
            wrong.append(name)
    return wrong


def ratios(costs, bad):
    """What is compared with the goals."""
    worst = max(bad[name].cpu for name in BAD) / bad["good"].cpu
    return {
        "us / floor, CPU": costs["us"].cpu / costs["floor"].cpu,
        "peak, MiB": costs["us"].peak,
        "two workers / one, wall": costs["us2"].wall / costs["us"].wall,
        "bad / good, worst CPU": worst,
        "pandas / us, CPU": costs["pandas"].cpu / costs["us"].cpu,
        "pandas / floor, CPU": costs["pandas"].cpu / costs["floor"].cpu,
    }


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 1300 queries, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the data, run everything, show and record."""
    asked = arguments()
    queries = max(round(QUERIES * asked.scale), 2)
    folder = ready(queries, GOOD)
    ready(queries, BAD)
    costs = contenders(folder, asked.repeat)
    bad = damaged(folder, asked.repeat)
    found = ratios(costs, bad)
    wrong = disagreements(costs, json.loads((folder / "exact.json").read_text()))
    show(found, GOALS)
    print(f"values: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree with the exact ones to 1e-9'}")
    size = {"queries": queries, "documents": DOCUMENTS}
    record("clir.jsonl", size, {**costs, **bad}, found, GOALS, disagree=wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
