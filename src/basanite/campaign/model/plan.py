"""A campaign as its file declares it: frozen values, with every instant in UTC beside the zone it was declared in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

Feedback = Literal["full", "limited", "none"]
Naming = Literal["named", "pseudonym", "own"]
Period = Literal["week", "day", "total"]
Kind = Literal["development", "evaluation", "sanity"]
"""`evaluation` weeks are blind until released; `sanity` (a dry run) is validated, and shows no score."""
Type = Literal["primary", "contrastive"]

FORMAT = "basanite-campaign/1"


@dataclass(frozen=True)
class Instant:
    """A moment with the zone it was declared in (AoE included), so that pages can show both (P-27)."""

    utc: datetime
    zone: str = "UTC"


@dataclass(frozen=True)
class Quota:
    """How many valid submissions a team may make in one period of a window."""

    count: int
    period: Period = "week"
    types: Mapping[str, int] = field(default_factory=dict)
    """The most of one kind, as `{"primary": 1, "contrastive": 4}` or, by task, `{"E2E/primary": 1, "CLIR/primary": 0,
    "CLIR/contrastive": 4}` (M66, M67); what is not named is bounded by `count` alone."""


@dataclass(frozen=True)
class Track:
    """Systems that are compared with each other alone (P-31)."""

    id: str
    title: str
    condition: str = "unconstrained"
    required: tuple[str, ...] = ()
    """Fields of the system's description without which a run is not released."""


@dataclass(frozen=True)
class Pack:
    """A released part of the data; packs of one family are cumulative (M63)."""

    id: str
    family: str
    """Packs of one family supersede each other: `EVAL1+EVAL2` after EVAL2 came out (C30)."""
    released: Instant
    language: str = ""
    title: str = ""
    sealed: bool = True
    """Whether its key never leaves the evaluation team before release (M71)."""
    usage: str = ""
    """Its column of the usage rules (M82)."""
    agreement: str = ""
    """The agreement a team must have executed to get it (P-26)."""
    key_at: Instant | None = None
    """When the key of an encrypted pack is published (M89); None for a pack that is not encrypted."""
    code: str = ""
    """How archive names spell it where the id is not that: `EVAL1` for the pack `1S-EVAL1`."""

    @property
    def spelling(self) -> str:
        """The pack as it stands in the name of an archive."""
        return self.code or self.id


@dataclass(frozen=True)
class QuerySet:
    """Queries that were released together (M76)."""

    id: str
    released: Instant
    open: bool = False
    """Open queries never count toward a final value (M20)."""
    code: str = ""
    """How archive names spell it where the id is not that."""

    @property
    def spelling(self) -> str:
        """The set as it stands in the name of an archive."""
        return self.code or self.id


@dataclass(frozen=True)
class DomainRelease:
    """Domains that become known at a moment, for some languages (M75)."""

    codes: tuple[str, ...]
    released: Instant
    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Window:
    """One row of the calendar: what may be submitted when, how often, and what comes back (M62)."""

    id: str
    title: str
    opens: Instant
    closes: Instant
    tasks: tuple[str, ...]
    """Tasks as archive names spell them: CLIR, E2E, DomainID, LangID; or the name of any registered task."""
    dataset: tuple[str, ...]
    """Packs that are scored together, `("EVAL1", "EVAL2")`."""
    quota: Quota
    feedback: Feedback
    kind: Kind = "development"
    languages: tuple[str, ...] = ()
    querysets: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    """The tracks it is for; none means all."""
    conditions: tuple[str, ...] = ()
    """Training conditions it takes; none means those of its tracks, or unconstrained alone (M57)."""
    shows: tuple[str, ...] = ()
    """What `limited` feedback shows; without it the three values of C33 (for other tasks the primary value)."""
    half_width: float = 0.05
    """The one half-width that stands beside every `limited` value, fixed before anybody submits (X-7)."""
    naming: Naming = "named"
    transfer_grace: timedelta = timedelta(minutes=60)
    late_grace: timedelta = timedelta(0)
    results_at: tuple[Instant, ...] = ()
    """In blind windows, moments at which results become visible at the earliest (X-16)."""
    certification: timedelta = timedelta(0)
    """How long each PI sees only the own results before release (P-24)."""
    ladder: float | None = None
    """Standard errors that a gain must exceed to be shown (S-17); None: no ladder before the looks are used up."""
    looks: int | None = None
    """Results of a team, task and language that are shown as `feedback` says; later ones stand on the ladder (X-23).
    None: no bound."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of scoring, as `--set` takes them, the primary metric among them (S-27)."""
    forced: str = ""
    """Why `full` feedback is given on a sealed set, which is refused without a reason (X-7)."""
    event: str = ""

    def settings_of(self, task: str) -> dict[str, Any]:
        """The settings of scoring one task here; a table under the task's name is for that task alone."""
        plain = {name: value for name, value in self.settings.items() if not isinstance(value, Mapping)}
        return plain | dict(self.settings.get(task, {}))


@dataclass(frozen=True)
class Milestone:
    """Something in the calendar that nobody submits to: a kick-off, a visit, a report (P-19)."""

    id: str
    title: str
    at: Instant
    ends: Instant | None = None
    owner: str = ""
    deliverable: str = ""


@dataclass(frozen=True)
class Agreement:
    """A document that a team must sign before it gets data (P-26)."""

    id: str
    title: str
    version: str
    text: str = ""
    counter_signed: bool = True
    expires: Instant | None = None
    deletion_by: Instant | None = None
    """When certificates of deletion are due."""


@dataclass(frozen=True)
class UsageRules:
    """Rules that every person accepts before submitting or downloading (M77, M82)."""

    id: str
    version: str
    text: str


@dataclass(frozen=True)
class Campaign:
    """One evaluation programme: its tasks, data, calendar and rules."""

    slug: str
    title: str
    zone: str
    windows: tuple[Window, ...]
    packs: tuple[Pack, ...]
    period: str = "BASE"
    plan_version: str = "1"
    languages: tuple[str, ...] = ()
    querysets: tuple[QuerySet, ...] = ()
    domains: tuple[DomainRelease, ...] = ()
    tracks: tuple[Track, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    rules: tuple[UsageRules, ...] = ()
    claims: tuple[Mapping[str, Any], ...] = ()
    """Sentences to be tested, each tied to an analysis (frozen with the plan, P-28)."""
    judging: Mapping[str, Any] = field(default_factory=dict)
    two_people: frozenset[str] = frozenset()
    """Acts that take two people: `release`, `reference`, `void`, `role` (X-4)."""
    invalid_per_day: int = 50
    """Invalid attempts a day and team; then one an hour (X-7)."""
    open_uploads: int = 2
    largest_upload: int = 8 * 2**30
    seed: int = 0
    """Seed of the draws; a sealed campaign takes 256 random bits from the vault instead (X-1)."""
    sealed: bool = True

    def window(self, name: str) -> Window:
        """The window of this id, or KeyError."""
        return {window.id: window for window in self.windows}[name]

    def pack(self, name: str) -> Pack:
        """The pack of this id, or KeyError."""
        return {pack.id: pack for pack in self.packs}[name]

    def queryset(self, name: str) -> QuerySet:
        """The query set of this id, or KeyError."""
        return {queryset.id: queryset for queryset in self.querysets}[name]

    def track(self, name: str) -> Track:
        """The track of this id, or KeyError."""
        return {track.id: track for track in self.tracks}[name]
