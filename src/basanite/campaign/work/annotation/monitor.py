"""How a project stands: progress, time spent, agreement, which texts wait for what, and anybody's work to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import AnnotationEvent, AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.annotator_work import Opened, task_events, task_snapshot, time_spent
from basanite.campaign.work.annotation.lookup import (
    bench_of,
    documents,
    find_project,
    require_look,
    tasks_in,
    tasks_of,
)
from basanite.campaign.work.lookup import find_row
from basanite.reading.effort import Effort
from basanite.work.annotation.agreement import Agreement, Annotations
from basanite.work.annotation.agreement import agreement as measured
from basanite.work.annotation.config import Config
from basanite.work.annotation.replay import replay

MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True)
class PersonProgress:
    """One person's share."""

    person_id: str
    role: str
    waiting: int
    working: int
    done: int
    minutes: float

    @property
    def total(self) -> int:
        """All of this person's tasks."""
        return self.waiting + self.working + self.done

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        names = ("person_id", "role", "waiting", "working", "done", "total")
        return {**{name: getattr(self, name) for name in names}, "minutes": round(self.minutes, 1)}


@dataclass(frozen=True)
class TextProgress:
    """One text."""

    id: str
    name: str
    part: str
    annotators: int
    done: int
    adjudication: str
    """`none`, `working` or `done`."""
    contradictions: int = 0
    """Those that were open when its finished records were finished (R-43)."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        names = ("id", "name", "part", "annotators", "done", "adjudication", "contradictions")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Progress:
    """A whole project."""

    project: AnnotationProject
    people: tuple[PersonProgress, ...]
    texts: tuple[TextProgress, ...]

    @property
    def tasks(self) -> int:
        """All annotators' tasks."""
        return sum(one.total for one in self.people if one.role == "annotator")

    @property
    def done_tasks(self) -> int:
        """Those that are done."""
        return sum(one.done for one in self.people if one.role == "annotator")

    @property
    def adjudicated_texts(self) -> int:
        """Texts that are adjudicated."""
        return sum(one.adjudication == "done" for one in self.texts)

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "project": self.project.name,
            "state": self.project.state,
            "generation": self.project.generation,
            "tasks": self.tasks,
            "done": self.done_tasks,
            "adjudicated": self.adjudicated_texts,
            "people": [one.as_dict() for one in self.people],
            "texts": [one.as_dict() for one in self.texts],
        }


def progress(session: Session, office: Office, actor: Actor, project_id: str) -> Progress:
    """Who is how far, and which texts wait for what; for organisers and adjudicators."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    tasks = tasks_in(session, project.id)
    minutes = {task.id: spent(session, task) / MINUTE for task in tasks}
    return Progress(project, tuple(_people(tasks, minutes)), tuple(_texts(session, project, tasks)))


def view(session: Session, office: Office, actor: Actor, task_id: str) -> Opened:
    """Anybody's work, to be looked at and not changed; nobody sees a text of others that they annotate themselves."""
    task = find_row(session, AnnotationTask, task_id, "annotation task")
    require_look(session, actor, task.campaign_id)
    own = {one.person_id for one in tasks_of(session, task.document_id)} - {task.person_id}
    if actor.id in own:
        raise missing("annotation task")
    return task_snapshot(session, office, task)


def spent(session: Session, task: AnnotationTask) -> timedelta:
    """How long somebody worked on a task, long pauses left out (R-22)."""
    moments = session.scalars(select(AnnotationEvent.at).where(AnnotationEvent.task_id == task.id))
    return time_spent([*moments, *(at for at in (task.opened, task.finished) if at is not None)])


def effort(session: Session, office: Office, project_id: str) -> tuple[Effort, ...]:
    """What annotating and adjudicating cost, by kind and day: lines for the log of the package (R-22)."""
    project = find_project(session, project_id)
    bench = bench_of(session, office, project)
    sums: dict[tuple[str, str], tuple[float, set[str], int]] = {}
    for task in tasks_in(session, project.id):
        if task.finished is None:
            continue
        activity = "adjudication" if task.role == "adjudicator" else "annotation"
        key = activity, task.finished.date().isoformat()
        minutes, texts, marks = sums.get(key, (0.0, set(), 0))
        found = len(replay(bench.config, (one.event for one in task_events(session, task))).objects)
        sums[key] = minutes + spent(session, task) / MINUTE, texts | {task.document_id}, marks + found
    return tuple(
        Effort(project.name, activity, round(minutes, 2), day, documents=len(texts), annotations=marks)
        for (activity, day), (minutes, texts, marks) in sorted(sums.items())
    )


def _people(tasks: Iterable[AnnotationTask], minutes: dict[str, float]) -> list[PersonProgress]:
    states: dict[tuple[str, str], Counter[str]] = {}
    times: dict[tuple[str, str], float] = {}
    for task in tasks:
        key = task.role, task.person_id
        states.setdefault(key, Counter())[task.state] += 1
        times[key] = times.get(key, 0.0) + minutes[task.id]
    return [
        PersonProgress(person, role, count["waiting"], count["working"], count["done"], times[role, person])
        for (role, person), count in sorted(states.items(), key=lambda item: (item[0][0] != "annotator", item[0][1]))
    ]


def _texts(session: Session, project: AnnotationProject, tasks: Iterable[AnnotationTask]) -> list[TextProgress]:
    by_text: dict[str, list[AnnotationTask]] = {}
    for task in tasks:
        by_text.setdefault(task.document_id, []).append(task)
    found = []
    for row in documents(session, project.id):
        mine = by_text.get(row.id, [])
        annotators = [task for task in mine if task.role == "annotator"]
        judged = next((task.state for task in mine if task.role == "adjudicator"), "none")
        finished = sum(task.state == "done" for task in annotators)
        left = sum(task.contradictions for task in mine)
        found.append(TextProgress(row.id, row.name, row.part, len(annotators), finished, judged, left))
    return found


def agreement(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    *,
    part: str | None = None,
    draws: int = 1000,
) -> Agreement:
    """Agreement per category, per field and per text; adjudication does not change it, for it changes no record."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    config = bench_of(session, office, project).config
    texts = _annotations(session, project, config, part)
    return measured(config, texts, draws=draws, seed=project.seed)


def _annotations(
    session: Session, project: AnnotationProject, config: Config, part: str | None
) -> Iterator[Annotations]:
    by_text: dict[str, list[AnnotationTask]] = {}
    for task in tasks_in(session, project.id):
        if task.role == "annotator" and task.state == "done":
            by_text.setdefault(task.document_id, []).append(task)
    for row in documents(session, project.id, part):
        tasks = by_text.get(row.id, [])
        if len(tasks) > 1:
            states = (replay(config, (one.event for one in task_events(session, task))) for task in tasks)
            yield Annotations(row.name, row.length, tuple(states))
