"""TREC runs and qrels, to and from detection keys and submissions (M84).

A run ranks some documents and decides nothing; a submission decides and scores every document. So an import needs the
list of documents and a rule that decides, and an export leaves the decisions behind. Columns are separated by any
blanks, ranks are ignored in favour of scores, and ties are ordered as trec_eval orders them (by name, descending).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from basanite.errors import SettingError
from basanite.formats.retrieval.trec_lines import GRADE, NUMBER, QRELS_SHAPE, RULE, RUN_SHAPE, Reader
from basanite.problems import Findings, Problem, Where, shortened

Scale = Literal["none", "minmax"]
Scored: TypeAlias = dict[str, dict[str, float]]
Graded: TypeAlias = dict[str, dict[str, int]]

DECIMALS = 5
NAMED = 5
"""How many tags a message names."""


class KeyFile(NamedTuple):
    """What a key says of one query: whether each document is relevant."""

    query: str
    documents: Sequence[str]
    relevant: Sequence[bool]


class AnswerFile(NamedTuple):
    """What a submission says of one query: the decision on each document, and how sure the system is."""

    query: str
    documents: Sequence[str]
    decisions: Sequence[bool]
    confidence: Sequence[float]


@dataclass(frozen=True)
class Decision:
    """How a ranking becomes decisions: everything at or above a threshold, or the first k of every query."""

    threshold: float | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if (self.threshold is None) == (self.top is None):
            raise SettingError("Give either a threshold or a number of documents to return for each query.")

    def of(self, scores: Mapping[str, float]) -> set[str]:
        """The documents returned for one query."""
        if self.threshold is not None:
            return {document for document, score in scores.items() if score >= self.threshold}
        return set(rank_documents(scores)[: self.top])


def read_run(reader: Reader) -> Scored:
    """The score of each document of each query of a run; malformed lines are left out and noted."""
    run: Scored = {}
    ranks: dict[str, list[str]] = {}
    tags: dict[str, int] = {}
    for number, (query, _, document, rank, score, tag) in reader.lines(RUN_SHAPE):
        if NUMBER.fullmatch(score) is None or not math.isfinite(float(score)):
            reader.reject(number, 5, "a score that is not a finite number", "write a number such as 12.5", score)
        elif reader.accepts(number, query, document):
            run.setdefault(query, {})[document] = float(score)
            ranks.setdefault(query, []).append(sys.intern(rank))
            tags.setdefault(tag, number)
    expect_lines(reader, run, RUN_SHAPE)
    reader.findings.extend(_oddities(reader, run, ranks, tags))
    return run


def _oddities(
    reader: Reader, run: Scored, ranks: Mapping[str, Sequence[str]], tags: Mapping[str, int]
) -> Iterator[Problem]:
    """Warnings of two runs in one file, and of scores that are not what the run was ranked by (T-13)."""

    def warning(line: int | None, place: int, message: str, fix: str, found: str) -> Problem:
        name = reader.path.name
        return Problem(
            "T-13", name, line, place, message, fix, shortened(found), severity="warn", where=reader.where, kind=fix
        )

    if len(tags) > 1:
        second = list(tags)[1]
        message = f"{len(tags)} tags in one run: {', '.join(list(tags)[:NAMED])}; all lines are taken as one run"
        yield warning(tags[second], 6, message, "score each run separately, or write one tag", second)
    against = [query for query in run if ranks_contradict(ranks[query], list(run[query].values()))]
    if against:
        message = f"ranks contradict scores in {len(against)} of {len(run)} queries; scores count, as in trec_eval"
        yield warning(None, 4, message, "write higher scores for better ranks", against[0])


def ranks_contradict(ranks: Sequence[str], scores: Sequence[float]) -> bool:
    """Whether a document has a better rank and a lower score than another; ranks that are no numbers say nothing.

    >>> ranks_contradict(["1", "2", "2"], [0.9, 0.4, 0.5]), ranks_contradict(["1", "2"], [0.1, 0.2])
    (False, True)
    """
    if not all(GRADE.fullmatch(rank) for rank in ranks):
        return False
    least, pending, last = math.inf, math.inf, None
    for rank, score in sorted(zip(map(int, ranks), scores, strict=True)):
        if rank != last:
            least, last = min(least, pending), rank
        if score > least:
            return True
        pending = min(pending, score)
    return False


@dataclass(frozen=True)
class Judgements:
    """What qrels say: the grade of each judged document of each query, and of which parts of the query it is."""

    grades: Graded = field(default_factory=dict)
    parts: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """By query and document, what the second column names where the grade is above 0."""
    repeated: int = 0
    """How many lines judge a document again for another part of its query: then the second column is a subtopic."""


def read_qrels(reader: Reader) -> Graded:
    """The grade of each judged document of each query; malformed lines are left out and noted."""
    return read_judgements(reader, by_subtopic=False).grades


def read_judgements(reader: Reader, *, by_subtopic: bool = True) -> Judgements:
    """The judgements of a file; with subtopics, a document has the highest grade that any of them gives it."""
    grades: Graded = {}
    parts: dict[str, dict[str, set[str]]] = {}
    repeated = 0
    for number, (query, part, document, grade) in reader.lines(QRELS_SHAPE):
        if GRADE.fullmatch(grade) is None:
            reader.reject(number, 4, "a relevance that is not a whole number", "write 0, 1 or a higher grade", grade)
        elif reader.accepts(number, query, document, *((part,) if by_subtopic else ())):
            judged = grades.setdefault(query, {})
            repeated += document in judged
            judged[document] = max(int(grade), judged.get(document, int(grade)))
            if int(grade) > 0:
                parts.setdefault(query, {}).setdefault(document, set()).add(part)
    expect_lines(reader, grades, QRELS_SHAPE)
    return Judgements(grades, parts, repeated)


def expect_lines(reader: Reader, read: Scored | Graded, shape: str) -> None:
    """Note a file in which there is nothing, not even a mistake."""
    if not read and not reader.findings.counts[RULE]:
        reader.reject(None, None, "the file is empty", f"write: {shape}")


def rank_documents(scores: Mapping[str, float]) -> list[str]:
    """Documents by falling score, ties by falling name as trec_eval has them.

    >>> rank_documents({"a": 0.5, "b": 0.5, "c": 0.9})
    ['c', 'b', 'a']
    """
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def scale_run(run: Scored) -> Scored:
    """All scores of a run mapped to 0..1 by its lowest and highest one, the same for every query (M32).

    >>> scale_run({"q": {"a": -2.0, "b": 2.0, "c": 0.0}})
    {'q': {'a': 0.0, 'b': 1.0, 'c': 0.5}}
    """
    every = [score for scores in run.values() for score in scores.values()]
    low, high = min(every, default=0.0), max(every, default=0.0)
    # Halves first: the distance of two numbers near the ends of the range of floats is infinite.
    span = high / 2 - low / 2

    def place(score: float) -> float:
        return (score / 2 - low / 2) / span if span > 0 else 0.5

    return {query: {name: place(score) for name, score in scores.items()} for query, scores in run.items()}


def report_scores_outside(reader: Reader, run: Scored) -> bool:
    """Whether scores lie outside 0..1, which is noted once with the first of them."""
    pairs = ((name, score) for scores in run.values() for name, score in scores.items() if not 0 <= score <= 1)
    first = next(pairs, None)
    if first is None:
        return False
    others = sum(1 for _ in pairs)
    message = f"a score outside 0..1 for document {first[0]}, and {others} more such scores"
    reader.reject(None, 5, message, "map all scores of the run to 0..1 with --scale minmax", str(first[1]))
    return True


def reader_of(
    path: Path, findings: Findings, where: Where, documents: Sequence[str], queries: Sequence[str] | None
) -> Reader:
    """A reader that knows which names to expect."""
    return Reader(path, findings, where, frozenset(documents), None if queries is None else frozenset(queries))


def qrels_to_key(
    path: Path, documents: Sequence[str], findings: Findings, *, queries: Sequence[str] | None = None, least: int = 1
) -> Iterator[KeyFile]:
    """A key from qrels: grades of at least `least` are relevant, all other and all unjudged documents are not.

    The file is read, and every problem in it found, before this returns; only the rows are made one by one.
    """
    grades = read_qrels(reader_of(path, findings, "reference", documents, queries))

    def key(query: str) -> KeyFile:
        judged = grades.get(query, {})
        return KeyFile(query, documents, [judged.get(document, least - 1) >= least for document in documents])

    return (key(query) for query in (sorted(grades) if queries is None else queries))


def run_to_answers(
    path: Path,
    documents: Sequence[str],
    findings: Findings,
    decision: Decision,
    *,
    queries: Sequence[str] | None = None,
    scale: Scale = "none",
) -> Iterator[AnswerFile]:
    """A submission from a run: every document gets a line; those not ranked get N and 0.0.

    The file is read, and every problem in it found, before this returns. Scores are rounded to the five decimals
    that can be written before they are compared with the threshold, so that the files obey one threshold (M29, M31).
    """
    reader = reader_of(path, findings, "submission", documents, queries)
    run = read_run(reader)
    if scale == "none" and report_scores_outside(reader, run):
        return iter(())
    run = scale_run(run) if scale == "minmax" else run
    names = sorted(run) if queries is None else queries
    return (answers(query, documents, run.get(query, {}), decision) for query in names)


def answers(query: str, documents: Sequence[str], scores: Mapping[str, float], decision: Decision) -> AnswerFile:
    """The decision and confidence for every document of one query."""
    if decision.top is None:
        scores = {document: round(score, DECIMALS) for document, score in scores.items()}
    returned = decision.of(scores)
    confidence = [round(scores.get(document, 0.0), DECIMALS) + 0.0 for document in documents]
    return AnswerFile(query, documents, [document in returned for document in documents], confidence)


def key_to_qrels(key: Iterable[KeyFile]) -> Iterator[str]:
    """Lines of qrels with a grade, 1 or 0, for every document of every query."""
    for query, documents, relevant in key:
        for document, grade in zip(documents, relevant, strict=True):
            yield f"{query} 0 {document} {int(grade)}\n"


def submission_to_run(submission: Iterable[AnswerFile], tag: str, *, returned_only: bool = False) -> Iterator[str]:
    """Lines of a run: all documents of each query by falling confidence, or only those that were returned."""
    for query, documents, decisions, confidence in submission:
        rows = zip(documents, decisions, confidence, strict=True)
        scores = {document: score for document, kept, score in rows if kept or not returned_only}
        for rank, document in enumerate(rank_documents(scores), start=1):
            yield f"{query} Q0 {document} {rank} {scores[document]:.5f} {tag}\n"


def mark(flag: bool) -> str:
    """A decision as it is written."""
    return "Y" if flag else "N"


def key_text(key: KeyFile) -> bytes:
    """The contents of a key's file: document and Y or N on every line."""
    rows = zip(key.documents, key.relevant, strict=True)
    return "".join(f"{document}\t{mark(flag)}\n" for document, flag in rows).encode()


def answer_text(file: AnswerFile) -> bytes:
    """The contents of a submission's file: document, Y or N, and confidence on every line."""
    rows = zip(file.documents, file.decisions, file.confidence, strict=True)
    return "".join(f"{document}\t{mark(flag)}\t{score:.5f}\n" for document, flag, score in rows).encode()
