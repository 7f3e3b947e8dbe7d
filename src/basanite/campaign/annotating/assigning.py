"""Who annotates which text: several people for each, blind to each other, evenly, and the same again from the seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.annotating.finding import documents, find_document, find_project, require_open, tasks_in
from basanite.campaign.annotating.setting_up import log
from basanite.campaign.model.refusals import missing, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import check_role, lock_person
from basanite.campaign.people.roles import grant, require_organiser, viewer
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject, AnnotationTask

RULE = "R-15"


@dataclass(frozen=True)
class Assigned:
    """What assigning did."""

    tasks: tuple[AnnotationTask, ...]
    short: tuple[str, ...]
    """Texts for which there are not enough people, by name."""

    def as_dict(self) -> dict[str, object]:
        """As `--json` prints it: how many for whom."""
        counts = Counter(task.person_id for task in self.tasks)
        return {"assigned": len(self.tasks), "per_person": dict(sorted(counts.items())), "short": list(self.short)}


def assign(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    persons: Iterable[str],
    *,
    part: str | None = None,
    names: Iterable[str] = (),
    per_document: int | None = None,
) -> Assigned:
    """Give every text as many annotators as the project wants; those that it has already count.

    Called again, with more people or a higher number, it adds what is missing and moves nothing.
    """
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    people = sorted(set(persons))
    for person in people:
        enrol(session, office, actor, project.campaign_id, person, "annotator")
    texts = _chosen(session, project, part, tuple(names))
    active = Counter(task.document_id for task in tasks_in(session, project.id) if task.role == "annotator")
    wanted = {one.id: (per_document or project.per_document) - active[one.id] for one in texts}
    plan = planned(wanted, people, _held(session, project.id), _load(session, project.id), project.seed)
    tasks = _tasks(session, office, actor, project, plan)
    short = tuple(one.name for one in texts if len(plan.get(one.id, ())) < wanted[one.id])
    log(session, office, actor, project, "assigned", tasks=len(tasks), people=len(people), short=len(short))
    return Assigned(tasks, short)


def assign_extra(session: Session, office: Office, actor: Actor, document_id: str, person_id: str) -> AnnotationTask:
    """One more annotator for one text, whenever; nobody gets the same text twice."""
    document = find_document(session, document_id)
    project = find_project(session, document.project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    enrol(session, office, actor, project.campaign_id, person_id, "annotator")
    if person_id in _held(session, project.id).get(document.id, ()):
        fix = "choose somebody else: nobody annotates or adjudicates the same text twice"
        raise refused(RULE, f"this person has {document.name} already", fix)
    (task,) = _tasks(session, office, actor, project, {document.id: (person_id,)})
    log(session, office, actor, project, "assigned", tasks=1, people=1, short=0)
    return task


def withdraw(session: Session, office: Office, actor: Actor, task_id: str, *, reason: str) -> AnnotationTask:
    """Take a task back that is not done; what was recorded stays and counts no more."""
    task = session.get(AnnotationTask, task_id, with_for_update=True, populate_existing=True)
    if task is None:
        raise missing("annotation task")
    require_organiser(session, actor, task.campaign_id)
    if task.state == "done":
        raise refused(RULE, "this task is done", "leave it, or let its annotator open it again")
    if not reason.strip():
        raise no_reason(RULE, "a task is taken back without a reason")
    task.state = "withdrawn"
    project = find_project(session, task.project_id)
    log(session, office, actor, project, "withdrawn", task=task.id, reason=reason.strip()[:500])
    return task


def enrol(session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str, role: str) -> None:
    """Make sure that a person has a role, and is in no team of the campaign (X-4)."""
    lock_person(session, person_id)
    if role in viewer(session, campaign_id, person_id).roles:
        check_role(session, campaign_id, person_id, role)
        return
    grant(session, office, actor, person_id=person_id, role=role, campaign_id=campaign_id, reason="annotation")


def planned(
    wanted: Mapping[str, int],
    people: Sequence[str],
    held: Mapping[str, frozenset[str]],
    load: Mapping[str, int],
    seed: int,
) -> dict[str, tuple[str, ...]]:
    """New people for each text, as many as it wants: always those with the least work, ties by lot.

    >>> plan = planned({"a": 2, "b": 2, "c": 2}, ["x", "y", "z"], {}, {}, seed=1)
    >>> sorted(Counter(person for several in plan.values() for person in several).values())
    [2, 2, 2]
    """
    dice = random.Random(f"{seed}:assign")
    work = Counter({person: load.get(person, 0) for person in people})
    order = sorted(wanted)
    dice.shuffle(order)
    found: dict[str, tuple[str, ...]] = {}
    for text in order:
        free = [person for person in people if person not in held.get(text, frozenset())]
        chosen = sorted(free, key=lambda person: (work[person], dice.random()))[: max(wanted[text], 0)]
        work.update(chosen)
        if chosen:
            found[text] = tuple(chosen)
    return found


def _chosen(
    session: Session, project: AnnotationProject, part: str | None, names: Sequence[str]
) -> tuple[AnnotationDocument, ...]:
    texts = documents(session, project.id, part)
    wanted = set(names)
    if unknown := sorted(wanted - {one.name for one in texts}):
        raise refused(RULE, f"there is no text {unknown[0]!r:.60}", "look at the list of texts", status=404)
    chosen = tuple(one for one in texts if not wanted or one.name in wanted)
    if not chosen:
        raise refused(RULE, "there are no texts to assign", "name a part of the package that has texts", status=422)
    return chosen


def _held(session: Session, project_id: str) -> dict[str, frozenset[str]]:
    """Who has or had each text, adjudicators and tasks that were taken back included: nobody gets it again."""
    asked = select(AnnotationTask.document_id, AnnotationTask.person_id)
    found: dict[str, set[str]] = {}
    for document, person in session.execute(asked.where(AnnotationTask.project_id == project_id)):
        found.setdefault(document, set()).add(person)
    return {document: frozenset(several) for document, several in found.items()}


def _load(session: Session, project_id: str) -> Counter[str]:
    return Counter(task.person_id for task in tasks_in(session, project_id) if task.role == "annotator")


def _tasks(
    session: Session, office: Office, actor: Actor, project: AnnotationProject, plan: Mapping[str, Sequence[str]]
) -> tuple[AnnotationTask, ...]:
    """The new tasks; each person's come in an order of their own, after what is in the queue already."""
    queues: dict[str, list[str]] = {}
    for document, several in plan.items():
        for person in several:
            queues.setdefault(person, []).append(document)
    made: list[AnnotationTask] = []
    for person, queue in sorted(queues.items()):
        random.Random(f"{project.seed}:{person}").shuffle(queue)
        first = _last_position(session, project.id, person) + 1
        made += [_task(office, actor, project, text, person, first + at) for at, text in enumerate(queue)]
    session.add_all(made)
    session.flush()
    return tuple(made)


def _last_position(session: Session, project_id: str, person_id: str) -> int:
    asked = select(func.max(AnnotationTask.position)).where(AnnotationTask.project_id == project_id)
    return session.scalar(asked.where(AnnotationTask.person_id == person_id)) or 0


def _task(
    office: Office, actor: Actor, project: AnnotationProject, document_id: str, person_id: str, position: int
) -> AnnotationTask:
    return AnnotationTask(
        campaign_id=project.campaign_id,
        project_id=project.id,
        document_id=document_id,
        person_id=person_id,
        role="annotator",
        position=position,
        state="waiting",
        generation=project.generation,
        made=office.clock(),
        by=actor.id,
    )
