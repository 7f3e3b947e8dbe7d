"""The cases of a text: what annotators said side by side, which decision holds for each, and what is still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.annotation.aligning import Aligned, align
from basanite.annotation.config import Config
from basanite.annotation.events import Event, State, replay, single_id
from basanite.campaign.annotating.finding import bench_of, find_project, tasks_of
from basanite.campaign.annotating.recorded import recorded
from basanite.campaign.office import Office
from basanite.campaign.store.tables import AnnotationDecision, AnnotationDocument, AnnotationTask

TAKEN: Final = "take"
NONE: Final = "none"
UNANIMOUS: Final = "unanimous"
REOPENED: Final = "reopen"


@dataclass(frozen=True)
class Case:
    """One thing to decide: what each annotator has there, and what was decided."""

    aligned: Aligned
    decision: AnnotationDecision | None
    """The decision that holds; None while it is open."""
    parent_name: str
    """What it lies in, in the adjudicator's record."""
    single: bool
    hidden: bool
    """Whether what it lies in is not (yet) part of the result: there is nothing to decide then."""
    rejected: bool
    """Whether it never will be, for what it lies in was decided to be none of these."""
    names: Mapping[str, str]
    """The objects of the adjudicator's record by the key of their case."""

    def as_dict(self) -> dict[str, Any]:
        """As pages and the API give it; who the annotators are is not said."""
        decided = self.decision
        return {
            "case": self.aligned.key,
            "category": self.aligned.category,
            "parent": self.aligned.parent,
            "sides": [None if side is None else side.as_dict() for side in self.aligned.sides],
            "differs": list(self.aligned.differs),
            "unanimous": self.aligned.unanimous,
            "verdict": decided.verdict if decided else "",
            "code": decided.code if decided else "",
            "note": decided.note if decided else "",
            "hidden": self.hidden,
            "rejected": self.rejected,
        }


@dataclass(frozen=True)
class Table:
    """All annotations of a text side by side."""

    document: AnnotationDocument
    config: Config
    tasks: tuple[AnnotationTask, ...]
    """One for each side, in the order of the sides."""
    states: tuple[State, ...]
    keys: tuple[Mapping[str, str], ...]
    """Of each side, the case that every object is in."""
    cases: tuple[Case, ...]
    record: AnnotationTask | None
    """The adjudicator's own record, once there is one."""
    result: State
    """What was decided so far."""

    @property
    def open_cases(self) -> tuple[Case, ...]:
        """What is still to be decided; what lies in something that was rejected is not."""
        return tuple(case for case in self.cases if case.decision is None and not case.rejected)

    @property
    def apart(self) -> tuple[Case, ...]:
        """The cases on which annotators differ."""
        return tuple(case for case in self.cases if not case.aligned.unanimous)


def table(session: Session, office: Office, document: AnnotationDocument) -> Table:
    """The annotations of a text side by side, as far as they were there when its adjudication began."""
    project = find_project(session, document.project_id)
    standing = tasks_of(session, document.id, "adjudicator")
    record = standing[-1] if standing else None
    generation = record.generation if record else project.generation
    config = bench_of(session, office, project, generation).config
    tasks = tuple(task for task in tasks_of(session, document.id) if task.state == "done")
    if record is not None:
        tasks = tuple(task for task in tasks if task.finished is not None and task.made <= record.made)
    states = tuple(
        replay(config, (one.event for one in recorded(session, task, generation=generation))) for task in tasks
    )
    aligned = align(config, states) if states else ()
    result = replay(config, (one.event for one in recorded(session, record))) if record else State()
    decided = _decided(session, document.id)
    whole = Table(document, config, tasks, states, _keys(aligned, len(states)), (), record, result)
    return _with_cases(whole, aligned, decided)


def live_events(session: Session, task: AnnotationTask) -> list[Event]:
    """The events of a record that are not undone, undoing itself left out."""
    kept = [one.event for one in recorded(session, task)]
    undone: set[str] = set()
    for event in kept:
        if event.kind == "undo":
            undone.update(event.data["events"])
        elif event.kind == "redo":
            undone.difference_update(event.data["events"])
    return [one for one in kept if one.id not in undone and one.kind not in ("undo", "redo", "done", "reopen")]


def _with_cases(whole: Table, aligned: tuple[Aligned, ...], decided: Mapping[str, AnnotationDecision]) -> Table:
    made: dict[str, Case] = {}
    names: dict[str, str] = {}
    for one in aligned:
        parent = made.get(one.parent)
        parent_name = names.get(one.parent, "")
        single = whole.config.categories[one.category].single
        name = single_id(parent_name, one.category) if single else f"k{one.key}"
        hidden = bool(one.parent) and (one.parent not in names or parent_name not in whole.result.objects)
        rejected = parent is not None and (parent.rejected or (parent.decision is not None and hidden))
        names[one.key] = name
        found = decided.get(one.key)
        made[one.key] = Case(one, found, parent_name, single, hidden, rejected, names)
    cases = tuple(made.values())
    return Table(whole.document, whole.config, whole.tasks, whole.states, whole.keys, cases, whole.record, whole.result)


def _decided(session: Session, document_id: str) -> dict[str, AnnotationDecision]:
    """The decision that holds for each case: the newest, unless it opened the case again."""
    asked = select(AnnotationDecision).where(AnnotationDecision.document_id == document_id)
    newest: dict[str, AnnotationDecision] = {}
    for row in session.scalars(asked.order_by(AnnotationDecision.sequence)):
        newest[row.case] = row
    return {case: row for case, row in newest.items() if row.verdict != REOPENED}


def _keys(aligned: tuple[Aligned, ...], count: int) -> tuple[Mapping[str, str], ...]:
    found: list[dict[str, str]] = [{} for _ in range(count)]
    for one in aligned:
        for at, side in enumerate(one.sides):
            if side is not None:
                found[at][side.id] = one.key
    return tuple(found)
