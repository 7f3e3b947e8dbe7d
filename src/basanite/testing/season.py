"""A small season in a real office: one campaign, a development window, a blind week, two teams with members."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy.orm import Session

from basanite.campaign.office import COMMAND, Actor, Clock, Office, utc_now
from basanite.campaign.organising.plans import add_campaign
from basanite.campaign.people.persons import add_person, by_mail
from basanite.campaign.people.teams.joining import place_member
from basanite.campaign.people.teams.making import create_team
from basanite.campaign.people.terms.rules import accept_rules, unaccepted
from basanite.campaign.settings import Settings
from basanite.campaign.store.migrating import make_tables
from basanite.campaign.store.tables import Grant
from basanite.testing.engines import place

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


def small_office(folder: Path, clock: Clock = utc_now, url: str | None = None, **settings: object) -> Office:
    """An office with all tables, its data in a folder; SQLite unless tests run elsewhere or an address is given."""
    where = place(folder / "data").settings() if url is None else {"database": url}
    office = Office.open(Settings(data=folder / "data", **(where | settings)), clock)
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
            reason, by = "the organisers of a small season", people["eva"]
            grant_first(session, office, campaign.id, person, reason=reason, by=by)
        alpha = create_team(session, office, COMMAND, campaign.id, name="Alpha", pi=people["ada"]).id
        beta = create_team(session, office, COMMAND, campaign.id, name="Beta", pi=people["bea"]).id
        place_member(session, office, COMMAND, alpha, people["alan"])
        for name in ("ada", "alan", "bea"):
            _accept_all(session, office, campaign.id, people[name])
        return Season(campaign.id, campaign.slug, alpha, beta, **people)


def _person(session: Session, office: Office, name: str) -> str:
    """A person at an address that nobody can have; a second season finds the first one's people."""
    mail = f"{name}@people.example"
    known = by_mail(session, office, mail)
    return (known or add_person(session, office, name=name.title(), mail=mail)).id


def grant_first(session: Session, office: Office, campaign_id: str, person_id: str, *, reason: str, by: str) -> None:
    """Make an organiser by row: where roles take two people, the first two have nobody to ask."""
    session.add(
        Grant(campaign_id=campaign_id, person_id=person_id, role="evaluation", at=office.clock(), by=by, reason=reason)
    )
    session.flush()


def _accept_all(session: Session, office: Office, campaign_id: str, person_id: str) -> None:
    for rules in unaccepted(session, campaign_id, person_id):
        accept_rules(session, office, Actor(person_id), campaign_id, rules.id, rules.version)
