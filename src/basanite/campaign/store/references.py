"""Which version of a reference is active: asked by scoring and by those who replace it."""

from __future__ import annotations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import Reference


def versions_of(campaign_id: str, task: str, language: str, queryset: str, dataset: str) -> Select[Reference]:
    """The question for all versions of the reference of one place."""
    return select(Reference).where(
        Reference.campaign_id == campaign_id,
        Reference.task == task,
        Reference.language == language,
        Reference.queryset == queryset,
        Reference.dataset == dataset,
    )


def active(
    session: Session, campaign_id: str, task: str, language: str, queryset: str, dataset: str
) -> Reference | None:
    """The active version; None as long as the task has not been opened."""
    question = versions_of(campaign_id, task, language, queryset, dataset).where(Reference.state == "active")
    return session.scalars(question.order_by(Reference.version.desc()).limit(1)).first()
