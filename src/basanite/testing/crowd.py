"""Many teams in a season that is open now, for tests of faults and for load: no quota stops them, the clock is real."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from basanite.campaign.intake.accepting import accept
from basanite.campaign.model.declared import Declared
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.organising.references import Material, Place, add
from basanite.campaign.people.persons import add_person
from basanite.campaign.people.teams.making import create_team
from basanite.campaign.people.terms.rules import accept_rules, unaccepted
from basanite.campaign.store.tables import Reference, Submission
from basanite.testing.season import season, small_campaign_text

ENDLESS = 1_000_000


@dataclass(frozen=True)
class Member:
    """A team and its PI."""

    team: str
    person: str

    @property
    def actor(self) -> Actor:
        """The PI, acting at the door for programs."""
        return Actor(self.person, "api")


@dataclass(frozen=True)
class Crowd:
    """The teams of a season that is open now."""

    campaign_id: str
    members: tuple[Member, ...]


def open_text(*, quota: int = ENDLESS) -> str:
    """The file of a campaign whose window `dev` is open until the end of the century, and whose blind `week` too."""
    text = small_campaign_text(quota=quota, invalid_per_day=ENDLESS)
    for closing in ("2018-03-31 24:00", "2018-04-08 24:00"):
        text = text.replace(closing, "2099-12-31 24:00")
    return text.replace("count = 5, ", f"count = {quota}, ")


def crowd(office: Office, key: Path, *, teams: int = 2, text: str | None = None) -> Crowd:
    """A season that is open now with so many teams, its task opened with a key (a folder or an archive)."""
    small = season(office, text or open_text())
    members = [Member(small.alpha, small.ada), Member(small.beta, small.bea)]
    with office.writing() as session:
        members += [_team(session, office, small.campaign_id, number) for number in range(2, teams)]
        for dataset in ("DEV", "EVAL1"):
            open_task(session, office, small.campaign_id, key, dataset)
    return Crowd(small.campaign_id, tuple(members[:teams]))


def _team(session: Session, office: Office, campaign_id: str, number: int) -> Member:
    person = add_person(session, office, name=f"Pia {number}", mail=f"pi{number}@people.example").id
    team = create_team(session, office, COMMAND, campaign_id, name=f"Team{number}", pi=person).id
    for rules in unaccepted(session, campaign_id, person):
        accept_rules(session, office, Actor(person), campaign_id, rules.id, rules.version)
    return Member(team, person)


def open_task(session: Session, office: Office, campaign_id: str, key: Path, dataset: str) -> Reference:
    """Add the reference of the retrieval task on a pack, from a folder of key files or an archive of them."""
    digest = office.sealed.put(packed(key) if key.is_dir() else key.read_bytes()).digest
    place = Place("CLIR", dataset, "1A", "QUERY1")
    return add(session, office, COMMAND, campaign_id, place, Material((digest,), names={digest: "key.tgz"}))


def packed(folder: Path) -> bytes:
    """The files of a folder as an archive."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return held.getvalue()


def submit(office: Office, member: Member, path: Path, *, dataset: str = "DEV", label: str = "run") -> Submission:
    """Submit a file as a team does, in one transaction."""
    stored = office.files.take(path)
    declared = Declared("CLIR", label, language="1A", queryset="QUERY1", dataset=(dataset,))
    with office.writing() as session:
        return accept(session, office, member.actor, member.team, declared, stored)
