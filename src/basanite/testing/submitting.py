"""A process that submits through the server until so many submissions are there, whatever is killed meanwhile."""

from __future__ import annotations

import base64
import hashlib
import random
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import func, select

from basanite.campaign.office import COMMAND, Office
from basanite.campaign.settings import Settings
from basanite.campaign.store.tables import Submission
from basanite.server.tokens import make_token
from basanite.testing.crowd import Crowd

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


def planned(office: Office, address: str, teams: Crowd, files: Iterable[Path], *, count: int, pause: float) -> Plan:
    """A plan for these teams, with a token for each of their PIs."""
    with office.writing() as session:
        made = [make_token(session, office, COMMAND, person_id=one.person, label="load") for one in teams.members]
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
    """A client of the server for whoever has a token."""
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
