"""BLEU of 100,000 sentences and TER of 5,000: us with rows for every segment, and sacrebleu's corpus score.

BLEU has 13a tokens. Both start from texts in memory. The scores must agree to 1e-9.
"""

from __future__ import annotations

import math

from measuring import record, show
from text_running import asked, growth, one_core, run, seconds, value

SIZE = 100_000
PART = 20
"""TER takes much longer, so it has a part of the sentences."""
NAMES = ("bleu_us", "bleu_sacrebleu")
TER_NAMES = ("ter_us", "ter_sacrebleu")
GOALS = {
    "sacrebleu / us, CPU": (1.0, "at least"),
    "sacrebleu / us, TER, CPU": (3.0, "at least"),
    "growth over four times the size": (1.3, "at most"),
}


def main():
    """Run everything, show and record."""
    one_core()
    options = asked(__doc__, SIZE)
    size = max(round(SIZE * options.scale), 40)
    costs = run(NAMES, size, options.repeat)
    costs |= run(TER_NAMES, size // PART, options.repeat)
    larger, more = growth("bleu_us", size, options.repeat)
    found = {
        "sacrebleu / us, CPU": seconds(costs["bleu_sacrebleu"]) / seconds(costs["bleu_us"]),
        "sacrebleu / us, TER, CPU": seconds(costs["ter_sacrebleu"]) / seconds(costs["ter_us"]),
        "growth over four times the size": larger,
    }
    pairs = (NAMES, TER_NAMES)
    wrong = any(not math.isclose(value(costs[us]), value(costs[them]), abs_tol=1e-9) for us, them in pairs)
    show(found, GOALS)
    print(f"values: {'WRONG' if wrong else 'agree to 1e-9'}")
    timed = {name: round(seconds(cost), 4) for name, cost in {**costs, **more}.items()}
    record("translation.jsonl", {"sentences": size}, {**costs, **more}, found, GOALS, disagree=wrong, timed=timed)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
