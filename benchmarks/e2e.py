"""Validate an end-to-end submission of 20,000 summaries, against the time that `tar` takes to unpack it into memory.

Rows, metadata and images of 40 to 80 KB are all looked at; nothing is unpacked. Peak memory is compared with that of a
submission a quarter as large, since it should not grow with the number of summaries.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from e2e_data import ready
from measuring import best, record, show

QUERIES = 1000
SMALLER = 4
GOALS = {
    "us / tar -xzf, CPU": (2.0, "at most"),
    "us / tar -xzf, wall": (2.0, "at most"),
    "peak / quarter's peak": (1.25, "at most"),
    "peak, MiB": (200.0, "at most"),
}


def validate(folder):
    """Our command line for one submission."""
    given = ("--reference", folder / "key.tgz", "--submission", folder / "Alpha.tgz")
    return [sys.executable, "-m", "basanite", "validate", "e2e", *map(str, given), "--json"]


def unpack(folder, repeat):
    """What `tar` takes to unpack the same archive into memory; without room there, on disk."""
    size = 2 * (folder / "Alpha.tgz").stat().st_size
    memory = Path("/dev/shm")
    room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * size
    with tempfile.TemporaryDirectory(prefix="basanite-", dir=memory if room else None) as place:
        command = ["tar", "-xzf", str(folder / "Alpha.tgz"), "--overwrite", "-C", place]
        return best(f"tar -xzf, {'memory' if room else 'disk'}", command, repeat, reads=str)


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 1000 queries, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the data, run everything, show and record."""
    asked = arguments()
    queries = max(round(QUERIES * asked.scale), SMALLER)
    folder, smaller = ready(queries), ready(queries // SMALLER)
    size = json.loads((folder / "size.json").read_text())
    megabytes = (folder / "Alpha.tgz").stat().st_size / 1e6
    print(f"{size['summaries']} summaries of {queries} queries, {megabytes:.0f} MB")
    costs = {
        "tar": unpack(folder, asked.repeat),
        "quarter": best("basanite validate, a quarter", validate(smaller), asked.repeat),
        "us": best("basanite validate", validate(folder), asked.repeat),
    }
    found = {
        "us / tar -xzf, CPU": costs["us"].cpu / costs["tar"].cpu,
        "us / tar -xzf, wall": costs["us"].wall / costs["tar"].wall,
        "peak / quarter's peak": costs["us"].peak / costs["quarter"].peak,
        "peak, MiB": costs["us"].peak,
    }
    show(found, GOALS)
    record("e2e.jsonl", {**size, "megabytes": round(megabytes)}, costs, found, GOALS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
