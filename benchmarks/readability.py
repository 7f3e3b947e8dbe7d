"""The plan's null of readability, 500 passages x 20 novices x 10,000 draws x 3 metrics: us and the obvious loops.

Each runs in a process of its own and its CPU time starts with the tables in memory. One loop goes draw by draw and
passage by passage, as the plan says it; the other goes draw by draw and leaves passages to numpy, which is what a
careful person would write. Mean and spread of all three nulls must agree within chance. Peak memory at a tenth of the
draws is compared with that at all of them: it must stay flat.
This process imports nothing large: the system counts a parent's memory as its child's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
PASSAGES, NOVICES, EXPERTS, DRAWS, SEED = 500, 20, 6, 10_000, 1
GOALS = {
    "plain loop / us, CPU": (10.0, "at least"),
    "numpy a draw / us, CPU": (10.0, "at least"),
    "our peak memory, all draws / a tenth": (1.1, "at most"),
}
CHANCE = 6.0
"""So many standard errors may two nulls differ."""

MAKE = """
import sys
from pathlib import Path
import numpy as np
folder, passages, novices, experts, seed = Path(sys.argv[1]), *map(int, sys.argv[2:])
rng = np.random.default_rng(seed)
true = rng.normal(3, 1, (passages, 1))
stars = lambda feelings: np.clip(np.rint(feelings), 1, 5)
folder.mkdir(parents=True, exist_ok=True)
np.save(folder / "experts.npy", stars(true + rng.normal(0, 0.6, (passages, experts))))
np.save(folder / "novices.npy", stars(true + rng.normal(0, 0.5, novices) + rng.normal(0, 1, (passages, novices))))
"""

BEGIN = """
import json, sys, time
from pathlib import Path
import numpy as np
folder, draws = Path(sys.argv[1]), int(sys.argv[2])
experts, novices = np.load(folder / "experts.npy"), np.load(folder / "novices.npy")
"""

END = """
null = np.asarray(null)
print(json.dumps({"cpu": cpu, "mean": null.mean(axis=1).tolist(), "spread": null.std(axis=1).tolist()}))
"""

US = """
from basanite.metrics.judgement.readability import null_values
start = time.process_time()
null = null_values(experts, novices, draws=draws, seed=1)
cpu = time.process_time() - start
"""

NUMPY = """
rng = np.random.default_rng(1)
start = time.process_time()
gold, low, high = experts.mean(axis=1), experts.min(axis=1), experts.max(axis=1)
usual, worth, at = np.abs(novices - gold[:, None]).mean(axis=1), 1 / (1 + high - low), np.arange(len(gold))
null = np.empty((3, draws))
for draw in range(draws):
    machine = novices[at, rng.integers(0, novices.shape[1], len(gold))]
    null[0, draw] = (usual - np.abs(gold - machine)).mean()
    null[1, draw] = np.where((machine >= low) & (machine <= high), worth, 0).mean()
    null[2, draw] = np.corrcoef(machine, gold)[0, 1]
cpu = time.process_time() - start
"""

PLAIN = """
import random
from statistics import correlation
dice = random.Random(1)
experts, novices = experts.tolist(), novices.tolist()
start = time.process_time()
gold = [sum(marks) / len(marks) for marks in experts]
usual = [sum(abs(g - mark) for mark in marks) / len(marks) for g, marks in zip(gold, novices)]
ranges = [(min(marks), max(marks)) for marks in experts]
null = [[], [], []]
for draw in range(draws):
    machine = [dice.choice(marks) for marks in novices]
    null[0].append(sum(u - abs(g - m) for u, g, m in zip(usual, gold, machine)) / len(gold))
    hits = [1 / (1 + high - low) if low <= m <= high else 0 for (low, high), m in zip(ranges, machine)]
    null[1].append(sum(hits) / len(hits))
    null[2].append(correlation(gold, machine))
cpu = time.process_time() - start
"""


def ready(passages):
    """The folder of one size, made now if it is not there."""
    folder = HERE.parent / "build" / "data" / f"readability-{passages}x{NOVICES}-{SEED}"
    if not (folder / "novices.npy").exists():
        sizes = map(str, (passages, NOVICES, EXPERTS, SEED))
        subprocess.run([sys.executable, "-c", MAKE, str(folder), *sizes], check=True)
    return folder


def disagreements(us, peers, draws):
    """The peers whose nulls differ from ours by more than chance allows."""
    ours, wrong = json.loads(us.output), []
    for peer in peers:
        theirs = json.loads(peer.output)
        both = zip(ours["mean"], theirs["mean"], ours["spread"], theirs["spread"], strict=True)
        if any(max(abs(a - b), abs(s - t)) > CHANCE * s * (2 / draws) ** 0.5 for a, b, s, t in both):
            wrong.append(peer.name)
    return wrong


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 10,000 draws, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the data, run all, show and record."""
    asked = arguments()
    draws, folder = max(round(DRAWS * asked.scale), 100), str(ready(PASSAGES))

    def ran(name, code, draws=draws):
        return best(name, [sys.executable, "-c", BEGIN + code + END, folder, str(draws)], asked.repeat)

    us, few = ran("basanite, all draws", US), ran("basanite, a tenth of the draws", US, max(draws // 10, 10))
    numpy, plain = ran("numpy, draw by draw", NUMPY), ran("plain loop", PLAIN)
    cpu = {cost.name: json.loads(cost.output)["cpu"] for cost in (us, numpy, plain)}
    found = {
        "plain loop / us, CPU": cpu[plain.name] / cpu[us.name],
        "numpy a draw / us, CPU": cpu[numpy.name] / cpu[us.name],
        "our peak memory, all draws / a tenth": us.peak / few.peak,
    }
    wrong = disagreements(us, (numpy, plain), draws)
    show(found, GOALS)
    print(
        f"our CPU: {cpu[us.name]:.3f} s; nulls: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree within chance'}"
    )
    size = {"passages": PASSAGES, "novices": NOVICES, "draws": draws}
    record("readability.jsonl", size, {"us": us, "numpy": numpy, "plain": plain}, found, GOALS, disagree=wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
