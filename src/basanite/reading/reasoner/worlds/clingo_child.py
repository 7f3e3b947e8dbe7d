"""The solver's own process: reads a ground program of whole numbers, prints sets of chosen inputs as JSON.

It holds itself to limits on time and memory before it starts, and gets numbers only: no text of a user's reaches the
solver, and no number of a user's either, so that nothing can wrap at 32 bits (X-13).
"""

from __future__ import annotations

import json
import sys
from typing import Any


def _limit(seconds: int, megabytes: int) -> None:
    """Have the system stop this process when it takes too much, where there is such a system."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))


def _solve(task: dict[str, Any]) -> dict[str, Any]:
    """All answer sets of the wanted kind, as lists of the inputs that are in, up to a number."""
    import clingo

    words = ["--warn=none", "0", "--project=show"]
    if task["which"] == "largest":
        words += ["--opt-mode=optN"]
    else:
        words += ["--enum-mode=domRec", "--heuristic=Domain", "--dom-mod=3,16"]  # shown atoms first, and true
    control = clingo.Control(words)
    control.add("base", [], task["program"])
    control.ground([("base", [])])
    found: list[list[int]] = []
    cut = False
    with control.solve(yield_=True) as handle:
        for model in handle:
            if task["which"] == "largest" and not model.optimality_proven:
                continue
            if len(found) >= task["most"]:
                cut = True
                break
            found.append(sorted(symbol.arguments[0].number for symbol in model.symbols(shown=True)))
    return {"sets": found, "cut": cut}


def main() -> None:
    """Read the task from standard input, print what was found."""
    task = json.load(sys.stdin)
    _limit(task["seconds"], task["megabytes"])
    try:
        result = _solve(task)
    except (MemoryError, RuntimeError, ImportError):  # under the bound even loading the solver may fail
        result = {"limit": "megabytes"}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
