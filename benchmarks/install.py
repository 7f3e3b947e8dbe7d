"""What an installation takes on disk, and what a small job takes of a processor, beside ir_measures and sacreBLEU.

The base and each extra are installed by hash into empty environments from `requirements/`, and then the wheel that
`make dist` built. PyTorch is left out: its size depends on the build. The jobs of the peers are those of their commands
on our examples, with the same files; sacreBLEU comes with our base, ir_measures is that of the development environment.
Numbers of items are small, so starting is all that is measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import record, show  # and finds the folders beside this one

from tools import dist  # isort: skip
from tools.hashed_requirements import EXTRAS  # isort: skip

EXAMPLES = dist.ROOT / "examples"
TINY = {
    "score": ("score", "classification", "--reference", "key.csv", "--submission", "Alpha.csv"),
    "validate": ("validate", "classification", "--reference", "key.csv", "--submission", "Alpha.csv"),
    "compare": (
        *("compare", "classification", "--reference", "key.csv"),
        *("--submission", "Alpha.csv", "--submission", "Beta.csv"),
    ),
}
GOALS = {
    "base, MB on disk": (300.0, "at most"),
    "import basanite, CPU s": (0.05, "at most"),
    "--help, CPU s": (0.15, "at most"),
    **{f"tiny {name}, CPU s": (0.25, "at most") for name in TINY},
}
TRIES = 7


def seconds(python, words, folder):
    """CPU seconds of one of our commands."""
    return dist.cpu_seconds([str(python.with_name("basanite")), *map(str, words)], folder, TRIES)


def against_peers(python, folder):
    """CPU seconds of ours and of a peer's command on the same small files."""
    ranking = EXAMPLES / "ranking"
    (folder / "reference.txt").write_text("a small house stands here\n" * 30, encoding="utf-8")
    (folder / "answers.txt").write_text("a small home stands here\n" * 30, encoding="utf-8")
    pair = ["score", "translation", "--reference", "reference.txt", "--submission", "answers.txt", "--draws", "1"]
    ranks = ["score", "ranking", "--reference", ranking / "qrels.txt", "--submission", ranking / "alpha.run"]
    found = {
        "ours, ranking": seconds(python, [*ranks, "--metric", "nDCG@10"], folder),
        "ours, translation": seconds(python, pair, folder),
    }
    sacrebleu = [str(python), "-m", "sacrebleu", "reference.txt", "-i", "answers.txt", "-m", "bleu", "chrf", "ter"]
    found["sacreBLEU, translation"] = dist.cpu_seconds(sacrebleu, folder, TRIES)
    peer = Path(sys.executable).with_name("ir_measures")
    if peer.is_file():
        command = [str(peer), str(ranking / "qrels.txt"), str(ranking / "alpha.run"), "nDCG@10"]
        found["ir_measures, ranking"] = dist.cpu_seconds(command, folder, TRIES)
    return found


def main():
    """Install, measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, default=next(iter((dist.ROOT / "dist").glob("*.whl")), None))
    parser.add_argument("--base-only", action="store_true", help="leave the extras out, and record nothing")
    given = parser.parse_args()
    if given.wheel is None:
        raise SystemExit("There is no wheel in dist. Type: make dist")
    with tempfile.TemporaryDirectory(prefix="basanite-install-") as name:
        place = Path(name)
        python = dist.environment(place / "base", ["base"], given.wheel.resolve())
        trial = dist.trial(python, place)
        found = {
            "base, MB on disk": trial.megabytes,
            "import basanite, CPU s": trial.import_seconds,
            "--help, CPU s": trial.help_seconds,
        }
        classes = EXAMPLES / "classification"
        found |= {f"tiny {job}, CPU s": seconds(python, words, classes) for job, words in TINY.items()}
        show(found, GOALS)
        peers = against_peers(python, place / "work")
        for job, cpu in sorted(peers.items()):
            print(f"{job:28}{cpu:10.2f} s")
        if given.base_only:
            return
        extras = dict(more_megabytes(place, given.wheel.resolve(), trial.megabytes))
    more = {
        "extras_mb": extras,
        "example_cpu": round(trial.score_seconds, 3),
        "peers_cpu": {job: round(cpu, 3) for job, cpu in peers.items()},
    }
    record("install.jsonl", {}, {}, found, GOALS, **more)


def more_megabytes(place, wheel, base):
    """What each extra adds to the base."""
    for extra in EXTRAS:
        if extra != "torch":
            python = dist.environment(place / extra, [extra], wheel)
            more = round(dist.installed_megabytes(python) - base)
            print(f"{extra:28}{more:10} MB more", flush=True)
            yield extra, more


if __name__ == "__main__":
    main()
