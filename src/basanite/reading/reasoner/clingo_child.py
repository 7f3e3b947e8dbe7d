"""The solver's own process: reads ground programs of whole numbers, prints sets of chosen inputs as JSON.

It holds itself to limits on time and memory before it starts, and gets numbers only: no text of a user's reaches the
solver, and no number of a user's either, so that nothing can wrap at 32 bits (X-13).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

SLICE: Final = 0.05
"""Seconds between two looks at the clock."""
MAXIMIZE: Final = "\n#maximize { 1,X : in(X) }."
LARGEST: Final = ["0", "--project=show", "--opt-mode=optN"]
MAXIMAL: Final = ["0", "--project=show", "--enum-mode=domRec", "--heuristic=Domain", "--dom-mod=3,16"]
"""Shown atoms first, and true: each set that is found cannot be enlarged."""


def _limit(seconds: int, megabytes: int) -> None:
    """Have the system stop this process when it takes too much, where there is such a system."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))


def _models(program: str, words: list[str], until: float) -> Iterator[tuple[list[int], bool] | None]:
    """Every model as the inputs that are in, and whether none is larger; None as the last if time ran out."""
    import clingo

    control = clingo.Control(["--warn=none", *words])
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True, async_=True) as handle:
        while True:
            handle.resume()
            while not handle.wait(SLICE):
                if time.process_time() > until:
                    handle.cancel()
                    yield None
                    return
            model = handle.model()
            if model is None:
                return
            yield sorted(symbol.arguments[0].number for symbol in model.symbols(shown=True)), model.optimality_proven


def _solve(program: str, which: str, most: int, seconds: float) -> dict[str, Any]:
    """The answer sets of the wanted kind up to a number; where not all were found, the largest set that was."""
    now = time.process_time()
    largest = which == "largest"
    words = LARGEST if largest else MAXIMAL
    text = program + (MAXIMIZE if largest else "")
    found: list[list[int]] = []
    stopped = ""
    for model in _models(text, words, now + seconds / 2):
        if model is None or len(found) >= most:
            stopped = "seconds" if model is None else "contexts"
            break
        if model[1] or not largest:
            found.append(model[0])
    if not stopped:
        return {"sets": found, "stopped": "", "exact": True}
    best, exact = None, False
    for model in _models(program + MAXIMIZE, ["1", "--opt-mode=opt"], now + seconds):
        if model is not None:
            best, exact = model
    return {"sets": [] if best is None else [best], "stopped": stopped, "exact": exact}


def main() -> None:
    """Read the task from standard input, print what was found."""
    task = json.load(sys.stdin)
    result: dict[str, Any]
    _limit(task["seconds"], task["megabytes"])
    try:
        left, parts = len(task["programs"]), []
        for program in task["programs"]:
            share = max(task["seconds"] - time.process_time(), 0.1) / left
            parts.append(_solve(program, task["which"], task["most"], share))
            left -= 1
        result = {"parts": parts}
    except (MemoryError, RuntimeError, ImportError):  # under the bound even loading the solver may fail
        result = {"limit": "megabytes"}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
