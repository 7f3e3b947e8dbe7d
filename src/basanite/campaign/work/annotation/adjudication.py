"""Adjudication: annotations of a text side by side, and decisions that become the adjudicator's own record (R-15).

No annotator's record is ever touched. A decision takes one side, takes another reading (which also fixes a slip without
its annotator), or says that none of these is right; each has a reason, each can be opened again, and all of them are
kept. What was decided lies as events in the task of the adjudicator, so the result is an annotation like any other.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import AnnotationDecision, AnnotationDocument, AnnotationTask
from basanite.campaign.work.annotation import cases
from basanite.campaign.work.annotation.annotator_work import Appended
from basanite.campaign.work.annotation.cases import (
    NONE,
    REOPENED,
    TAKEN,
    UNANIMOUS,
    Case,
    Content,
    Settled,
    Table,
    content_of,
    decision_id,
    keep,
    object_name,
    write_events,
)
from basanite.campaign.work.annotation.lookup import (
    find_document,
    find_project,
    may_look,
    require_look,
    require_open,
    tasks_of,
)
from basanite.campaign.work.lookup import log_event
from basanite.work.annotation.alignment import Aligned
from basanite.work.annotation.events import Event, Object

RULE: Final = "R-15"
EDITED: Final = "edit"
CODES: Final[Mapping[str, str]] = {
    "": "No reason given",
    "guidelines": "According to the guidelines",
    "slip": "Slip of the annotator",
    "span": "Span too short or too long",
    "category": "Other category",
    "value": "Other value",
    "missed": "Missed by one annotator",
    "not-in-text": "Not stated in the text",
    "inferred": "Only follows from the text",
    "unclear": "Unclear guidelines",
    "other": "Other reason; see the note",
}
"""Reasons, for counting what goes wrong most; a note says more."""
LONGEST_NOTE: Final = 2_000


@dataclass(frozen=True)
class NoneOfThese:
    """No side is right: a decision like any other, and recorded as one."""


NONE_OF_THESE: Final = NoneOfThese()


@dataclass(frozen=True)
class Side:
    """Take what the annotator of a task said."""

    task_id: str


@dataclass(frozen=True)
class Edit:
    """Take this reading instead: values, words by slot, and whether it is inferred."""

    fields: Mapping[str, str] = field(default_factory=dict)
    mentions: Mapping[str, Sequence[Sequence[tuple[int, int]]]] = field(default_factory=dict)
    inferred: bool = False
    note: str = ""


Choice = Side | Edit | NoneOfThese


Stage = Literal["waiting", "ready", "begun", "done"]


@dataclass(frozen=True)
class Ruling:
    """A decision about a case with its reason; under a key, sent twice it counts once."""

    choice: Choice
    code: str = ""
    note: str = ""
    key: str = ""


@dataclass(frozen=True)
class Queued:
    """A text as it stands in the queue of adjudicators, those with the most disagreements first."""

    document_id: str
    document: str
    stage: Stage
    annotators: int
    done: int
    disagreements: int
    open_cases: int
    mine: bool

    def as_dict(self) -> dict[str, Any]:
        """As the API gives it."""
        names = ("document", "stage", "annotators", "done", "disagreements", "open_cases", "mine")
        return {"id": self.document_id, **{name: getattr(self, name) for name in names}}


def queue(session: Session, office: Office, actor: Actor, project_id: str) -> tuple[Queued, ...]:
    """The texts that can be adjudicated, most disagreements first; not those that the actor annotated."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    own = _own_texts(session, project.id, actor.id)
    found = [
        _queue_entry(session, office, actor, row)
        for row in session.scalars(select(AnnotationDocument).where(AnnotationDocument.project_id == project.id))
        if row.id not in own and tasks_of(session, row.id)
    ]
    order = {"begun": 0, "ready": 1, "waiting": 2, "done": 3}
    return tuple(sorted(found, key=lambda one: (order[one.stage], -one.disagreements, one.document)))


def disagreements(session: Session, office: Office, actor: Actor, document_id: str) -> Table:
    """Everything that annotators said of a text, side by side, with what was decided."""
    document = find_document(session, document_id)
    require_look(session, actor, document.campaign_id)
    _check_not_own(session, document, actor)
    return cases.table(session, office, document)


def begin(session: Session, office: Office, actor: Actor, document_id: str) -> AnnotationTask:
    """The adjudicator's own record of a text, made if there is none; from now on annotators cannot change theirs."""
    document = find_document(session, document_id)
    project = find_project(session, document.project_id, lock=True)
    _require_adjudicator(session, actor, document)
    require_open(project)
    standing = tasks_of(session, document.id, "adjudicator")
    if standing and standing[-1].person_id == actor.id:
        return standing[-1]
    if standing:
        fix = "wait until it is finished, or ask an organizer to reassign it"
        raise refused(RULE, "another person adjudicates this text", fix)
    if [task for task in tasks_of(session, document.id) if task.state != "done"]:
        raise refused(RULE, "its annotators have not finished", "wait, or ask for the open task to be withdrawn")
    if len(tasks_of(session, document.id)) < 1:
        raise refused(RULE, "no annotations exist for this text", "assign it first")
    return _record(session, office, actor, document, project.generation)


def decide(
    session: Session, office: Office, actor: Actor, document_id: str, case: str, ruling: Ruling
) -> AnnotationDecision:
    """Decide one case; deciding it again replaces what was decided, and both are kept. Sent twice, it counts once."""
    task = _open_record(session, office, actor, document_id)
    if ruling.key and (known := session.get(AnnotationDecision, decision_id(task, ruling.key))) is not None:
        return known
    _check_reason(ruling.code, ruling.note)
    table, found = _case(session, office, document_id, case)
    if found.hidden:
        fix = "first decide the case that contains it"
        raise refused(RULE, "the annotation that contains this one is not part of the result", fix)
    settled = replace(_settlement(found, table, ruling.choice), code=ruling.code, note=ruling.note)
    return keep(session, office, actor, task, [replace(settled, id=decision_id(task, ruling.key))])[0]


def accept_unanimous(session: Session, office: Office, actor: Actor, document_id: str) -> int:
    """Take everything that all annotators say alike and that is still open; how many that were."""
    task = _open_record(session, office, actor, document_id)
    table = cases.table(session, office, find_document(session, document_id))
    there, settled = set(table.result.objects), list[Settled]()
    for case in table.cases:
        inside = not case.parent_name or case.parent_name in there
        if case.aligned.unanimous and case.decision is None and inside:
            there.add(object_name(case))
            content = content_of(_first(case.aligned), table.keys[0])
            settled.append(Settled(case, UNANIMOUS, table.tasks[0].id, content, id=decision_id(task)))
    return len(keep(session, office, actor, task, settled))


def reopen_case(
    session: Session, office: Office, actor: Actor, document_id: str, case: str, *, note: str = ""
) -> AnnotationDecision:
    """Reopen a decided case; the earlier decision stays on record."""
    task = _open_record(session, office, actor, document_id)
    _, found = _case(session, office, document_id, case)
    if found.decision is None:
        raise refused(RULE, "this case is open", "decide it")
    return keep(session, office, actor, task, [Settled(found, REOPENED, note=note, id=decision_id(task))])[0]


def finish(session: Session, office: Office, actor: Actor, document_id: str, *, contradictions: int = 0) -> Appended:
    """End the adjudication of a text: every case is decided, and open contradictions were confirmed (R-43)."""
    task = _open_record(session, office, actor, document_id)
    table = cases.table(session, office, find_document(session, document_id))
    if table.open_cases:
        fix = "decide them; `none of these` is also a decision"
        raise refused(RULE, f"{len(table.open_cases)} cases are open", fix)
    return write_events(
        session, office, task, [Event(f"done-{secrets.token_hex(8)}", "done", {"contradictions": contradictions})]
    )


def reopen(session: Session, office: Office, actor: Actor, document_id: str, *, reason: str) -> AnnotationTask:
    """Go on with a text that was adjudicated; somebody else goes on in a record of their own, with what there is."""
    document = find_document(session, document_id)
    _require_adjudicator(session, actor, document)
    if not reason.strip():
        raise refused(RULE, "reopening a text needs a reason", "give a reason", status=422)
    standing = tasks_of(session, document.id, "adjudicator")
    if not standing:
        raise refused(RULE, "this text has not been adjudicated", "start it")
    task = standing[-1]
    _log(session, office, actor, task, "reopened", reason=reason.strip()[:500])
    if task.person_id != actor.id:
        return _take_over(session, office, actor, document, task)
    if task.state == "done":
        write_events(session, office, task, [Event(f"reopen-{secrets.token_hex(8)}", "reopen", {})])
    return task


def history(session: Session, actor: Actor, document_id: str) -> tuple[AnnotationDecision, ...]:
    """All decisions about a text, oldest first: who, when and why."""
    document = find_document(session, document_id)
    require_look(session, actor, document.campaign_id)
    asked = select(AnnotationDecision).where(AnnotationDecision.document_id == document.id)
    return tuple(session.scalars(asked.order_by(AnnotationDecision.sequence)))


def _queue_entry(session: Session, office: Office, actor: Actor, row: AnnotationDocument) -> Queued:
    tasks = tasks_of(session, row.id)
    finished = sum(task.state == "done" for task in tasks)
    standing = tasks_of(session, row.id, "adjudicator")
    ready = finished == len(tasks)
    table = cases.table(session, office, row) if ready else None
    stage: Stage = "ready" if ready else "waiting"
    if standing:
        stage = "done" if standing[-1].state == "done" else "begun"
    apart = sum(not one.aligned.unanimous for one in table.cases) if table else 0
    left = len(table.open_cases) if table else 0
    mine = bool(standing) and standing[-1].person_id == actor.id
    return Queued(row.id, row.name, stage, len(tasks), finished, apart, left, mine)


def _own_texts(session: Session, project_id: str, person_id: str) -> set[str]:
    asked = select(AnnotationTask.document_id).where(AnnotationTask.project_id == project_id)
    own = asked.where(AnnotationTask.person_id == person_id, AnnotationTask.role == "annotator")
    return set(session.scalars(own.where(AnnotationTask.state != "withdrawn")))


def _check_not_own(session: Session, document: AnnotationDocument, actor: Actor) -> None:
    """Nobody who annotates a text sees what others made of it, or judges between them and the own work (X-4)."""
    if document.id in _own_texts(session, document.project_id, actor.id):
        raise missing("text")


def _require_adjudicator(session: Session, actor: Actor, document: AnnotationDocument) -> None:
    if "adjudicator" not in viewer(session, document.campaign_id, actor.id).roles:
        if may_look(session, actor, document.campaign_id):
            fix, hint = "ask for the role", "basanite admin people role"
            raise refused("X-4", "only adjudicators can decide", fix, status=403).with_hint(hint)
        raise missing("text")
    _check_not_own(session, document, actor)


def _open_record(session: Session, office: Office, actor: Actor, document_id: str) -> AnnotationTask:
    task = begin(session, office, actor, document_id)
    if task.state == "done":
        raise refused(RULE, "this text is adjudicated", "reopen it first, with a reason")
    return task


def _record(
    session: Session, office: Office, actor: Actor, document: AnnotationDocument, generation: int
) -> AnnotationTask:
    """A new record; one that was handed over before becomes the own one again."""
    asked = select(AnnotationTask).where(AnnotationTask.document_id == document.id)
    task = session.scalars(asked.where(AnnotationTask.person_id == actor.id)).first()
    now = office.clock()
    if task is None:
        task = AnnotationTask(campaign_id=document.campaign_id, project_id=document.project_id, person_id=actor.id)
        task.document_id, task.made, task.by, task.generation, task.position = document.id, now, actor.id, generation, 0
        session.add(task)
    task.role, task.state, task.opened = "adjudicator", "working", task.opened or now
    session.flush()
    _log(session, office, actor, task, "adjudicating")
    return task


def _take_over(
    session: Session, office: Office, actor: Actor, document: AnnotationDocument, old: AnnotationTask
) -> AnnotationTask:
    """Another adjudicator goes on: what was decided is copied into their own record; the old one stays as it is."""
    copied = cases.live_events(session, old)
    old.state = "withdrawn"
    session.flush()
    task = _record(session, office, actor, document, old.generation)
    if not cases.live_events(session, task):
        write_events(session, office, task, copied)
    return task


def _case(session: Session, office: Office, document_id: str, key: str) -> tuple[Table, Case]:
    table = cases.table(session, office, find_document(session, document_id))
    found = next((one for one in table.cases if one.aligned.key == key), None)
    if found is None:
        raise missing("case")
    return table, found


def _settlement(case: Case, table: Table, choice: Choice) -> Settled:
    """The verdict, the side that was taken, and what becomes part of the result."""
    if isinstance(choice, NoneOfThese):
        return Settled(case, NONE)
    if isinstance(choice, Edit):
        words = {slot: tuple(map(_pieces, several)) for slot, several in choice.mentions.items()}
        return Settled(case, EDITED, "", Content(dict(choice.fields), words, choice.inferred, choice.note))
    place = next((at for at, task in enumerate(table.tasks) if task.id == choice.task_id), None)
    side = None if place is None else case.aligned.sides[place]
    if side is None or place is None:
        raise refused(RULE, "this annotator marked nothing here", "choose another side, or none of these", status=422)
    return Settled(case, TAKEN, choice.task_id, content_of(side, table.keys[place]))


def _pieces(parts: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in parts)


def _first(aligned: Aligned) -> Object:
    found = next((side for side in aligned.sides if side is not None), None)
    if found is None:
        raise missing("case")
    return found


def _check_reason(code: str, note: str) -> None:
    if code not in CODES:
        known = ", ".join(name for name in CODES if name)
        raise refused(RULE, f"there is no reason {code[:40]!r}", f"one of: {known}", status=422)
    if len(note) > LONGEST_NOTE or "\0" in note:
        raise refused("X-8", "the note is too long", f"at most {LONGEST_NOTE} characters", status=422)
    if code == "other" and not note.strip():
        raise refused(RULE, "“other reason” needs an explanation", "write a note", status=422)


def _log(session: Session, office: Office, actor: Actor, task: AnnotationTask, what: str, **data: str) -> None:
    log_event(session, office, actor, task, f"annotation.{what}", document=task.document_id, **data)
