"""Reading: packages, tasks, runs, every answer that was received, what adjudicators decided, and the gold that grew.

Texts, queries and answers of sealed parts lie among the sealed files; rows hold digests and names alone, but for the
answers themselves, which their team wrote. What was received, decided, scored or searched is only ever added to (R-17,
R-23, R-27).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from basanite.campaign.store.tables.base import Base, random_id


class ReadingPackage(Base):
    """A checked reading package in a campaign."""

    __tablename__ = "reading_packages"
    __table_args__ = (UniqueConstraint("campaign_id", "name", "version"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    name: Mapped[str]
    version: Mapped[str]
    title: Mapped[str]
    window: Mapped[str] = mapped_column(default="")
    """The row of the calendar that formal tasks belong to; "": practice alone."""
    digest: Mapped[str]
    """The whole package, as an archive among the sealed files."""
    open_digest: Mapped[str]
    """The same without its sealed parts: all that a team's calls ever work on."""
    index_digest: Mapped[str]
    """Texts and queries as plain data, among the sealed files."""
    parts: Mapped[list[Any]]
    """Name, sealed, number of documents."""
    state: Mapped[str] = mapped_column(default="active")
    """`active` or `withdrawn`."""
    made: Mapped[datetime]
    by: Mapped[str]


class ReadingTaskRow(Base):
    """A reading task that was made: for one team to practise on, or a formal one for all."""

    __tablename__ = "reading_tasks"
    __table_args__ = (Index("ix_reading_tasks_whose", "campaign_id", "team_id"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"))
    reading_package_id: Mapped[str] = mapped_column(ForeignKey("reading_packages.id"))
    mode: Mapped[str]
    """`practice` or `formal`."""
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    """Whose it is; nobody's: the evaluation team's, and where it is formal for every team."""
    part: Mapped[str]
    sealed: Mapped[bool]
    """Whether its part is: then its files lie among the sealed ones."""
    choice: Mapped[dict[str, Any]]
    """What was asked for: types, classes, sample, seed, phase."""
    content: Mapped[str]
    """The hash of everything in it."""
    files: Mapped[dict[str, Any]]
    """Format to digest."""
    queries: Mapped[list[Any]]
    """The ids of its queries."""
    documents: Mapped[int]
    made: Mapped[datetime]
    by: Mapped[str]


class ReadingRun(Base):
    """A system, or a person, that answers the queries of a task."""

    __tablename__ = "reading_runs"
    __table_args__ = (UniqueConstraint("reading_task_id", "whose", "key"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_package_id: Mapped[str] = mapped_column(ForeignKey("reading_packages.id"))
    reading_task_id: Mapped[str] = mapped_column(ForeignKey("reading_tasks.id"))
    side: Mapped[str]
    """`machine` or `human`."""
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    whose: Mapped[str]
    """The team, or the person who answers: one key of theirs is one run."""
    label: Mapped[str]
    """What the system is called."""
    key: Mapped[str]
    """Given by the caller: asking twice makes one run."""
    made: Mapped[datetime]
    person_id: Mapped[str]


class ReadingEffort(Base):
    """Work that went into a system before a run; never changed: a mistake is corrected by a negative line."""

    __tablename__ = "reading_effort"
    __table_args__ = (UniqueConstraint("reading_run_id", "key"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_run_id: Mapped[str] = mapped_column(ForeignKey("reading_runs.id"))
    key: Mapped[str]
    """Given by the caller: the same line sent twice counts once."""
    activity: Mapped[str]
    minutes: Mapped[float]
    rules: Mapped[int]
    examples: Mapped[int]
    note: Mapped[str]
    at: Mapped[datetime]
    person_id: Mapped[str]


class ReadingUpload(Base):
    """One call that brought answers, as it came; never changed."""

    __tablename__ = "reading_uploads"
    __table_args__ = (UniqueConstraint("reading_run_id", "key"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_run_id: Mapped[str] = mapped_column(ForeignKey("reading_runs.id"))
    key: Mapped[str]
    digest: Mapped[str]
    """The bytes as they came, among the files."""
    media: Mapped[str]
    taken: Mapped[int]
    problems: Mapped[list[Any]]
    counted: Mapped[int]
    """How many problems there were, listed or not."""
    at: Mapped[datetime]
    person_id: Mapped[str]


class PooledAnswer(Base):
    """What somebody answered to a query about a document; equal answers of all runs are one."""

    __tablename__ = "reading_pool"
    __table_args__ = (UniqueConstraint("reading_package_id", "digest"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_package_id: Mapped[str] = mapped_column(ForeignKey("reading_packages.id"))
    query: Mapped[str]
    document: Mapped[str]
    part: Mapped[str]
    bindings: Mapped[list[Any]]
    """Variables with a list of names, or with a literal, in the form in which they are compared."""
    told: Mapped[dict[str, Any]]
    """The same as it was first written."""
    digest: Mapped[str]
    """Of query, document and what the answer is worth, without regard to case, spacing and order of names."""
    at: Mapped[datetime]


class ReceivedAnswer(Base):
    """One answer of one run, as it was received: kept for ever (R-23)."""

    __tablename__ = "reading_answers"
    __table_args__ = (Index("ix_reading_answers_run", "reading_run_id", "sequence"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_run_id: Mapped[str] = mapped_column(ForeignKey("reading_runs.id"))
    reading_upload_id: Mapped[str | None] = mapped_column(ForeignKey("reading_uploads.id"))
    reading_pool_id: Mapped[str] = mapped_column(ForeignKey("reading_pool.id"), index=True)
    sequence: Mapped[int]
    """Its place among the answers of its run."""
    line: Mapped[int]
    kind: Mapped[str]
    """`explicit` or `inferred`, as its maker says."""
    provenance: Mapped[list[Any]]
    withdraws: Mapped[str | None]
    """The received answer that this one takes back: nothing else is said then."""
    at: Mapped[datetime]


class ReadingDecision(Base):
    """What an adjudicator decided about a pooled answer, or that it is open again; the newest one counts (R-21)."""

    __tablename__ = "reading_decisions"
    __table_args__ = (UniqueConstraint("reading_pool_id", "sequence"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_pool_id: Mapped[str] = mapped_column(ForeignKey("reading_pool.id"))
    sequence: Mapped[int]
    verdict: Mapped[str]
    """`right-explicit`, `right-inferred`, `wrong`, `out-of-scope`, `duplicate-of`, `reopened`."""
    same_as: Mapped[str] = mapped_column(default="")
    """For a duplicate: the pooled answer, or the line of the gold, that says the same."""
    why: Mapped[str] = mapped_column(default="")
    at: Mapped[datetime]
    by: Mapped[str]


class ReadingGold(Base):
    """A version of a package's gold beyond those it came with (R-17)."""

    __tablename__ = "reading_golds"
    __table_args__ = (UniqueConstraint("reading_package_id", "number"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_package_id: Mapped[str] = mapped_column(ForeignKey("reading_packages.id"))
    number: Mapped[int]
    digest: Mapped[str]
    """The whole version, among the sealed files."""
    human: Mapped[str] = mapped_column(default="")
    """The answers of people that went with it, among the sealed files."""
    added: Mapped[int]
    """Answers that were accepted since the version before."""
    state: Mapped[str] = mapped_column(default="proposed")
    """`proposed` (scores are being previewed), `active`, `refused`."""
    reason: Mapped[str]
    made: Mapped[datetime]
    by: Mapped[str]
    ended: Mapped[datetime | None]
    decided_by: Mapped[str | None]


class ReadingScore(Base):
    """What a run scored against one version of the gold: stored once under the key of all that went in."""

    __tablename__ = "reading_scores"
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_run_id: Mapped[str] = mapped_column(ForeignKey("reading_runs.id"), index=True)
    gold: Mapped[str]
    """Its version, like v2."""
    digest: Mapped[str]
    """The bytes of `score --json`, among the files."""
    primary: Mapped[float | None]
    at: Mapped[datetime]


class ReadingMark(Base):
    """Where a person stands with a question about a document: answered, nothing there, or open again (R-18)."""

    __tablename__ = "reading_marks"
    __table_args__ = (UniqueConstraint("reading_run_id", "query", "document"),)
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    reading_run_id: Mapped[str] = mapped_column(ForeignKey("reading_runs.id"))
    query: Mapped[str]
    document: Mapped[str]
    state: Mapped[str]
    """`done` or `open`."""
    at: Mapped[datetime]


class ReadingSearch(Base):
    """A search of the corpus: who looked for what, and how much there was (R-27)."""

    __tablename__ = "reading_searches"
    id: Mapped[str] = mapped_column(primary_key=True, default=random_id)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), index=True)
    package: Mapped[str]
    """The reading package, or the annotation project, whose corpus it was."""
    person_id: Mapped[str]
    text: Mapped[str]
    hits: Mapped[int]
    at: Mapped[datetime]
