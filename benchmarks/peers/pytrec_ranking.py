"""Ranking measures by pytrec_eval from a folder with `scores.npy` and `grades.npy`, as its own guide shows.

`python benchmarks/peers/pytrec_ranking.py FOLDER` prints the mean of three measures and the CPU seconds of making the
dictionaries and of evaluating them. Only relevant documents are put into the judgements, which is the least it needs.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytrec_eval

MEASURES = {"map": "map", "ndcg_10": "ndcg_cut_10", "p_10": "P_10"}
ASKED = {"map", "ndcg_cut.10", "P.10"}


def dictionaries(folder):
    """Judgements and run as the evaluator takes them."""
    scores, grades = np.load(folder / "scores.npy"), np.load(folder / "grades.npy")
    names = [f"d{at:05d}" for at in range(scores.shape[1])]
    judged, run = {}, {}
    for number, (row, grade) in enumerate(zip(scores, grades, strict=True)):
        run[str(number)] = dict(zip(names, row.tolist(), strict=True))
        judged[str(number)] = {names[at]: int(grade[at]) for at in np.flatnonzero(grade)}
    return judged, run


def main():
    """Evaluate, and say what it took."""
    judged, run = dictionaries(Path(sys.argv[1]))
    start = time.process_time()
    found = pytrec_eval.RelevanceEvaluator(judged, ASKED).evaluate(run)
    took = time.process_time() - start
    values = {name: float(np.mean([query[key] for query in found.values()])) for name, key in MEASURES.items()}
    print(json.dumps({"values": values, "evaluating": took, "dictionaries": start}))


if __name__ == "__main__":
    main()
