"""BLEU of 100,000 sentences with 13a tokens: us with rows for every segment, and sacrebleu's corpus score.

Both start from texts in memory. The scores must agree to 1e-9.
"""

from __future__ import annotations

import math

from measuring import record, show
from text_running import asked, growth, one_core, run, seconds, value

SIZE = 100_000
NAMES = ("bleu_us", "bleu_sacrebleu")
GOALS = {
    "sacrebleu / us, CPU": (1.0, "at least"),
    "growth over four times the size": (1.3, "at most"),
}


def main():
    """Run everything, show and record."""
    one_core()
    options = asked(__doc__, SIZE)
    size = max(round(SIZE * options.scale), 40)
    costs = run(NAMES, size, options.repeat)
    larger, more = growth("bleu_us", size, options.repeat)
    found = {
        "sacrebleu / us, CPU": seconds(costs["bleu_sacrebleu"]) / seconds(costs["bleu_us"]),
        "growth over four times the size": larger,
    }
    wrong = not math.isclose(value(costs["bleu_us"]), value(costs["bleu_sacrebleu"]), abs_tol=1e-9)
    show(found, GOALS)
    print(f"values: {'WRONG' if wrong else 'agree to 1e-9'}")
    timed = {name: round(seconds(cost), 4) for name, cost in {**costs, **more}.items()}
    record("translation.jsonl", {"sentences": size}, {**costs, **more}, found, GOALS, disagree=wrong, timed=timed)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
