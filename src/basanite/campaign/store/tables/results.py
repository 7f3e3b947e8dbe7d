"""The truth in its versions, and what was computed with it. A result is stored once under its key and never updated."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class Reference(Base):
    """A version of the truth for a task, a language, a query set and packs."""

    __tablename__ = "references"
    __table_args__ = (UniqueConstraint("campaign_id", "task", "language", "queryset", "dataset", "version"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    task: Mapped[str]
    language: Mapped[str] = mapped_column(default="")
    queryset: Mapped[str] = mapped_column(default="")
    dataset: Mapped[str]
    version: Mapped[int]
    files: Mapped[dict[str, Any]]
    """Role to digest among the sealed files: reference (a list), queries, metadata (a list), judgements, human …"""
    commitment: Mapped[str]
    """HMAC of the digest under a nonce that is published at release (X-1)."""
    sealed: Mapped[bool] = mapped_column(default=True)
    state: Mapped[str] = mapped_column(default="proposed")
    """`proposed` (waits for a second person or a batch), `active`, `superseded`, `refused`."""
    made: Mapped[datetime]
    by: Mapped[str]
    seconded_by: Mapped[str | None]
    reason: Mapped[str] = mapped_column(default="")
    released: Mapped[datetime | None]


class Result(Base):
    """What scoring gave: the bytes of `score --json` and the rows behind them, under the key of all that went in."""

    __tablename__ = "results"
    key: Mapped[str] = mapped_column(primary_key=True)
    """sha256 over submission, reference version, settings and software (design rule 2)."""
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"), index=True)
    reference_id: Mapped[str] = mapped_column(ForeignKey("references.id"), index=True)
    digest: Mapped[str]
    """Where the JSON object lies among the files."""
    figures: Mapped[str | None]
    """Where the data of its charts lie; they are no part of the result and of its key."""
    primary: Mapped[float | None]
    settings: Mapped[dict[str, Any]]
    software: Mapped[str]
    plan_version: Mapped[int]
    at: Mapped[datetime]


class Adoption(Base):
    """From now on this result is the one of its submission; the newest adoption counts, older ones are history."""

    __tablename__ = "adoptions"
    __table_args__ = (Index("ix_adoptions_submission", "submission_id", "sequence"),)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"))
    result_key: Mapped[str] = mapped_column(ForeignKey("results.key"))
    batch_id: Mapped[str | None]
    at: Mapped[datetime]


class Looks(Base):
    """How many results a team has in a window, for a task and a language (S-17)."""

    __tablename__ = "looks"
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), primary_key=True)
    window: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    count: Mapped[int]


class Batch(Base):
    """A re-scoring that is looked at before it is applied or cancelled."""

    __tablename__ = "batches"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reference_id: Mapped[str | None] = mapped_column(ForeignKey("references.id"))
    reason: Mapped[str]
    state: Mapped[str] = mapped_column(default="running")
    """`running`, `ready`, `applied`, `cancelled`."""
    appeal_id: Mapped[str | None]
    by: Mapped[str]
    seconded_by: Mapped[str | None]
    made: Mapped[datetime]
    ended: Mapped[datetime | None]


class BatchItem(Base):
    """One submission of a batch: the result it has and the one it would get."""

    __tablename__ = "batch_items"
    __table_args__ = (UniqueConstraint("batch_id", "submission_id"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    batch_id: Mapped[str] = mapped_column(ForeignKey("batches.id"))
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"))
    old_key: Mapped[str | None]
    new_key: Mapped[str | None]
    state: Mapped[str] = mapped_column(default="waiting")
    """`waiting`, `scored`, `invalid`, `failed`."""


class Board(Base):
    """A comparison of systems (`compare --json`), computed by a job and stored under the key of all that went in."""

    __tablename__ = "boards"
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    window: Mapped[str]
    purpose: Mapped[str]
    """`board` (primary submissions of one task, language and track), `ladder`, `own` (a team's own runs)."""
    subject: Mapped[dict[str, Any]]
    """Task, language, track, and which submission stands behind which name of the comparison."""
    digest: Mapped[str]
    ranking: Mapped[dict[str, Any]]
    """`rank_ranges`, `groups` and `detectable` of the comparison: a board shows no pairs, of which there are many."""
    at: Mapped[datetime]


class Receipt(Base):
    """A signed receipt: `intake` for every submission, `score` only once policy releases it (X-6)."""

    __tablename__ = "receipts"
    __table_args__ = (Index("ix_receipts_submission", "submission_id"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"))
    kind: Mapped[str]
    result_key: Mapped[str | None]
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """The canonical bytes with their signature, as given out."""
    key_id: Mapped[str]
    supersedes: Mapped[str | None]
    at: Mapped[datetime]


class ReceiptKey(Base):
    """A key that signs or signed receipts; the secret half lies in the vault. Rotation and revocation are signed."""

    __tablename__ = "receipt_keys"
    id: Mapped[str] = mapped_column(primary_key=True)
    public: Mapped[str]
    origin: Mapped[str] = mapped_column(default="")
    """The server it was imported from; it signs nothing here, and what it signed is foreign (X-15)."""
    start: Mapped[datetime]
    ended: Mapped[datetime | None]
    """When it handed over to the next."""
    successor: Mapped[str | None]
    handed_over: Mapped[str] = mapped_column(default="")
    """Its signature of that."""
    revoked: Mapped[datetime | None]
    revoked_by: Mapped[str | None]
    reason: Mapped[str] = mapped_column(default="")
    revocation: Mapped[str] = mapped_column(default="")
    """The revoking key's signature."""
