"""Telling somebody something: a message is written in the transaction that causes it, and a worker sends it (P-10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.notices.catalogue import template_named
from basanite.campaign.office import Office
from basanite.campaign.store.database import inserting
from basanite.campaign.store.tables import Message, Webhook
from basanite.campaign.store.tables.base import random_id


def tell(
    session: Session,
    office: Office,
    template: str,
    *,
    persons: Iterable[str],
    campaign_id: str | None = None,
    data: Mapping[str, Any] | None = None,
    once: str | None = None,
) -> int:
    """Write one mail to each person, and one call to each webhook of the campaign that asked for this kind.

    `data` holds ids and words, never a score, a name or an address; `once` says what it is about, so that a step that
    is repeated tells it to nobody twice. Answers how many messages are new.
    """
    kind, now = template_named(template), office.clock()
    content = {
        "template": kind.name,
        "campaign_id": campaign_id,
        "data": kind.checked(data or {}),
        "made": now,
        "due": now,
    }
    mails = [{"kind": "mail", "person_id": person, **content} for person in dict.fromkeys(persons)]
    calls = [{"kind": "webhook", "webhook_id": hook, **content} for hook in _hooks(session, campaign_id, kind.name)]
    return sum(_written(session, message, once) for message in mails + calls)


def _hooks(session: Session, campaign_id: str | None, template: str) -> list[str]:
    query = select(Webhook).where(Webhook.campaign_id == campaign_id, Webhook.ended.is_(None)).order_by(Webhook.id)
    return [hook.id for hook in session.scalars(query) if template in hook.kinds]


def _written(session: Session, message: dict[str, Any], once: str | None) -> int:
    """1 if it is new. The unique column decides, so that of two at the same moment only one is kept."""
    receiver = message.get("person_id") or message.get("webhook_id")
    key = None if once is None else f"{message['template']}:{once}:{receiver}"
    fresh = inserting(session, Message).values(id=random_id(), state="waiting", tries=0, error="", once=key, **message)
    return len(session.execute(fresh.on_conflict_do_nothing().returning(Message.id)).all())
