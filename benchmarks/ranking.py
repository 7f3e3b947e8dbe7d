"""Ranking measures of a dense score matrix, 1300 queries x 15,000 documents: us and pytrec_eval on the same arrays.

Each runs in a process of its own. The peer computes three measures and its dictionaries are not held against it: what
counts is the CPU time of its evaluation alone, and the peak memory of its process. We compute all nine measures, and
our time starts with the arrays in memory, too. The three measures must agree to 1e-9.
This process imports nothing large: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
QUERIES, DOCUMENTS, SEED = 1300, 15_000, 1
MEASURES = ("map", "ndcg_10", "p_10")
GOALS = {
    "pytrec_eval / us, CPU of evaluating": (5.0, "at least"),
    "pytrec_eval / us, peak memory": (4.0, "at least"),
}

MAKE = """
import sys
from pathlib import Path
import numpy as np
folder, queries, documents, seed = Path(sys.argv[1]), *map(int, sys.argv[2:])
rng = np.random.default_rng(seed)
grades = (rng.random((queries, documents)) < 0.003) * rng.integers(1, 4, (queries, documents))
# Ranks in place of scores: no two are equal, not even as the 32-bit numbers that the peer keeps.
scores = np.argsort(np.argsort(rng.standard_normal((queries, documents)) + grades, axis=1), axis=1) / documents
folder.mkdir(parents=True, exist_ok=True)
np.save(folder / "grades.npy", grades.astype(np.int8))
np.save(folder / "scores.npy", scores)
"""

US = """
import json, sys, time
from pathlib import Path
import numpy as np
from basanite.metrics.retrieval.ranking import values
folder = Path(sys.argv[1])
scores, grades = np.load(folder / "scores.npy"), np.load(folder / "grades.npy")
start = time.process_time()
found = values(scores, grades)
print(json.dumps({"values": found, "evaluating": time.process_time() - start}))
"""


def ready(queries):
    """The folder of one size, made now if it is not there."""
    folder = HERE.parent / "build" / "data" / f"ranking-{queries}x{DOCUMENTS}-{SEED}"
    if not (folder / "scores.npy").exists():
        subprocess.run([sys.executable, "-c", MAKE, str(folder), str(queries), str(DOCUMENTS), str(SEED)], check=True)
    return folder


def ratios(us, peer):
    """What is compared with the goals."""
    ours, theirs = json.loads(us.output), json.loads(peer.output)
    return {
        "pytrec_eval / us, CPU of evaluating": theirs["evaluating"] / ours["evaluating"],
        "pytrec_eval / us, peak memory": peer.peak / us.peak,
    }


def disagreements(us, peer):
    """The measures on which both differ by more than 1e-9."""
    ours, theirs = json.loads(us.output)["values"], json.loads(peer.output)["values"]
    return [name for name in MEASURES if not math.isclose(ours[name], theirs[name], abs_tol=1e-9)]


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 1300 queries, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the data, run both, show and record."""
    asked = arguments()
    queries = max(round(QUERIES * asked.scale), 2)
    folder = str(ready(queries))
    us = best("basanite, nine measures", [sys.executable, "-c", US, folder], asked.repeat)
    peer = best(
        "pytrec_eval, three measures", [sys.executable, str(HERE / "peers/pytrec_ranking.py"), folder], asked.repeat
    )
    found, wrong = ratios(us, peer), disagreements(us, peer)
    show(found, GOALS)
    print(f"values: {'WRONG: ' + ', '.join(wrong) if wrong else 'both agree to 1e-9'}")
    size = {"queries": queries, "documents": DOCUMENTS}
    record("ranking.jsonl", size, {"us": us, "pytrec_eval": peer}, found, GOALS, disagree=wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
