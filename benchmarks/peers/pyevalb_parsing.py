"""PYEVALB on two files of trees, called as its own page shows it, without the table that it would write.

`python benchmarks/peers/pyevalb_parsing.py GOLD ANSWERS` prints its totals and the CPU seconds of reading and scoring.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time

from PYEVALB import scorer

FIELDS = ("matched_brackets", "gold_brackets", "test_brackets", "cross_brackets", "correct_tags")


def main():
    """Score the two files."""
    start = time.process_time()
    with open(sys.argv[1]) as gold, open(sys.argv[2]) as answers, contextlib.redirect_stdout(io.StringIO()):
        results = scorer.Scorer().score_corpus(gold, answers)
    spent = time.process_time() - start
    totals = {name: sum(getattr(result, name) for result in results) for name in FIELDS}
    print(json.dumps({"evaluating": spent, "totals": totals}))


if __name__ == "__main__":
    main()
