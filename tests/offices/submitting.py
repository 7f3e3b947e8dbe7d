"""Many teams in a season that is open now, and a process that submits for them until enough submissions are there.

No quota stops them, and the clock is real; for tests of faults and load.
"""

from __future__ import annotations

import base64
import hashlib
import io
import random
import tarfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions.references import Material, NewVersion, Place, add
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.people.agreements import accept_rules, unaccepted_rules
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.teams import NewTeam, create_team
from basanite.campaign.settings import Settings
from basanite.campaign.store.tables import Reference, Submission
from basanite.server.accounts.tokens import NewToken, make_token
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
    person = add_person(session, office, Newcomer(name=f"Pia {number}", mail=f"pi{number}@people.example")).id
    team = create_team(session, office, COMMAND, campaign_id, NewTeam(name=f"Team{number}"), pi=person).id
    for rules in unaccepted_rules(session, campaign_id, person):
        accept_rules(session, office, Actor(person), campaign_id, rules.id, rules.version)
    return Member(team, person)


def open_task(session: Session, office: Office, campaign_id: str, key: Path, dataset: str) -> Reference:
    """Add the reference of the retrieval task on a pack, from a folder of key files or an archive of them."""
    digest = office.sealed.put(pack_folder(key) if key.is_dir() else key.read_bytes()).digest
    place = Place("CLIR", dataset, "1A", "QUERY1")
    return add(session, office, COMMAND, campaign_id, NewVersion(place, Material((digest,), names={digest: "key.tgz"})))


def pack_folder(folder: Path) -> bytes:
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
        return accept(session, office, member.actor, Arrival(member.team, declared, stored))


TUS = {"Tus-Resumable": "1.0.0"}
PIECE = {"Content-Type": "application/offset+octet-stream"}
PATIENCE = 30.0


@dataclass(frozen=True)
class Plan:
    """What is submitted: any of these files by any of these teams, with pauses."""

    settings: Settings
    address: str
    tokens: tuple[str, ...]
    files: tuple[Path, ...]
    count: int
    pause: float


def plan_load(office: Office, address: str, teams: Crowd, files: Iterable[Path], *, count: int, pause: float) -> Plan:
    """A plan for these teams, with a token for each of their PIs."""
    with office.writing() as session:
        made = [
            make_token(session, office, COMMAND, NewToken(person_id=one.person, label="load")) for one in teams.members
        ]
    return Plan(office.settings, address, tuple(token.text for token in made), tuple(files), count, pause)


def submit_all(plan: Plan, seed: int) -> None:
    """Submit by dice until there are enough; a broken line is a reason to go on."""
    office, dice = Office.open(plan.settings), random.Random(seed)
    while _there(office) < plan.count:
        said = {"campaign": "small", "task": "CLIR", "label": "run", "language": "1A", "queryset": "QUERY1"}
        said["dataset"] = dice.choice(("DEV", "EVAL1"))
        with suppress(httpx2.HTTPError), client_of(plan, dice.choice(plan.tokens)) as client:
            send(client, said, dice.choice(plan.files).read_bytes())
        time.sleep(dice.uniform(0, plan.pause))


def client_of(plan: Plan, token: str) -> httpx2.Client:
    """A client of the server for anyone who has a token."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=plan.address, headers=headers, timeout=PATIENCE)


def send(client: httpx2.Client, said: Mapping[str, str], content: bytes) -> str:
    """Send a file in two pieces, or the rest of one that was interrupted; gives the address of its submission."""
    _finish_open(client, content)
    words = {**said, "sha256": hashlib.sha256(content).hexdigest()}
    place = begin_upload(client, words, len(content))
    send_piece(client, place, 0, content[: len(content) // 2])
    return str(
        send_piece(client, place, len(content) // 2, content[len(content) // 2 :]).headers["basanite-submission"]
    )


def begin_upload(client: httpx2.Client, words: Mapping[str, str], size: int) -> str:
    """Say what is coming; gives the address to send it to."""
    metadata = ",".join(f"{name} {base64.b64encode(word.encode()).decode()}" for name, word in words.items())
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
    return str(client.post("/api/v1/uploads", headers=headers).raise_for_status().headers["location"])


def _finish_open(client: httpx2.Client, content: bytes) -> None:
    """Send the rest of what was interrupted; another file's upload is given up."""
    found = client.get("/api/v1/uploads", params={"campaign": "small"}).raise_for_status()
    for one in found.json()["uploads"]:
        if one["sha256"] == hashlib.sha256(content).hexdigest():
            send_piece(client, one["url"], one["offset"], content[one["offset"] :])
        else:
            client.delete(one["url"], headers=TUS).raise_for_status()


def send_piece(client: httpx2.Client, place: str, offset: int, content: bytes) -> Any:
    """Send a piece of a file from an offset on."""
    headers = {**TUS, **PIECE, "Upload-Offset": str(offset)}
    return client.patch(place, headers=headers, content=content).raise_for_status()


def _there(office: Office) -> int:
    with office.reading() as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0
