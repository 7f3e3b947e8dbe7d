"""Matching answers to gold: 1,000 queries with 100 answers each, entities as classes of strings. No peer does this.

Shown at three sizes, so that growth can be seen; the goal is seconds at the largest.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from basanite.metrics.answers import match
from measuring import record, show

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


GOALS = {"seconds at the largest": (10.0, "at most")}


def main():
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, nargs="+", default=SIZES)
    seconds = {queries: measured(queries) for queries in parser.parse_args().queries}
    found = {"seconds at the largest": seconds[max(seconds)]}
    show(found, GOALS)
    record("matching.jsonl", {"answers": ANSWERS, "gold": GOLD}, {}, found, GOALS, seconds=seconds)


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
