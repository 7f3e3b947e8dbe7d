"""Panels of people who judge: what is judged, who judges what, what they said, and what was decided (R-2, M88, P-22).

What judges said is only ever added to: a correction is one more judgement on the same assignment, and the newest one
counts. Nothing here names a person by more than an id; what a judge declares lies sealed under the person's own key.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class Panel(Base):
    """A panel of a campaign; how it judges stands in the newest version of its scheme."""

    __tablename__ = "panels"
    __table_args__ = (UniqueConstraint("campaign_id", "name"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    name: Mapped[str]
    """Short and stable: part of addresses and of commands."""
    window: Mapped[str] = mapped_column(default="")
    """The row of the calendar whose submissions are judged, if they are."""
    scheme: Mapped[str]
    """The text that holds now; older ones are in `panel_schemes`."""
    scheme_digest: Mapped[str]
    scheme_version: Mapped[int] = mapped_column(default=1)
    seed: Mapped[str]
    """Random: what the order of items comes from."""
    state: Mapped[str] = mapped_column(default="draft")
    """`draft`, `open`, `closed`, `cancelled`."""
    warnings: Mapped[list[Any]]
    """What planning could not respect, in words (M52)."""
    made: Mapped[datetime]
    made_by: Mapped[str]
    opened: Mapped[datetime | None]
    closed: Mapped[datetime | None]


class PanelScheme(Base):
    """A version of a panel's scheme: opening freezes it, a later one is a deviation (P-28)."""

    __tablename__ = "panel_schemes"
    __table_args__ = (UniqueConstraint("panel_id", "version"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    version: Mapped[int]
    text: Mapped[str]
    digest: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]
    reason: Mapped[str] = mapped_column(default="")
    deviates: Mapped[bool] = mapped_column(default=False)
    """Whether the panel had been opened under another one."""
    results_known: Mapped[bool] = mapped_column(default=False)
    """Whether judgements had been given by then."""


class PanelItem(Base):
    """One thing to judge. Equal ones are one item: `also` holds the facts of those that were merged into it."""

    __tablename__ = "panel_items"
    __table_args__ = (UniqueConstraint("panel_id", "digest"), UniqueConstraint("panel_id", "number"))
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    """Tells nothing: neither order nor system (X-9)."""
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    number: Mapped[int]
    role: Mapped[str] = mapped_column(default="real")
    """`real`, `check` (hidden) or `training`."""
    blocks: Mapped[list[Any]]
    facts: Mapped[dict[str, Any]]
    """System, query, document, genre …: never shown to a judge."""
    also: Mapped[list[Any]]
    digest: Mapped[str]
    expected: Mapped[dict[str, Any] | None]
    added: Mapped[datetime]
    added_by: Mapped[str]


class PanelImage(Base):
    """An image that judges see: decoded and encoded again, under a random id that tells nothing (X-9)."""

    __tablename__ = "panel_images"
    __table_args__ = (UniqueConstraint("panel_id", "source"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    source: Mapped[str]
    """HMAC of the bytes as they were sent, so that the same image is taken in once."""
    digest: Mapped[str]
    """Where the new bytes lie among the files."""
    media: Mapped[str]
    width: Mapped[int]
    height: Mapped[int]
    added: Mapped[datetime]


class Seat(Base):
    """A judge's place on a panel: consent, what was declared, and where the work stands (P-22)."""

    __tablename__ = "panel_seats"
    __table_args__ = (UniqueConstraint("panel_id", "person_id"), Index("ix_panel_seats_person", "person_id"))
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    person_id: Mapped[str]
    group: Mapped[str] = mapped_column(default="judge")
    """`expert`, `novice` or `judge`."""
    state: Mapped[str] = mapped_column(default="active")
    """`active`, `paused`, `withdrawn` (by the judge), `removed` (by an organiser)."""
    joined: Mapped[datetime]
    by: Mapped[str]
    consent_version: Mapped[str] = mapped_column(default="")
    consented: Mapped[datetime | None]
    declared: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Languages and conflicts, sealed with the person's key."""
    rested: Mapped[int] = mapped_column(default=0)
    """The last round after which the offered break was over."""
    feedback: Mapped[str | None]
    """The training assignment whose feedback is to be read before the next one."""
    settled: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The statement of pay at the end, sealed with the person's key."""
    ended: Mapped[datetime | None]


class PanelConsent(Base):
    """A judge accepted one version of the consent text, or took the consent back (P-22)."""

    __tablename__ = "panel_consents"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"), index=True)
    person_id: Mapped[str]
    version: Mapped[str]
    digest: Mapped[str]
    """Of the text as it was shown."""
    kind: Mapped[str] = mapped_column(default="given")
    """`given` or `withdrawn`."""
    at: Mapped[datetime]


class Assignment(Base):
    """One judge is to judge one item, once."""

    __tablename__ = "panel_assignments"
    __table_args__ = (
        UniqueConstraint("item_id", "person_id"),
        Index("ix_panel_assignments_judge", "panel_id", "person_id", "round", "position"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    item_id: Mapped[str] = mapped_column(ForeignKey("panel_items.id"))
    person_id: Mapped[str]
    """A person, or the pseudonym of a crowd worker (X-18)."""
    round: Mapped[int]
    """0 is training."""
    position: Mapped[int]
    flipped: Mapped[bool] = mapped_column(default=False)
    """Of a pair: its second text stands on the left."""
    state: Mapped[str] = mapped_column(default="planned")
    """`planned`, `done`, `freed` (somebody else gets the item)."""
    made: Mapped[datetime]
    shown: Mapped[datetime | None]
    """When the judge first saw it."""


class Judgement(Base):
    """What a judge said of an item. A correction is one more with the next number; the newest counts."""

    __tablename__ = "judgements"
    __table_args__ = (
        UniqueConstraint("assignment_id", "number"),
        UniqueConstraint("panel_id", "person_id", "key"),
        Index("ix_judgements_item", "item_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    assignment_id: Mapped[str] = mapped_column(ForeignKey("panel_assignments.id"))
    item_id: Mapped[str] = mapped_column(ForeignKey("panel_items.id"))
    person_id: Mapped[str]
    number: Mapped[int]
    key: Mapped[str]
    """Chosen by the judge's page: the same answer sent twice has the same one."""
    answers: Mapped[dict[str, Any]]
    flags: Mapped[list[Any]]
    seconds: Mapped[float]
    scheme_version: Mapped[int]
    at: Mapped[datetime]


class RoundEnd(Base):
    """What a judge did at the end of a round: put its items in order, or list criteria (R-2)."""

    __tablename__ = "panel_round_ends"
    __table_args__ = (
        UniqueConstraint("panel_id", "person_id", "round", "kind"),
        UniqueConstraint("panel_id", "person_id", "key"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"))
    person_id: Mapped[str]
    round: Mapped[int]
    kind: Mapped[str]
    """`ranking` (item ids, the best first) or `criteria` (sentences)."""
    content: Mapped[list[Any]]
    key: Mapped[str]
    seconds: Mapped[float] = mapped_column(default=0.0)
    at: Mapped[datetime]


class PanelDecision(Base):
    """What an adjudicator decided on an item, or that it is open again; the newest counts (M88)."""

    __tablename__ = "panel_decisions"
    __table_args__ = (UniqueConstraint("item_id", "number"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"), index=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("panel_items.id"))
    number: Mapped[int]
    kind: Mapped[str]
    """`decided`, `none` (none of these), `reopened`."""
    answers: Mapped[dict[str, Any]]
    reason: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]


class PanelHidden(Base):
    """An organiser looked at what a system tells the judges of an item, and hid it from them (X-9)."""

    __tablename__ = "panel_hidden"
    __table_args__ = (UniqueConstraint("item_id", "block"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"), index=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("panel_items.id"))
    block: Mapped[int]
    """Its place among the blocks of the item."""
    reason: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]


class CrowdBatch(Base):
    """Items that were given to a crowd platform, and its results once they are back (X-18)."""

    __tablename__ = "crowd_batches"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    panel_id: Mapped[str] = mapped_column(ForeignKey("panels.id"), index=True)
    number: Mapped[int]
    hits: Mapped[list[Any]]
    """What was sent out, row by row: item, what a worker sees, and the seal over both."""
    known: Mapped[dict[str, Any]]
    """The platform's own ids of rows, as they came back, to the items they stand for."""
    assignments: Mapped[int]
    made: Mapped[datetime]
    made_by: Mapped[str]
    state: Mapped[str] = mapped_column(default="exported")
    """`exported` or `imported`."""
    raws: Mapped[list[Any]]
    """Where the results as they came lie among the sealed files, encrypted."""
    imported: Mapped[datetime | None]
    imported_by: Mapped[str | None]


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
    withheld: Mapped[float] = mapped_column(default=0.2)
    """The share of tasks that are shown without suggestions (R-41)."""
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
    """A text in the hands of one person; nobody has a text in two roles but to repeat the own work blindly."""

    __tablename__ = "annotation_tasks"
    __table_args__ = (UniqueConstraint("annotation_document_id", "person_id", "role"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    project_id: Mapped[str] = mapped_column("annotation_project_id", ForeignKey("annotation_projects.id"), index=True)
    document_id: Mapped[str] = mapped_column("annotation_document_id", ForeignKey("annotation_documents.id"))
    person_id: Mapped[str] = mapped_column(index=True)
    role: Mapped[str] = mapped_column(default="annotator")
    """`annotator`, `adjudicator`, or `repeat`: a text that its annotator annotates once more, blind (R-44)."""
    position: Mapped[int]
    """Its place in the person's queue."""
    state: Mapped[str] = mapped_column(default="waiting")
    """`waiting`, `working`, `done`, `withdrawn` (taken back, or taken over by another adjudicator)."""
    contradictions: Mapped[int] = mapped_column(default=0)
    """How many contradictions were open when it was finished, as its owner confirmed (R-43)."""
    generation: Mapped[int] = mapped_column(default=1)
    suggestions: Mapped[int | None]
    """The set of suggestions that it was opened with; below 0, the set that was withheld; nothing if there was none."""
    made: Mapped[datetime]
    by: Mapped[str]
    opened: Mapped[datetime | None]
    finished: Mapped[datetime | None]


class AnnotationSuggestion(Base):
    """Words that a file, a rule or a model suggests with a label, to be accepted or refused; never changed (R-41)."""

    __tablename__ = "annotation_suggestions"
    __table_args__ = (Index("ix_annotation_suggestions_text", "annotation_document_id", "number"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    project_id: Mapped[str] = mapped_column("annotation_project_id", ForeignKey("annotation_projects.id"), index=True)
    document_id: Mapped[str] = mapped_column("annotation_document_id", ForeignKey("annotation_documents.id"))
    number: Mapped[int]
    """The set that it belongs to; the newest one is shown."""
    source: Mapped[str]
    category: Mapped[str]
    parts: Mapped[list[Any]]
    fields: Mapped[dict[str, Any]]
    score: Mapped[float | None]
    made: Mapped[datetime]
    by: Mapped[str]


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
