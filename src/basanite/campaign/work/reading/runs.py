"""Runs and their answers: sent in any number of pieces, each kept once, all of them for ever (R-23).

Whatever was received is pooled: equal answers of all runs are one answer to be adjudicated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model import windows
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import (
    PooledAnswer,
    ReadingPackage,
    ReadingRun,
    ReadingTaskRow,
    ReadingUpload,
    ReceivedAnswer,
)
from basanite.campaign.work.lookup import find_row, log_event
from basanite.campaign.work.reading.packages import Corpus, corpus
from basanite.campaign.work.reading.tasks import task, window_of

MOST_ANSWERS: Final = 200_000
"""Answers that one run may have."""
LABEL: Final = 100


@dataclass(frozen=True)
class Arrived:
    """One answer as the limited child read it."""

    query: str
    document: str
    bindings: list[Any]
    digest: str
    kind: str
    told: Mapping[str, Any] = field(default_factory=dict)
    """Variable to names or literal, as they were written."""
    line: int = 0
    provenance: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class RunRequest:
    """A run to be begun: on which task, what its system is called, and a key under which the same call counts once."""

    task_id: str
    label: str
    key: str


@dataclass(frozen=True)
class Upload:
    """What one call sent: answers as they were read, under its key, with the problems that were found."""

    arrived: Sequence[Arrived]
    key: str
    digest: str
    media: str
    problems: Sequence[Mapping[str, Any]] = ()
    counted: int = 0


def start(
    session: Session, office: Office, actor: Actor, who: Viewer, campaign_id: str, wanted: RunRequest
) -> ReadingRun:
    """Begin a run of a system on a task; the same key of the same team is the same run."""
    row = task(session, office, who, campaign_id, wanted.task_id)
    for name, text in (("label", wanted.label), ("key", wanted.key)):
        if not 0 < len(text) <= LABEL or not text.isprintable():
            raise refused("R-23", f"the {name} cannot be used", f"write 1 to {LABEL} plain characters", status=422)
    fresh = ReadingRun(
        side="machine", whose=who.team or "evaluation", label=wanted.label, key=wanted.key, team_id=who.team
    )
    same = (ReadingRun.reading_task_id == row.id, ReadingRun.whose == fresh.whose, ReadingRun.key == fresh.key)
    known = session.scalars(select(ReadingRun).where(*same)).first()
    if known is not None:
        if known.label != fresh.label:
            fix = "use another key for another run"
            raise refused("R-23", "this key belongs to a run with another label", fix, status=409)
        return known
    _check_time(session, office, row)
    _check_quota(session, who, row)
    return add_run(session, office, actor, row, fresh)


def add_run(session: Session, office: Office, actor: Actor, row: ReadingTaskRow, run: ReadingRun) -> ReadingRun:
    """Write down a run on a task."""
    run.campaign_id, run.reading_package_id, run.reading_task_id = row.campaign_id, row.reading_package_id, row.id
    run.made, run.person_id = office.clock(), actor.id
    session.add(run)
    session.flush()
    log_event(session, office, actor, run, "reading.run_begun", task=row.id, side=run.side)
    return run


def _check_words(label: str, key: str) -> None:
    for name, text in (("label", label), ("key", key)):
        if not 0 < len(text) <= LABEL or not text.isprintable():
            raise refused("R-23", f"the {name} cannot be used", f"write 1 to {LABEL} plain characters", status=422)


def _check_time(session: Session, office: Office, row: ReadingTaskRow) -> None:
    """A formal task is answered while its window is open (M62)."""
    window = window_of(session, row) if row.mode == "formal" else None
    if row.mode == "formal" and (window is None or not windows.is_open(window, _now(session, office, row))):
        raise refused("M62", "the window of this task is not open", "see the calendar", status=409)


def _check_quota(session: Session, who: Viewer, row: ReadingTaskRow) -> None:
    """A team has so many formal runs of a package as its window says (M64)."""
    window = window_of(session, row) if row.mode == "formal" and not who.staff else None
    if window is None:
        return
    question = select(func.count()).select_from(ReadingRun).join(ReadingTaskRow)
    question = question.where(ReadingRun.team_id == who.team, ReadingTaskRow.mode == "formal")
    used = session.scalar(question.where(ReadingTaskRow.reading_package_id == row.reading_package_id)) or 0
    if used >= window.quota.count:
        words = f"your team has started all {window.quota.count} formal runs"
        raise refused("M64", words, "continue with one of them, or practice", status=429)


def _now(session: Session, office: Office, row: ReadingTaskRow) -> Any:
    return plans.now(office, plans.current(session, row.campaign_id).row)


def run(session: Session, who: Viewer, campaign_id: str, run_id: str) -> ReadingRun:
    """A run of the caller's own team, or any for the evaluation team; else there is none."""
    row = session.get(ReadingRun, run_id)
    mine = row is not None and (who.staff or (who.team is not None and row.team_id == who.team))
    if row is None or row.campaign_id != campaign_id or not mine or (row.side == "human" and not who.staff):
        raise missing("run")
    return row


def campaign_of(session: Session, run_id: str) -> str:
    """The id of the campaign that a run belongs to, for calls that name the run alone."""
    return find_row(session, ReadingRun, run_id, "run").campaign_id


def runs(session: Session, who: Viewer, campaign_id: str) -> tuple[ReadingRun, ...]:
    """The runs of machines that a caller may see, newest first."""
    question = select(ReadingRun).where(ReadingRun.campaign_id == campaign_id, ReadingRun.side == "machine")
    if not who.staff:
        question = question.where(ReadingRun.team_id == who.team, ReadingRun.team_id.is_not(None))
    return tuple(session.scalars(question.order_by(ReadingRun.made.desc(), ReadingRun.id)))


def known_names(session: Session, office: Office, row: ReadingRun) -> dict[str, Any]:
    """What the answers of a run may speak of: the queries of its task and the documents of its part."""
    asked = session.get_one(ReadingTaskRow, row.reading_task_id)
    texts = _corpus(session, office, row)
    queries = {name: texts.queries[name] for name in asked.queries if name in texts.queries}
    documents = [one.name for one in texts.documents.values() if one.part == asked.part]
    prefixes = texts.prefixes
    return {
        "queries": {name: list(query.variables) for name, query in queries.items()},
        "ranges": {name: dict(query.ranges) for name, query in queries.items()},
        "documents": documents,
        "namespace": prefixes.namespace,
        "prefixes": dict(prefixes.names),
    }


def earlier_upload(session: Session, row: ReadingRun, key: str, digest: str) -> ReadingUpload | None:
    """The earlier call with this key, which is answered the same again; other content under it is refused."""
    question = select(ReadingUpload).where(ReadingUpload.reading_run_id == row.id, ReadingUpload.key == key)
    found = session.scalars(question).first()
    if found is not None and found.digest != digest:
        raise refused(
            "R-23", "this key was already used with other answers", "use a new key for each upload", status=409
        )
    return found


def check_open(session: Session, office: Office, who: Viewer, row: ReadingRun) -> None:
    """Whether the run still takes answers."""
    if not who.staff:
        _check_time(session, office, session.get_one(ReadingTaskRow, row.reading_task_id))


def receive(session: Session, office: Office, actor: Actor, row: ReadingRun, sent: Upload) -> ReadingUpload:
    """Keep what came with one call; the same call twice is one."""
    session.execute(select(ReadingRun.id).where(ReadingRun.id == row.id).with_for_update())
    known = earlier_upload(session, row, sent.key, sent.digest)
    if known is not None:
        return known
    upload = ReadingUpload(
        campaign_id=row.campaign_id,
        reading_run_id=row.id,
        key=sent.key,
        digest=sent.digest,
        media=sent.media,
        taken=len(sent.arrived),
        problems=[dict(one) for one in sent.problems],
        counted=sent.counted,
        at=office.clock(),
        person_id=actor.id,
    )
    session.add(upload)
    session.flush()
    add_answers(session, office, row, sent.arrived, upload_id=upload.id)
    return upload


def add_answers(
    session: Session, office: Office, row: ReadingRun, arrived: Sequence[Arrived], *, upload_id: str | None = None
) -> list[ReceivedAnswer]:
    """Put answers into the log and into the pool."""
    newest = select(func.max(ReceivedAnswer.sequence)).where(ReceivedAnswer.reading_run_id == row.id)
    count = session.scalar(newest) or 0
    if count + len(arrived) > MOST_ANSWERS:
        raise refused("X-13", f"more than {MOST_ANSWERS} answers", "give each answer once", status=413)
    pool = _pool_ids(session, office, row, arrived)
    made = [
        ReceivedAnswer(
            campaign_id=row.campaign_id,
            reading_run_id=row.id,
            reading_upload_id=upload_id,
            reading_pool_id=pool[one.digest],
            sequence=count + place,
            line=one.line,
            kind=one.kind,
            provenance=[dict(piece) for piece in one.provenance],
            at=office.clock(),
        )
        for place, one in enumerate(arrived, start=1)
    ]
    session.add_all(made)
    session.flush()
    return made


def _pool_ids(session: Session, office: Office, row: ReadingRun, arrived: Iterable[Arrived]) -> dict[str, str]:
    """The pooled answer of each digest, made where there is none yet; two callers do not make the same one."""
    session.execute(select(ReadingPackage.id).where(ReadingPackage.id == row.reading_package_id).with_for_update())
    wanted = {one.digest: one for one in arrived}
    found: dict[str, str] = {}
    for some in in_blocks(wanted):
        question = select(PooledAnswer.digest, PooledAnswer.id).where(
            PooledAnswer.reading_package_id == row.reading_package_id,
            PooledAnswer.digest.in_(some),
        )
        found |= {one.digest: one.id for one in session.execute(question)}
    texts = _corpus(session, office, row)
    fresh = [
        PooledAnswer(
            campaign_id=row.campaign_id,
            reading_package_id=row.reading_package_id,
            query=one.query,
            document=one.document,
            part=texts.documents[one.document].part,
            bindings=one.bindings,
            told=dict(one.told) or dict(one.bindings),
            digest=digest,
            at=office.clock(),
        )
        for digest, one in wanted.items()
        if digest not in found
    ]
    session.add_all(fresh)
    session.flush()
    return found | {one.digest: one.id for one in fresh}


def answers(session: Session, row: ReadingRun) -> list[tuple[ReceivedAnswer, PooledAnswer]]:
    """The answers of a run that hold: what was taken back is left out, what was given twice is there once."""
    question = select(ReceivedAnswer, PooledAnswer).join(PooledAnswer)
    question = question.where(ReceivedAnswer.reading_run_id == row.id).order_by(ReceivedAnswer.sequence)
    listed = [(one[0], one[1]) for one in session.execute(question).all()]
    gone = {one.withdraws for one, _ in listed if one.withdraws}
    held: dict[str, tuple[ReceivedAnswer, PooledAnswer]] = {}
    for received, pooled in listed:
        if received.withdraws is None and received.id not in gone:
            held.setdefault(pooled.id, (received, pooled))
    return list(held.values())


def as_record(received: ReceivedAnswer, pooled: PooledAnswer) -> dict[str, Any]:
    """An answer as a line of an answer file."""
    return {
        "query": pooled.query,
        "document": pooled.document,
        "answer": {f"?{name}": bound for name, bound in pooled.told.items()},
        "kind": received.kind,
        "provenance": list(received.provenance),
    }


def _corpus(session: Session, office: Office, row: ReadingRun) -> Corpus:
    return corpus(office, session.get_one(ReadingPackage, row.reading_package_id))
