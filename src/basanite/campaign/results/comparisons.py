"""Comparisons that boards and ladders wait for, as orders for a job; one that is asked for twice is made once.

One that failed, for its reference could not be read or the disk was full, is asked for again on the next day, or when
an organiser says so; each of them is a few tries of a child, so nothing runs without end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.jobs.queue import enqueue
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import Event

ASKED: Final = "comparison.asked"
MOST_TURNS: Final = 10
"""How often on one day organisers may ask again."""


@dataclass(frozen=True)
class Order:
    """What the job `compare` takes."""

    key: str
    """The key of all results that go in; what comes out is stored under it."""
    campaign_id: str
    window: str
    purpose: str
    subject: Mapping[str, Any]


def ask(session: Session, office: Office, orders: Iterable[Order], *, turn: int = 0, team: str | None = None) -> int:
    """Ask for comparisons in the caller's transaction, each once a day and turn; says how many."""
    listed = list(orders)
    for order in listed:
        key = f"compare:{order.key}:{office.clock():%Y-%m-%d}" + (f":{turn}" if turn else "")
        enqueue(session, office, "compare", key, whose=team, **asdict(order))
    return len(listed)


def ask_again(session: Session, office: Office, actor: Actor, campaign_id: str, orders: Iterable[Order]) -> int:
    """An organiser asks for what is still missing, say after the disk was full; so many times a day."""
    require_organiser(session, actor, campaign_id)
    day = office.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    asked = select(func.count()).where(Event.kind == ASKED, Event.campaign_id == campaign_id, Event.at >= day)
    turn = (session.scalar(asked) or 0) + 1
    if turn > MOST_TURNS:
        message = f"comparisons were asked for again {MOST_TURNS} times today"
        raise refused("M78", message, "look into the worker's log for what stands in the way", status=429)
    events.record(session, ASKED, at=office.clock(), actor=actor.id, subject=campaign_id, campaign_id=campaign_id)
    return ask(session, office, (order for order in orders if order.campaign_id == campaign_id), turn=turn)
