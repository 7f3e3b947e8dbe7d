"""What benchmarks share: run a command in a process of its own and read the system's account of it.

Nothing large is imported here: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
sys.path.insert(0, str(RESULTS.parent.parent))  # benchmarks of servers use the processes and databases of tests/offices


@dataclass(frozen=True)
class Cost:
    """What one process took, and how it ended."""

    name: str
    cpu: float
    wall: float
    peak: float
    code: int
    output: str


def measured(name, command):
    """Run a command and read its account."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    cost = Cost(name, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, child.returncode, text)
    print(f"{name:34} CPU {cost.cpu:8.2f} s   wall {wall:8.2f} s   peak {cost.peak:7.0f} MiB", flush=True)
    return cost


def best(name, command, repeat, *, code=0, reads=json.loads):
    """The run with the least CPU time of several; the benchmark stops if it does not end as it should."""
    cost = min((measured(name, command) for _ in range(repeat)), key=lambda cost: cost.cpu)
    try:
        reads(cost.output)
    except ValueError as error:
        raise SystemExit(f"{name}: what it printed cannot be read: {error}") from error
    if cost.code != code:
        raise SystemExit(f"{name}: ended with {cost.code} in place of {code}")
    return cost


def met(goal, value):
    """Whether a value reaches its goal, a bound with its side."""
    bound, side = goal
    return value <= bound if side == "at most" else value >= bound


def show(found, goals):
    """Print the ratios beside their goals."""
    print(f"\n{'':28}{'found':>10}{'goal':>18}")
    for name, value in found.items():
        bound, side = goals[name]
        print(f"{name:28}{value:10.2f}{side:>10}{bound:8.2f}   {'met' if met(goals[name], value) else 'missed'}")


def record(file, size, costs, found, goals, **more):
    """Append one line about this run to the results."""
    line = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **size,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "ratios": {name: round(value, 3) for name, value in found.items()},
        "met": {name: met(goals[name], value) for name, value in found.items()},
        **more,
        "costs": {name: brief(cost) for name, cost in costs.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / file).open("a", encoding="utf-8") as out:
        out.write(json.dumps(line, sort_keys=True) + "\n")


def brief(cost):
    """A cost without its output, rounded."""
    kept = {name: value for name, value in asdict(cost).items() if name not in ("name", "output")}
    return {name: round(value, 2) for name, value in kept.items()}
