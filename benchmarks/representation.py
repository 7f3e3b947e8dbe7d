"""Representation measures: closed forms against a cosine matrix, one sweep against scikit-learn and permetrics; a card.

Everything runs on the same data in one process, us and the peers with the same number of threads for matrix products.
With several threads wall time counts, with one CPU time: take one on a machine that does other work. `--device cuda`
runs the part for a card instead: it first checks that values agree with float64 on the CPU, then times one read of the
array, the linear measures, and both sweeps.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
import tracemalloc

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
ROWS, DIMENSIONS, CLASSES = 20_000, 1536, 100
PERMETRICS_ROWS = 5_000
GOALS = {
    "cosine matrix / FERM 1-4": (100.0, "at least"),
    "scikit-learn / sweep": (3.0, "at least"),
    "permetrics / sweep": (30.0, "at least"),
    "linear pass, 4 x rows / rows": (5.0, "at most"),
    "silhouette, off by": (1e-5, "at most"),
    "sweep peak, 2 x rows / rows": (2.2, "at most"),
}


def data(rows, dimensions, classes, seed=0):
    """Features like those of a network after its last ReLU: never negative, classes in mixed order."""
    import numpy as np

    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    centres = rng.random((classes, dimensions), dtype=np.float32)
    features = rng.random((rows, dimensions), dtype=np.float32)
    features += 0.3 * centres[labels]
    return features, labels


def timed(name, work, repeat):
    """The least seconds of some runs, and what the last one gave."""
    one = os.environ[THREADS[0]] == "1"
    clock, least, found = time.process_time if one else time.perf_counter, float("inf"), None
    for _ in range(repeat):
        gc.collect()
        start = clock()
        found = work()
        least = min(least, clock() - start)
    print(f"{name:46} {'CPU' if one else 'wall'} {least:9.3f} s", flush=True)
    return least, found


def matrix(features):
    """FERM's cosines as people compute them: one product of unit rows."""
    import numpy as np

    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    return unit @ unit.T


def linear(rows, repeat):
    """The closed forms against one product, and their growth with the rows."""
    from basanite.representation.measures.ferm import ferm
    from basanite.representation.measures.sums import linear_pass

    features, labels = data(rows, DIMENSIONS, CLASSES)
    costs = {
        "cosine matrix": timed(f"cosine matrix, {rows} rows", lambda: matrix(features).shape, 1)[0],
        "ferm": timed(f"FERM 1-4, {rows} rows", lambda: ferm(features, labels), repeat)[0],
    }
    for share in (4, 2, 1):
        part = features[: rows // share], labels[: rows // share]
        costs[f"linear/{share}"] = timed(
            f"all linear, {rows // share} rows", lambda part=part: linear_pass(*part), repeat
        )[0]
    return costs


def pairwise(rows, repeat):
    """One sweep for three measures against scikit-learn's silhouette alone, and against permetrics where it ends."""
    from permetrics import ClusteringMetric
    from sklearn.metrics import silhouette_score

    features, labels = data(rows, DIMENSIONS, CLASSES)
    small, few = features[:PERMETRICS_ROWS], labels[:PERMETRICS_ROWS]
    ours, found = timed(f"silhouette + Dunn + point-biserial, {rows} rows", lambda: three(features, labels), repeat)
    peer, expected = timed(f"scikit-learn silhouette, {rows} rows", lambda: silhouette_score(features, labels), 1)
    little, _ = timed(f"the three, {len(small)} rows", lambda: three(small, few), repeat)
    metric = ClusteringMetric(X=small.astype("float64"), y_pred=few)
    slow, _ = timed(f"permetrics silhouette, {len(small)} rows", metric.silhouette_index, 1)
    costs = {"sweep": ours, "scikit-learn": peer, "sweep, few": little, "permetrics, few": slow}
    return costs, abs(found["silhouette"].value - expected)


def three(features, labels):
    """Our three measures of pairs."""
    from basanite.representation.measures.all_measures import measure

    return measure(features, labels, names=["silhouette", "dunn", "point_biserial"]).values


def peak(rows):
    """The most memory that a sweep takes beside the features, by what Python allocates."""
    features, labels = data(rows, 64, 20)
    tracemalloc.start()
    three(features, labels)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def on_cpu(asked):
    """All ratios of the CPU part."""
    from measuring import RESULTS, met, show

    rows = max(int(ROWS * asked.scale), 1000)
    lines = linear(rows, asked.repeat)
    pairs, off = pairwise(rows, asked.repeat)
    found = {
        "cosine matrix / FERM 1-4": lines["cosine matrix"] / lines["ferm"],
        "scikit-learn / sweep": pairs["scikit-learn"] / pairs["sweep"],
        "permetrics / sweep": pairs["permetrics, few"] / pairs["sweep, few"],
        "linear pass, 4 x rows / rows": lines["linear/1"] / lines["linear/4"],
        "silhouette, off by": off,
        "sweep peak, 2 x rows / rows": peak(8000) / peak(4000),
    }
    show(found, GOALS)
    print(f"silhouette off by {off:.1e}")
    size = {"rows": rows, "dimensions": DIMENSIONS, "classes": CLASSES, "device": "cpu", "threads": asked.threads}
    note(RESULTS, size, found, {**lines, **pairs}, {name: met(GOALS[name], value) for name, value in found.items()})
    return 0


def note(folder, size, found, costs, reached):
    """Append one line about this run to the results."""
    import datetime
    import json
    import platform

    line = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **size,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "ratios": {name: float(f"{value:.4g}") for name, value in found.items()},
        "met": reached,
        "costs": {name: float(f"{value:.4g}") for name, value in costs.items()},
    }
    folder.mkdir(exist_ok=True)
    with (folder / "representation.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps(line, sort_keys=True) + "\n")


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 20,000 rows (CPU) or 1,281,167 (card)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the one with least time counts")
    parser.add_argument("--threads", type=int, default=2, help="threads of matrix products, for us and the peers alike")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    return parser.parse_args()


def main():
    """Run the part that was asked for; threads are set before anything large is imported."""
    asked = arguments()
    if asked.device == "cuda":
        from representation_card import on_card

        return on_card(asked)
    os.environ.update({name: str(asked.threads) for name in THREADS})
    return on_cpu(asked)


if __name__ == "__main__":
    raise SystemExit(main())
