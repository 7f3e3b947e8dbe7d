"""Judgements of summaries: a table of our own (judge, query, document, verdict) or the results of a crowd platform.

A judge has one vote on a pair of query and document: of several the first counts (C45). Where one table holds votes on
the summaries of several systems, a fifth column `summary` says which image each is on. The identifiers of crowd workers
are replaced before anything else looks at a row, so that neither results nor messages can show them (X-18).
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.formats.archives.members import member_digest
from basanite.formats.records import table_fault
from basanite.problems import Findings, Problem, Severity, shortened

RULE = "C45"
COLUMNS = ("judge", "query", "document", "verdict")
SUMMARY = "summary"
"""A column that may be there: the sha256 of the image that was judged, in hexadecimal digits."""
IMAGE_DIGEST = re.compile(r"[0-9a-f]{64}")
VERDICTS: Mapping[str, bool] = {"R": True, "N": False}
CROWD_COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
STATUSES = frozenset({"Submitted", "Approved"})
REJECTED = "Rejected"
LARGEST = 64 * 2**20
SHORTEST_KEY = 16
PAIRS_NAMED = 20

Pair = tuple[str, str]
"""A query and a document."""
Seen = tuple[str, ...]
"""A query and a document, and the digest of the summary where the vote is on one of several."""


@dataclass(frozen=True)
class CrowdForm:
    """Where a crowd platform's results hold the pair and the answer, and what the answers mean."""

    query: str = "Input.query"
    document: str = "Input.document"
    answer: str = "Answer.verdict"
    verdicts: Mapping[str, bool] = field(default_factory=lambda: VERDICTS)
    batch: Mapping[str, Pair] | None = None
    """The pair of each HIT as it was sent out; results of other HITs or other pairs are refused (X-18)."""

    def columns(self) -> tuple[str, ...]:
        """The columns that the results must have."""
        return *CROWD_COLUMNS, self.query, self.document, self.answer


@dataclass(frozen=True)
class Judgements:
    """One vote per judge and pair, as arrays: vote v is by `judges[judge[v]]` on `pairs[pair[v]]`."""

    judges: tuple[str, ...]
    pairs: tuple[Seen, ...]
    judge: NDArray[np.int64]
    pair: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    digest: str
    """Of the set of votes that count, whatever their order in the file: enters key and receipt (S-18)."""
    file_digest: str
    """Of the bytes that were read."""
    rejected: int = 0
    """Assignments that the requester had rejected; they are no votes."""

    def __len__(self) -> int:
        return len(self.relevant)


@dataclass(frozen=True)
class PairVotes:
    """Votes on the returned pairs only: vote v is on number `pair[v]` of the pairs that were asked for."""

    pairs: int
    judges: int
    judge: NDArray[np.int64]
    pair: NDArray[np.int64]
    relevant: NDArray[np.bool_]


def read_judgements(
    data: bytes, name: str, findings: Findings, *, key: bytes | None = None, form: CrowdForm | None = None
) -> Judgements | None:
    """The votes of a TSV or CSV file; None if it must be rejected. With a key, judges' names are replaced (X-18)."""
    if key is not None and len(key) < SHORTEST_KEY:
        raise SettingError(f"The key that hides judges' names has {len(key)} bytes; give at least {SHORTEST_KEY}.")
    sheet = _Sheet(name, findings, key)
    rows = list(sheet.rows(data))
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    if sheet.spoilt or not sheet.understands(header, form or CrowdForm()):
        return None
    for line, cells in rows[1:]:
        sheet.take(line, dict(zip(header, cells, strict=False)), len(cells) - len(header))
    return None if sheet.spoilt else sheet.judgements(member_digest(data))


def votes_on(
    judgements: Judgements,
    returned: Sequence[Pair],
    name: str,
    findings: Findings,
    *,
    shown: Mapping[Pair, str] | None = None,
    needed: bool = True,
) -> PairVotes | None:
    """The votes on the returned pairs, in their order; None, with a list, if one has no vote (M13, M14).

    Votes on a summary count only where `shown` says that this very image was shown for the pair. Without `needed`, a
    pair that has no vote yet is only told.
    """
    place = {pair: at for at, pair in enumerate(returned)}
    moved = np.array([_place(pair, place, shown or {}) for pair in judgements.pairs], dtype=np.int64)
    findings.extend(_votes_not_returned(judgements, moved, name))
    pair = moved[judgements.pair] if len(judgements) else judgements.pair
    kept = pair >= 0
    votes = PairVotes(
        len(returned), len(judgements.judges), judgements.judge[kept], pair[kept], judgements.relevant[kept]
    )
    unjudged = np.flatnonzero(np.bincount(votes.pair, minlength=len(returned)) == 0)
    if len(unjudged):
        lacking = _missing_votes([returned[at] for at in unjudged.tolist()], name)
        findings.add(lacking if needed else replace(lacking, severity="warn"))
        return None
    return votes


def pseudonym(worker: str, key: bytes) -> str:
    """What stands for a judge: the same under the same key, and of no use without it (X-18).

    >>> pseudonym("A1B2C3", b"0123456789abcdef")
    'judge-ff78d90ce5d28320'
    """
    return "judge-" + hmac.new(key, worker.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:16]


def digest_of(votes: Collection[tuple[str, Seen, bool]]) -> str:
    """The digest of a set of votes, the same in any order and any file format (S-18)."""
    lines = sorted(json.dumps([judge, *pair, "R" if relevant else "N"]) for judge, pair, relevant in votes)
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


OTHERS = -2
"""Where a vote belongs that is on a summary of another system."""


def _place(seen: Seen, place: Mapping[Pair, int], shown: Mapping[Pair, str]) -> int:
    """The number of the returned pair that a vote is on; -1 if it was not returned."""
    pair = seen[0], seen[1]
    if len(seen) > len(pair) and shown.get(pair) != seen[2]:
        return OTHERS
    return place.get(pair, -1)


def _votes_not_returned(judgements: Judgements, moved: NDArray[np.int64], name: str) -> Iterator[Problem]:
    for at in np.flatnonzero(moved == -1).tolist():
        query, document = judgements.pairs[at][:2]
        message = f"judged, but not returned: {shortened(document)} for {shortened(query)}; the votes are ignored"
        fix = "leave out judgments of pairs that the system did not return"
        yield Problem("M14", name, None, None, message, fix, severity="warn", where="judgements")


def _missing_votes(pairs: Sequence[Pair], name: str) -> Problem:
    named = ", ".join(f"{shortened(query)} {shortened(document)}" for query, document in pairs[:PAIRS_NAMED])
    more = " …" if len(pairs) > PAIRS_NAMED else ""
    message = f"{len(pairs)} returned pairs have no judgment, so there is no end-to-end score: {named}{more}"
    fix = "have every returned pair judged at least once"
    return Problem("M13", name, None, None, message, fix, f"{len(pairs)} pairs", where="judgements")


@dataclass
class _Row:
    """One row of either kind of file, before anybody has looked at its cells."""

    line: int
    judge: str
    query: str
    document: str
    answer: str
    hit: str = ""
    status: str = ""
    summary: str = ""


class _Sheet:
    """One file on its way through the reader: its votes so far, and where each was first seen."""

    def __init__(self, name: str, findings: Findings, key: bytes | None) -> None:
        self.name, self.findings, self.key = name, findings, key
        self.form: CrowdForm | None = None
        self.votes: dict[tuple[str, Seen], bool] = {}
        self.lines: dict[tuple[str, Seen], int] = {}
        self.aliases: dict[str, str] = {}
        self.rejected = 0
        self.spoilt = False

    def report(
        self,
        line: int | None,
        message: str,
        fix: str,
        *,
        rule: str = RULE,
        found: str = "",
        severity: Severity = "reject",
    ) -> None:
        """Add a problem of this file."""
        self.spoilt = self.spoilt or severity == "reject"
        problem = Problem(rule, self.name, line, None, message, fix, shortened(found), None, severity, "judgements")
        self.findings.add(problem)

    def rows(self, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """The cells of every line that is not blank, with its number; what cannot be read is reported."""
        text = self._text(data)
        delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, strict=True
        )  # an open quote eats no rows
        try:
            line = 1
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            self.report(reader.line_num, *table_fault(error))

    def _text(self, data: bytes) -> str:
        if len(data) > LARGEST:
            self.report(
                None, f"{len(data)} bytes; at most {LARGEST} are read", "is it a file of judgments?", rule="X-8"
            )
            return ""
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.report(line, "invalid UTF-8", "save the file as UTF-8", found=repr(data[error.start :][:4]))
            return ""

    def understands(self, header: Sequence[str], form: CrowdForm) -> bool:
        """Whether the first line names the columns of one kind of file, each once."""
        crowd = "WorkerId" in header or "HITId" in header
        wanted = form.columns() if crowd else COLUMNS
        missing = [column for column in wanted if header.count(column) != 1]
        if missing:
            fix = f"write a header with {', '.join(wanted)}"
            message = f"the first line does not name these columns once: {', '.join(missing)}"
            self.report(1, message, fix, found=" ".join(header) if not crowd else "")
        elif crowd and self.key is None:
            fix = "give the campaign's key, under which workers' names are replaced"
            self.report(1, "results of a crowd platform name their workers, and there is no key", fix, rule="X-18")
        self.form = form if crowd else None
        return not self.spoilt

    def take(self, line: int, cells: Mapping[str, str], excess: int) -> None:
        """Take in one row: its vote, or what is wrong with it."""
        if excess:
            more = "more" if excess > 0 else "fewer"
            self.report(line, f"{abs(excess)} cells {more} than the header has", "give each row a cell for each column")
            return
        row = self._row(line, cells)
        if self._counts(row):
            self._vote(row)

    def _row(self, line: int, cells: Mapping[str, str]) -> _Row:
        form = self.form
        columns = COLUMNS if form is None else ("WorkerId", form.query, form.document, form.answer)
        judge, query, document, answer = (cells[column].strip() for column in columns)
        hit, status = ("", "") if form is None else (cells["HITId"].strip(), cells["AssignmentStatus"].strip())
        summary = cells.get(SUMMARY, "").strip() if form is None else ""
        return _Row(line, self._alias(judge), query, document, answer, hit, status, summary)

    def _alias(self, judge: str) -> str:
        if self.key is None or not judge:
            return judge
        if judge not in self.aliases:
            self.aliases[judge] = pseudonym(judge, self.key)
        return self.aliases[judge]

    def _counts(self, row: _Row) -> bool:
        """Whether a row is a vote at all: complete, of the batch, and not rejected by the requester."""
        if not (row.judge and row.query and row.document):
            self.report(row.line, "judge, query or document is empty", "fill in all of them")
            return False
        if row.summary and not IMAGE_DIGEST.fullmatch(row.summary):
            fix = "write the sha256 of the image in 64 hexadecimal digits"
            self.report(row.line, "this is not a digest of a summary", fix, found=row.summary)
            return False
        if self.form is None:
            return True
        if row.status == REJECTED:
            self.rejected += 1
            return False
        return self._is_of_batch(row, self.form) and self._is_answered(row)

    def _is_of_batch(self, row: _Row, form: CrowdForm) -> bool:
        if row.status not in STATUSES:
            fix = f"write {', '.join(sorted(STATUSES))} or {REJECTED}"
            self.report(row.line, "no such status of an assignment", fix, found=row.status)
            return False
        if form.batch is None or form.batch.get(row.hit) == (row.query, row.document):
            return True
        message = (
            "the query or document of this HIT was changed" if row.hit in form.batch else "no such HIT was sent out"
        )
        self.report(
            row.line, message, "import the results of the exported batch, unchanged", rule="X-18", found=row.hit
        )
        return False

    def _is_answered(self, row: _Row) -> bool:
        if not row.answer:
            message = "an assignment without an answer is not a vote"
            self.report(row.line, message, "reject the assignment, or have it done again", severity="warn")
        return bool(row.answer)

    def _vote(self, row: _Row) -> None:
        verdicts = VERDICTS if self.form is None else self.form.verdicts
        if row.answer not in verdicts:
            self.report(row.line, "no such verdict", f"write {' or '.join(verdicts)}", found=row.answer)
            return
        seen = (row.query, row.document, row.summary) if row.summary else (row.query, row.document)
        vote: tuple[str, Seen] = row.judge, seen
        first = self.lines.setdefault(vote, row.line)
        relevant = self.votes.setdefault(vote, verdicts[row.answer])
        if first != row.line:
            said = "the same" if relevant == verdicts[row.answer] else "otherwise"
            message = f"{shortened(row.judge)} judged this pair on line {first} already ({said}); the first vote counts"
            self.report(row.line, message, "keep one vote of each judge on a pair", severity="warn")

    def judgements(self, file_digest: str) -> Judgements:
        """All votes, sorted by pair and judge so that the order in the file changes nothing."""
        judges = sorted({judge for judge, _ in self.votes})
        pairs = sorted({pair for _, pair in self.votes})
        judge_at = {judge: at for at, judge in enumerate(judges)}
        pair_at = {pair: at for at, pair in enumerate(pairs)}
        table = sorted((pair_at[pair], judge_at[judge], yes) for (judge, pair), yes in self.votes.items())
        columns = np.array(table, dtype=np.int64).reshape(-1, 3).T
        digest = digest_of([(judge, pair, yes) for (judge, pair), yes in self.votes.items()])
        votes = columns[1], columns[0], columns[2].astype(np.bool_)
        return Judgements(tuple(judges), tuple(pairs), *votes, digest, "sha256:" + file_digest, self.rejected)
