"""Uploads, submissions, and what they cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, UniqueConstraint
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
    """`received`, `running` (a program), `validating`, `invalid`, `scoring`, `scored`, `failed`; three are final:
    `invalid`, `scored`, `failed`."""
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
    program: Mapped[str] = mapped_column(default="")
    """How its program is asked, `files`, `pipe` or `endpoint`; empty for answers (G-1)."""
    answers: Mapped[str | None]
    """What is scored in place of the file: a program's answers or an organizer's scores, among the sealed files."""
    answers_name: Mapped[str] = mapped_column(default="")
    """What they are called for the scorer; formats are told by the ending."""


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


class CampaignRow(Base):
    """One campaign; what it is stands in the newest version of its file."""

    __tablename__ = "campaigns"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    slug: Mapped[str] = mapped_column(unique=True)
    made: Mapped[datetime]
    clock_offset: Mapped[float] = mapped_column(default=0.0)
    """Seconds added to the clock: rehearsals and demonstrations play a season in the past."""
    published: Mapped[datetime | None]
    """Since when everybody sees it; a draft is there for its organizers alone (P-35)."""
    logo: Mapped[str | None]
    """The picture on its public page, among the files (P-36)."""
    logo_kind: Mapped[str] = mapped_column(default="")
    """What kind of picture it is: `image/png`, `image/jpeg` or `image/webp`."""


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
    board: Mapped[dict[str, Any] | None]
    """What boards show of it, so that a look at a board reads no files (P-40); None for results from elsewhere."""
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
    """Task, language, track, and the submission of each name in the comparison."""
    digest: Mapped[str]
    ranking: Mapped[dict[str, Any]]
    """`rank_ranges`, `groups` and `detectable` of the comparison, and `better`: who beats whom, packed."""
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
