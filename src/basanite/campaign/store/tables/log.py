"""The event log, which is only ever added to and chained by hashes, and who is at work."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base


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
