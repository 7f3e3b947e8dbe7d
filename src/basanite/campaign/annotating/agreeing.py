"""How far the annotators of a project agree, over all texts that have two finished annotations or more (R-15, S-20)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.orm import Session

from basanite.annotation.agreement import Agreement, Annotations
from basanite.annotation.agreement import agreement as measured
from basanite.annotation.config import Config
from basanite.annotation.events import replay
from basanite.campaign.annotating.finding import bench_of, documents, find_project, require_look, tasks_in
from basanite.campaign.annotating.recorded import recorded
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import AnnotationProject, AnnotationTask


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
            states = (replay(config, (one.event for one in recorded(session, task))) for task in tasks)
            yield Annotations(row.name, row.length, tuple(states))
