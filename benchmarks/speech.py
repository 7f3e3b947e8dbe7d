"""Word error rate of 100,000 utterances: us, the plain calls of rapidfuzz, and jiwer, on the same words.

Held against rapidfuzz are our rows and rate from words that are split already. Held against jiwer is everything from
texts on, counts of hits and edits included, as it gives them, too. All rates must agree to 1e-9.
"""

from __future__ import annotations

import math

from measuring import record, show
from text_running import asked, growth, one_core, run, seconds, value

SIZE = 100_000
NAMES = ("wer_rapidfuzz", "wer_us", "wer_us_texts", "wer_jiwer")
GOALS = {
    "us / rapidfuzz, CPU": (1.5, "at most"),
    "jiwer / us from texts, CPU": (2.0, "at least"),
    "growth over four times the size": (1.3, "at most"),
}


def main():
    """Run everything, show and record."""
    one_core()
    options = asked(__doc__, SIZE)
    size = max(round(SIZE * options.scale), 40)
    costs = run(NAMES, size, options.repeat)
    larger, more = growth("wer_us", size, options.repeat)
    found = {
        "us / rapidfuzz, CPU": seconds(costs["wer_us"]) / seconds(costs["wer_rapidfuzz"]),
        "jiwer / us from texts, CPU": seconds(costs["wer_jiwer"]) / seconds(costs["wer_us_texts"]),
        "growth over four times the size": larger,
    }
    wrong = [
        name for name in NAMES if not math.isclose(value(costs[name]), value(costs["wer_rapidfuzz"]), rel_tol=1e-9)
    ]
    show(found, GOALS)
    print(f"values: {'WRONG: ' + ', '.join(wrong) if wrong else 'all agree to 1e-9'}")
    timed = {name: round(seconds(cost), 4) for name, cost in {**costs, **more}.items()}
    record("speech.jsonl", {"utterances": size}, {**costs, **more}, found, GOALS, disagree=wrong, timed=timed)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
