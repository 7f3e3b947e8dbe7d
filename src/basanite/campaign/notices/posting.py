"""The post: takes waiting messages, sends each, tries again later if that fails, and gives up after a bound (P-10).

A message is taken by moving its next try on in a transaction of its own, so that two workers never send it both. If a
worker dies after the mail server took a mail and before that is written down, the mail goes out once more with the same
Message-ID (and a webhook with the same id), by which receivers know it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.notices.addresses import Resolver, system_resolver
from basanite.campaign.notices.calling import Call, call, headers_of, payload
from basanite.campaign.notices.catalogue import template_named
from basanite.campaign.notices.mail import UndeliverableError, composed, deliver
from basanite.campaign.notices.rendering import letter
from basanite.campaign.office import Office
from basanite.campaign.store.tables import CampaignRow, Message, Webhook

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
    if not _taken(office, message_id):
        return "taken by another"
    try:
        with office.reading() as session:
            work = _prepared(session, office, session.get_one(Message, message_id), resolve)
        work()
    except UndeliverableError as error:
        return _settled(office, message_id, str(error), final=error.final)
    return _settled(office, message_id, "", final=True)


def _taken(office: Office, message_id: str) -> bool:
    """Whether this message is ours now: whoever moves its next try on first has it."""
    now = office.clock()
    with office.writing() as session:
        message = session.get(Message, message_id, with_for_update=True, populate_existing=True)
        if message is None or message.state != "waiting" or message.due > now:
            return False
        message.tries += 1
        message.due = now + pause_after(message.tries)
        return True


def _prepared(session: Session, office: Office, message: Message, resolve: Resolver) -> Callable[[], None]:
    """What is to be done to send a message, with everything looked up: no transaction waits for the network."""
    if message.kind == "webhook":
        request = _call(session, office, message)
        return lambda: call(request, resolve=resolve, loopback=office.settings.loopback_webhooks)
    written = letter(session, office, message)
    if written is None:
        raise UndeliverableError("the person is not there any more", final=True)
    mail = composed(written, sender=office.settings.mail.sender, message_id=message.id, at=message.made)
    return lambda: deliver(office.settings, mail, message_id=message.id)


def _call(session: Session, office: Office, message: Message) -> Call:
    hook = session.get(Webhook, message.webhook_id)
    campaign = session.get(CampaignRow, message.campaign_id)
    if hook is None or hook.ended is not None or campaign is None:
        raise UndeliverableError("the webhook was ended", final=True)
    subject = str(message.data.get(template_named(message.template).id, ""))
    body = payload(message.template, message_id=message.id, campaign=campaign.slug, subject=subject, at=message.made)
    secret = office.vault.secret(HOOK_KEYS, hook.id)
    return Call(hook.url, body, headers_of(secret, body, message_id=message.id, at=office.clock()))


def _settled(office: Office, message_id: str, error: str, *, final: bool) -> str:
    """Write down how it went: sent, to be tried again, or given up."""
    with office.writing() as session:
        message = session.get_one(Message, message_id)
        message.error = error
        if not error:
            message.state, message.sent = "sent", office.clock()
        elif final or message.tries >= MOST_TRIES:
            message.state = "given up"
        return message.state
