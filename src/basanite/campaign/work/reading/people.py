"""People who answer the queries: their answers are a run like any other, and together the human baseline (R-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import (
    PooledAnswer,
    ReadingMark,
    ReadingPackage,
    ReadingRun,
    ReadingTaskRow,
    ReceivedAnswer,
)
from basanite.campaign.work.reading.child import digest, plain
from basanite.campaign.work.reading.packages import Asked, Corpus, Document, corpus
from basanite.campaign.work.reading.pool import system_of
from basanite.campaign.work.reading.runs import Arrived, add_answers, add_run, answers, as_record
from basanite.reading.gold.answers import KINDS, AnswerError, bindings_of
from basanite.reading.package.documents import Document as PackageDocument

ANSWERING: Final = frozenset({"annotator", "judge", "evaluation", "administrator"})
"""Roles that may answer; none of them is in a team of the campaign (X-4)."""
MOST_PIECES: Final = 20


@dataclass(frozen=True)
class Own:
    """One answer of the person."""

    id: str
    values: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str
    pieces: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Reply:
    """What a person answers: names or a value for each variable, and the pieces of text that say so."""

    values: Mapping[str, Sequence[str]]
    kind: str
    pieces: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Place:
    """Where a person stands: a question about a document, and what comes before and after."""

    run_id: str
    package: ReadingPackage
    document: Document
    asked: Asked
    own: tuple[Own, ...]
    state: str
    number: int
    of: int
    done: int
    before: tuple[str, str] | None
    after: tuple[str, str] | None


def human_tasks(session: Session, campaign_id: str) -> tuple[ReadingTaskRow, ...]:
    """The tasks that people answer: formal ones, newest first."""
    question = select(ReadingTaskRow).where(ReadingTaskRow.campaign_id == campaign_id, ReadingTaskRow.mode == "formal")
    return tuple(session.scalars(question.order_by(ReadingTaskRow.made.desc(), ReadingTaskRow.id)))


def sit_down(session: Session, office: Office, actor: Actor, campaign_id: str, task_id: str) -> ReadingRun:
    """The run of a person on a task, begun when they first open it."""
    who = viewer(session, campaign_id, actor.id)
    row = session.get(ReadingTaskRow, task_id)
    if row is None or row.campaign_id != campaign_id or row.mode != "formal":
        raise missing("reading task")
    if not who.roles & ANSWERING or who.team is not None:
        raise missing("reading task")
    question = select(ReadingRun).where(
        ReadingRun.reading_task_id == task_id, ReadingRun.side == "human", ReadingRun.person_id == actor.id
    )
    known = session.scalars(question.limit(1)).first()
    if known is not None:
        return known
    whose = f"person/{actor.id}"
    return add_run(session, office, actor, row, ReadingRun(side="human", whose=whose, label="person", key=whose))


def pairs(texts: Corpus, row: ReadingTaskRow) -> list[tuple[str, str]]:
    """All questions of a task, document by document."""
    documents = [one.name for one in texts.documents.values() if one.part == row.part]
    asked = [name for name in row.queries if name in texts.queries]
    return [(document, query) for document in sorted(documents) for query in asked]


def place(session: Session, office: Office, run: ReadingRun, document: str = "", query: str = "") -> Place:
    """What a person has before them: the question that is named, or the first that is open."""
    package = session.get_one(ReadingPackage, run.reading_package_id)
    texts = corpus(office, package)
    every = pairs(texts, session.get_one(ReadingTaskRow, run.reading_task_id))
    marks = _marks(session, run)
    done = {pair for pair, state in marks.items() if state == "done"}
    at = (document, query) if document else next((pair for pair in every if pair not in done), every[-1])
    if at not in every:
        raise missing("question")
    number = every.index(at)
    return Place(
        run.id,
        package,
        texts.documents[at[0]],
        texts.queries[at[1]],
        tuple(_own(session, run, *at)),
        marks.get(at, "open"),
        number + 1,
        len(every),
        len(done),
        every[number - 1] if number else None,
        every[number + 1] if number + 1 < len(every) else None,
    )


def next_open(session: Session, office: Office, run: ReadingRun, after: tuple[str, str]) -> tuple[str, str] | None:
    """The next question that is open, after one and round again; None once all are done."""
    texts = corpus(office, session.get_one(ReadingPackage, run.reading_package_id))
    every = pairs(texts, session.get_one(ReadingTaskRow, run.reading_task_id))
    at = every.index(after) + 1 if after in every else 0
    marks = _marks(session, run)
    return next((pair for pair in (*every[at:], *every[:at]) if marks.get(pair) != "done"), None)


def _marks(session: Session, run: ReadingRun) -> dict[tuple[str, str], str]:
    question = select(ReadingMark).where(ReadingMark.reading_run_id == run.id)
    return {(one.document, one.query): one.state for one in session.scalars(question)}


def _own(session: Session, run: ReadingRun, document: str, query: str) -> list[Own]:
    found = [pair for pair in answers(session, run) if (pair[1].document, pair[1].query) == (document, query)]
    return [Own(one.id, _values(pooled), one.kind, tuple(one.provenance)) for one, pooled in found]


def _values(pooled: PooledAnswer) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (name, tuple(bound) if isinstance(bound, list) else (str(bound),)) for name, bound in pooled.told.items()
    )


def give(session: Session, office: Office, run: ReadingRun, document: str, query: str, reply: Reply) -> ReceivedAnswer:
    """Keep one answer of a person; what is only inferred may rest on no piece, as in a file of answers (R-17)."""
    package = session.get_one(ReadingPackage, run.reading_package_id)
    texts = corpus(office, package)
    task = session.get_one(ReadingTaskRow, run.reading_task_id)
    asked = texts.queries.get(query)
    if asked is None or (document, query) not in pairs(texts, task):
        raise missing("question")
    shown = texts.documents[document]
    said = _check_values(asked, reply.values)
    if not reply.pieces and reply.kind != "inferred":
        fix = "select the supporting words in the text and add them as evidence, or mark the answer as inferred"
        raise refused("R-18", "the answer has no evidence", fix, status=422)
    try:
        bindings = bindings_of(said, asked.variables, texts.prefixes, asked.ranges)
    except AnswerError as error:
        raise refused("R-18", str(error), error.fix, status=422) from error
    arrived = Arrived(
        query,
        document,
        plain(bindings),
        digest(query, document, bindings),
        reply.kind if reply.kind in KINDS else "explicit",
        {name.removeprefix("?"): value for name, value in said.items()},
        provenance=tuple(_piece(shown, start, end) for start, end in reply.pieces[:MOST_PIECES]),
    )
    _mark(session, office, run, document, query, "open")
    return add_answers(session, office, run, [arrived])[0]


def _check_values(asked: Asked, values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in asked.variables:
        given = [one.strip() for one in values.get(name, ()) if one.strip()]
        if not given or max(map(len, given)) > 500 or len(given) > 50:
            fix = "use a name or value from the text, at most 500 characters"
            raise refused("R-18", f"there is no value for {name}", fix, status=422)
        found[f"?{name}"] = given[0] if name in asked.literals else given
    return found


def _piece(shown: Document | PackageDocument, start: int, end: int) -> dict[str, Any]:
    if not 0 <= start < end <= len(shown.text):
        raise refused("R-18", "the evidence is outside the text", "select it again", status=422)
    return {"start": start, "end": end, "exact": shown.text[start:end]}


def take_back(session: Session, office: Office, run: ReadingRun, answer_id: str) -> None:
    """Take an answer back; it stays in the log, and counts no more."""
    known = [pair for pair in answers(session, run) if pair[0].id == answer_id]
    if not known:
        raise missing("answer")
    pooled = known[0][1]
    same = [one for one in _same(session, run, pooled.id) if one.withdraws is None]
    gone = {one.withdraws for one in _same(session, run, pooled.id) if one.withdraws}
    for one in same:
        if one.id not in gone:
            session.add(_withdrawal(session, office, run, one))
            session.flush()
    _mark(session, office, run, pooled.document, pooled.query, "open")


def _same(session: Session, run: ReadingRun, pool_id: str) -> Sequence[ReceivedAnswer]:
    question = select(ReceivedAnswer).where(
        ReceivedAnswer.reading_run_id == run.id, ReceivedAnswer.reading_pool_id == pool_id
    )
    return session.scalars(question).all()


def _withdrawal(session: Session, office: Office, run: ReadingRun, one: ReceivedAnswer) -> ReceivedAnswer:
    every = select(ReceivedAnswer.sequence).where(ReceivedAnswer.reading_run_id == run.id)
    return ReceivedAnswer(
        campaign_id=run.campaign_id,
        reading_run_id=run.id,
        reading_upload_id=None,
        reading_pool_id=one.reading_pool_id,
        sequence=max(session.scalars(every)) + 1,
        line=0,
        kind=one.kind,
        provenance=[],
        withdraws=one.id,
        at=office.clock(),
    )


def finish_question(session: Session, office: Office, run: ReadingRun, document: str, query: str) -> None:
    """Say that there is nothing more to answer to a question about a document."""
    _mark(session, office, run, document, query, "done")


def _mark(session: Session, office: Office, run: ReadingRun, document: str, query: str, state: str) -> None:
    question = select(ReadingMark).where(
        ReadingMark.reading_run_id == run.id, ReadingMark.query == query, ReadingMark.document == document
    )
    row = session.scalars(question).first()
    if row is None:
        row = ReadingMark(
            campaign_id=run.campaign_id,
            reading_run_id=run.id,
            query=query,
            document=document,
            state=state,
            at=office.clock(),
        )
        session.add(row)
    row.state, row.at = state, office.clock()
    session.flush()


def human_records(session: Session, package_id: str) -> list[dict[str, Any]]:
    """The answers of all people about a package, each with a code for its reader: what scoring takes as `--human`."""
    question = select(ReadingRun).where(ReadingRun.reading_package_id == package_id, ReadingRun.side == "human")
    return [
        {**as_record(received, pooled), "reader": system_of(run)}
        for run in session.scalars(question.order_by(ReadingRun.made, ReadingRun.id))
        for received, pooled in answers(session, run)
    ]
