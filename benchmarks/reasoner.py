"""Nine rules over statements about games: our reasoner with full provenance against general engines without any.

Every engine runs in a process of its own on the same N-Triples file; CPU seconds of the inference alone are compared
(loading is shown too), and every engine must find exactly the firings that the generator planned.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
DATA = HERE.parent / "build" / "data" / "reasoner"
RULES = HERE.parent / "examples" / "reading" / "nfl" / "rules" / "scoring.rules"
PEERS = ("rdflib", "pyoxigraph", "clingo")
FULL = 100_000
MILLION = 10
"""How many times as many statements the run has that shows growth (R-36): a million at full scale."""
LARGER = 5
"""How many times as many statements the second run of ours has, to see how memory grows."""
GOALS = {
    "rdflib / us, CPU": (4.0, "at least"),
    "ms a document": (1.5, "at most"),
    "memory, five times the data": (6.0, "at most"),
    "a million statements, CPU s": (30.0, "at most"),
    "a million statements, MiB": (1536.0, "at most"),
    "pyoxigraph / us, CPU": (1.0, "at least"),
}


def ready(statements):
    """The file of so many statements and what must come out, made once by a process that ends before we measure."""
    path, wanted = DATA / f"{statements}.nt", DATA / f"{statements}.json"
    if not wanted.exists():
        import subprocess

        DATA.mkdir(parents=True, exist_ok=True)
        code = (
            "import json, sys; from pathlib import Path; from reasoner_data import games\n"
            "made, expected = games(int(sys.argv[1]))\n"
            "lines = [str(one) + '\\n' for game in made for one in game]\n"
            "Path(sys.argv[2]).write_text(''.join(lines)); Path(sys.argv[3]).write_text(json.dumps(expected))\n"
        )
        command = [sys.executable, "-c", code, str(statements), str(path), str(wanted)]
        subprocess.run(command, check=True, cwd=HERE)
    return path, json.loads(wanted.read_text())


def run(engine, path, repeat):
    """One engine on one file."""
    script = HERE / "peers" / "reasoner_engines.py"
    cost = best(f"{engine}, {path.stem}", [sys.executable, str(script), engine, str(path), str(RULES)], repeat)
    return cost, json.loads(cost.output)


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 100,000 statements, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each engine; the one with least CPU counts")
    return parser.parse_args()


def main():
    """Make the data, run every engine, show and record."""
    asked = arguments()
    size = max(round(FULL * asked.scale), 400)
    (path, wanted), (larger, _), (million, _) = ready(size), ready(size * LARGER), ready(size * MILLION)
    engines = ("us", "documents", *PEERS)
    costs, found = {}, {}
    for engine in engines:
        costs[engine], found[engine] = run(engine, path, asked.repeat)
    costs["us, larger"], found["us, larger"] = run("us", larger, asked.repeat)
    costs["us, a million"], found["us, a million"] = run("us", million, asked.repeat)
    wrong = [engine for engine in ("us", *PEERS) if found[engine]["firings"] != wanted]
    print(f"\n{'':14}{'load s':>10}{'infer s':>10}{'peak MiB':>10}")
    for engine, one in found.items():
        print(f"{engine:14}{one['load']:10.2f}{one['infer']:10.2f}{costs[engine].peak:10.0f}")
    ours, count = found["us"]["infer"], found["documents"]["firings"]["documents"]
    ratios = {
        "rdflib / us, CPU": found["rdflib"]["infer"] / ours,
        "ms a document": 1000 * found["documents"]["infer"] / count,
        "memory, five times the data": costs["us, larger"].peak / costs["us"].peak,
        "a million statements, CPU s": costs["us, a million"].cpu,
        "a million statements, MiB": costs["us, a million"].peak,
        "pyoxigraph / us, CPU": found["pyoxigraph"]["infer"] / ours,
    }
    show(ratios, GOALS)
    others = {f"{engine} / us, CPU": round(found[engine]["infer"] / ours, 3) for engine in ("clingo",)}
    print("".join(f"{name:28}{value:10.2f}\n" for name, value in others.items()), end="")
    print(f"firings: {'WRONG: ' + ', '.join(wrong) if wrong else 'all engines agree with the generator'}")
    seconds = {engine: {key: round(one[key], 3) for key in ("load", "infer")} for engine, one in found.items()}
    more = {"others": others, "seconds": seconds, "disagree": wrong}
    record("reasoner.jsonl", {"statements": size, "rules": 9}, costs, ratios, GOALS, **more)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
