"""Run the files of tests that failed once more, alone: `make test` calls it when a test has failed.

A real server, a browser or a process that is killed on purpose can lose a race on a machine that is too busy, once in
some ten thousand tests. What fails again has failed. What passes alone is listed in `build/unsteady.txt` and at the end
of the run, to be made steady. More than a few failures are no accident, and are not tried again (ADR 33).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

MOST: Final = 3
"""More failures than that are not tried again."""
RECORD: Final = Path("build/unsteady.txt")


def failed_tests(cache: Path) -> list[str]:
    """The tests that failed in the last run, as pytest keeps them."""
    found = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(found.read_text(encoding="utf-8"))) if found.exists() else []


def files_to_try(failed: Sequence[str]) -> list[str]:
    """The files of these tests, if they are few enough: tests of a file may build on each other.

    >>> files_to_try(["tests/a.py::test_one", "tests/a.py::test_two[x::y]"])
    ['tests/a.py']
    >>> files_to_try(["a.py::1", "b.py::1", "c.py::1", "d.py::1"])
    []
    """
    if len(failed) > MOST:
        return []
    return sorted({name.partition("::")[0] for name in failed})


def main() -> int:
    """Try again; the exit status is that of the second run."""
    failed = failed_tests(Path(".pytest_cache"))
    files = files_to_try(failed)
    if not files:
        return 1
    print(f"\nTrying the files of the failed tests once more, alone: {' '.join(files)}", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", "-m", "not slow and not gpu", *files], check=False)
    if again.returncode:
        return 1
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text("".join(f"{name}\n" for name in failed), encoding="utf-8")
    print("\nUNSTEADY: failed beside the other tests and passed alone. Make them steady:", *failed, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
