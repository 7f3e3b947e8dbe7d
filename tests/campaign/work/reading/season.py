"""A season with a reading package in it, made once and copied for each test: checking a package takes seconds."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select
from tests.campaign.work.reading.small_package import MORE, small_package
from tests.offices.engines import copied_office, open_office

from basanite.campaign.jobs import queue
from basanite.campaign.model.policy import Viewer
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import Grant, ReadingPackage
from basanite.campaign.work.reading import packages, tasks
from basanite.campaign.work.reading.tasks import Wanted
from basanite.testing import Season, SetClock, season, small_campaign_text, small_office

KEPT = tempfile.TemporaryDirectory(prefix="basanite-reading-")
HELPERS = ("anna", "judy", "jude")
ROLES = {"anna": "annotator", "judy": "adjudicator", "jude": "judge"}


@dataclass(frozen=True)
class ReadingSeason:
    """An office with a season, its package, and formal tasks in an open, a blind and a later window."""

    office: Office
    season: Season
    clock: SetClock
    package: str
    blind: str
    later: str
    formal: str
    """The formal task of the open window."""
    hidden: str
    """The one of the blind window."""
    coming: str
    people: dict[str, str]

    def sees(self, name: str) -> Viewer:
        """Somebody as the policy sees them."""
        with self.office.reading() as session:
            return viewer(session, self.season.campaign_id, self.person(name))

    def person(self, name: str) -> str:
        """The id of somebody."""
        return self.people.get(name) or getattr(self.season, name)

    def acts(self, name: str) -> Actor:
        """Somebody, acting."""
        return Actor(self.person(name))

    def do(self, act, *args, **kwargs):
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *args, **kwargs)


def prepared_package(office):
    """The small package, prepared in another office once, and taken over into this one."""
    data, _, _, _, _ = _made()
    kept = open_office(data.parent, SetClock())
    with kept.reading() as session:
        row = session.scalars(select(ReadingPackage).where(ReadingPackage.name == "nfl-scoring")).one()
    for digest in (row.digest, row.open_digest, row.index_digest):
        office.sealed.put(kept.sealed.read(digest))
    kept.close()
    facts = (row.digest, row.open_digest, row.index_digest, row.name, row.version, row.title, tuple(row.parts))
    return packages.Prepared(*facts)


@functools.cache
def _made():
    folder = Path(KEPT.name)
    office = small_office(folder, SetClock())
    queue.prepare(office.database.url)
    made = season(office, small_campaign_text(more=MORE))
    prepared = packages.prepare(office, small_package(folder))
    with office.reading() as session:
        eva = viewer(session, made.campaign_id, made.eva)
    ids, formal, built = {}, {}, None
    for name, window in (("nfl-scoring", "read"), ("nfl-blind", "blind"), ("nfl-later", "later")):
        with office.writing() as session:
            who = (session, office, made.as_eva, made.campaign_id)
            ids[window] = packages.add(*who, replace(prepared, name=name), window=window).id
        with office.reading() as session:
            ready = tasks.check(session, office, eva, made.campaign_id, ids[window], Wanted("test", "formal"))
        built = built or tasks.build(office, ready)
        with office.writing() as session:
            formal[window] = tasks.keep(session, office, made.as_eva, ready, built).id
    people = {}
    with office.writing() as session:
        for name in HELPERS:
            people[name] = add_person(session, office, Newcomer(name=name.title(), mail=f"{name}@people.example")).id
            session.add(
                Grant(
                    campaign_id=made.campaign_id,
                    person_id=people[name],
                    role=ROLES[name],
                    at=office.clock(),
                    by="command",
                )
            )
    office.close()
    return office.settings.data, made, ids, formal, people


def reading_season(folder: Path, clock: SetClock, **settings) -> ReadingSeason:
    """A fresh copy of the season, in a folder of the test's own."""
    data, made, ids, formal, people = _made()
    office = copied_office(data, folder, clock, **settings)
    of = (formal["read"], formal["blind"], formal["later"])
    return ReadingSeason(office, made, clock, ids["read"], ids["blind"], ids["later"], *of, people)
