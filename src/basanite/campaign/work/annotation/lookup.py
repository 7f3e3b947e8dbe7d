"""Where everything of an annotation project is found, and who may ask for it (P-5, X-4).

What is not one's own is not there: the same answer for a task that does not exist and for somebody else's.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import MACHINE, is_organiser, viewer
from basanite.campaign.store.tables import AnnotationConfig, AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.campaign.work.annotation.packages import Bench, bench
from basanite.campaign.work.lookup import find_row

REPEAT = "repeat"
"""The role of a task that repeats an annotation blindly."""
ROLES = {"annotator": "annotator", "adjudicator": "adjudicator", REPEAT: "annotator"}
"""The role in the campaign that a role in a project needs."""


def find_project(session: Session, project_id: str, *, lock: bool = False) -> AnnotationProject:
    """The project of an id; locked, if it is about to change."""
    return find_row(session, AnnotationProject, project_id, "annotation project", lock=lock)


def project_named(session: Session, campaign_id: str, name: str) -> AnnotationProject:
    """The project of a name, or of an id, in a campaign."""
    mine = select(AnnotationProject).where(AnnotationProject.campaign_id == campaign_id)
    named = mine.where((AnnotationProject.name == name) | (AnnotationProject.id == name))
    project = session.scalars(named).first()
    if project is None:
        raise missing("annotation project")
    return project


def projects(session: Session, campaign_id: str) -> tuple[AnnotationProject, ...]:
    """All projects of a campaign, by name."""
    mine = select(AnnotationProject).where(AnnotationProject.campaign_id == campaign_id)
    return tuple(session.scalars(mine.order_by(AnnotationProject.name)))


def documents(session: Session, project_id: str, part: str | None = None) -> tuple[AnnotationDocument, ...]:
    """The texts of a project, or of one of its parts, by part and name."""
    asked = select(AnnotationDocument).where(AnnotationDocument.project_id == project_id)
    if part is not None:
        asked = asked.where(AnnotationDocument.part == part)
    return tuple(session.scalars(asked.order_by(AnnotationDocument.part, AnnotationDocument.name)))


def find_document(session: Session, document_id: str) -> AnnotationDocument:
    """The text of an id."""
    return find_row(session, AnnotationDocument, document_id, "text")


def document_named(session: Session, project_id: str, name: str) -> AnnotationDocument:
    """The text of a name in a project."""
    asked = select(AnnotationDocument).where(AnnotationDocument.project_id == project_id)
    document = session.scalars(asked.where(AnnotationDocument.name == name)).first()
    if document is None:
        raise missing("text")
    return document


def tasks_of(session: Session, document_id: str, role: str = "annotator") -> tuple[AnnotationTask, ...]:
    """The tasks of a text that were not taken back, in the order in which they were given."""
    asked = select(AnnotationTask).where(AnnotationTask.document_id == document_id, AnnotationTask.role == role)
    kept = asked.where(AnnotationTask.state != "withdrawn")
    return tuple(session.scalars(kept.order_by(AnnotationTask.made, AnnotationTask.id)))


def task_of(session: Session, document_id: str, person_id: str) -> AnnotationTask:
    """The task of a person on a text."""
    asked = select(AnnotationTask).where(AnnotationTask.document_id == document_id)
    first = asked.where(AnnotationTask.person_id == person_id, AnnotationTask.role != REPEAT)
    task = session.scalars(first).first()
    if task is None:
        raise missing("annotation task")
    return task


def tasks_in(session: Session, project_id: str) -> tuple[AnnotationTask, ...]:
    """All tasks of a project that were not taken back."""
    asked = select(AnnotationTask).where(AnnotationTask.project_id == project_id, AnnotationTask.state != "withdrawn")
    return tuple(session.scalars(asked.order_by(AnnotationTask.made, AnnotationTask.position, AnnotationTask.id)))


def config_row(session: Session, project_id: str, generation: int) -> AnnotationConfig:
    """One version of a project's configuration."""
    asked = select(AnnotationConfig).where(AnnotationConfig.project_id == project_id)
    found = session.scalars(asked.where(AnnotationConfig.generation == generation)).first()
    if found is None:
        raise missing(f"configuration {generation}")
    return found


def configs(session: Session, project_id: str) -> tuple[AnnotationConfig, ...]:
    """All versions of a project's configuration, oldest first."""
    asked = select(AnnotationConfig).where(AnnotationConfig.project_id == project_id)
    return tuple(session.scalars(asked.order_by(AnnotationConfig.generation)))


def bench_of(session: Session, office: Office, project: AnnotationProject, generation: int | None = None) -> Bench:
    """Configuration and package of a project; of an older generation if one is named."""
    row = config_row(session, project.id, generation or project.generation)
    return bench(office, project, row.text)


def own_task(session: Session, actor: Actor, task_id: str, *, lock: bool = False) -> AnnotationTask:
    """A task, if it is the actor's and the actor still has the role; to everybody else there is no such task."""
    task = session.get(AnnotationTask, task_id, with_for_update=lock, populate_existing=lock)
    if task is None or task.person_id != actor.id or task.state == "withdrawn":
        raise missing("annotation task")
    if ROLES[task.role] not in viewer(session, task.campaign_id, actor.id).roles:
        raise missing("annotation task")
    return task


def may_look(session: Session, actor: Actor, campaign_id: str) -> bool:
    """Whether somebody may look at everybody's work: organisers, and adjudicators, who are the quality checkers."""
    if actor.id in MACHINE or is_organiser(session, actor, campaign_id):
        return True
    return "adjudicator" in viewer(session, campaign_id, actor.id).roles


def require_look(session: Session, actor: Actor, campaign_id: str) -> None:
    """Refuse everybody who may not see the work of others: annotators work blind (R-15, X-4)."""
    if not may_look(session, actor, campaign_id):
        raise missing("annotation project")


def require_open(project: AnnotationProject) -> None:
    """Refuse to change what is closed."""
    if project.state != "open":
        raise refused("R-15", f"the project {project.name} is closed", "ask an organizer to reopen it")
