"""Write many annotated statements as RDF: us and rdflib on the same statements, and how memory grows with their number.

Each contender runs in a process of its own; its CPU time and peak memory come from the system's own accounts. The same
statements are checked against the ontology as well. This process imports nothing large.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
STATEMENTS = 500_000
SHARE_OF_PEER = 5
"""rdflib holds the graph in memory, so it gets a fifth of the statements, and its time is scaled."""
FORMATS = ("ntriples", "turtle", "rdfxml", "jsonld", "nquads")
GOALS = {
    "rdflib / us, CPU a statement": (4.0, "at least"),
    "growth of memory, MiB": (30.0, "at most"),
    "check of 100k, CPU s": (1.0, "at most"),
}


def command(*words):
    """One contender's command line."""
    return [sys.executable, str(HERE / "peers" / "rdf_writers.py"), *map(str, words)]


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 500,000 statements, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Run everything, show and record."""
    asked = arguments()
    count = max(round(STATEMENTS * asked.scale), 100)
    costs = {name: best(f"us, {name}", command("us", name, count), asked.repeat) for name in FORMATS}
    few = {name: best(f"us, {name}, a tenth", command("us", name, count // 10), asked.repeat) for name in FORMATS}
    peer = best("rdflib, turtle, a fifth", command("rdflib", "turtle", count // SHARE_OF_PEER), asked.repeat)
    start = {who: best(f"{who}, nothing", command(who, "turtle", 0), asked.repeat).cpu for who in ("us", "rdflib")}
    check = best("ontology check of 100k", command("check", "-", 100_000), asked.repeat)
    found = {
        "rdflib / us, CPU a statement": (peer.cpu - start["rdflib"])
        * SHARE_OF_PEER
        / (costs["turtle"].cpu - start["us"]),
        "growth of memory, MiB": max(costs[name].peak - few[name].peak for name in FORMATS),
        "check of 100k, CPU s": json.loads(check.output)["seconds"],
    }
    show(found, GOALS)
    everything = {**costs, **{f"{name}, a tenth": cost for name, cost in few.items()}, "rdflib": peer, "check": check}
    record("reading_rdf.jsonl", {"statements": count}, everything, found, GOALS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
