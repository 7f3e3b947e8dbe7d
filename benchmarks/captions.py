"""Caption metrics on 40,504 images x 5 references, beside pycocoevalcap on the same captions in one run.

    python benchmarks/captions.py --scale 0.1      # a tenth of the images, to try
    python benchmarks/captions.py                  # full size, about two minutes

Compared are the CPU seconds of scoring alone (reading the data is the same for both): BLEU@1..4, ROUGE-L and CIDEr-D
together. Values must agree to 1e-9. Our own time is also taken at a quarter and a half of the size: it grows like the
number of captions. METEOR is timed beside them; it has no peer without Java.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from pathlib import Path

from measuring import best, record, show

ROOT = Path(__file__).parents[1]
IMAGES, SEED, WORDS = 40_504, 1, 8000
GOALS = {
    "peer / us, CPU": (8.0, "at least"),
    "largest difference x 1e9": (1.0, "at most"),
    "growth, power of the size": (1.2, "at most"),
}


def ready(images):
    """The file of one size, made now if it is not there."""
    path = ROOT / "build" / "data" / f"captions-{images}-{SEED}-{WORDS}.json"
    if not path.exists():
        from basanite.synthetic.captions import describe_images

        made = describe_images(images, seed=SEED, words=WORDS)
        path.parent.mkdir(parents=True, exist_ok=True)
        answers = [one.answer.rstrip(".") for one in made]
        references = [[text.rstrip(".") for text in one.references] for one in made]
        path.write_text(json.dumps({"answers": answers, "references": references}), encoding="utf-8")
    return path


def scored(name, who, path, repeat):
    """A run of one scorer in a process of its own: its cost, its values and the CPU seconds of scoring alone."""
    scorer = Path(__file__).with_name("captions_scorers.py")
    cost = best(name, [sys.executable, str(scorer), who, str(path)], repeat, reads=_printed)
    printed = _printed(cost.output)
    print(f"{'':34} scoring alone {printed['scoring']:6.2f} CPU s", flush=True)
    return cost, printed


def _printed(output):
    """The last line of what a scorer printed: the peer prints some of its own."""
    return json.loads(output.strip().splitlines()[-1])


def growth(points):
    """The power of the size with which time grows: the slope of the line through the logarithms, 1 if linear."""
    xs, ys = ([math.log(value) for value in side] for side in zip(*points, strict=True))
    return statistics.linear_regression(xs, ys).slope


def main():
    """Make the data, run everything, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 40,504 images, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each contender; the one with least CPU counts")
    asked = parser.parse_args()
    images = max(round(IMAGES * asked.scale), 40)
    sizes = {"quarter": images // 4, "half": images // 2, "full": images}
    runs = {size: scored(f"basanite, {size}", "us", ready(count), asked.repeat) for size, count in sizes.items()}
    runs["peer"] = scored("pycocoevalcap", "peer", ready(images), asked.repeat)
    runs["meteor"] = scored("basanite METEOR", "meteor", ready(images), asked.repeat)
    spent = {name: printed["scoring"] for name, (_, printed) in runs.items()}
    pairs = zip(runs["full"][1]["values"], runs["peer"][1]["values"], strict=True)
    found = {
        "peer / us, CPU": spent["peer"] / spent["full"],
        "largest difference x 1e9": 1e9 * max(abs(ours - theirs) for ours, theirs in pairs),
        "growth, power of the size": growth([(count, spent[size]) for size, count in sizes.items()]),
    }
    show(found, GOALS)
    scoring = {name: round(seconds, 3) for name, seconds in spent.items()}
    costs = {name: cost for name, (cost, _) in runs.items()}
    record("captions.jsonl", {"images": images, "references": 5}, costs, found, GOALS, scoring=scoring)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
