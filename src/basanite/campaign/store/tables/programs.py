"""Runs of teams' programs, and what they have answered so far."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base


class ProgramRun(Base):
    """The run of one submission's program, from its archive to its answers (G-2)."""

    __tablename__ = "program_runs"
    __table_args__ = (Index("ix_program_runs_due", "due"), Index("ix_program_runs_team", "team_id", "window"))
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"))
    window: Mapped[str]
    stage: Mapped[str] = mapped_column(default="unpack")
    """`unpack`, `smoke`, `run`, `check` (some items again), `answered`, `failed`; the last two wait for `due`."""
    runner: Mapped[str]
    resources: Mapped[dict[str, Any]]
    """What a call might use, as the plan said."""
    items: Mapped[int] = mapped_column(default=0)
    done: Mapped[int] = mapped_column(default=0)
    """Items that are answered and kept."""
    seconds: Mapped[float] = mapped_column(default=0.0)
    """Seconds of the calls on sealed items whose answers were kept or refused; what our faults cost is not in it."""
    compute: Mapped[float] = mapped_column(default=0.0)
    """Seconds of all calls times their cores: what counts against the team's computing time."""
    smoke_seconds: Mapped[float] = mapped_column(default=0.0)
    peak: Mapped[int] = mapped_column(BigInteger, default=0)
    size: Mapped[int] = mapped_column(BigInteger, default=0)
    """Bytes of the answers."""
    smoke_log: Mapped[str | None]
    """What it printed on public items, among the files."""
    log: Mapped[str | None]
    """The beginning of what it printed on sealed items, among the sealed files."""
    calls: Mapped[int] = mapped_column(default=0)
    """Calls of an endpoint, counted before they are made (G-7)."""
    transcripts: Mapped[list[Any]] = mapped_column(default=list)
    """What was said to an endpoint and what it answered, among the sealed files (G-7)."""
    inputs: Mapped[str] = mapped_column(default="")
    """The commitment to the items, under the nonce of their reference (X-1)."""
    outputs: Mapped[str] = mapped_column(default="")
    """The commitment to the answers, under a nonce of their own."""
    checked: Mapped[int] = mapped_column(default=0)
    """Items that were asked again."""
    differing: Mapped[int] = mapped_column(default=0)
    """Items of these that were answered differently."""
    cause: Mapped[str] = mapped_column(default="")
    """Why it failed, for the organizers."""
    started: Mapped[datetime]
    ended: Mapped[datetime | None]
    due: Mapped[datetime | None]
    """When its team may learn that it has ended; None before that, and once it was told."""


class ProgramAnswer(Base):
    """What one call answered, until all answers are put together: a crash costs at most the call that was on (G-4)."""

    __tablename__ = "program_answers"
    submission_id: Mapped[str] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True)
    """The number of its first item."""
    count: Mapped[int]
    """How many items it answered."""
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """Sealed as references are, where they are."""
