"""What is proven: every requirement against the tests, pages and commands that stand for it.

`docs/conformance.toml` says what must be proven and how; a complete run of the tests writes which tests passed for
which requirement to `build/requirements.json` (see `tools/requirement_marks.py`); this command holds one against the
other in seconds. `make test` leaves slow tests out and names them there; what `make test-all` found about those stays
in `build/requirements-all.json` and is added. A test counts if it enters by a door (see `tools/doors.py`). Gaps are
shown and fail the command only where `--require` or `--strict` asks for it; `--doors` reads no record and fails for
what is proven only inside.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from tools.doors import Entrances, shown_cases
from tools.markdown_pages import has_anchor

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = Path("docs/conformance.toml")
RECORD = Path("build/requirements.json")
FULL_RECORD = Path("build/requirements-all.json")
RUNS_COMMANDS = (Path("Makefile"), Path(".ci/run"))
RESULTS = "benchmarks/results/"
LONGEST_LINE = 150
CASES = ("good", "bad")

_KEYS = {"line", "proof", "cases", "anchor", "command", "results", "open", "inside"}
_NEEDS = {"test": None, "page": "anchor", "command": "command", "benchmark": "results"}
_ID = re.compile(r"(?P<letter>[A-Z])(?P<dash>-?)(?P<number>\d+)")


class MalformedRequirementsError(ValueError):
    """The file of requirements has faults; the message lists all of them."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that must hold, in a line, with what counts as its proof."""

    id: str
    line: str
    proof: str
    both_cases: bool = False
    anchor: str = ""
    command: str = ""
    results: str = ""
    open: str = ""
    """What of it is not built yet, where the proof covers the rest."""
    inside: str = ""
    """Why no test of it can enter by a door."""

    @property
    def letter(self) -> str:
        """The family of the requirement: the letter its id starts with."""
        return self.id[0]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tests that carry a requirement's mark, by outcome, and which of its cases the passing ones show."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    cases: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """What the last complete run of the tests left behind."""

    ids: Mapping[str, Evidence] = field(default_factory=dict)
    tree: str = ""
    marks: str = ""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By requirement, the slow tests that this run did not make."""

    @property
    def target(self) -> str:
        """The command that wrote the record."""
        return "make test" if "not slow" in self.marks else "make test-all"


def load_requirements(path: Path) -> dict[str, Requirement]:
    """All requirements by id, in the order of the file; every fault of the file is named in one error."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    faults = [f"[{name}] {fault}" for name, entry in entries.items() for fault in _faults(name, entry)]
    if faults:
        raise MalformedRequirementsError("\n".join(faults))
    return {name: _requirement(name, entry) for name, entry in entries.items()}


def load_record(path: Path) -> Record | None:
    """The record of the last complete run, or nothing when there was none."""
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    ids = {name: _evidence(entry) for name, entry in stored["ids"].items()}
    return Record(ids, stored["tree"], stored.get("marks", ""), stored.get("left_out", {}))


def joined(record: Record, full: Record) -> Record:
    """A record with what a run of all tests found about those that it left out, and about no others."""
    ids = dict(record.ids)
    for name, tests in record.left_out.items():
        mine, theirs = ids.get(name, Evidence()), full.ids.get(name, Evidence())
        passed, failed = (tuple(test for test in found if test in tests) for found in (theirs.passed, theirs.failed))
        cases = {
            case: [*mine.cases.get(case, ()), *(test for test in theirs.cases.get(case, ()) if test in tests)]
            for case in CASES
        }
        ids[name] = Evidence(mine.passed + passed, mine.failed + failed, cases)
    return Record(ids, record.tree, record.marks, record.left_out)


def lack(requirement: Requirement, record: Record, entrances: Entrances) -> str:
    """Why a requirement does not count as proven; empty when it does."""
    root = entrances.root
    if requirement.proof == "page":
        return "" if has_anchor(requirement.anchor, root) else f"{requirement.anchor} is missing"
    if requirement.proof == "command":
        return "" if _is_run(requirement.command, root) else f"nothing runs `{requirement.command}`"
    if requirement.proof == "benchmark":
        return "" if (root / requirement.results).is_file() else f"{requirement.results} is missing"
    missing = _lack_of_tests(requirement, record.ids.get(requirement.id, Evidence()), entrances)
    waiting = missing and not missing.startswith("fails") and record.left_out.get(requirement.id)
    return f"{missing}; `make test-all` has one" if waiting else missing


def door_faults(requirements: Mapping[str, Requirement], entrances: Entrances) -> dict[str, str]:
    """What is wrong with how requirements are proven: only inside without a reason, or with a reason it needs no more.

    The source of the tests says it, before any of them has run.
    """
    shown = shown_cases(entrances.marked())
    faults = {}
    for requirement in requirements.values():
        tests = shown.get(requirement.id, {})
        inside = _only_inside(requirement, tests, entrances) if requirement.proof == "test" else ""
        if requirement.inside and not inside:
            faults[requirement.id] = "a test enters by a door: delete the reason to stay inside"
        elif tests and inside and not requirement.inside:
            faults[requirement.id] = inside
    return faults


def tree_digest(root: Path) -> str:
    """A digest of the files that make up the source: the same state gives the same digest, wherever it lies."""
    digest = hashlib.sha256()
    for name in source_files(root):
        content = hashlib.sha256((root / name).read_bytes()).hexdigest()
        digest.update(f"{name}\0{content}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def source_files(root: Path) -> list[str]:
    """The files of the working tree that git tracks or would track, without what benchmarks append."""
    names = _listed_by_git(root) or _walked(root)
    return sorted({name for name in names if (root / name).is_file() and not name.startswith(RESULTS)})


def compact(ids: Iterable[str]) -> str:
    """Ids of one family with runs drawn together.

    >>> compact(["M01", "M02", "M03", "M07"])
    'M01-M03 M07'
    >>> compact(["H-1", "H-2", "H-4"])
    'H-1..H-2 H-4'
    """
    ordered = sorted(ids, key=_number)
    runs = [
        [name for _, name in run] for _, run in groupby(enumerate(ordered), lambda pair: _number(pair[1]) - pair[0])
    ]
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}{_joint(run[0])}{run[-1]}" for run in runs)


def summary(requirements: Mapping[str, Requirement], gaps: Mapping[str, str]) -> list[str]:
    """How many are proven, in all and by letter."""
    families: dict[str, list[str]] = defaultdict(list)
    for requirement in requirements.values():
        families[requirement.letter].append(requirement.id)
    proven = {letter: sum(name not in gaps for name in names) for letter, names in families.items()}
    heading = f"Proven: {sum(proven.values())} of {len(requirements)} requirements"
    return [heading, *(f"  {letter} {proven[letter]:3} of {len(names)}" for letter, names in families.items())]


def gap_lines(requirements: Mapping[str, Requirement], gaps: Mapping[str, str], *, verbose: bool) -> list[str]:
    """What is not proven: one line each with text and reason, or one line a letter."""
    if not gaps:
        return []
    if verbose:
        return ["Without proof:", *(f"  {name:5} {requirements[name].line} [{why}]" for name, why in gaps.items())]
    families: dict[str, list[str]] = defaultdict(list)
    for name in gaps:
        families[name[0]].append(name)
    return ["Without proof (--verbose says why):", *(f"  {compact(names)}" for names in families.values())]


def open_lines(requirements: Mapping[str, Requirement], gaps: Mapping[str, str]) -> list[str]:
    """What is proven only as far as it is built."""
    parts = [requirement for requirement in requirements.values() if requirement.open and requirement.id not in gaps]
    lines = [f"  {part.id:5} still open: {part.open}" for part in parts]
    return ["Proven as far as it is built:", *lines] if lines else []


def door_lines(requirements: Mapping[str, Requirement], faults: Mapping[str, str]) -> list[str]:
    """What is proven only inside, and what may stay there for a reason."""
    lines = [f"  {name:5} {fault}" for name, fault in faults.items()]
    reasons = [f"  {one.id:5} {one.inside}" for one in requirements.values() if one.inside]
    return [
        *(["Proven only inside (no marked test enters by a door):", *lines] if lines else []),
        *(["Inside for a reason:", *reasons] if reasons else []),
    ]


def record_lines(record: Record, slow: Sequence[str]) -> list[str]:
    """Which record the count rests on, and what of it only a run of all tests has shown."""
    if not record.tree:
        return []
    families: dict[str, list[str]] = defaultdict(list)
    for name in slow:
        families[name[0]].append(name)
    heading = f"Proven by slow tests alone, from {FULL_RECORD} (`make test-all`):"
    lines = [heading, *(f"  {compact(names)}" for names in families.values())] if slow else []
    return [f"Counted from {RECORD} (`{record.target}`).", *lines]


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print what is proven; 1 if something asked for is not, 2 if the question makes no sense."""
    options = _parser().parse_args(arguments)
    requirements = load_requirements(root / REQUIREMENTS)
    unknown = [name for name in options.require if name not in requirements]
    if unknown:
        print(f"No requirement is called {', '.join(unknown)}; see {REQUIREMENTS}", file=sys.stderr)
        return 2
    entrances = Entrances(root)
    faults = door_faults(requirements, entrances)
    doors = door_lines(requirements, faults)
    if options.doors:
        print("\n".join(doors or ["Doors: every marked requirement enters by one"]))
        return 1 if faults else 0
    record = load_record(root / RECORD) or Record()
    full = load_record(root / FULL_RECORD) or Record()
    without_slow = _gaps(requirements, record, entrances)
    gaps = _gaps(requirements, joined(record, full), entrances)
    remark = _freshness(record, full, {name for name in without_slow if name not in gaps}, root)
    lines = [
        *gap_lines(requirements, gaps, verbose=options.verbose),
        *doors,
        *open_lines(requirements, gaps),
        *record_lines(record, [name for name in without_slow if name not in gaps]),
        *remark,
    ]
    print("\n".join([*summary(requirements, gaps), *lines]))
    missing = [name for name in options.require if name in gaps]
    for name in missing:
        print(f"{name} lacks proof: {gaps[name]}", file=sys.stderr)
    return 1 if missing or (options.strict and (gaps or remark or faults)) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="conformance", description="Says which requirements are proven.")
    parser.add_argument("--verbose", action="store_true", help="one line for each gap, with its text and reason")
    parser.add_argument("--require", nargs="+", default=[], metavar="ID", help="fail if one of these lacks proof")
    parser.add_argument("--strict", action="store_true", help="fail if anything lacks proof or the record is stale")
    parser.add_argument("--doors", action="store_true", help="only list what is proven inside, and fail if anything is")
    return parser


def _gaps(requirements: Mapping[str, Requirement], record: Record, entrances: Entrances) -> dict[str, str]:
    reasons = {name: lack(requirement, record, entrances) for name, requirement in requirements.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _freshness(record: Record, full: Record, slow: Collection[str], root: Path) -> list[str]:
    now = tree_digest(root)
    if not record.tree:
        return [f"There is no {RECORD} yet: `make test` writes it."]
    if record.tree != now:
        return [f"Stale: files changed since {RECORD} was written; run `make test` again."]
    if slow and full.tree != now:
        return [f"Stale: files changed since {FULL_RECORD} was written; run `make test-all` again."]
    return []


def _faults(name: str, entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return ["is not a table"]
    proof, line = entry.get("proof"), entry.get("line")
    needed = _NEEDS.get(str(proof))
    found = {
        "is not an id of the form M29 or H-1": not _ID.fullmatch(name),
        f"has unknown keys {sorted(entry.keys() - _KEYS)}": entry.keys() - _KEYS,
        f"needs a line of 1 to {LONGEST_LINE} characters": not (
            isinstance(line, str) and 0 < len(line) <= LONGEST_LINE
        ),
        f"has proof {proof!r}, not one of {sorted(_NEEDS)}": proof not in _NEEDS,
        f"needs {needed!r} for its proof": needed and not entry.get(needed),
        f"needs results below {RESULTS}": "results" in entry and not str(entry["results"]).startswith(RESULTS),
        "may only have cases = 'both'": entry.get("cases", "both") != "both",
    }
    return [fault for fault, holds in found.items() if holds]


def _requirement(name: str, entry: Mapping[str, str]) -> Requirement:
    texts = {key: entry[key] for key in ("anchor", "command", "results", "open", "inside") if key in entry}
    return Requirement(name, entry["line"], entry["proof"], "cases" in entry, **texts)


def _evidence(entry: Mapping[str, Any]) -> Evidence:
    return Evidence(tuple(entry["passed"]), tuple(entry["failed"]), dict(entry["cases"]))


def _lack_of_tests(requirement: Requirement, evidence: Evidence, entrances: Entrances) -> str:
    if evidence.failed:
        return f"fails: {evidence.failed[0]}"
    if not evidence.passed:
        return "no passing test"
    counted = [test for test in evidence.passed if requirement.inside or entrances.door(test)]
    if not counted:
        return "proven only inside"
    wanted = CASES if requirement.both_cases else ()
    return ", ".join(f"no {case} case" for case in wanted if not {*evidence.cases.get(case, ())} & {*counted})


def _only_inside(requirement: Requirement, tests: Mapping[str, set[str]], entrances: Entrances) -> str:
    """A test of the requirement, or of the case of it, that none shows by a door; empty where all is shown by doors."""
    shown = [tests.get("", set()) | tests.get(case, set()) for case in CASES]
    for each in shown if requirement.both_cases else [set().union(*shown)]:
        if not any(map(entrances.door, each)):
            return min(each, default="no test")
    return ""


def _is_run(command: str, root: Path) -> bool:
    present = [root / path for path in RUNS_COMMANDS if (root / path).is_file()]
    return any(command in path.read_text(encoding="utf-8") for path in present)


def _listed_by_git(root: Path) -> list[str]:
    if not shutil.which("git"):
        return []
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return listing.stdout.split("\0") if listing.returncode == 0 else []


def _walked(root: Path) -> list[str]:
    """What git would list, for a source tree that came without git."""
    inside = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
    return [path.as_posix() for path in inside if not any(_is_made(part) for part in path.parts)]


def _is_made(part: str) -> bool:
    return part in {".git", ".venv", "build", "dist", "__pycache__"} or part.endswith(("_cache", ".egg-info"))


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))


def _joint(name: str) -> str:
    return ".." if "-" in name else "-"


if __name__ == "__main__":
    sys.exit(main())
