"""A small season in a real office, with its clock, its pack, two teams, a development window and a blind week."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy.orm import Session

from basanite.campaign.actions.plans import add_campaign
from basanite.campaign.office import COMMAND, Actor, Clock, Office, utc_now
from basanite.campaign.people.agreements import accept_rules, unaccepted_rules
from basanite.campaign.people.membership import place_member
from basanite.campaign.people.persons import Newcomer, add_person, by_mail
from basanite.campaign.people.teams import NewTeam, create_team
from basanite.campaign.settings import Settings
from basanite.campaign.store.schema import make_tables
from basanite.campaign.store.tables import Grant
from basanite.synthetic.clir import Spec, key_members, write_key, write_lists, write_members, write_metadata

BEGINNING = datetime(2018, 1, 15, 12, 0, tzinfo=UTC)
"""A Monday in the small season's first window."""


class SetClock:
    """The time in a test; hand it to an office as its clock.

    >>> clock = SetClock("2018-01-15 12:00")
    >>> clock.forward(minutes=1, microseconds=1).isoformat()
    '2018-01-15T12:01:00.000001+00:00'
    """

    def __init__(self, now: datetime | str = BEGINNING) -> None:
        self.now = _in_utc(now)

    def __call__(self) -> datetime:
        """The time that was set."""
        return self.now

    def set(self, now: datetime | str) -> datetime:
        """Set the clock, to a moment or to text like `2018-04-06 09:00` in UTC."""
        self.now = _in_utc(now)
        return self.now

    def forward(self, step: timedelta = timedelta(0), **parts: float) -> datetime:
        """Move the clock, by a duration or by its parts: `forward(days=1, microseconds=-1)`."""
        self.now += step + timedelta(**parts)
        return self.now


def _in_utc(moment: datetime | str) -> datetime:
    moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


SPEC = Spec(queries=6, documents=30, seed=3)


@dataclass(frozen=True)
class SmallPack:
    """Where the files of the small pack lie."""

    key: Path
    """A folder, one file a query."""
    documents: Path
    queries: Path
    metadata: tuple[Path, Path]
    perfect: Path
    """Says yes where the key does: AQWV 1."""
    silent: Path
    """Says no to everything: AQWV 0."""
    invalid: Path
    """Confidences without decimals, which M29 forbids."""


def small_pack(folder: Path, spec: Spec = SPEC) -> SmallPack:
    """Write the small pack into a folder; the same bytes each time."""
    write_key(spec, folder / "key")
    documents, queries = write_lists(spec, folder)
    archives = {name: folder / f"{name}.tgz" for name in ("perfect", "silent", "invalid")}
    write_members(_answers(spec, lambda mark: mark + ("\t1.0" if mark == "Y" else "\t0.0")), archives["perfect"])
    write_members(_answers(spec, lambda mark: "N\t0.0"), archives["silent"])
    write_members(_answers(spec, lambda mark: f"{mark}\t1"), archives["invalid"])
    return SmallPack(folder / "key", documents, queries, write_metadata(spec, folder / "metadata"), **archives)


def _answers(spec: Spec, answer: Callable[[str], str]) -> Iterator[tuple[str, bytes]]:
    """Answers made from the key: each document keeps its line, and its Y or N becomes an answer."""
    for name, data in key_members(spec):
        rows = (line.split("\t") for line in data.decode().splitlines())
        yield name, "".join(f"{document}\t{answer(mark)}\n" for document, mark in rows).encode()


HEAD = """format = "basanite-campaign/1"
slug = "{slug}"
title = "A small season"
zone = "America/New_York"
period = "BASE"
languages = ["1A"]
sealed = {sealed}
two_people = {two_people}
plan_version = "6.0.4"
invalid_per_day = {invalid_per_day}
open_uploads = {open_uploads}
largest_upload = "{largest_upload}"

[[packs]]
id = "DEV"
family = "dev"
released = "2017-11-20 00:00"
sealed = false

[[packs]]
id = "EVAL1"
family = "eval"
released = "2018-04-02 00:00"
sealed = true

[[querysets]]
id = "QUERY1"
released = "2017-11-20 00:00"

[[windows]]
id = "dev"
title = "Development on DEV"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["CLIR"]
dataset = ["DEV"]
querysets = ["QUERY1"]
languages = ["1A"]
quota = {{ count = {quota}, period = "week" }}
feedback = "full"
kind = "development"

[[windows]]
id = "week"
title = "Evaluation week"
opens = "2018-04-02 00:00"
closes = "2018-04-08 24:00"
tasks = ["CLIR"]
dataset = ["EVAL1"]
querysets = ["QUERY1"]
languages = ["1A"]
quota = {{ count = 5, period = "total", types = {{ primary = 1 }} }}
feedback = "none"
kind = "evaluation"
certification = "7 days"

[[rules]]
id = "usage"
version = "1"
text = "Use the data for this evaluation only."
"""


def small_campaign_text(
    *,
    slug: str = "small",
    quota: int = 3,
    sealed: bool = True,
    two_people: tuple[str, ...] = (),
    invalid_per_day: int = 50,
    open_uploads: int = 2,
    largest_upload: str = "8 GiB",
    more: str = "",
) -> str:
    """The file of a small campaign: window `dev` (January to March 2018, full feedback) and a blind `week` in April.

    `more` is put at the end: further windows, packs or agreements.
    """
    # Eight arguments: each is a word of the file that some tests need to differ.
    # Eight options: plug-ins' tests call it, and each of them is one setting of the file.
    named = "[" + ", ".join(f'"{act}"' for act in two_people) + "]"
    head = HEAD.format(
        slug=slug,
        quota=quota,
        sealed=str(sealed).lower(),
        two_people=named,
        invalid_per_day=invalid_per_day,
        open_uploads=open_uploads,
        largest_upload=largest_upload,
    )
    return f"{head}\n{more}"


@dataclass(frozen=True)
class Season:
    """The ids of what the small season holds."""

    campaign_id: str
    slug: str
    alpha: str
    """The id of the team Alpha."""
    beta: str
    ada: str
    """Alpha's PI."""
    alan: str
    """A member of Alpha."""
    bea: str
    """Beta's PI."""
    eva: str
    """One of the evaluation team."""
    otto: str
    """Another one of it, for acts that take two."""

    @property
    def as_ada(self) -> Actor:
        """Alpha's PI, acting."""
        return Actor(self.ada)

    @property
    def as_alan(self) -> Actor:
        """Alpha's member, acting."""
        return Actor(self.alan)

    @property
    def as_bea(self) -> Actor:
        """Beta's PI, acting."""
        return Actor(self.bea)

    @property
    def as_eva(self) -> Actor:
        """The organiser, acting."""
        return Actor(self.eva)


def _in_its_folder(_: Path) -> Mapping[str, Any]:
    """The settings of an office whose database and files lie in its own folder: none."""
    return {}


class Places:
    """Where small offices lie; a test run that moves them to other databases and stores sets `settings_of`."""

    settings_of: Callable[[Path], Mapping[str, Any]] = staticmethod(_in_its_folder)


def small_office(folder: Path, clock: Clock = utc_now, url: str | None = None, **settings: Any) -> Office:
    """An office with all tables, its data in a folder; SQLite unless tests run elsewhere or an address is given."""
    where = Places.settings_of(folder / "data") if url is None else {"database": url}
    office = Office.open(Settings(data=folder / "data", **(dict(where) | settings)), clock)
    file = office.database.engine.url.database
    if office.database.is_sqlite and file is not None and not Path(file).exists():
        Path(file).write_bytes(_empty_tables())
    make_tables(office.database)
    return office


@cache
def _empty_tables() -> bytes:
    """A file of SQLite with all tables and nothing in them: copying it takes a tenth of the time of making them."""
    with TemporaryDirectory() as folder:
        office = Office.open(Settings(data=Path(folder), database=""))
        make_tables(office.database)
        office.close()
        return (Path(folder) / "basanite.sqlite").read_bytes()


def season(office: Office, text: str | None = None) -> Season:
    """Put a campaign with the teams Alpha (Ada, Alan) and Beta (Bea) and the organisers Eva and Otto in an office."""
    with office.writing() as session:
        campaign = add_campaign(session, office, COMMAND, text or small_campaign_text())
        people = {name: _person(session, office, name) for name in ("ada", "alan", "bea", "eva", "otto")}
        for person in (people["eva"], people["otto"]):
            reason, by = "the organizers of a small campaign", people["eva"]
            grant_first(session, office, campaign.id, person, reason=reason, by=by)
        alpha = create_team(session, office, COMMAND, campaign.id, NewTeam(name="Alpha"), pi=people["ada"]).id
        beta = create_team(session, office, COMMAND, campaign.id, NewTeam(name="Beta"), pi=people["bea"]).id
        place_member(session, office, COMMAND, alpha, people["alan"])
        for name in ("ada", "alan", "bea"):
            for rules in unaccepted_rules(session, campaign.id, people[name]):
                accept_rules(session, office, Actor(people[name]), campaign.id, rules.id, rules.version)
        return Season(campaign.id, campaign.slug, alpha, beta, **people)


def _person(session: Session, office: Office, name: str) -> str:
    """A person at an address that nobody can have; a second season finds the first one's people."""
    mail = f"{name}@people.example"
    known = by_mail(session, office, mail)
    return (known or add_person(session, office, Newcomer(name=name.title(), mail=mail))).id


def grant_first(session: Session, office: Office, campaign_id: str, person_id: str, *, reason: str, by: str) -> None:
    """Make an organiser by row: where roles take two people, the first two have nobody to ask."""
    session.add(
        Grant(campaign_id=campaign_id, person_id=person_id, role="evaluation", at=office.clock(), by=by, reason=reason)
    )
    session.flush()
