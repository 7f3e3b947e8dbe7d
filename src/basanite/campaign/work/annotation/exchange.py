"""Annotations of a project in the formats of other tools, and what was annotated elsewhere brought in (P-32, R-26).

People are numbers in every file that leaves (P-21). What a format cannot keep is said. What comes in goes through the
same checks as what a page sends, and only into a record that is still empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.annotator_work import MOST_AT_ONCE, append_events, last_sequence
from basanite.campaign.work.annotation.assignment import assign_extra
from basanite.campaign.work.annotation.lookup import (
    REPEAT,
    bench_of,
    documents,
    find_project,
    require_look,
    require_open,
    tasks_in,
)
from basanite.campaign.work.annotation.outcome import results
from basanite.campaign.work.annotation.packages import Bench, text_of
from basanite.campaign.work.annotation.setup import log, migrated_record
from basanite.problems import Findings, Problem
from basanite.reading.package.documents import Document
from basanite.reading.provenance import Assertion
from basanite.work.annotation.events import Event
from basanite.work.annotation.mapping import assertions
from basanite.work.annotation.migration import Record, record_lines
from basanite.work.annotation.replay import replay
from basanite.work.exchange.formats import FORMAL, FORMATS, format_named, write_formal, write_to
from basanite.work.exchange.model import Annotated, Losses, Place, annotated_of, events_of

Which = Literal["adjudicated", "annotators", "all"]
RECORDS: Final = "records"
ALL: Final = (*FORMATS, *FORMAL, RECORDS)


@dataclass(frozen=True)
class ExportChoice:
    """What is to leave: a format, whose annotations, and of which part of the package if not of all."""

    format: str
    which: Which = "adjudicated"
    part: str | None = None


@dataclass(frozen=True)
class ForeignWork:
    """What one person annotated elsewhere, and whether it is finished."""

    person_id: str
    texts: Sequence[Annotated]
    done: bool = False


@dataclass(frozen=True)
class Taken:
    """One text as somebody annotated it: the marks, and what they assert."""

    document: Document
    annotated: Annotated
    assertions: tuple[Assertion, ...]
    record: Record


@dataclass(frozen=True)
class Shared:
    """Files on their way out, and what could not be kept."""

    files: dict[str, bytes]
    texts: int
    problems: tuple[Problem, ...]
    open_texts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "files": sorted(self.files),
            "texts": self.texts,
            "not_kept": [one.message for one in self.problems],
            "open_texts": list(self.open_texts),
        }


@dataclass(frozen=True)
class Brought:
    """What came in."""

    texts: int
    events: int
    problems: tuple[Problem, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"texts": self.texts, "events": self.events, "problems": [one.as_dict() for one in self.problems]}


def export(session: Session, office: Office, actor: Actor, project_id: str, choice: ExportChoice) -> Shared:
    """The annotations of a project in one format: the adjudicated ones, or those of every annotator."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    if choice.format not in ALL:
        format_named(choice.format)
    if choice.which != "adjudicated":
        require_organiser(session, actor, project.campaign_id)
    bench = bench_of(session, office, project)
    found, waiting = _selected_texts(session, office, actor, project, bench, choice)
    findings = Findings(None)
    files = _encode_files(bench, found, choice.format, findings)
    log(session, office, actor, project, "exported", format=choice.format, which=choice.which, texts=len(found))
    return Shared(files, len(found), tuple(findings), waiting)


def bring_in(session: Session, office: Office, actor: Actor, project_id: str, work: ForeignWork) -> Brought:
    """Take in what one person annotated elsewhere, as events of their own record; only where it is empty."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    rows = {row.name: row for row in documents(session, project.id)}
    bench, findings, texts, count = bench_of(session, office, project), Findings(None), 0, 0
    losses = Losses("import")
    for one in work.texts:
        row = rows.get(one.document)
        if row is None or text_of(office, row).text != one.text:
            words = "no such text in the project" if row is None else "its text differs from the project's"
            Place(one.document[:100], findings).fault(None, words, "import it into the project that it belongs to")
            continue
        task = _empty_task(session, office, actor, row, work.person_id)
        events = events_of(bench.config, replace(one, annotator=""), losses, salt=task.id)
        texts, count = texts + 1, count + _append(session, office, project, task, events, findings)
        if work.done:
            end = append_events(session, office, task, project, [Event("imported-done", "done", {})], after=0)
            findings.extend(one for problems in end.refused.values() for one in problems)
    findings.extend(losses.problems())
    log(session, office, actor, project, "imported", person=work.person_id, texts=texts, events=count)
    return Brought(texts, count, tuple(findings))


def _append(
    session: Session,
    office: Office,
    project: AnnotationProject,
    task: AnnotationTask,
    events: Sequence[Event],
    findings: Findings,
) -> int:
    count = 0
    for start in range(0, len(events), MOST_AT_ONCE):
        sent = append_events(session, office, task, project, events[start : start + MOST_AT_ONCE], after=0)
        findings.extend(one for problems in sent.refused.values() for one in problems)
        count += len(sent.accepted)
    return count


def _empty_task(
    session: Session, office: Office, actor: Actor, row: AnnotationDocument, person_id: str
) -> AnnotationTask:
    asked = select(AnnotationTask).where(AnnotationTask.document_id == row.id, AnnotationTask.person_id == person_id)
    task = session.scalars(asked.where(AnnotationTask.role != REPEAT)).first()
    if task is None:
        return assign_extra(session, office, actor, row.id, person_id)
    if task.role != "annotator" or task.state == "withdrawn" or last_sequence(session, task):
        fix = "import as a person who has not started this text"
        raise refused("P-32", f"this person already has work on {row.name}", fix)
    return task


def _selected_texts(
    session: Session, office: Office, actor: Actor, project: AnnotationProject, bench: Bench, choice: ExportChoice
) -> tuple[list[Taken], tuple[str, ...]]:
    if choice.which != "adjudicated":
        return list(_by_annotators(session, office, project, bench, choice)), ()
    found = results(session, office, actor, project.id, part=choice.part)
    taken = [
        Taken(one.document, annotated_of(bench.config, one.document, one.state), one.assertions, one.record)
        for one in found.texts
    ]
    return taken, found.open_texts


def _by_annotators(
    session: Session, office: Office, project: AnnotationProject, bench: Bench, choice: ExportChoice
) -> Iterator[Taken]:
    """Every finished record, or every one that was begun; its annotator is a number, the same one in all texts."""
    states = ("working", "done") if choice.which == "all" else ("done",)
    tasks = [one for one in tasks_in(session, project.id) if one.role == "annotator" and one.state in states]
    people = {person: f"annotator-{at}" for at, person in enumerate(sorted({one.person_id for one in tasks}), 1)}
    rows = {row.id: row for row in documents(session, project.id, choice.part)}
    for task in sorted(tasks, key=lambda one: (one.document_id, people[one.person_id])):
        row = rows.get(task.document_id)
        if row is None:
            continue
        who, document = people[task.person_id], text_of(office, row)
        record = migrated_record(session, office, project, task, row.name)
        state = replay(bench.config, record.events)
        marks = annotated_of(bench.config, document, state, annotator=who)
        said = assertions(bench.config, state, document, annotator=who)
        yield Taken(document, marks, said, Record(row.name, who, record.version, record.events))


def _encode_files(bench: Bench, found: Sequence[Taken], format_: str, findings: Findings) -> dict[str, bytes]:
    if format_ in FORMATS:
        return write_to(format_named(format_), [one.annotated for one in found], findings)
    if format_ == RECORDS:
        lines = record_lines(one.record for one in found)
        return {"records.ndjson": "".join(f"{line}\n" for line in lines).encode()}
    formal = [(one.document, one.assertions) for one in found]
    return write_formal(format_, formal, bench.package.manifest.prefixes)
