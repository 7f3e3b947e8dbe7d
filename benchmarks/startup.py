"""CPU seconds of tiny commands from start to end, beside ir_measures and sacreBLEU on the same small files.

Each run takes the least of some tries of every command, one after the other, so that all see one machine; the middle
of the runs counts, and all are recorded. Compiled modules are needed: what is measured is an installation that has been
used before. `--ours` names the command of another installation, such as one of the base alone.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import record, show

EXAMPLES = Path(__file__).parent.parent / "examples"
RANKS = (str(EXAMPLES / "ranking" / "qrels.txt"), str(EXAMPLES / "ranking" / "alpha.run"))
GOALS = {f"tiny {name}, CPU s": (0.25, "at most") for name in ("score", "validate", "compare")}
TRIES = 5


def seconds(command, folder):
    """The least CPU time of a command in some tries."""
    found = []
    for _ in range(TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def commands(ours):
    """What is measured, by name: ours under the names of the goals, and the peers."""
    here = Path(sys.executable).parent
    return {
        "tiny score, CPU s": [ours, "score", "ranking", *RANKS],
        "tiny validate, CPU s": [ours, "validate", "ranking", *RANKS],
        "tiny compare, CPU s": [ours, "compare", "ranking", *RANKS, str(EXAMPLES / "ranking" / "beta.run")],
        "ours, translation": [ours, "score", "translation", "reference.txt", "answers.txt"],
        "ir_measures, the values of the score": [
            *(str(here / "ir_measures"), *RANKS, "AP nDCG nDCG@10 P@10 RR Bpref infAP Judged@10"),
        ],
        "sacreBLEU, translation": [
            *(sys.executable, "-m", "sacrebleu", "reference.txt", "-i", "answers.txt", "-m", "bleu", "chrf", "ter"),
        ],
    }


def main():
    """Measure three times, print and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", default=str(Path(sys.executable).with_name("basanite")), help="our command")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "reference.txt").write_text("a small house stands here\n" * 30, encoding="utf-8")
        (Path(folder) / "answers.txt").write_text("a small home stands here\n" * 30, encoding="utf-8")
        every = {name: [] for name in commands(given.ours)}
        for _ in range(given.runs):
            for name, command in commands(given.ours).items():
                every[name].append(round(seconds(command, folder), 3))
    middle = {name: sorted(found)[len(found) // 2] for name, found in every.items()}
    show({name: middle[name] for name in GOALS}, GOALS)
    for name, found in every.items():
        print(f"{name:40} {middle[name]:.3f} of {found}")
    load = {"load": round(os.getloadavg()[0], 1)}
    record("startup.jsonl", {}, {}, {name: middle[name] for name in GOALS}, GOALS, every_run=every, **load)


if __name__ == "__main__":
    main()
