"""`measure shift` at the size of the FERM paper: 300 classes of 25 rows, 1,536 features, ten repeats, six measures.

The command is run as people run it, in a process of its own, on made-up features like those of a network after its last
ReLU. No draws, one thread; the goal is 60 CPU seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from measuring import best, record, show

CLASSES, ROWS, DIMENSIONS = (200, 100), 25, 1536
MEASURES = ("ferm1", "silhouette", "davies_bouldin", "dunn", "rs", "h_score")
GOALS = {"CPU seconds": (60.0, "at most")}


def write_side(path, classes, spread, seed):
    """Features of classes around a centre each, never negative."""
    import numpy as np

    rng = np.random.default_rng(seed)
    centres = np.maximum(rng.normal(size=(classes, DIMENSIONS)), 0)
    rows = np.repeat(centres, ROWS, axis=0) + spread * rng.normal(size=(classes * ROWS, DIMENSIONS))
    np.savez(path, features=np.maximum(rows, 0).astype(np.float32), labels=np.repeat(np.arange(classes), ROWS))


def main():
    """Make both sides, run the command once, and record what it took."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source.npz"), Path(folder, "target.npz")
        write_side(source, CLASSES[0], 0.6, 0)
        write_side(target, CLASSES[1], 1.5, 1)
        words = [word for name in MEASURES for word in ("--metric", name)]
        command = [
            sys.executable,
            "-m",
            "basanite",
            "measure",
            "shift",
            source,
            target,
            *words,
            "--draws",
            "0",
            "--json",
        ]
        cost = best("measure shift", list(map(str, command)), 1)
    found = {"CPU seconds": cost.cpu}
    show(found, GOALS)
    size = {"classes": CLASSES, "rows": ROWS, "dimensions": DIMENSIONS, "repeats": 10, "measures": MEASURES}
    record("representation-shift.jsonl", size, {"measure shift": cost}, found, GOALS)


if __name__ == "__main__":
    main()
