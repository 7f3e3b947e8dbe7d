"""What the benchmarks of texts share: run each contender in a process of its own, on one core, and compare."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from measuring import best

SCRIPT = Path(__file__).parent / "text_contenders.py"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def one_core():
    """One thread for everybody: CPU seconds are compared, and idle threads that wait would count as work."""
    os.environ.update(dict.fromkeys(THREADS, "1"))


def asked(text, size):
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help=f"share of the {size:,} sentences, for a quick run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def run(names, size, repeat):
    """The costs of some contenders at one size, by name."""
    return {name: best(f"{name}, {size:,}", [sys.executable, str(SCRIPT), name, str(size)], repeat) for name in names}


def seconds(cost):
    """The CPU seconds of the work alone, as the contender timed it."""
    return json.loads(cost.output)["seconds"]


def value(cost):
    """What the contender found."""
    return json.loads(cost.output)["value"]


def growth(name, size, repeat):
    """How much more a sentence costs in a collection four times as large: 1 if time grows with size alone."""
    costs = {part: run([name], size // part, repeat)[name] for part in (4, 2, 1)}
    each = {part: seconds(cost) / (size // part) for part, cost in costs.items()}
    return each[1] / each[4], {f"{name}, {size // part}": cost for part, cost in costs.items()}
