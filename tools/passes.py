"""What passed on what: one table from the reports of the runs of `make test-all`, a row for each folder of tests.

`python -m tools.passes "SQLite + local files=build/tests-sqlite.xml" "PostgreSQL + S3=build/tests-postgres.xml"`
Each report is one that `pytest --junitxml` writes. Ends with 1 if a test failed or a run left no report.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

OUTCOMES = ("passed", "failed", "skipped")
DEPTH = {"campaign": 3, "server": 3}
"""Folders of which the parts are distinguished."""


@dataclass
class Run:
    """One run: how many tests of each folder ended how, and why those that were left out were."""

    title: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    reasons: Counter[str] = field(default_factory=Counter)


def read(title: str, path: Path) -> Run:
    """Read the report of a run; one without a report has no tests."""
    run = Run(title)
    for case in ElementTree.parse(path).iter("testcase") if path.exists() else ():
        outcome, said = _outcome(case)
        run.counts[folder_of(case.get("classname", ""))][outcome] += 1
        if outcome == "skipped":
            run.reasons[said] += 1
    return run


def _outcome(case: ElementTree.Element) -> tuple[str, str]:
    for kind, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (found := case.find(kind)) is not None:
            return outcome, found.get("message", "")
    return "passed", ""


def folder_of(module: str) -> str:
    """The folder of a test module, as pytest names it.

    >>> folder_of("tests.campaign.store.test_files"), folder_of("tests.cli.test_help"), folder_of("tests.test_docs")
    ('tests/campaign/store', 'tests/cli', 'tests')
    >>> folder_of("src.basanite.kernel")
    'src'
    """
    parts = module.split(".")
    if parts[0] != "tests":
        return parts[0]
    most = DEPTH.get(parts[1], 2) if len(parts) > 2 else 1
    folders = [part for part in parts[:-1] if not part.startswith("test_")]
    return "/".join(folders[:most])


def table(runs: Iterable[Run]) -> str:
    """A line for each folder, with what passed, failed and was left out in each run."""
    runs = list(runs)
    folders = sorted({folder for run in runs for folder in run.counts})
    wide = max(map(len, ["all", *folders]))
    lines = [" " * wide + "".join(f"  {run.title:>27}" for run in runs)]
    lines += [" " * wide + "".join(f"  {'passed':>9}{'failed':>9}{'left out':>9}" for _ in runs)]
    for folder in folders:
        lines.append(f"{folder:<{wide}}" + "".join(_cells(run.counts.get(folder, Counter())) for run in runs))
    totals = [sum(run.counts.values(), Counter[str]()) for run in runs]
    return "\n".join([*lines, f"{'all':<{wide}}" + "".join(map(_cells, totals))])


def _cells(counts: Counter[str]) -> str:
    if not counts:
        return "  " + "-".rjust(9) * 3
    return "  " + "".join(f"{counts[outcome]:>9}" for outcome in OUTCOMES)


def left_out(run: Run) -> str:
    """Why tests of a run were left out, the commonest reason first."""
    lines = [f"  {count:>5}  {reason}" for reason, count in run.reasons.most_common()]
    return "\n".join([f"Left out on {run.title}:", *lines]) if lines else ""


def main(arguments: list[str]) -> int:
    """Print the table of the runs that are named."""
    runs = [read(title, Path(path)) for title, path in (one.rsplit("=", 1) for one in arguments)]
    print("\n\n".join(filter(None, [table(runs), *map(left_out, runs[1:])])))
    return int(any(not run.counts or any(one["failed"] for one in run.counts.values()) for run in runs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
