"""People, apart from everything else: one table of sealed personal data, and how a person signs in (P-21)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class Person(Base):
    """Name, mail address and other personal data, sealed with a key of this person's own in the vault."""

    __tablename__ = "people"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Canonical JSON under the person's key; None once erased."""
    mail_digest: Mapped[str | None] = mapped_column(unique=True)
    """HMAC of the address, to find a person by it; None once erased."""
    made: Mapped[datetime]
    erased: Mapped[datetime | None]


class Account(Base):
    """How a person signs in with a password, and the guards around it."""

    __tablename__ = "accounts"
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    password: Mapped[str | None]
    failures: Mapped[int] = mapped_column(default=0)
    """Wrong codes of the second factor in a row; wrong passwords are counted apart (`FailedSignIn`)."""
    locked_until: Mapped[datetime | None]
    second_factor: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The shared secret, sealed with the person's key."""
    second_factor_used: Mapped[int] = mapped_column(default=0)
    """The last time step that was accepted, so that a code works once."""
    confirmed: Mapped[datetime | None]
    """When the mail address was shown to be this person's; nobody signs in before."""
    closed: Mapped[datetime | None]
    zone: Mapped[str] = mapped_column(default="UTC")


class FailedSignIn(Base):
    """Wrong passwords for one mail address, from one network address or from all together; there need be no account."""

    __tablename__ = "failed_sign_ins"
    digest: Mapped[str] = mapped_column(primary_key=True)
    """HMAC of both, so that nobody reads here who tried to be whom."""
    mail_digest: Mapped[str] = mapped_column(index=True)
    """As in `Person`: a new password ends all locks of its owner."""
    failures: Mapped[int] = mapped_column(default=0)
    locked_until: Mapped[datetime | None]
    last: Mapped[datetime]


class Identity(Base):
    """Who a person is at a provider: issuer and subject, never the mail address (X-11)."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    issuer: Mapped[str]
    subject: Mapped[str]
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    made: Mapped[datetime]


class Session(Base):
    """One signed-in browser; the cookie holds a random id of which only the digest is here."""

    __tablename__ = "sessions"
    digest: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    csrf: Mapped[str]
    made: Mapped[datetime]
    seen: Mapped[datetime]
    expires: Mapped[datetime]
    revoked: Mapped[datetime | None]
    strong: Mapped[bool] = mapped_column(default=False)
    """Whether a second factor was given."""
    agent: Mapped[str] = mapped_column(default="")
    """The kind of browser in two words, so that its owner knows it in a list."""
    standing: Mapped[str] = mapped_column(default="")
    """Digest of the roles its person had when it got its id; where they changed, it gets a new one (X-11)."""


class Token(Base):
    """A token for programs: shown once, only its digest is kept; never stronger than its maker (X-11)."""

    __tablename__ = "tokens"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    digest: Mapped[str] = mapped_column(unique=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    label: Mapped[str]
    scopes: Mapped[list[Any]]
    made: Mapped[datetime]
    expires: Mapped[datetime | None]
    used: Mapped[datetime | None]
    revoked: Mapped[datetime | None]


class Link(Base):
    """A link that works once, for one person and one purpose: reset, invitation, approval (X-11)."""

    __tablename__ = "links"
    digest: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    person_id: Mapped[str | None]
    data: Mapped[dict[str, Any]]
    made: Mapped[datetime]
    expires: Mapped[datetime]
    used: Mapped[datetime | None]


class Grant(Base):
    """A role given to a person: in one campaign, or on the whole server (administrator)."""

    __tablename__ = "grants"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str | None] = mapped_column(ForeignKey("campaigns.id"))
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    role: Mapped[str]
    """`judge`, `annotator`, `adjudicator`, `evaluation`, `administrator`, `team_maker` (a PI who may create a team)."""
    at: Mapped[datetime]
    by: Mapped[str]
    seconded_by: Mapped[str | None]
    reason: Mapped[str] = mapped_column(default="")
    ended: Mapped[datetime | None]
    ended_by: Mapped[str | None]
