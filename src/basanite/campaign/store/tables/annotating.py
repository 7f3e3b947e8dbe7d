"""Annotation: projects with their configurations, texts, who works on which text, each change, and each decision.

A change is an event and is only ever added (R-15). When a configuration changes, the events are copied in their new
form under the next generation of their task; the old generation stays as it was, under its own version.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class AnnotationProject(Base):
    """A reading package that is annotated in a campaign."""

    __tablename__ = "annotation_projects"
    __table_args__ = (UniqueConstraint("campaign_id", "name"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    name: Mapped[str]
    title: Mapped[str] = mapped_column(default="")
    files: Mapped[dict[str, Any]]
    """The package: path to `[store, digest]`, the store being `files` or `sealed`."""
    digest: Mapped[str]
    """sha256 over all paths and digests."""
    per_document: Mapped[int] = mapped_column(default=2)
    """How many people annotate each text, blind to each other."""
    seed: Mapped[int] = mapped_column(BigInteger)
    generation: Mapped[int] = mapped_column(default=1)
    """The configuration that holds: which of `annotation_configs`."""
    state: Mapped[str] = mapped_column(default="open")
    """`open` or `closed`."""
    made: Mapped[datetime]
    by: Mapped[str]


class AnnotationConfig(Base):
    """One version of a project's configuration, as it was given; never changed."""

    __tablename__ = "annotation_configs"
    __table_args__ = (UniqueConstraint("annotation_project_id", "generation"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    project_id: Mapped[str] = mapped_column("annotation_project_id", ForeignKey("annotation_projects.id"))
    generation: Mapped[int]
    version: Mapped[int]
    """What the configuration itself says."""
    text: Mapped[str]
    digest: Mapped[str]
    diff: Mapped[list[Any]]
    """What the change did to the records, in words, as it was shown before it was applied."""
    reason: Mapped[str] = mapped_column(default="")
    made: Mapped[datetime]
    by: Mapped[str]


class AnnotationDocument(Base):
    """A text of a project: immutable, known by its digest."""

    __tablename__ = "annotation_documents"
    __table_args__ = (UniqueConstraint("annotation_project_id", "name"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    project_id: Mapped[str] = mapped_column("annotation_project_id", ForeignKey("annotation_projects.id"))
    name: Mapped[str]
    part: Mapped[str]
    store: Mapped[str]
    """`files`, or `sealed` where the part is."""
    digest: Mapped[str]
    length: Mapped[int]
    """In code points."""


class AnnotationTask(Base):
    """A text in the hands of one person; nobody has a text twice, so nobody adjudicates the own work."""

    __tablename__ = "annotation_tasks"
    __table_args__ = (UniqueConstraint("annotation_document_id", "person_id"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    project_id: Mapped[str] = mapped_column("annotation_project_id", ForeignKey("annotation_projects.id"), index=True)
    document_id: Mapped[str] = mapped_column("annotation_document_id", ForeignKey("annotation_documents.id"))
    person_id: Mapped[str] = mapped_column(index=True)
    role: Mapped[str] = mapped_column(default="annotator")
    """`annotator` or `adjudicator`."""
    position: Mapped[int]
    """Its place in the person's queue."""
    state: Mapped[str] = mapped_column(default="waiting")
    """`waiting`, `working`, `done`, `withdrawn` (taken back, or taken over by another adjudicator)."""
    generation: Mapped[int] = mapped_column(default=1)
    made: Mapped[datetime]
    by: Mapped[str]
    opened: Mapped[datetime | None]
    finished: Mapped[datetime | None]


class AnnotationEvent(Base):
    """One change that somebody made; never changed itself, an undo is another one."""

    __tablename__ = "annotation_events"
    __table_args__ = (
        UniqueConstraint("annotation_task_id", "generation", "sequence"),
        UniqueConstraint("annotation_task_id", "generation", "client_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    task_id: Mapped[str] = mapped_column("annotation_task_id", ForeignKey("annotation_tasks.id"))
    generation: Mapped[int]
    sequence: Mapped[int]
    client_id: Mapped[str]
    """The id that the page gave it: sent twice, it is kept once."""
    kind: Mapped[str]
    data: Mapped[dict[str, Any]]
    at: Mapped[datetime]


class AnnotationDecision(Base):
    """What an adjudicator decided about one disagreement, or that it is open again; the newest one counts."""

    __tablename__ = "annotation_decisions"
    __table_args__ = (Index("ix_annotation_decisions_case", "annotation_document_id", "case"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    document_id: Mapped[str] = mapped_column("annotation_document_id", ForeignKey("annotation_documents.id"))
    task_id: Mapped[str] = mapped_column("annotation_task_id", ForeignKey("annotation_tasks.id"))
    """The adjudicator's own record, to which the events belong."""
    generation: Mapped[int]
    sequence: Mapped[int]
    """The order of the decisions of a document."""
    case: Mapped[str]
    """Which disagreement: a digest of what lies side by side."""
    verdict: Mapped[str]
    """`take` (one side), `edit`, `none` (none of these), `unanimous`, `reopen`."""
    chosen: Mapped[str] = mapped_column(default="")
    """The task of the side that was taken."""
    code: Mapped[str] = mapped_column(default="")
    note: Mapped[str] = mapped_column(default="")
    events: Mapped[list[Any]]
    """The ids of the events that it wrote into the adjudicator's record."""
    at: Mapped[datetime]
    by: Mapped[str]
