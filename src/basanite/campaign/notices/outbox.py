"""Telling somebody something: a message is written in the transaction that causes it, and a worker sends it (P-10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.notices.messages import UndeliverableError, compose, deliver, letter, one_line, template_named
from basanite.campaign.notices.webhook_calls import Call, Resolver, call, headers_of, payload, system_resolver
from basanite.campaign.notices.webhook_forms import OWN, Line, room_payload
from basanite.campaign.office import Office
from basanite.campaign.store.database import inserting
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import CampaignRow, Message, Webhook
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
    # Seven arguments: they are what a message consists of, and every caller names them.
    kind, now = template_named(template), office.clock()
    content = {
        "template": kind.name,
        "campaign_id": campaign_id,
        "data": kind.check_data(data or {}),
        "made": now,
        "due": now,
    }
    query = select(Webhook).where(Webhook.campaign_id == campaign_id, Webhook.ended.is_(None)).order_by(Webhook.id)
    hooks = [hook.id for hook in session.scalars(query) if kind.name in hook.kinds]
    mails = [{"kind": "mail", "person_id": person, **content} for person in dict.fromkeys(persons)]
    calls = [{"kind": "webhook", "webhook_id": hook, **content} for hook in hooks]
    return sum(_insert_message(session, message, once) for message in mails + calls)


def _insert_message(session: Session, message: dict[str, Any], once: str | None) -> int:
    """1 if it is new. The unique column decides, so that of two at the same moment only one is kept."""
    receiver = message.get("person_id") or message.get("webhook_id")
    key = None if once is None else f"{message['template']}:{once}:{receiver}"
    fresh = inserting(session, Message).values(id=random_id(), state="waiting", tries=0, error="", once=key, **message)
    return len(session.execute(fresh.on_conflict_do_nothing().returning(Message.id)).all())


MOST_TRIES = 6
FIRST_PAUSE = timedelta(minutes=1)
GROWTH = 4
"""Pauses of 1, 4, 16, 64 and 256 minutes: a mail server may be away for some hours."""
HOOK_KEYS = "webhook"
"""The kind of webhooks' secrets in the vault."""


@dataclass(frozen=True)
class Posted:
    """What one round of the post did."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0


def send_due(office: Office, *, most: int = 100, resolve: Resolver = system_resolver) -> Posted:
    """Send what is due, oldest first; one message after the other, each in transactions of its own."""
    outcomes = [_send(office, message_id, resolve) for message_id in _due(office, most)]
    return Posted(*(outcomes.count(outcome) for outcome in ("sent", "waiting", "given up")))


def pause_after(tries: int) -> timedelta:
    """How long to wait before the next try.

    >>> [int(pause_after(tries).total_seconds() / 60) for tries in (1, 2, 3)]
    [1, 4, 16]
    """
    growth: int = GROWTH ** max(tries - 1, 0)
    return FIRST_PAUSE * growth


def _due(office: Office, most: int) -> list[str]:
    query = select(Message.id).where(Message.state == "waiting", Message.due <= office.clock())
    with office.reading() as session:
        return list(session.scalars(query.order_by(Message.due, Message.id).limit(most)))


def _send(office: Office, message_id: str, resolve: Resolver) -> str:
    if not _claim(office, message_id):
        return "taken by another"
    try:
        with office.reading() as session:
            work = _prepare(session, office, session.get_one(Message, message_id), resolve)
        work()
    except UndeliverableError as error:
        return _settle(office, message_id, str(error), final=error.final)
    return _settle(office, message_id, "", final=True)


def _claim(office: Office, message_id: str) -> bool:
    """Whether this message is ours now: anyone who moves its next try on first has it."""
    now = office.clock()
    with office.writing() as session:
        message = session.get(Message, message_id, with_for_update=True, populate_existing=True)
        if message is None or message.state != "waiting" or message.due > now:
            return False
        message.tries += 1
        message.due = now + pause_after(message.tries)
        return True


def _prepare(session: Session, office: Office, message: Message, resolve: Resolver) -> Callable[[], None]:
    """What is to be done to send a message, with everything looked up: no transaction waits for the network."""
    if message.kind == "webhook":
        request = _call(session, office, message)
        return lambda: call(request, resolve=resolve, loopback=office.settings.loopback_webhooks)
    written = letter(session, office, message)
    if written is None:
        raise UndeliverableError("the person no longer exists", final=True)
    mail = compose(written, sender=office.settings.mail.sender, message_id=message.id, at=message.made)
    return lambda: deliver(office.settings, mail, message_id=message.id)


def _call(session: Session, office: Office, message: Message) -> Call:
    hook = session.get(Webhook, message.webhook_id)
    campaign = session.get(CampaignRow, message.campaign_id)
    if hook is None or hook.ended is not None or campaign is None:
        raise UndeliverableError("the webhook was removed", final=True)
    body = _body(session, office, message, hook.form, campaign)
    secret = office.vault.secret(HOOK_KEYS, hook.id)
    return Call(hook.url, body, headers_of(secret, body, message_id=message.id, at=office.clock()))


def _body(session: Session, office: Office, message: Message, form: str, campaign: CampaignRow) -> bytes:
    """What a webhook is told, in its form."""
    template = template_named(message.template)
    if form == OWN:
        subject = str(message.data.get(template.id, ""))
        return payload(
            message.template, message_id=message.id, campaign=campaign.slug, subject=subject, at=message.made
        )
    path = template.path(campaign.slug, message.data) if template.page else f"/campaigns/{campaign.slug}"
    title = one_line(in_force(session, campaign.id).campaign.title)
    return room_payload(form, Line(title, template.event, f"{office.address}{path}"))


def _settle(office: Office, message_id: str, error: str, *, final: bool) -> str:
    """Write down how it went: sent, to be tried again, or given up."""
    with office.writing() as session:
        message = session.get_one(Message, message_id)
        message.error = error
        if not error:
            message.state, message.sent = "sent", office.clock()
        elif final or message.tries >= MOST_TRIES:
            message.state = "given up"
        return message.state
