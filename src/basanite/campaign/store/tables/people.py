"""People, apart from everything else: one table of sealed personal data, and how a person signs in (P-21)."""

from __future__ import annotations

import unicodedata
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


LONGEST_CODE = 20


def code_of(name: str) -> str:
    """The TeamID that a name suggests: its letters a to z and digits; empty if it has none.

    >>> code_of("Équipe d'Été 7")
    'EquipedEte7'
    """
    bare = unicodedata.normalize("NFKD", name)
    return "".join(char for char in bare if char.isascii() and char.isalnum())[:LONGEST_CODE]


class Team(Base):
    """One team of a campaign; quotas are its, not its members'."""

    __tablename__ = "teams"
    __table_args__ = (
        UniqueConstraint("campaign_id", "skeleton"),
        UniqueConstraint("campaign_id", "pseudonym"),
        UniqueConstraint("campaign_id", "code"),
    )
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    name: Mapped[str]
    skeleton: Mapped[str]
    """The name as the eye sees it, so that no two can be taken for each other (X-14)."""
    code: Mapped[str] = mapped_column(default=lambda context: code_of(context.get_current_parameters()["name"]))
    """The TeamID of archive names: letters a to z and digits alone (M56)."""
    pseudonym: Mapped[str]
    track: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="active")
    """`active`, `merged`, `split`, `left`."""
    successor: Mapped[str | None]
    named_consent: Mapped[datetime | None]
    """When the PI agreed to be named in public (P-25)."""
    named_by: Mapped[str | None]
    made: Mapped[datetime]
    made_by: Mapped[str]


class Membership(Base):
    """A person in a team: asked, active, refused or left; one person, one team in a campaign (X-7)."""

    __tablename__ = "memberships"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), index=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    role: Mapped[str] = mapped_column(default="member")
    """`pi` or `member`."""
    site: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="asked")
    asked: Mapped[datetime]
    decided: Mapped[datetime | None]
    decided_by: Mapped[str | None]
    ended: Mapped[datetime | None]


class Signature(Base):
    """A signed agreement of a team: uploaded, executed (counter-signed), expired or ended (P-26)."""

    __tablename__ = "signatures"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), index=True)
    agreement: Mapped[str]
    version: Mapped[str]
    signatory: Mapped[str]
    """The person id of who signed."""
    copy_digest: Mapped[str | None]
    state: Mapped[str] = mapped_column(default="uploaded")
    uploaded: Mapped[datetime]
    executed: Mapped[datetime | None]
    executed_by: Mapped[str | None]
    expires: Mapped[datetime | None]
    deletion_asked: Mapped[datetime | None]
    deletion_certified: Mapped[datetime | None]
    deletion_by: Mapped[str | None]
    """The person who certified that the data are deleted."""
    deletion_digest: Mapped[str | None]
    """Where the certificate lies among the files, sealed with that person's key."""


class Acceptance(Base):
    """A person accepted a version of the rules (M77, M82)."""

    __tablename__ = "acceptances"
    __table_args__ = (UniqueConstraint("campaign_id", "person_id", "rules", "version"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    rules: Mapped[str]
    version: Mapped[str]
    at: Mapped[datetime]


class Download(Base):
    """A person downloaded a file of a pack (P-26)."""

    __tablename__ = "downloads"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    person_id: Mapped[str]
    team_id: Mapped[str | None]
    pack: Mapped[str]
    digest: Mapped[str]
    at: Mapped[datetime]


class Resource(Base):
    """Data a team harvested or bought, use of open queries, online adaptation; what must be shared when (M93)."""

    __tablename__ = "resources"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), index=True)
    kind: Mapped[str]
    """`harvested`, `purchased`, `open_queries`, `adaptation`."""
    language: Mapped[str] = mapped_column(default="")
    description: Mapped[str]
    used_in: Mapped[str] = mapped_column(default="")
    """The window in which it is first used; harvested data are shared when that closes."""
    share_by: Mapped[datetime | None]
    shared: Mapped[datetime | None]
    where: Mapped[str] = mapped_column(default="")
    made: Mapped[datetime]
    made_by: Mapped[str]
    withdrawn: Mapped[datetime | None]


class LeadRequest(Base):
    """A person asks to lead a team; an organiser grants it, and only then can the team be made (M61)."""

    __tablename__ = "lead_requests"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    text: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="asked")
    """`asked`, `granted`, `refused`, `withdrawn`."""
    asked: Mapped[datetime]
    decided: Mapped[datetime | None]
    decided_by: Mapped[str | None]
    reason: Mapped[str] = mapped_column(default="")


class DutyException(Base):
    """A person may judge and take part all the same: two organisers say why (X-4)."""

    __tablename__ = "duty_exceptions"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    reason: Mapped[str]
    asked: Mapped[datetime]
    asked_by: Mapped[str]
    seconded: Mapped[datetime | None]
    seconded_by: Mapped[str | None]
    ended: Mapped[datetime | None]
    ended_by: Mapped[str | None]


class AddressSeen(Base):
    """A person was at a network address, of which only a keyed digest is kept: shared ones are shown (X-7)."""

    __tablename__ = "addresses_seen"
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(primary_key=True, index=True)
    first: Mapped[datetime]
    last: Mapped[datetime]
