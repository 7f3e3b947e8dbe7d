"""Is one translation system better than another? 10,000 draws on 3,000 segments of BLEU: us and sacrebleu's PairedTest.

Both start from texts in memory, so counting n-grams is part of it. The scores of both systems must agree to 1e-9; p
values do not, for sacrebleu counts only larger differences and ours is studentised.
"""

from __future__ import annotations

import math

from measuring import record, show
from text_running import asked, growth, one_core, run, seconds, value

SIZE = 3_000
NAMES = ("paired_us", "paired_sacrebleu", "bootstrap_us", "bootstrap_sacrebleu")
GOALS = {
    "sacrebleu / us, randomisation, CPU": (3.0, "at least"),
    "sacrebleu / us, bootstrap, CPU": (2.5, "at least"),
    "growth over four times the size": (1.3, "at most"),
}


def main():
    """Run everything, show and record."""
    one_core()
    options = asked(__doc__, SIZE)
    size = max(round(SIZE * options.scale), 40)
    costs = run(NAMES, size, options.repeat)
    larger, more = growth("paired_us", size, options.repeat)
    found = {
        "sacrebleu / us, randomisation, CPU": seconds(costs["paired_sacrebleu"]) / seconds(costs["paired_us"]),
        "sacrebleu / us, bootstrap, CPU": seconds(costs["bootstrap_sacrebleu"]) / seconds(costs["bootstrap_us"]),
        "growth over four times the size": larger,
    }
    wrong = [name for name in NAMES if not agree(value(costs[name]), value(costs["paired_sacrebleu"]))]
    show(found, GOALS)
    print(f"scores: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree to 1e-9'}")
    timed = {name: round(seconds(cost), 4) for name, cost in {**costs, **more}.items()}
    record(
        "paired.jsonl",
        {"segments": size, "draws": 10_000},
        {**costs, **more},
        found,
        GOALS,
        disagree=wrong,
        timed=timed,
    )
    return 1 if wrong else 0


def agree(first, second):
    """Whether both systems have the same scores."""
    return all(math.isclose(one[0], other[0], abs_tol=1e-9) for one, other in zip(first, second, strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
