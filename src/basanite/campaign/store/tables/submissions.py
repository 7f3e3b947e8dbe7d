"""Uploads, submissions, and what they cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class Upload(Base):
    """A file on its way: length and digest are fixed at its start, and its attempt is reserved (X-2)."""

    __tablename__ = "uploads"
    __table_args__ = (Index("ix_uploads_team_state", "team_id", "state"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    person_id: Mapped[str]
    window: Mapped[str]
    declared: Mapped[dict[str, Any]]
    """What the submission will be: task, type, label, language, queryset, track, description, name."""
    said: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """The same in the sender's own words, by which a program finds its interrupted upload again."""
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    offset: Mapped[int] = mapped_column(BigInteger, default=0)
    door: Mapped[str]
    started: Mapped[datetime]
    expires: Mapped[datetime]
    state: Mapped[str] = mapped_column(default="open")
    """`open`, `complete`, `lapsed`, `refused`."""
    submission_id: Mapped[str | None]
    whole: Mapped[bool] = mapped_column(default=False)
    """Whether it comes in one call, which cannot go on after a broken line."""
    holder: Mapped[str | None]
    """Who receives it in one call; of a complete one, who has not told the sender yet (X-21)."""
    seen: Mapped[datetime | None]
    """The holder's last sign of life, in the database's time."""
    ended: Mapped[datetime | None]
    cause: Mapped[str] = mapped_column(default="")
    """Why it came to nothing: `canceled`, `expired`, `broken off`, `interrupted` (by our fault)."""


class Submission(Base):
    """One system's answers with who, what and when. Never deleted; withdrawn or voided with actor and reason."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("team_id", "number"),
        Index("ix_submissions_campaign_received", "campaign_id", "received", "id"),
        Index("ix_submissions_state", "state", "received"),
        Index("ix_submissions_team", "campaign_id", "team_id", "received", "id"),
        Index(
            "ix_submissions_window_team", "campaign_id", "window", "team_id", "task", "language", "state", "received"
        ),
        Index("ix_submissions_type", "campaign_id", "window", "type", "task", "language", "track"),
        Index("ix_submissions_standing", "campaign_id", "window", "standing"),
        Index("ix_submissions_sha256", "campaign_id", "sha256", "received"),
        Index("ix_submissions_unsigned", "unsigned", "campaign_id", "window"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    person_id: Mapped[str]
    number: Mapped[int]
    """Counts a team's own submissions from 1: tells nothing about other teams."""
    door: Mapped[str]
    """`web`, `api`, `command`, `drop`."""
    window: Mapped[str]
    task: Mapped[str]
    language: Mapped[str] = mapped_column(default="")
    dataset: Mapped[str]
    """The packs joined by +, `EVAL1+EVAL2`."""
    queryset: Mapped[str] = mapped_column(default="")
    type: Mapped[str] = mapped_column(default="contrastive")
    track: Mapped[str] = mapped_column(default="")
    label: Mapped[str]
    name: Mapped[str]
    """The full archive name; team, date and time are filled in by us (M58)."""
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    description: Mapped[dict[str, Any]]
    plan_version: Mapped[int]
    started: Mapped[datetime]
    """When its upload began, which decides about the deadline (X-2)."""
    received: Mapped[datetime]
    standing: Mapped[str] = mapped_column(default="on time")
    """`on time`, `late`, `withdrawn`, `disqualified`, `baseline` (P-23)."""
    standing_reason: Mapped[str] = mapped_column(default="")
    standing_by: Mapped[str | None]
    admitted: Mapped[datetime | None]
    """When a late one was admitted to ranks."""
    state: Mapped[str] = mapped_column(default="received")
    """`received`, `validating`, `invalid`, `scoring`, `scored`, `failed`. `invalid`, `scored`, `failed` are final."""
    state_at: Mapped[datetime]
    problems_digest: Mapped[str | None]
    """Where its problems lie among the files, as `problem_list` writes them."""
    fault: Mapped[str] = mapped_column(default="")
    """Ours, if scoring failed by our fault: said to the team, retried and refunded."""
    tries: Mapped[int] = mapped_column(default=0)
    designated: Mapped[datetime | None]
    """When an organiser made it the primary one (C46)."""
    unsigned: Mapped[bool] = mapped_column(default=False)
    """Whether the result that holds has no receipt yet: of many submissions few are, and only those are looked at."""
    similar_to: Mapped[str | None]
    """A near-identical submission of another team, shown to the organiser alone (X-7)."""


class Sketch(Base):
    """A few digests of a submission's files, by which near-identical ones are found (X-7)."""

    __tablename__ = "sketches"
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True, index=True)


class Charge(Base):
    """One attempt: reserved when an upload starts, charged when valid, freed or refunded otherwise."""

    __tablename__ = "charges"
    __table_args__ = (
        Index("ix_charges_key", "team_id", "key", "period"),
        Index("ix_charges_state", "team_id", "state", "at"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    key: Mapped[str]
    """What is counted together: window row, language, task, dataset (C34)."""
    period: Mapped[str]
    """The first moment of the week, day or window that it falls into, in ISO."""
    type: Mapped[str]
    task: Mapped[str]
    upload_id: Mapped[str | None] = mapped_column(index=True)
    submission_id: Mapped[str | None] = mapped_column(index=True)
    state: Mapped[str] = mapped_column(default="reserved")
    """`reserved`, `charged`, `freed` (invalid or lapsed), `refunded` (our fault, or given back with a reason)."""
    reason: Mapped[str] = mapped_column(default="")
    at: Mapped[datetime]


class Extra(Base):
    """Attempts given beyond the quota, with a reason that the team sees."""

    __tablename__ = "extras"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), index=True)
    key: Mapped[str]
    period: Mapped[str]
    count: Mapped[int]
    reason: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]


class Dropped(Base):
    """A file in the drop folder, and when it was first seen there: a restart does not make it later (X-12)."""

    __tablename__ = "dropped"
    __table_args__ = (UniqueConstraint("team_id", "name", "identity"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    name: Mapped[str]
    identity: Mapped[str]
    """Device, inode, size and time of change: another file under the same name is another one."""
    seen: Mapped[datetime]
    state: Mapped[str] = mapped_column(default="seen")
    """`seen`, `taken` (it is a submission), `refused`, `answered` (all that will be said about it has been)."""
    submission_id: Mapped[str | None]
