"""Annotators over time: agreement and speed by week, drift, and texts that are annotated once more, blind (R-44).

Agreement is F1 of marks with what others made of the same texts. A week differs from a person's earlier weeks if the
interval of the difference excludes zero, or if it took less than half or more than twice as long for as much text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.annotator_work import task_events
from basanite.campaign.work.annotation.lookup import (
    REPEAT,
    bench_of,
    documents,
    find_project,
    require_look,
    require_open,
    tasks_in,
)
from basanite.campaign.work.annotation.monitor import MINUTE, spent
from basanite.campaign.work.annotation.setup import log
from basanite.metrics.judgement.estimate import Estimate
from basanite.work.annotation.mark_scores import FEWEST, Mark, count_table, f1_difference, f1_of, marks_of
from basanite.work.annotation.replay import replay

RULE: Final = "R-44"
SLOWER: Final = 2.0
Pair = tuple[frozenset[Mark], frozenset[Mark]]


@dataclass(frozen=True)
class Finished:
    """A finished record: who, when, how long, and its marks."""

    person: str
    document: str
    role: str
    at: datetime
    minutes: float
    length: int
    marks: frozenset[Mark]

    @property
    def week(self) -> str:
        """The week of the year by ISO 8601."""
        year, week, _ = self.at.isocalendar()
        return f"{year}-W{week:02d}"


@dataclass(frozen=True)
class Week:
    """What one person did in one week."""

    person: str
    week: str
    texts: int
    minutes: float
    speed: float
    """Minutes for 1,000 characters."""
    compared: int
    """Texts that others finished, too."""
    agreement: Estimate
    change: Estimate
    """Of agreement, against all earlier weeks of this person."""
    drift: tuple[str, ...]
    """`agreement`, `faster`, `slower`; nothing if this week is like those before."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        same = {name: getattr(self, name) for name in ("person", "week", "texts", "compared")}
        rounded = {"minutes": round(self.minutes, 1), "minutes_per_1000": round(self.speed, 3) if self.texts else None}
        figures = {"agreement": _plain(self.agreement), "change": _plain(self.change)}
        return {**same, **rounded, **figures, "drift": list(self.drift)}


@dataclass(frozen=True)
class Trends:
    """All weeks of all annotators, and how far each agrees with the own earlier annotations."""

    weeks: tuple[Week, ...]
    repeated: Mapping[str, tuple[int, Estimate]]
    """By person: texts that were repeated, and F1 of both times."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        again = {who: {"texts": texts, **_plain(one)} for who, (texts, one) in self.repeated.items()}
        return {"weeks": [one.as_dict() for one in self.weeks], "repeated": again}


def trends(session: Session, office: Office, actor: Actor, project_id: str) -> Trends:
    """Every annotator's weeks, in order; for organizers and adjudicators."""
    project = find_project(session, project_id)
    require_look(session, actor, project.campaign_id)
    done = list(_done_tasks(session, office, project))
    people = sorted({one.person for one in done if one.role == "annotator"})
    weeks = tuple(week for person in people for week in _weeks(person, done, project.seed))
    return Trends(weeks, {who: again for who in people for again in _agreement_with_self(who, done)})


def repeat(
    session: Session, office: Office, actor: Actor, project_id: str, *, share: float
) -> tuple[AnnotationTask, ...]:
    """Give every annotator a random share of their finished texts once more; what they did before stays hidden."""
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    if not 0 < share <= 1:
        raise refused(RULE, f"a share of {share:g}", "give more than 0 percent, and 100 at most", status=422)
    tasks = tasks_in(session, project.id)
    had = {(task.person_id, task.document_id) for task in tasks if task.role == REPEAT}
    made: list[AnnotationTask] = []
    for person in sorted({task.person_id for task in tasks if task.role == "annotator"}):
        own = [t for t in tasks if (t.person_id, t.role, t.state) == (person, "annotator", "done")]
        free = sorted(task.document_id for task in own if (person, task.document_id) not in had)
        count = min(len(free), max(1, round(share * len(own)))) if own else 0
        chosen = random.Random(f"{project.seed}:repeat:{person}:{len(own)}").sample(free, count)
        made += _tasks(session, office, actor, project, person, chosen)
    if not made:
        raise refused(RULE, "nobody has finished a text that is not repeated yet", "wait until more texts are finished")
    session.add_all(made)
    session.flush()
    log(session, office, actor, project, "repeated", tasks=len(made), people=len({one.person_id for one in made}))
    return tuple(made)


def _tasks(
    session: Session,
    office: Office,
    actor: Actor,
    project: AnnotationProject,
    person: str,
    chosen: Sequence[str],
) -> Iterator[AnnotationTask]:
    asked = select(func.max(AnnotationTask.position)).where(AnnotationTask.project_id == project.id)
    first = (session.scalar(asked.where(AnnotationTask.person_id == person)) or 0) + 1
    for at, document in enumerate(chosen):
        yield AnnotationTask(
            campaign_id=project.campaign_id,
            project_id=project.id,
            document_id=document,
            person_id=person,
            role=REPEAT,
            position=first + at,
            state="waiting",
            generation=project.generation,
            made=office.clock(),
            by=actor.id,
        )


def _done_tasks(session: Session, office: Office, project: AnnotationProject) -> Iterator[Finished]:
    lengths = {row.id: row.length for row in documents(session, project.id)}
    for task in tasks_in(session, project.id):
        if task.state == "done" and task.finished is not None and task.role in ("annotator", REPEAT):
            config = bench_of(session, office, project, task.generation).config
            state = replay(config, (one.event for one in task_events(session, task)))
            minutes, length = spent(session, task) / MINUTE, lengths[task.document_id]
            who = (task.person_id, task.document_id, task.role, task.finished)
            yield Finished(*who, minutes, length, marks_of(state))


def _weeks(person: str, done: Sequence[Finished], seed: int) -> Iterator[Week]:
    own = [one for one in done if one.person == person and one.role == "annotator"]
    others: dict[str, list[Finished]] = {}
    for one in done:
        if one.person != person and one.role == "annotator":
            others.setdefault(one.document, []).append(one)
    before: list[Finished] = []
    for week in sorted({one.week for one in own}):
        now = [one for one in own if one.week == week]
        table, past = count_table(_pairs(now, others)), count_table(_pairs(before, others))
        change = f1_difference(table, past, seed=seed)
        speed = _speed(now)
        drift = tuple(_drift(change, speed, _speed(before), min(len(now), len(before))))
        compared = sum(one.document in others for one in now)
        minutes = sum(one.minutes for one in now)
        yield Week(person, week, len(now), minutes, speed, compared, f1_of(table), change, drift)
        before += now


def _pairs(own: Sequence[Finished], others: Mapping[str, Sequence[Finished]]) -> Iterator[Pair]:
    for one in own:
        yield from ((one.marks, other.marks) for other in others.get(one.document, ()))


def _speed(own: Sequence[Finished]) -> float:
    length = sum(one.length for one in own)
    return 1000 * sum(one.minutes for one in own) / length if length else float("nan")


def _drift(change: Estimate, now: float, before: float, texts: int) -> Iterator[str]:
    if change.high is not None and change.high < 0:
        yield "agreement"
    if texts >= FEWEST and now * SLOWER < before:
        yield "faster"
    elif texts >= FEWEST and before > 0 and now > SLOWER * before:
        yield "slower"


def _agreement_with_self(person: str, done: Sequence[Finished]) -> Iterator[tuple[int, Estimate]]:
    first = {one.document: one for one in done if one.person == person and one.role == "annotator"}
    again = [one for one in done if one.person == person and one.role == REPEAT and one.document in first]
    if again:
        yield len(again), f1_of(count_table((first[one.document].marks, one.marks) for one in again))


def _plain(one: Estimate) -> dict[str, Any]:
    return {"value": one.value if one.is_defined else None, "low": one.low, "high": one.high, "reason": one.reason}
