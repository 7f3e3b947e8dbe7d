"""Scores of others: a board of 100 systems x 10,000 items x 5 repeats from Parquet, and a log of inspect_ai.

The board: from the file to groups, rank ranges and pass^5 (`basanite audit`), against reading it with polars and one
pass with NumPy (the mean of each system on each item). The log: all of its trials, against unzipping all members and
parsing them as JSON. CPU seconds of the work alone, without starting Python; everybody has one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from measuring import best, record, show

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
GOALS = {"audit / read and one pass, CPU": (3.0, "at most"), "unzip and parse / read log, CPU": (0.8, "at least")}


def write_board(path, systems, items, repeats):
    """Scores of systems of rising skill."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    logits = np.linspace(-1, 1, systems)[:, None] + rng.normal(size=items)
    score = rng.random((systems, items, repeats)) < 1 / (1 + np.exp(-logits))[..., None]
    columns = {
        "system": np.repeat([f"model-{at:03}" for at in range(systems)], items * repeats),
        "item": np.tile(np.repeat([f"item-{at:05}" for at in range(items)], repeats), systems),
        "repeat": np.tile(np.arange(1, repeats + 1, dtype=np.int8), systems * items),
        "score": score.ravel().astype(np.int8),
    }
    pl.DataFrame(columns).write_parquet(path)


def write_log(path, samples):
    """An archive of samples with 40 messages each."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.doors.score_logs import members, sample

    rows = [sample(f"q{at:05}", right=at % 3 > 0) for at in range(samples)]
    talk = [{"role": "user", "content": f"Message {at} says something of some length."} for at in range(40)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members(rows).items():
            whole = {**json.loads(text), "messages": talk} if name.startswith("samples/") else json.loads(text)
            archive.writestr(name, json.dumps(whole))


def audit(path):
    """From the file to ranks and pass^5."""
    from basanite.cli.audit import audit_files

    return audit_files({"board": path}, {"primary": "pass^5"}, None, 0).data["standings"][0]["value"]


def one_pass(path):
    """Read with polars, and with NumPy the mean of each system on each item."""
    import numpy as np
    import polars as pl

    frame = pl.read_parquet(path)
    codes = []
    for name in ("system", "item"):
        known = frame[name].unique(maintain_order=True)
        codes.append(frame[name].cast(pl.Enum(known)).to_physical().to_numpy().astype(np.int64))
    place = codes[0] * (codes[1].max() + 1) + codes[1]
    return float((np.bincount(place, weights=frame["score"].to_numpy()) / np.bincount(place)).max())


def read_log(path):
    """All trials of the log."""
    from basanite.formats.records import Place
    from basanite.formats.scores.reading import read_trials
    from basanite.problems import Findings

    return len(read_trials(path, Place("submission", "Y-6"), Findings()))


def unzip_and_parse(path):
    """Every member as JSON."""
    with zipfile.ZipFile(path) as archive:
        return len([json.loads(archive.read(name)) for name in archive.namelist()])


CONTENDERS = {one.__name__: one for one in (audit, one_pass, read_log, unzip_and_parse)}


def contend(name, path, size=""):
    """Write the data, or do the work on the clock."""
    if name == "write_board":
        return write_board(path, 100, int(size), 5)
    if name == "write_log":
        return write_log(path, int(size))
    import polars  # noqa: F401 - what a contender needs is loaded before the clock starts

    if name in ("audit", "read_log"):
        import basanite.cli.audit  # noqa: F401

    start = time.process_time()
    found = CONTENDERS[name](Path(path))
    return print(json.dumps({"seconds": time.process_time() - start, "found": found}))


def main():
    """Run everything, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the items, for a quick run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the one with least CPU counts")
    parser.add_argument("--contend", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contend:
        return contend(*options.contend)
    os.environ.update(dict.fromkeys(THREADS, "1"))
    items, samples = max(round(10_000 * options.scale), 100), max(round(2_000 * options.scale), 100)
    with tempfile.TemporaryDirectory() as folder:
        board, log = Path(folder) / "board.parquet", Path(folder) / "log.eval"
        for name, path, size in (("write_board", board, items), ("write_log", log, samples)):
            subprocess.run([sys.executable, __file__, "--contend", name, str(path), str(size)], check=True)
        files = {"audit": board, "one_pass": board, "read_log": log, "unzip_and_parse": log}
        costs = {
            name: best(name, [sys.executable, __file__, "--contend", name, str(path)], options.repeat)
            for name, path in files.items()
        }
    seconds = {name: json.loads(cost.output)["seconds"] for name, cost in costs.items()}
    found = {
        "audit / read and one pass, CPU": seconds["audit"] / seconds["one_pass"],
        "unzip and parse / read log, CPU": seconds["unzip_and_parse"] / seconds["read_log"],
    }
    show(found, GOALS)
    timed = {name: round(value, 4) for name, value in seconds.items()}
    record("scores.jsonl", {"items": items, "samples": samples}, costs, found, GOALS, timed=timed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
