"""What organisers and teams do to results and say to each other."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class Release(Base):
    """Results of a window become visible, level by level: `top`, `details`, `e2e`, `public` (M70)."""

    __tablename__ = "releases"
    __table_args__ = (UniqueConstraint("campaign_id", "window", "level"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    window: Mapped[str]
    level: Mapped[str]
    """`certification` (each PI sees the own results), then `top`, `details`, `e2e`, and `public`."""
    by: Mapped[str]
    seconded_by: Mapped[str | None]
    reason: Mapped[str] = mapped_column(default="")
    open_appeals: Mapped[list[Any]]
    at: Mapped[datetime]


class Certification(Base):
    """A PI confirms the own results before release (P-24)."""

    __tablename__ = "certifications"
    __table_args__ = (UniqueConstraint("campaign_id", "window", "team_id"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    window: Mapped[str]
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    by: Mapped[str]
    at: Mapped[datetime]


class Appeal(Base):
    """A team contests its result: number, deadline, decision, reason (P-24)."""

    __tablename__ = "appeals"
    __table_args__ = (UniqueConstraint("campaign_id", "number"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    number: Mapped[int]
    window: Mapped[str]
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    submission_id: Mapped[str | None]
    text: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]
    deadline: Mapped[datetime]
    state: Mapped[str] = mapped_column(default="open")
    """`open`, `upheld`, `refused`, `withdrawn`."""
    decision: Mapped[str] = mapped_column(default="")
    decided: Mapped[datetime | None]
    decided_by: Mapped[str | None]


class Approval(Base):
    """An act that takes two people, waiting for the second (X-4)."""

    __tablename__ = "approvals"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str | None] = mapped_column(ForeignKey("campaigns.id"), index=True)
    act: Mapped[str]
    data: Mapped[dict[str, Any]]
    reason: Mapped[str]
    asked_by: Mapped[str]
    asked: Mapped[datetime]
    state: Mapped[str] = mapped_column(default="waiting")
    decided_by: Mapped[str | None]
    decided: Mapped[datetime | None]


class MilestoneState(Base):
    """Where a milestone stands; the newest row counts (P-19)."""

    __tablename__ = "milestone_states"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    milestone: Mapped[str]
    state: Mapped[str]
    """`planned`, `done`, `moved`, `dropped`."""
    note: Mapped[str] = mapped_column(default="")
    by: Mapped[str]
    at: Mapped[datetime]


class Message(Base):
    """A mail or a webhook call that is to go out; written in the transaction that caused it."""

    __tablename__ = "messages"
    __table_args__ = (Index("ix_messages_state", "state", "due"), UniqueConstraint("once"))
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str | None]
    kind: Mapped[str]
    """`mail` or `webhook`."""
    template: Mapped[str]
    person_id: Mapped[str | None]
    webhook_id: Mapped[str | None]
    data: Mapped[dict[str, Any]]
    """Ids and words for the template; never a score, a name or an address."""
    once: Mapped[str | None]
    """What it is about, so that a repeated step does not send it twice."""
    made: Mapped[datetime]
    due: Mapped[datetime]
    state: Mapped[str] = mapped_column(default="waiting")
    """`waiting`, `sent`, `given up`."""
    tries: Mapped[int] = mapped_column(default=0)
    sent: Mapped[datetime | None]
    error: Mapped[str] = mapped_column(default="")


class Webhook(Base):
    """Where an organiser wants to be called (X-10); its secret lies in the vault."""

    __tablename__ = "webhooks"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    url: Mapped[str]
    kinds: Mapped[list[Any]]
    form: Mapped[str] = mapped_column(default="basanite")
    """What its body looks like: our own JSON, or a line for a room of `slack`, `mattermost` or `matrix`."""
    made: Mapped[datetime]
    made_by: Mapped[str]
    ended: Mapped[datetime | None]


class Announcement(Base):
    """Something said to everybody, or to a role (P-34)."""

    __tablename__ = "announcements"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    title: Mapped[str]
    text: Mapped[str]
    audience: Mapped[str] = mapped_column(default="everybody")
    by: Mapped[str]
    at: Mapped[datetime]


class ReadMark(Base):
    """A person has read an announcement."""

    __tablename__ = "read_marks"
    announcement_id: Mapped[str] = mapped_column(ForeignKey("announcements.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]


class Question(Base):
    """A public question and its answer (P-34)."""

    __tablename__ = "questions"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    text: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]
    answer: Mapped[str] = mapped_column(default="")
    answered_by: Mapped[str | None]
    answered: Mapped[datetime | None]
    shown: Mapped[bool] = mapped_column(default=False)


class Event(Base):
    """One thing that happened; `digest` covers it and the event before it."""

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_campaign", "campaign_id", "sequence"),
        Index("ix_events_kind", "campaign_id", "kind", "subject"),
    )
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    campaign_id: Mapped[str | None]
    at: Mapped[datetime]
    actor: Mapped[str]
    """A person id, `system`, or `command`."""
    kind: Mapped[str]
    """Like `submission.accepted`, `window.extended`, `reference.replaced`."""
    subject: Mapped[str]
    """The id of what it is about."""
    data: Mapped[dict[str, Any]]
    """Ids and facts; no personal data, no secret."""
    previous: Mapped[str]
    digest: Mapped[str]


class Worker(Base):
    """A process that runs jobs, and when it was last heard of."""

    __tablename__ = "workers"
    id: Mapped[str] = mapped_column(primary_key=True)
    started: Mapped[datetime]
    seen: Mapped[datetime]
    stopped: Mapped[datetime | None]
    process: Mapped[int]
    version: Mapped[str] = mapped_column(default="")
