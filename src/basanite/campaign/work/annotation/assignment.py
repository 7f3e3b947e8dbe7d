"""Who annotates which text: several people for each, blind to each other, evenly, and the same again from the seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import RoleGrant, check_role, grant, lock_person, require_organiser, viewer
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.lookup import documents, find_document, find_project, require_open, tasks_in
from basanite.campaign.work.annotation.setup import log
from basanite.campaign.work.lookup import find_row

RULE = "R-15"


@dataclass(frozen=True)
class TextScope:
    """Which texts get annotators: those of a part, or those named; and how many, if not as many as the project says."""

    part: str | None = None
    names: Iterable[str] = ()
    per_document: int | None = None


@dataclass(frozen=True)
class Assigned:
    """What assigning did."""

    tasks: tuple[AnnotationTask, ...]
    short: tuple[str, ...]
    """Texts for which there are not enough people, by name."""

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints: the number of texts of each person."""
        counts = Counter(task.person_id for task in self.tasks)
        return {"assigned": len(self.tasks), "per_person": dict(sorted(counts.items())), "short": list(self.short)}


def assign(
    session: Session,
    office: Office,
    actor: Actor,
    project_id: str,
    persons: Iterable[str],
    scope: TextScope | None = None,
) -> Assigned:
    """Give every text as many annotators as the project wants; those that it has already count.

    Called again, with more people or a higher number, it adds what is missing and moves nothing.
    """
    scope = scope or TextScope()
    project = find_project(session, project_id, lock=True)
    require_organiser(session, actor, project.campaign_id)
    require_open(project)
    people = sorted(set(persons))
    for person in people:
        enrol(session, office, actor, project.campaign_id, person, "annotator")
    texts = _chosen(session, project, scope.part, tuple(scope.names))
    active = Counter(task.document_id for task in tasks_in(session, project.id) if task.role == "annotator")
    wanted = {one.id: (scope.per_document or project.per_document) - active[one.id] for one in texts}
    plan = plan_assignment(
        wanted, people, _past_annotators(session, project.id), _load(session, project.id), project.seed
    )
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
    if person_id in _past_annotators(session, project.id).get(document.id, ()):
        fix = "choose another person: nobody annotates or adjudicates the same text twice"
        raise refused(RULE, f"this person already has {document.name}", fix)
    (task,) = _tasks(session, office, actor, project, {document.id: (person_id,)})
    log(session, office, actor, project, "assigned", tasks=1, people=1, short=0)
    return task


def withdraw(session: Session, office: Office, actor: Actor, task_id: str, *, reason: str) -> AnnotationTask:
    """Take a task back that is not done; what was recorded stays and counts no more."""
    task = find_row(session, AnnotationTask, task_id, "annotation task", lock=True)
    require_organiser(session, actor, task.campaign_id)
    if task.state == "done":
        raise refused(RULE, "this task is done", "leave it, or ask its annotator to reopen it")
    if not reason.strip():
        raise no_reason(RULE, "withdrawing a task needs a reason")
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
    grant(
        session, office, actor, RoleGrant(person_id=person_id, role=role, campaign_id=campaign_id, reason="annotation")
    )


def plan_assignment(
    wanted: Mapping[str, int],
    people: Sequence[str],
    held: Mapping[str, frozenset[str]],
    load: Mapping[str, int],
    seed: int,
) -> dict[str, tuple[str, ...]]:
    """New people for each text, as many as it wants: always those with the least work, ties by lot.

    >>> plan = plan_assignment({"a": 2, "b": 2, "c": 2}, ["x", "y", "z"], {}, {}, seed=1)
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
        raise refused(RULE, f"there is no text {unknown[0]!r:.60}", "see the list of texts", status=404)
    chosen = tuple(one for one in texts if not wanted or one.name in wanted)
    if not chosen:
        raise refused(RULE, "there are no texts to assign", "name a split of the package that has texts", status=422)
    return chosen


def _past_annotators(session: Session, project_id: str) -> dict[str, frozenset[str]]:
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
        asked = select(func.max(AnnotationTask.position)).where(AnnotationTask.project_id == project.id)
        first = (session.scalar(asked.where(AnnotationTask.person_id == person)) or 0) + 1
        made += [_task(office, actor, project, text, person, first + at) for at, text in enumerate(queue)]
    session.add_all(made)
    session.flush()
    return tuple(made)


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
