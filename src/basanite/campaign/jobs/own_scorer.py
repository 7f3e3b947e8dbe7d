"""An organizer's own scoring program: run in the sandbox of teams' programs, what it says is read as hostile (G-6).

It gets `in/submission/` and `in/reference/` and writes `out/scores.tsv` (or `.csv`, `.jsonl`) with a score of each
item, which the task `scores` reads, or `out/total.txt` with one number. Exit code 3 refuses answers,
in words for the team.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite import registry
from basanite.campaign.model.programs import Scorer
from basanite.campaign.office import Office
from basanite.errors import BasaniteError
from basanite.problems import Problem, visible
from basanite.programs.contract import Call, Runner
from basanite.programs.unpack import UnpackFaultError, unpack_program
from basanite.sandbox.box import Ended
from basanite.sandbox.runner import run_boxed

REFUSES: Final = 3
TABLES: Final = ("scores.tsv", "scores.csv", "scores.jsonl")
TOTAL: Final = "total.txt"
LONGEST_TOTAL: Final = 100
LONGEST_WORDS: Final = 300
UNPACKED: Final = 2**30
NO_INTERVAL: Final = "no per-item values, no interval"
RUNNER: Final = "sandbox"


class ScorerError(BasaniteError):
    """The organizers' scoring program did not do its work: no fault of the team's."""


class AnswersRefusedError(Exception):
    """The organizers' scoring program refuses the answers, in words for the team."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True)
class Part:
    """A file that the program gets."""

    folder: str
    """`submission` or `reference`."""
    name: str
    content: Path


@dataclass(frozen=True)
class Scores:
    """What it said: a table of scores by its digest among the sealed files, its name, and what must be said of it."""

    digest: str
    name: str
    notes: tuple[str, ...] = ()


def run_scorer(office: Office, scorer: Scorer, program: str, parts: Iterable[Part]) -> Scores:
    """Run the program with this digest on some files, and keep what it said."""
    runner: Runner = registry.load("runners", RUNNER)
    scratch = office.settings.data / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as name:
        root = Path(name)
        root.chmod(0o755)
        given, out = root / "in", root / "out"
        for folder in (given, given / "submission", given / "reference", out):
            folder.mkdir()
        for part in parts:
            place = given / part.folder / Path(part.name).name
            place.write_bytes(part.content.read_bytes())
            place.chmod(0o444)
        ended = runner.run(Call(_unpack_program(office, program, root), given, out, scorer.resources))
        _check(ended)
        return _scores(office, out)


def _unpack_program(office: Office, digest: str, root: Path) -> Path:
    """The folder of the program, whose archive is among the sealed files."""
    archive, folder = root / "scorer.tgz", root / "scorer"
    office.sealed.lend(digest, archive)
    try:
        problem = unpack_program(archive, folder, UNPACKED, office.run or run_boxed, "scorer")
    except UnpackFaultError as error:
        raise ScorerError("the organizers' scoring program could not be unpacked") from error
    if problem is not None:
        raise ScorerError(f"the organizers' scoring program cannot be used: {problem.message}")
    return folder


def _check(ended: Ended) -> None:
    if ended.code == REFUSES and not ended.cause:
        words = ended.stdout.decode("utf-8", "replace").strip().split("\n")[0]
        message = visible(words)[:LONGEST_WORDS] or "the scoring program refuses the answers"
        fix = "fix the answers as the organizers describe them"
        raise AnswersRefusedError(Problem("G-6", "submission", None, None, message, fix))
    if not ended.good or ended.refused:
        raise ScorerError(f"the organizers' scoring program failed ({ended.cause or f'exit code {ended.code}'})")


def _scores(office: Office, out: Path) -> Scores:
    """The table of items that it wrote; a total alone becomes a table of one, which has no interval."""
    for name in TABLES:
        if (out / name).is_file():
            return Scores(office.sealed.take(out / name).digest, name)
    if not (out / TOTAL).is_file():
        raise ScorerError(f"the organizers' scoring program wrote neither {TABLES[0]} nor {TOTAL}")
    try:
        total = float((out / TOTAL).read_bytes()[:LONGEST_TOTAL])
    except ValueError:
        total = math.nan
    if not math.isfinite(total):
        raise ScorerError(f"{TOTAL} of the organizers' scoring program is no number")
    return Scores(office.sealed.put(f"item\tscore\ntotal\t{total!r}\n".encode()).digest, TABLES[0], (NO_INTERVAL,))
