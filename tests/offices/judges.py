"""Many judges at once on a real server, for load and for tests: every answer is sent, some twice, and counted after."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpx2
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.office import COMMAND, Office
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.store.tables import Assignment, Judgement
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, setup
from basanite.server.accounts.tokens import NewToken, make_token
from basanite.work.items import Block, Item, item_of

SCHEME = """format = "basanite-judging/1"
name = "many"
preset = "key-query"
per_item = {per_item}
break_every = 0
"""
PATIENCE = 600.0
PAUSES = (0.2, 1.0, 3.0, 9.0)
"""Seconds to the next try when a line breaks."""
TWICE = 4
"""One answer in so many is sent twice at the same moment, as by two tabs or after a broken line."""


@dataclass(frozen=True)
class Crew:
    """A panel that is open, and a token for each of its judges."""

    slug: str
    panel_id: str
    panel: str
    tokens: tuple[str, ...]
    wanted: int
    """How many judgements there will be."""


@dataclass(frozen=True)
class Seen:
    """What the judges saw."""

    stored: int
    repeated: int
    """Replies that said that the answer was there already."""
    failed: int
    ended: int
    """Judges who came to the end of their work."""
    calls: int
    """Replies that came back to them."""


@dataclass(frozen=True)
class Stored:
    """What the database says afterwards."""

    judgements: int
    assignments: int
    """Different assignments that they are on: as many, if each was stored exactly once."""
    open: int
    """Assignments without a judgement."""
    wrong: int
    """Judgements that are not what their judge said."""


def crew(office: Office, campaign_id: str, slug: str, *, judges: int, items: int, per_item: int) -> Crew:
    """Enrol so many judges on a new panel and open it."""
    with office.writing() as session:
        panel = setup.create(
            session, office, COMMAND, campaign_id, setup.NewPanel(SCHEME.format(per_item=per_item), name="many")
        )
        setup.add_items(session, office, COMMAND, panel.id, _items(items))
        tokens = [_judge(session, office, panel.id, number) for number in range(judges)]
        setup.open_panel(session, office, COMMAND, panel.id)
    return Crew(slug, panel.id, "many", tuple(tokens), items * per_item)


def _judge(session: Session, office: Office, panel_id: str, number: int) -> str:
    person = add_person(session, office, Newcomer(name=f"Judge {number}", mail=f"judge{number}@people.example")).id
    enrolment.enrol(session, office, COMMAND, panel_id, person)
    scopes = ("read", "submit")
    return make_token(session, office, COMMAND, NewToken(person_id=person, label="judging", scopes=scopes)).text


def _items(count: int) -> Iterable[Item]:
    for number in range(count):
        blocks = [Block("query", f"query {number}"), Block("document", f"Document {number} is about it.")]
        yield item_of(blocks, {"query": f"q{number}", "document": f"d{number}"}, new_id=random_id)


def judge_all(address: str, made: Crew, *, seconds: float | None = None) -> Seen:
    """All judges at once, from consent to the last item; given up with a TimeoutError after so many seconds."""
    return asyncio.run(asyncio.wait_for(_all(address, made), seconds))


async def _all(address: str, made: Crew) -> Seen:
    """Everybody comes on a line of their own, as browsers do; one client for all would look through all its lines."""
    lock = ssl.create_default_context()  # read once: a client of its own accord reads all authorities again
    seen = await asyncio.gather(*(_one(address, lock, made, token) for token in made.tokens))
    return Seen(*(sum(column) for column in zip(*seen, strict=True)))


async def _one(address: str, lock: ssl.SSLContext, made: Crew, token: str) -> tuple[int, ...]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=address, timeout=PATIENCE, verify=lock, headers=headers) as client:
        return await _day(client, f"/api/v1/campaigns/{made.slug}/panels/{made.panel}")


async def _day(client: httpx2.AsyncClient, base: str) -> tuple[int, ...]:
    """One judge's whole day."""
    found = (await _again(client.get, f"{base}/desk")).json()
    await _again(client.post, f"{base}/consent", json={"version": found["consent_version"]})
    found = (await _again(client.post, f"{base}/declaration", json={})).json()
    stored = repeated = failed = 0
    calls = 3
    while found["stage"] == "item":
        replies = await _send_answer(client, base, found["assignment"])
        good = [reply.json() for reply in replies if reply.status_code == 200]
        stored += sum(not one["repeated"] for one in good)
        repeated += sum(one["repeated"] for one in good)
        failed += len(replies) - len(good)
        calls += len(replies) + 1
        if not good:
            break
        found = (await _again(client.get, f"{base}/desk")).json()
    return stored, repeated, failed, int(found["stage"] == "done"), calls


async def _send_answer(client: httpx2.AsyncClient, base: str, assignment: str) -> list[httpx2.Response]:
    said = {"assignment": assignment, "answers": {"relevant": mark_of(assignment)}, "key": assignment, "seconds": 1}
    times = 2 if _dice(assignment) % TWICE == 0 else 1
    send = (_again(client.post, f"{base}/answers", json=said) for _ in range(times))
    return await asyncio.gather(*send)


async def _again(send: Callable[..., Awaitable[httpx2.Response]], address: str, **given: Any) -> httpx2.Response:
    """Send until something comes back, as the judge's page does: a thousand at one moment meet broken lines."""
    for pause in PAUSES:
        try:
            return await send(address, **given)
        except httpx2.TransportError:
            await asyncio.sleep(pause)
    return await send(address, **given)


def _dice(assignment: str) -> int:
    return hashlib.sha256(assignment.encode()).digest()[0]


def mark_of(assignment: str) -> str:
    """What is said of an item, so that it can be told afterwards whether it was stored right."""
    return "YN"[_dice(assignment) // TWICE % 2]


def count_stored(office: Office, made: Crew) -> Stored:
    """Count what the database holds, not what was replied."""
    with office.reading() as session:
        rows = session.execute(
            select(Judgement.assignment_id, Judgement.answers).where(Judgement.panel_id == made.panel_id)
        ).all()
        left = select(func.count()).select_from(Assignment)
        open_ones = session.scalar(left.where(Assignment.panel_id == made.panel_id, Assignment.state == "planned"))
    wrong = sum(answers != {"relevant": mark_of(assignment)} for assignment, answers in rows)
    return Stored(len(rows), len({assignment for assignment, _ in rows}), open_ones or 0, wrong)
