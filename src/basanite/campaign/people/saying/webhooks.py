"""Webhooks: set by organisers, each with a secret of its own that is shown once (X-10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, problem
from basanite.campaign.notices.addresses import RefusedAddressError, checked_url
from basanite.campaign.notices.catalogue import webhook_kinds
from basanite.campaign.notices.posting import HOOK_KEYS
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import Webhook

MOST = 10
"""Webhooks of one campaign."""


@dataclass(frozen=True)
class MadeWebhook:
    """A new webhook; its secret is shown this once."""

    id: str
    secret: str = field(repr=False)
    """In hex; calls are signed with its bytes."""


def add_webhook(
    session: Session, office: Office, actor: Actor, campaign_id: str, *, url: str, kinds: Iterable[str]
) -> MadeWebhook:
    """Have a program called when something of these kinds happens."""
    require_organiser(session, actor, campaign_id)
    wanted = sorted(set(kinds))
    _check(session, office, campaign_id, url, wanted)
    now = office.clock()
    row = Webhook(campaign_id=campaign_id, url=url, kinds=wanted, made=now, made_by=actor.id)
    session.add(row)
    session.flush()
    secret = office.vault.secret(HOOK_KEYS, row.id)
    data = {"kinds": wanted}
    events.record(session, "webhook.added", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data)
    return MadeWebhook(row.id, secret.hex())


def webhooks(session: Session, actor: Actor, campaign_id: str) -> tuple[Webhook, ...]:
    """The webhooks of a campaign, for organisers."""
    require_organiser(session, actor, campaign_id)
    query = select(Webhook).where(Webhook.campaign_id == campaign_id, Webhook.ended.is_(None))
    return tuple(session.scalars(query.order_by(Webhook.made, Webhook.id)))


def end_webhook(session: Session, office: Office, actor: Actor, webhook_id: str) -> None:
    """Call it no more; its secret is destroyed."""
    row = session.get(Webhook, webhook_id)
    if row is None or row.ended is not None:
        raise missing("webhook")
    require_organiser(session, actor, row.campaign_id)
    row.ended = office.clock()
    office.vault.destroy(HOOK_KEYS, row.id)
    events.record(session, "webhook.ended", at=row.ended, actor=actor.id, subject=row.id, campaign_id=row.campaign_id)


def _check(session: Session, office: Office, campaign_id: str, url: str, kinds: list[str]) -> None:
    found = []
    try:
        checked_url(url, loopback=office.settings.loopback_webhooks)
    except RefusedAddressError as error:
        found.append(problem("X-10", str(error), "write an address like https://example.org/hook"))
    unknown = [kind for kind in kinds if kind not in webhook_kinds()]
    if unknown or not kinds:
        named = ", ".join(unknown) or "nothing"
        found.append(problem("X-10", f"no webhook can ask for {named}", f"among: {', '.join(webhook_kinds())}"))
    in_use = select(Webhook.id).where(Webhook.campaign_id == campaign_id, Webhook.ended.is_(None))
    if len(session.scalars(in_use).all()) >= MOST:
        found.append(problem("X-10", f"the campaign has {MOST} webhooks", "end one that is not needed"))
    if found:
        raise RefusedError(found, status=422)
