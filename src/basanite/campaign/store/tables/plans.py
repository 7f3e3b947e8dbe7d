"""Campaigns, the versions of their files, what was frozen, and what departed from it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class CampaignRow(Base):
    """One campaign; what it is stands in the newest version of its file."""

    __tablename__ = "campaigns"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    slug: Mapped[str] = mapped_column(unique=True)
    made: Mapped[datetime]
    clock_offset: Mapped[float] = mapped_column(default=0.0)
    """Seconds added to the clock: rehearsals and demonstrations play a season in the past."""


class PlanVersion(Base):
    """One version of a campaign's file, as it was given."""

    __tablename__ = "plans"
    __table_args__ = (UniqueConstraint("campaign_id", "version"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    version: Mapped[int]
    text: Mapped[str]
    digest: Mapped[str]
    made: Mapped[datetime]
    made_by: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")


class Freeze(Base):
    """The plan under which a window opened (P-28)."""

    __tablename__ = "freezes"
    __table_args__ = (UniqueConstraint("campaign_id", "window"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    window: Mapped[str]
    plan_version: Mapped[int]
    digest: Mapped[str]
    at: Mapped[datetime]


class Deviation(Base):
    """A change of a frozen plan: who, why, and whether results were known (P-28)."""

    __tablename__ = "deviations"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    window: Mapped[str]
    from_version: Mapped[int]
    to_version: Mapped[int]
    changes: Mapped[list[Any]]
    by: Mapped[str]
    reason: Mapped[str]
    results_known: Mapped[bool]
    at: Mapped[datetime]


class PackFile(Base):
    """A file of a pack that teams download; encrypted ones have their key in the vault until its minute (M89)."""

    __tablename__ = "pack_files"
    __table_args__ = (UniqueConstraint("campaign_id", "pack", "name"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    pack: Mapped[str]
    name: Mapped[str]
    digest: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    encrypted: Mapped[bool] = mapped_column(default=False)
    plain_digest: Mapped[str] = mapped_column(default="")
    added: Mapped[datetime]
    added_by: Mapped[str]
