"""Validate and score the full-size retrieval set: us, a plain pandas scorer, and the floor, on the same archives.

Each contender runs in a process of its own, one after the other; its CPU time (with that of its children), wall time
and peak memory come from the system's own accounts. Every scorer must agree with the generator's exact value.
This process imports nothing large: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from clir_data import BAD, BETA, DOCUMENTS, GOOD, ready

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "clir.jsonl"
QUERIES = 1300
FORMS = ("aqwv", "aqwv_all", "aqwv_relevant")
PANDAS_TO_FLOOR = 9.5
"""CPU of a well-written pandas scorer over that of the floor, measured before; ours must come within 1.5 times."""
GOALS = {
    "us / floor, CPU": (1.5, "at most"),
    "peak, MiB": (150.0, "at most"),
    "two workers / one, wall": (0.55, "at most"),
    "bad / good, worst CPU": (5.0, "at most"),
    "pandas / us, CPU": (1.0, "at least"),
    "pandas / floor, CPU": (PANDAS_TO_FLOOR * 1.5, "at most"),
}


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
    score = basanite("score", key, system, *metadata, "--set", f"beta={BETA}")
    peer = [sys.executable, str(HERE / "peers" / "pandas_clir.py"), str(key), str(system), str(BETA)]
    return {
        "floor": best("gzip -dc | wc -l, both", floor(key, system), repeat, reads=str),
        "pandas": best("pandas, merge per query", peer, repeat),
        "us": best("basanite score, one process", [*score, "--workers", "1"], repeat),
        "us2": best("basanite score, two workers", [*score, "--workers", "2"], repeat),
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
    for name in ("pandas", "us", "us2"):
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


def met(name, value):
    """Whether a ratio reaches its goal."""
    goal, side = GOALS[name]
    return value <= goal if side == "at most" else value >= goal


def show(found):
    """Print the ratios beside their goals."""
    print(f"\n{'':28}{'found':>10}{'goal':>18}")
    for name, value in found.items():
        goal, side = GOALS[name]
        print(f"{name:28}{value:10.2f}{side:>10}{goal:8.2f}   {'met' if met(name, value) else 'missed'}")


def record(queries, costs, found, wrong):
    """Append one line about this run to the results."""
    line = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "queries": queries,
        "documents": DOCUMENTS,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "ratios": {name: round(value, 3) for name, value in found.items()},
        "met": {name: met(name, value) for name, value in found.items()},
        "disagree": wrong,
        "costs": {name: brief(cost) for name, cost in costs.items()},
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=True) + "\n")


def brief(cost):
    """A cost without its output, rounded."""
    kept = {name: value for name, value in asdict(cost).items() if name not in ("name", "output")}
    return {name: round(value, 2) for name, value in kept.items()}


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
    show(found)
    print(f"values: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree with the exact ones to 1e-9'}")
    record(queries, {**costs, **bad}, found, wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
