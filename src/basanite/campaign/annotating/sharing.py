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

from basanite.annotation.events import Event, replay
from basanite.annotation.exchange.formats import FORMATS, format_named, write_to
from basanite.annotation.exchange.model import Annotated, Losses, Place
from basanite.annotation.exchange.records import annotated_of, events_of
from basanite.annotation.exchange.statements import FORMAL, write_formal
from basanite.annotation.mapping import assertions
from basanite.annotation.migrating import Record
from basanite.annotation.record_files import record_lines
from basanite.campaign.annotating.assigning import assign_extra
from basanite.campaign.annotating.changing import brought_up
from basanite.campaign.annotating.ending import results
from basanite.campaign.annotating.finding import (
    bench_of,
    documents,
    find_project,
    require_look,
    require_open,
    tasks_in,
)
from basanite.campaign.annotating.packages import Bench, text_of
from basanite.campaign.annotating.recorded import MOST_AT_ONCE, last
from basanite.campaign.annotating.setting_up import log
from basanite.campaign.annotating.working import take
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.problems import Findings, Problem
from basanite.reading.package.documents import Document
from basanite.reading.provenance import Assertion

Which = Literal["adjudicated", "annotators"]
RECORDS: Final = "records"
ALL: Final = (*FORMATS, *FORMAL, RECORDS)


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


def export(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    format_: str,
    *,
    which: Which = "adjudicated",
    part: str | None = None,
) -> Shared:
    """The annotations of a project in one format: the adjudicated ones, or those of every annotator."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    if format_ not in ALL:
        format_named(format_)
    if which == "annotators":
        require_organiser(session, actor, project.campaign_id)
    bench = bench_of(session, office, project)
    found, waiting = _taken(session, office, actor, project, bench, which, part)
    findings = Findings(None)
    files = _written(bench, found, format_, findings)
    log(session, office, actor, project, "exported", format=format_, which=which, texts=len(found))
    return Shared(files, len(found), tuple(findings), waiting)


def bring_in(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    person_id: str,
    annotated: Sequence[Annotated],
    *,
    done: bool = False,
) -> Brought:
    """Take in what one person annotated elsewhere, as events of their own record; only where it is empty."""
    project = find_project(session, project_id)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    rows = {row.name: row for row in documents(session, project.id)}
    bench, findings, texts, count = bench_of(session, office, project), Findings(None), 0, 0
    losses = Losses("import")
    for one in annotated:
        row = rows.get(one.document)
        if row is None or text_of(office, row).text != one.text:
            words = "no such text in the project" if row is None else "its text differs from the one of the project"
            Place(one.document[:100], findings).fault(None, words, "import it into the project that it belongs to")
            continue
        task = _empty_task(session, office, actor, row, person_id)
        events = events_of(bench.config, replace(one, annotator=""), losses, salt=task.id)
        texts, count = texts + 1, count + _append(session, office, project, task, events, findings, done=done)
    findings.extend(losses.problems())
    log(session, office, actor, project, "imported", person=person_id, texts=texts, events=count)
    return Brought(texts, count, tuple(findings))


def _append(
    session: Session,
    office: Office,
    project: AnnotationProject,
    task: AnnotationTask,
    events: Sequence[Event],
    findings: Findings,
    *,
    done: bool,
) -> int:
    count = 0
    for start in range(0, len(events), MOST_AT_ONCE):
        sent = take(session, office, task, project, events[start : start + MOST_AT_ONCE], after=0)
        findings.extend(one for problems in sent.refused.values() for one in problems)
        count += len(sent.accepted)
    if done:
        take(session, office, task, project, [Event("imported-done", "done", {})], after=0)
    return count


def _empty_task(
    session: Session, office: Office, actor: Actor, row: AnnotationDocument, person_id: str
) -> AnnotationTask:
    asked = select(AnnotationTask).where(AnnotationTask.document_id == row.id, AnnotationTask.person_id == person_id)
    task = session.scalars(asked).first()
    if task is None:
        return assign_extra(session, office, actor, row.id, person_id)
    if task.role != "annotator" or task.state == "withdrawn" or last(session, task):
        fix = "import as somebody who has not begun with this text"
        raise refused("P-32", f"this person has work on {row.name} already", fix)
    return task


def _taken(
    session: Session,
    office: Office,
    actor: Actor,
    project: AnnotationProject,
    bench: Bench,
    which: Which,
    part: str | None,
) -> tuple[list[Taken], tuple[str, ...]]:
    if which == "annotators":
        return list(_by_annotators(session, office, project, bench, part)), ()
    found = results(session, office, actor, project.id, part=part)
    taken = [
        Taken(one.document, annotated_of(bench.config, one.document, one.state), one.assertions, one.record)
        for one in found.texts
    ]
    return taken, found.open_texts


def _by_annotators(
    session: Session, office: Office, project: AnnotationProject, bench: Bench, part: str | None
) -> Iterator[Taken]:
    """Every finished record, its annotator being a number: the same one in all texts of an export."""
    tasks = [one for one in tasks_in(session, project.id) if one.role == "annotator" and one.state == "done"]
    people = {person: f"annotator-{at}" for at, person in enumerate(sorted({one.person_id for one in tasks}), 1)}
    rows = {row.id: row for row in documents(session, project.id, part)}
    for task in sorted(tasks, key=lambda one: (one.document_id, people[one.person_id])):
        row = rows.get(task.document_id)
        if row is None:
            continue
        who, document = people[task.person_id], text_of(office, row)
        record = brought_up(session, office, project, task, row.name)
        state = replay(bench.config, record.events)
        marks = annotated_of(bench.config, document, state, annotator=who)
        said = assertions(bench.config, state, document, annotator=who)
        yield Taken(document, marks, said, Record(row.name, who, record.version, record.events))


def _written(bench: Bench, found: Sequence[Taken], format_: str, findings: Findings) -> dict[str, bytes]:
    if format_ in FORMATS:
        return write_to(format_named(format_), [one.annotated for one in found], findings)
    if format_ == RECORDS:
        lines = record_lines(one.record for one in found)
        return {"records.ndjson": "".join(f"{line}\n" for line in lines).encode()}
    formal = [(one.document, one.assertions) for one in found]
    return write_formal(format_, formal, bench.package.manifest.prefixes)
