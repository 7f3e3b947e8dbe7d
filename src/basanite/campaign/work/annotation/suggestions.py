"""Which suggestions a task was opened with (R-41); `suggestion_sets` makes them and counts what became of them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import AnnotationSuggestion, AnnotationTask
from basanite.campaign.work.annotation.lookup import find_project
from basanite.work.annotation.suggestions import is_withheld


def set_for(session: Session, task: AnnotationTask) -> int | None:
    """The set that a task is opened with: the newest one, below 0 where it is withheld; nothing if there is none."""
    newest = select(func.max(AnnotationSuggestion.number)).where(AnnotationSuggestion.document_id == task.document_id)
    number = session.scalar(newest)
    if number is None or task.role != "annotator":
        return None
    project = find_project(session, task.project_id)
    return -number if is_withheld(project.seed, task.id, project.withheld) else number


def shown(session: Session, task: AnnotationTask) -> tuple[AnnotationSuggestion, ...]:
    """What is suggested to whom opened a task, in the order of the text."""
    return suggestions_of(session, task, task.suggestions or 0) if (task.suggestions or 0) > 0 else ()


def suggestions_of(session: Session, task: AnnotationTask, number: int) -> tuple[AnnotationSuggestion, ...]:
    """The suggestions of one set for the text of a task, in the order of the text."""
    asked = select(AnnotationSuggestion).where(
        AnnotationSuggestion.document_id == task.document_id, AnnotationSuggestion.number == number
    )
    return tuple(sorted(session.scalars(asked), key=lambda one: (one.parts, one.category)))
