"""A campaign as its file declares it: frozen values, with every instant in UTC beside the zone it was declared in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Field,
    WrapValidator,
)

from basanite.campaign.model.about import About
from basanite.campaign.model.file_entries import (
    NO_TIME,
    Duration,
    Id,
    Size,
    Slug,
    Time,
    Times,
    TwoPeople,
    Zone,
    settings_with_primary,
    usual_errors_for_true,
)
from basanite.campaign.model.programs import Programs, Scorer
from basanite.campaign.model.zones import TimeError, zone_of
from basanite.formats.config_file import LARGEST_WHOLE, Like, Needed, Section, Texts, Usual, Written
from basanite.formats.toml_file import Table

Feedback = Literal["full", "limited", "none"]
Naming = Literal["named", "pseudonym", "own"]
Period = Literal["week", "day", "total"]
Kind = Literal["development", "evaluation", "sanity"]
"""`evaluation` weeks are blind until released; `sanity` (a dry run) is validated, and shows no score."""
Type = Literal["primary", "contrastive"]
Fill = Literal["primary", "best", "latest"]
"""Which run of a team stands on a board."""

FORMAT = "basanite-campaign/1"


@dataclass(frozen=True)
class Quota(Section):
    """How many valid submissions a team may make in one period of a window."""

    count: Annotated[int, Field(ge=0, le=10**6)]
    """How many in all."""
    period: Period = "week"
    """`week`, `day` or `total`."""
    types: Mapping[str, Annotated[int, Field(ge=0, le=10**6)]] = field(default_factory=dict)
    """The most of one kind, as `{"primary": 1, "contrastive": 4}` or, by task, `{"E2E/primary": 1, "CLIR/primary": 0,
    "CLIR/contrastive": 4}` (M66, M67); what is not named is bounded by `count` alone."""


@dataclass(frozen=True)
class Track(Section):
    """Systems that are compared with each other alone (P-31)."""

    id: Id
    """Its name, for addresses."""
    title: Annotated[str, Like("id")]
    """Its name for people."""
    condition: str = "unconstrained"
    """The training condition of the track."""
    required: Texts = ()
    """Fields of the system's description without which a run is not released."""


@dataclass(frozen=True)
class Pack(Section):
    """A released part of the data; packs of one family are cumulative (M63)."""

    id: Id
    """The pack's name."""
    family: Annotated[str, Like("id")]
    """Packs of one family supersede each other: `EVAL1+EVAL2` after EVAL2 came out (C30)."""
    released: Annotated[Time, NO_TIME]
    """When teams get it."""
    language: str = ""
    """The language it belongs to."""
    title: str = ""
    """Its name for people."""
    sealed: bool = True
    """Whether its key never leaves the evaluation team before release (M71)."""
    usage: str = ""
    """Its column of the usage rules (M82)."""
    agreement: str = ""
    """The agreement a team must have executed to get it (P-26)."""
    key_at: Time | None = None
    """When the key of an encrypted pack is published (M89); None for a pack that is not encrypted."""
    code: str = ""
    """How archive names spell it where the id is not that: `EVAL1` for the pack `1S-EVAL1`."""

    @property
    def spelling(self) -> str:
        """The pack as it stands in the name of an archive."""
        return self.code or self.id


@dataclass(frozen=True)
class QuerySet(Section):
    """Queries that were released together (M76)."""

    id: Id
    """Its name."""
    released: Annotated[Time, NO_TIME]
    """When teams get it."""
    open: bool = False
    """Open queries never count toward a final value (M20)."""
    code: str = ""
    """How archive names spell it where the id is not that."""

    @property
    def spelling(self) -> str:
        """The set as it stands in the name of an archive."""
        return self.code or self.id


@dataclass(frozen=True)
class DomainRelease(Section):
    """Domains that become known at a moment, for some languages (M75)."""

    codes: Annotated[Texts, Needed("domains without codes", 'write codes = ["GOV", "LIF"]', rule="M75")]
    """The domains, by the codes of the catalogue."""
    released: Annotated[Time, NO_TIME]
    """When teams get to know them."""
    languages: Texts = ()
    """The languages that have them; none means all."""


@dataclass(frozen=True)
class Window(Section):
    """One row of the calendar: what may be submitted when, how often, and what comes back (M62)."""

    file_only: ClassVar[Mapping[str, tuple[Any, str]]] = {
        "primary": (
            str | Mapping[str, str],
            'The metric that boards and results are headed and ranked by: `"accuracy"`, or by task '
            '`{ CLIR = "aqwv_all" }`; the task\'s own unless written.',
        )
    }

    id: Id
    """Its name, for addresses."""
    title: Annotated[str, Like("id")]
    """Its name for people."""
    opens: Annotated[Time, NO_TIME]
    """When it opens."""
    closes: Annotated[Time, NO_TIME]
    """When it closes; an upload must begin before it does."""
    tasks: Annotated[Texts, Needed("{place} has no `{key}`", 'write {key} = ["CLIR"]')]
    """Tasks as archive names spell them: CLIR, E2E, DomainID, LangID; or the name of any registered task."""
    dataset: Annotated[Texts, Needed("{place} has no `{key}`", 'write {key} = ["DEV"]')]
    """Packs that are scored together, `["EVAL1", "EVAL2"]`."""
    quota: Annotated[
        Quota,
        Needed("{place} has no quota", 'write quota = { count = 200, period = "week" }', rule="M64", stand_in=Quota(0)),
    ]
    """`{ count = 5, period = "week", types = { primary = 1 } }`."""
    feedback: Annotated[
        Feedback,
        Needed(
            "{place} does not say what teams see",
            'write feedback = "full", "limited" or "none"',
            rule="M69",
            stand_in="none",
        ),
    ]
    """What teams get to see; it is never guessed."""
    kind: Kind = "development"
    """`evaluation` is blind until released; `sanity` is validated and shows no score."""
    languages: Texts = ()
    """The languages it is limited to; none means all."""
    querysets: Texts = ()
    """Query sets that are scored together."""
    domains: Annotated[Texts, Usual("all that are out")] = ()
    """The domains of DomainID, each language's own."""
    tracks: Texts = ()
    """The tracks it is for; none means all."""
    conditions: Texts = ()
    """Training conditions it takes; none means those of its tracks, or unconstrained alone (M57)."""
    shows: Annotated[Texts, Usual("three values")] = ()
    """What `limited` feedback shows; without it the three values of C33 (for other tasks the primary value)."""
    half_width: Annotated[float, Field(gt=0, lt=1000)] = 0.05
    """The one half-width that stands beside every `limited` value, fixed before anybody submits (X-7)."""
    naming: Naming = "named"
    """Names on boards: `named`, `pseudonym`, or `own` row only."""
    transfer_grace: Annotated[Duration, Usual('`"60 min"`')] = timedelta(minutes=60)
    """How long an upload that began in time and ends after closing may take."""
    late_grace: Duration = timedelta(0)
    """How long late ones are still taken, marked and outside ranks."""
    results_at: Times = ()
    """In blind windows, moments at which results become visible at the earliest (X-16)."""
    certification: Duration = timedelta(0)
    """How long each PI sees only the own results before release (P-24)."""
    ladder: Annotated[
        float | None,
        Field(gt=0, lt=100),
        WrapValidator(usual_errors_for_true),
        Usual("off until the looks are used up"),
    ] = None
    """Standard errors that a gain must exceed to be shown (S-17), from the first result on unless `looks` says
    otherwise; `true` is 2."""
    looks: Annotated[
        int | None,
        Field(ge=0, le=10**6),
        WrapValidator(lambda value, check: None if value is False else check(value)),
        Usual("10 on sealed packs, else off"),
    ] = None
    """Results of a team, task and language that are shown as `feedback` says; later ones stand on the ladder (X-23).
    `false`: no bound."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of scoring by name, the primary metric among them (S-27)."""
    board: Fill = "primary"
    """Which run of a team its board shows: the `primary` one, or in windows that show values the `best` or `latest`."""
    forced: str = ""
    """Why `full` feedback is given on a sealed set, which is refused without a reason (X-7)."""
    event: str = ""
    """What it belongs to."""
    programs: Programs | None = None
    """Programs that are run on sealed inputs, in place of answers (G-1)."""
    scorer: Scorer | None = None
    """An organizer's own scoring program, for a window of the task `scores` (G-6)."""

    @classmethod
    def prepare(cls, table: Table) -> Table:
        """The table with the primary metric among the settings, and with a count in its quota."""
        values = dict(table.values)
        if "quota" in values:
            quota = table.table("quota")
            if "count" not in quota.values:
                quota.add(f"the quota of {table.place} has no count", "write count = 200", key="count", rule="M64")
            values["quota"] = {"count": 0, **quota.values}
        if "primary" in values:
            values["settings"] = settings_with_primary(table)
        return replace(table, values=values)

    def check(self, table: Table) -> Window:
        """The window; one run of an evaluation week stands for the team, whether its quota says so or not (M66)."""
        has_primary = any(key.endswith("primary") for key in self.quota.types)
        if self.kind != "evaluation" or has_primary or "quota" not in table.values:
            return self
        return replace(self, quota=replace(self.quota, types={**self.quota.types, "primary": 1}))

    def settings_of(self, task: str) -> dict[str, Any]:
        """The settings of scoring one task here; a table under the task's name is for that task alone."""
        plain = {name: value for name, value in self.settings.items() if not isinstance(value, Mapping)}
        return plain | dict(self.settings.get(task, {}))


@dataclass(frozen=True)
class Milestone(Section):
    """Something in the calendar that nobody submits to: a kick-off, a visit, a report (P-19)."""

    id: Id
    """Its name."""
    title: Annotated[str, Like("id")]
    """Its name for people."""
    at: Annotated[Time, NO_TIME]
    """When it is, or begins."""
    ends: Time | None = None
    """When it ends."""
    owner: str = ""
    """Who sees to it."""
    deliverable: str = ""
    """What is due."""


@dataclass(frozen=True)
class Agreement(Section):
    """A document that a team must sign before it gets data (P-26)."""

    id: Id
    """Its name."""
    title: Annotated[str, Like("id")]
    """Its name for people."""
    version: str
    """Its version."""
    text: str = ""
    """What is signed."""
    counter_signed: bool = True
    """Whether somebody of the evaluation team signs it, too."""
    expires: Time | None = None
    """When it ends."""
    deletion_by: Time | None = None
    """When certificates of deletion are due."""


@dataclass(frozen=True)
class UsageRules(Section):
    """Rules that every person accepts before submitting or downloading (M77, M82)."""

    id: Id
    """Their name."""
    version: str
    """Their version."""
    text: str
    """What every person accepts."""


@dataclass(frozen=True)
class ClaimEntry(Section):
    """A sentence to be tested; its other keys belong to the analysis it is tied to."""

    any_keys: ClassVar[bool] = True

    id: str
    """Its name."""

    def check(self, table: Table) -> Any:
        """The entry as it is written."""
        return dict(table.values)


@dataclass(frozen=True)
class JudgingEntry(Section):
    """What rehearsal counts with; other keys belong to judging itself."""

    any_keys: ClassVar[bool] = True

    k: Annotated[int | None, Field(ge=1, le=10**6)] = None
    """Judgements of each item."""
    judges: Annotated[int | None, Field(ge=1, le=10**6)] = None
    """How many judges there are."""
    per_judge: Annotated[int | None, Field(ge=1, le=10**6)] = None
    """How many items one judge can judge."""

    def check(self, table: Table) -> Any:
        """The entry as it is written."""
        return dict(table.values)


@dataclass(frozen=True)
class Campaign(Section):
    """One evaluation programme: its tasks, data, calendar and rules."""

    slug: Slug
    """Its name in addresses: small letters, digits, hyphens."""
    title: str
    """Its name for people."""
    zone: Annotated[Zone, Usual('`"UTC"`')]
    """The clock of the calendar: a name of the IANA list, `UTC` or `AoE`."""
    windows: tuple[Window, ...]
    """One for each row of the calendar."""
    packs: Annotated[tuple[Pack, ...], Usual("none")]
    """Released parts of the data."""
    about: About = field(default_factory=About)
    """What the public page says: description, organizers, contact, links, texts about tasks and data."""
    period: str = "BASE"
    """The period in the names of archives."""
    plan_version: str = "1"
    """The version of the evaluation plan, kept with every result."""
    languages: Texts = ()
    """The languages under test."""
    querysets: tuple[QuerySet, ...] = ()
    """Queries that are released together."""
    domains: tuple[DomainRelease, ...] = ()
    """Domains that become known together."""
    tracks: tuple[Track, ...] = ()
    """Systems that are compared with each other alone."""
    milestones: tuple[Milestone, ...] = ()
    """Entries of the calendar without submissions."""
    agreements: tuple[Agreement, ...] = ()
    """Documents to be signed before data are given out."""
    rules: tuple[UsageRules, ...] = ()
    """Rules that every person accepts before submitting."""
    claims: Annotated[tuple[Mapping[str, Any], ...], Written(ClaimEntry)] = ()
    """Sentences to be tested, each tied to an analysis (frozen with the plan, P-28)."""
    judging: Annotated[Mapping[str, Any], Written(JudgingEntry)] = field(default_factory=dict)
    """What rehearsal counts with, and whatever judging needs."""
    two_people: TwoPeople = frozenset()
    """Acts that take two people: `release`, `reference`, `void`, `role` (X-4)."""
    invalid_per_day: Annotated[int, Field(ge=1, le=10**6)] = 50
    """Invalid attempts a day and team; then one an hour (X-7)."""
    open_uploads: Annotated[int, Field(ge=1, le=1000)] = 2
    """Uploads of one team at the same time."""
    largest_upload: Annotated[Size, Usual('`"8 GiB"`')] = 8 * 2**30
    """The largest archive, in bytes or with a unit."""
    seed: Annotated[int, Field(ge=0, le=LARGEST_WHOLE)] = 0
    """Seed of the draws; a sealed campaign takes 256 random bits from the vault instead (X-1)."""
    sealed: bool = True
    """Whether the dice are secret; then no `seed` may be typed in."""

    @classmethod
    def prepare(cls, table: Table) -> Table:
        """The table with the clock that all its instants are read by."""
        values = {"zone": "UTC", "windows": [], **table.values}
        try:
            zone_of(str(values["zone"]))
        except TimeError:
            return replace(table, values=values)
        return replace(table, values=values, zone=values["zone"])  # type: ignore[call-arg]

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


@dataclass(frozen=True)
class Declared:
    """The choices made in the form, in the request, on the command line or in the name of a dropped file."""

    task: str
    """The task, as in the calendar: CLIR, E2E, DomainID, LangID, or a registered task."""
    label: str
    type: str = "contrastive"
    language: str = ""
    queryset: str = ""
    dataset: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    track: str = ""
    condition: str = "unconstrained"
    description: Mapping[str, Any] = field(default_factory=dict)
    """The system's description: `text` and whatever fields the track requires (M77, P-31)."""
    name: str = ""
    """The file's name as the user has it; a full name must agree with everything above (M58)."""
    window: str = ""
    """The row of the calendar, where the door names it: a drop folder does (D-3)."""
