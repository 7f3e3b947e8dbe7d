"""Matching answers to gold: 1,000 queries with 100 answers each, entities as classes of strings. No peer does this.

Shown at three sizes, so that growth can be seen; the goal is seconds at the largest. Then `basanite score reading` of a
package with 20,000 and with 100,000 lines of gold, made of copies of the example's documents.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from basanite.metrics.answers import match
from measuring import best, record, show

ANSWERS, GOLD = 100, 100
SIZES = (250, 500, 1000)


def campaign(generator):
    """The gold and the answers of one query: entities with one to six names, answers with some of them and strays."""
    classes = [frozenset(f"e{at}-{name}" for name in range(generator.integers(1, 7))) for at in range(GOLD)]
    gold = [(("N", str(generator.integers(0, 9))), ("T", names)) for names in classes]
    return [_answer(gold[generator.integers(0, GOLD)], generator) for _ in range(ANSWERS)], gold


def _answer(truth, generator):
    names = [name for name in sorted(truth[1][1]) if generator.random() < 0.6] or sorted(truth[1][1])[:1]
    stray = [f"e{generator.integers(0, GOLD)}-0"] if generator.random() < 0.3 else []
    number = truth[0][1] if generator.random() < 0.8 else "x"
    return (("N", number), ("T", frozenset(names + stray)))


GOALS = {"seconds at the largest": (10.0, "at most"), "100,000 lines / 20,000, CPU": (5.5, "at most")}
LINES = (20_000, 100_000)


def main():
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, nargs="+", default=SIZES)
    seconds = {queries: measured(queries) for queries in parser.parse_args().queries}
    scored = {lines: scored_package(lines) for lines in LINES}
    found = {
        "seconds at the largest": seconds[max(seconds)],
        "100,000 lines / 20,000, CPU": round(scored[LINES[1]] / scored[LINES[0]], 3),
    }
    show(found, GOALS)
    record("matching.jsonl", {"answers": ANSWERS, "gold": GOLD}, {}, found, GOALS, seconds=seconds, scored=scored)


EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "reading" / "nfl"
DATA = Path(__file__).resolve().parents[1] / "build" / "data"


def grown_package(lines):
    """The example with copies of its test documents until its gold has so many lines."""
    root = DATA / f"gold-{lines}"
    if (root / "done").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(EXAMPLE, root)
    (root / "gold" / "v2.ndjson").unlink()
    copies = -(-lines // len((EXAMPLE / "gold" / "v1.ndjson").read_text().splitlines()))
    for name in ("gold/v1", "answers/baseline", "answers/human", "annotations/test"):
        rows = [json.loads(line) for line in (EXAMPLE / f"{name}.ndjson").open(encoding="utf-8")]
        with (root / f"{name}.ndjson").open("w", encoding="utf-8") as file:
            for copy in range(copies):
                for row in rows:
                    file.write(json.dumps({**row, "document": f"{row['document']}-{copy}"}) + "\n")
    sums = []
    for path in sorted((EXAMPLE / "corpus" / "test").glob("*.txt")):
        (root / "corpus" / "test" / path.name).unlink()
        for copy in range(copies):
            name = f"test/{path.stem}-{copy}.txt"
            shutil.copy(path, root / "corpus" / name)
            sums.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n")
    (root / "corpus" / "test.sha256").write_text("".join(sums))
    (root / "done").touch()
    return root


def scored_package(lines):
    """CPU seconds of `basanite score reading` with so many lines of gold, and answers of a machine and of people."""
    root = grown_package(lines)
    words = ["score", "reading", "--reference", root, "--submission", root / "answers" / "baseline.ndjson"]
    words += ["--human", root / "answers" / "human.ndjson", "--set", "phase=1", "--json"]
    cost = best(f"score, {lines:,} lines of gold", [sys.executable, "-m", "basanite", *map(str, words)], 1)
    return round(cost.cpu, 3)


def measured(queries):
    """CPU seconds to match so many queries."""
    generator = np.random.default_rng(0)
    made = [campaign(generator) for _ in range(queries)]
    start = time.process_time()
    matched = sum(len(match(answers, gold)) for answers, gold in made)
    cpu = time.process_time() - start
    print(f"{queries:6} queries x {ANSWERS} answers: {cpu:6.2f} CPU s, {matched} matched", flush=True)
    return round(cpu, 3)


if __name__ == "__main__":
    main()
