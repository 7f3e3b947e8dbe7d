"""The folder `examples/scores`: `python -m tests.synthetic.score_examples examples` makes it again.

Two systems on forty items with five repeats each, as tables; and the first repeats as logs of inspect_ai and of
lm-evaluation-harness.
"""

from __future__ import annotations

import json
import random
import sys
import zipfile
from pathlib import Path

from tests.doors.score_logs import lm_eval_samples, members, sample

ITEMS = [f"q{at:02}" for at in range(1, 41)]
TOPICS = ("sums", "dates", "units", "lists")
SYSTEMS = {"Alpha": (0.25, 1.5), "Beta": (0.0, 1.0)}
"""By name: what is added to the chance that a trial passes, and how dear a trial is."""
DATE = "2026-05-04T03-02-0{}.123456"


def trials():
    """By system the trials of each item: passed or not, cost and seconds."""
    rng = random.Random(5)
    ease = {item: rng.betavariate(1.2, 1.0) for item in ITEMS}
    return {
        name: {
            item: [
                (rng.random() < ease[item] + skill, rng.uniform(0.001, 0.004) * price, rng.uniform(0.5, 3))
                for _ in range(5)
            ]
            for item in ITEMS
        }
        for name, (skill, price) in SYSTEMS.items()
    }


def write(folder):
    """Write tables and logs."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    about = {item: (TOPICS[at % 4], f"page{at // 2 + 1:02}") for at, item in enumerate(ITEMS)}
    lines = [f"{item},{topic},{source}" for item, (topic, source) in about.items()]
    (folder / "items.csv").write_text("\n".join(["item,topic,source", *lines]) + "\n")
    for number, (name, tried) in enumerate(trials().items(), start=1):
        rows = [
            f"{item},{repeat},{int(right)},{cost:.4f},{seconds:.2f}"
            for item, tries in tried.items()
            for repeat, (right, cost, seconds) in enumerate(tries, start=1)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["item,repeat,score,cost,latency", *rows]) + "\n")
        logged = [
            sample(item, right=tries[0][0], metadata={"topic": about[item][0]}, total_time=round(tries[0][2], 2))
            for item, tries in tried.items()
        ]
        with zipfile.ZipFile(folder / "logs" / f"{name}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            for member, text in members(logged).items():
                if not member.startswith("samples/"):
                    archive.writestr(zipfile.ZipInfo(member, (2026, 5, 4, 3, 2, 0)), text, zipfile.ZIP_DEFLATED)
        run = folder / "logs" / name.lower()
        run.mkdir(exist_ok=True)
        date = DATE.format(number)
        scores = [{"acc": float(tries[0][0]), "acc_norm": float(tries[1][0])} for tries in tried.values()]
        lm_eval_samples(run / f"samples_sums_{date}.jsonl", scores)
        results = {"results": {"sums": {"acc,none": sum(one["acc"] for one in scores) / len(scores)}}}
        results |= {
            "versions": {"sums": 1.0},
            "n-shot": {"sums": 0},
            "configs": {"sums": {"doc_to_text": "{{question}}"}},
        }
        (run / f"results_{date}.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "scores")
