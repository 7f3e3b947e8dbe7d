"""PARSEVAL of 2,416 trees (as many as the usual test section of the Penn Treebank): us and PYEVALB on the same files.

Each runs in a process of its own; what counts is the CPU time of reading and scoring, without imports. The trees are
made so that both mean the same: at least 12 words, one root, no punctuation or traces, no labels with functions, no
bracket twice over the same words. The totals of brackets, crossing brackets and tags must then be equal. We are run at
three sizes, to see how time grows. This process imports nothing large: the system counts a parent's memory as its
child's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
TREES, SEED = 2416, 3
GROWTH = (1, 4, 16)
GOALS = {
    "PYEVALB / us, CPU of reading and scoring": (10.0, "at least"),
    "16 times the trees / trees, our CPU": (16.0 * 1.5, "at most"),
}

MAKE = """
import re, sys
from pathlib import Path
from basanite.formats.texts.trees import read_trees
from basanite.metrics.text.pruning import Rules, pruned
from basanite.synthetic.treebank import sentences
folder, number, seed = Path(sys.argv[1]), *map(int, sys.argv[2:])

def plain(text):
    return re.sub(r" [(][.,] [.,][)]|-SBJ", "", text[len("(TOP "):-1]).replace("(PRT ", "(PX ")

def fair(texts):
    trees = pruned(read_trees(texts), Rules())
    found = [trees.brackets(at) for at in range(len(texts))]
    return [
        len(set(one)) == len(one) and words >= 12 and one[0][:2] == (0, words)
        for one, words in zip(found, trees.lengths.tolist())
    ]

sides = [[plain(text) for text in side] for side in sentences(seed, number * 6, words=3000, traces=False)]
kept = [at for at, ok in enumerate(zip(*map(fair, sides))) if all(ok)][:number]
assert len(kept) == number, len(kept)
folder.mkdir(parents=True, exist_ok=True)
for name, side in zip(("gold", "answers"), sides):
    (folder / f"{name}.trees").write_text("".join(side[at] + chr(10) for at in kept))
"""

US = """
import json, sys, time
import basanite.metrics.text.parsing as parsing
from basanite.formats.texts.trees import Names, read_trees
from basanite.metrics.text.pruning import Rules, fitting, pruned
start = time.process_time()
names = Names()
sides = [read_trees(open(path).read().splitlines(), names) for path in sys.argv[1:3]]
gold, answers = (pruned(side, Rules()) for side in sides)
rows = parsing.statistics(parsing.Parses([""] * len(sides[0]), gold, answers, fitting(gold, answers)))
values = {metric.name: metric.of(rows) for metric in parsing.METRICS}
spent = time.process_time() - start
total = dict(zip(parsing.COLUMNS, rows.sum(axis=0).astype(int).tolist()))
names = {"matched_brackets": "matched", "gold_brackets": "gold", "test_brackets": "answered",
         "cross_brackets": "crossing", "correct_tags": "right_tags"}
totals = {peer: total[ours] for peer, ours in names.items()}
print(json.dumps({"evaluating": spent, "totals": totals, "values": values}))
"""


def ready(trees):
    """The folder of one size, made now if it is not there."""
    folder = HERE.parent / "build" / "data" / f"parsing-{trees}-{SEED}"
    if not (folder / "answers.trees").exists():
        subprocess.run([sys.executable, "-c", MAKE, str(folder), str(trees), str(SEED)], check=True)
    return folder


def files(folder):
    """The two files of a folder."""
    return [str(folder / f"{name}.trees") for name in ("gold", "answers")]


def least(name, command, repeat):
    """The run with the least CPU time of reading and scoring."""
    costs = [best(name, command, 1) for _ in range(repeat)]
    return min(costs, key=lambda cost: json.loads(cost.output)["evaluating"])


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 2,416 trees, for a quick run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the trees, run everything, show and record."""
    asked = arguments()
    trees = max(round(TREES * asked.scale), 50)
    folders = {size: ready(trees * size) for size in GROWTH}
    us = {
        size: least(f"us, {trees * size} trees", [sys.executable, "-c", US, *files(folder)], asked.repeat)
        for size, folder in folders.items()
    }
    script = str(HERE / "peers" / "pyevalb_parsing.py")
    peer = least(f"PYEVALB, {trees} trees", [sys.executable, script, *files(folders[1])], asked.repeat)
    whole = [sys.executable, "-m", "basanite", "score", "parsing", "--json"]
    whole += ["--reference", files(folders[1])[0], "--submission", files(folders[1])[1]]
    command = best("basanite score, with intervals", whole, 1)
    costs = {**{f"us x{size}": cost for size, cost in us.items()}, "peer": peer}
    spent = {name: json.loads(cost.output)["evaluating"] for name, cost in costs.items()}
    found = dict(zip(GOALS, (spent["peer"] / spent["us x1"], spent["us x16"] / spent["us x1"]), strict=True))
    show(found, GOALS)
    for name, seconds in spent.items():
        print(f"reading and scoring, {name}: {seconds:.3f} s CPU")
    same = json.loads(us[1].output)["totals"] == json.loads(peer.output)["totals"]
    print(f"totals: {'equal' if same else 'WRONG'}")
    record("parsing.jsonl", {"trees": trees}, {**costs, "command": command}, found, GOALS, evaluating=spent, equal=same)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
