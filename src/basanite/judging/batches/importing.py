"""Results of a crowd platform: taken only for rows that were sent, unchanged; workers are hidden at once (X-18, C45).

Rejected assignments are no votes. Of several votes of one worker on one item the first counts. Nothing here rejects
work: that is a person's decision, made on the platform (P-22).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from basanite.formats.summaries.judgements import CROWD_COLUMNS, LARGEST, REJECTED, STATUSES, pseudonym
from basanite.judging.answers import read_answers
from basanite.judging.batches.exporting import ITEM, SEAL, Batch, Hit
from basanite.judging.schemes.model import Scheme
from basanite.problems import Findings, Problem, Severity, shortened

RULE, RULE_VOTES = "X-18", "C45"
TASK_ANSWERS = "Answer.taskAnswers"
SECONDS = "WorkTimeInSeconds"
UNCHANGED = "import the results of the exported batch, unchanged"


@dataclass(frozen=True)
class Vote:
    """One assignment that counts."""

    item: str
    judge: str
    """What stands for the worker; the worker's own id is nowhere kept."""
    answers: Mapping[str, Any]
    seconds: float
    flags: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Imported:
    """What a file of results holds; nothing of it counts if one row was refused."""

    votes: tuple[Vote, ...]
    hits: Mapping[str, str]
    """The item of every HIT id of the platform, to hold later files against."""
    rejected: int
    problems: tuple[Problem, ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing had to be refused."""
        return not any(problem.severity == "reject" for problem in self.problems)


def read_results(
    data: bytes, file: str, batch: Batch, scheme: Scheme, *, key: bytes, known_hits: Mapping[str, str] | None = None
) -> Imported:
    """The votes in a file of results; rows of other batches, or changed ones, are refused and named by line."""
    sheet = _Sheet(file, batch, scheme, key, dict(known_hits or {}))
    for line, cells in sheet.rows(data):
        sheet.take(line, cells)
    votes = tuple(sheet.votes.values()) if sheet.findings.valid else ()
    return Imported(votes, sheet.hits, sheet.rejected, tuple(sheet.findings))


class _Sheet:
    """One file on its way through the reader."""

    def __init__(self, file: str, batch: Batch, scheme: Scheme, key: bytes, hits: dict[str, str]) -> None:
        self.file, self.scheme, self.key, self.hits = file, scheme, key, hits
        self.sent: Mapping[str, Hit] = {hit.item: hit for hit in batch.hits}
        self.findings = Findings()
        self.votes: dict[tuple[str, str], Vote] = {}
        self.rejected = 0

    def report(self, line: int | None, message: str, fix: str, *, rule: str = RULE, found: str = "") -> None:
        """Refuse something."""
        self._add(line, message, fix, rule, found, "reject")

    def warn(self, line: int, message: str, fix: str) -> None:
        """Tell something that stops nothing."""
        self._add(line, message, fix, RULE_VOTES, "", "warn")

    def _add(self, line: int | None, message: str, fix: str, rule: str, found: str, severity: Severity) -> None:
        self.findings.add(
            Problem(rule, self.file, line, None, message, fix, shortened(found), None, severity, "judgements")
        )

    def rows(self, data: bytes) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The rows with their lines; a file that is no such table is refused as a whole."""
        text = self._text(data)
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if not self._understands(header):
                return
            line = reader.line_num + 1
            for cells in reader:
                if len(cells) == len(header):
                    yield line, dict(zip(header, cells, strict=True))
                elif cells:
                    self.report(line, f"{len(cells)} cells; the header has {len(header)}", UNCHANGED)
                line = reader.line_num + 1
        except csv.Error as error:
            self.report(reader.line_num, f"not a table: {error}", "save the results as CSV again")

    def _text(self, data: bytes) -> str:
        if len(data) > LARGEST:
            self.report(None, f"{len(data)} bytes; at most {LARGEST} are read", "import batches one by one", rule="X-8")
            return ""
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.report(None, "bytes that are not UTF-8", "save the file as UTF-8")
            return ""

    def _understands(self, header: Sequence[str]) -> bool:
        wanted = [*CROWD_COLUMNS, f"Input.{ITEM}", f"Input.{SEAL}"]
        missing = [name for name in wanted if header.count(name) != 1]
        if missing and self.findings.valid:
            self.report(1, f"the first line does not name these columns once: {', '.join(missing)}", UNCHANGED)
        return not missing and self.findings.valid

    def take(self, line: int, cells: Mapping[str, str]) -> None:
        """Take in one row: its vote, or what is wrong with it."""
        hit = self._bound(line, cells)
        if hit is None:
            return
        status = cells["AssignmentStatus"].strip()
        if status == REJECTED:
            self.rejected += 1
        elif status not in STATUSES:
            fix = f"write {', '.join(sorted(STATUSES))} or {REJECTED}"
            self.report(line, "no such status of an assignment", fix, rule=RULE_VOTES, found=status)
        else:
            self._vote(line, hit, cells)

    def _bound(self, line: int, cells: Mapping[str, str]) -> Hit | None:
        """The row that was sent out, if this is it: the same item, inputs, seal and HIT id."""
        name, place = cells[f"Input.{ITEM}"], cells["HITId"].strip()
        hit = self.sent.get(name)
        reason = _why_unbound(hit, cells)
        if not reason and (not place or self.hits.setdefault(place, name) != name):
            reason = "this HIT stood for another item before"
        if reason:
            self.report(line, reason, UNCHANGED, found=name)
            return None
        return hit

    def _vote(self, line: int, hit: Hit, cells: Mapping[str, str]) -> None:
        worker = cells["WorkerId"].strip()
        if not worker:
            self.report(line, "the worker is missing", UNCHANGED, rule=RULE_VOTES)
            return
        raw = _answers(cells)
        if not any(str(raw.get(question.id, "")).strip() for question in self.scheme.questions):
            self.warn(line, "an assignment without an answer is no vote", "have it done again")
            return
        asked = {question.id: raw.get(question.id) for question in self.scheme.questions if raw.get(question.id)}
        answers, problems = read_answers(self.scheme, None, asked)
        for problem in problems:
            self.report(line, problem.message, problem.fix, rule=RULE_VOTES, found=problem.found)
        judge = pseudonym(worker, self.key)
        vote = Vote(hit.item, judge, answers, _seconds(cells), _flags(raw, self.scheme), str(raw.get("comment", "")))
        if self.votes.setdefault((judge, hit.item), vote) is not vote:
            self.warn(line, "this worker judged this item before; the first vote counts", "keep one of them")


def _why_unbound(hit: Hit | None, cells: Mapping[str, str]) -> str:
    """Why a row is not the one that was sent out; empty if it is."""
    if hit is None:
        return "no such item was sent out with this batch"
    if cells[f"Input.{SEAL}"] != hit.seal:
        return "the seal of this row is not the one that was sent out"
    changed = any(_input(cells, column) != value for column, value in hit.inputs.items())
    return "what the worker saw is not what was sent out" if changed else ""


def _input(cells: Mapping[str, str], column: str) -> str | None:
    """What a row says of an input; platforms change line ends."""
    value = cells.get(f"Input.{column}")
    return None if value is None else value.replace("\r\n", "\n")


def _answers(cells: Mapping[str, str]) -> dict[str, Any]:
    """Answers by their names: from columns of their own, or from the one that crowd forms give."""
    plain = {name.removeprefix("Answer."): value for name, value in cells.items() if name.startswith("Answer.")}
    try:
        gathered = json.loads(cells.get(TASK_ANSWERS) or "[]")
    except (ValueError, RecursionError):
        gathered = []
    forms = [form for form in gathered if isinstance(form, dict)] if isinstance(gathered, list) else []
    return plain | {name: _chosen(value) for form in forms for name, value in form.items()}


def _chosen(value: Any) -> Any:
    """Of buttons, the one that is pressed."""
    if isinstance(value, dict):
        return next((name for name, pressed in value.items() if pressed is True), "")
    return value


def _flags(raw: Mapping[str, Any], scheme: Scheme) -> tuple[str, ...]:
    pressed = ("on", "true", True)
    return tuple(flag.value for flag in scheme.flags if raw.get(f"flag-{flag.value}") in pressed)


def _seconds(cells: Mapping[str, str]) -> float:
    try:
        seconds = float(cells.get(SECONDS, "") or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
