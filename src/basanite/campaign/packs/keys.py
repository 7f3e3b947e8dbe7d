"""The key of an encrypted pack: in the vault until its minute, and then for everybody who may have the pack (M89).

One function reads the key for the outside, and it asks the clock first. Publishing is also an event in the log, so
that what was out, and since when, can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Pack
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.packs.files import VAULT, secret_name
from basanite.campaign.store import events
from basanite.campaign.store.tables import CampaignRow, Event

PUBLISHED = "pack.key_published"


@dataclass(frozen=True)
class PackKey:
    """A published key: what `basanite decrypt --key` takes."""

    pack: str
    key: str
    """64 hex digits."""
    since: datetime


def is_out(pack: Pack, now: datetime) -> bool:
    """Whether the key of a pack is published: from its minute on, not a moment earlier."""
    return pack.key_at is not None and now >= pack.key_at.utc


def published_key(session: Session, office: Office, campaign_id: str, pack: Pack) -> PackKey:
    """The key of a pack whose minute has come; refused before, whoever asks (M89)."""
    if pack.key_at is None:
        raise refused("M89", f"{pack.id} is not encrypted", "download its files and use them", status=404)
    if not is_out(pack, campaign_time(session, office, campaign_id)):
        when = f"{pack.key_at.utc:%Y-%m-%d %H:%M} UTC"
        fix = f"come back at {when}"
        raise refused("M89", f"the key of {pack.id} is not out yet", fix, status=403, retry_at=pack.key_at.utc)
    try:
        key = office.vault.read(VAULT, secret_name(campaign_id, pack.id))
    except FileNotFoundError:
        raise refused("M89", f"{pack.id} has no file yet, and so no key", "wait for its release", status=404) from None
    return PackKey(pack.id, key.hex(), pack.key_at.utc)


def published_keys(session: Session, office: Office, campaign_id: str, campaign: Campaign) -> tuple[PackKey, ...]:
    """The keys of all packs whose minute has come."""
    now = campaign_time(session, office, campaign_id)
    out = [pack for pack in campaign.packs if is_out(pack, now)]
    made = set(office.vault.names(VAULT))
    return tuple(
        published_key(session, office, campaign_id, pack) for pack in out if secret_name(campaign_id, pack.id) in made
    )


def note_published(
    session: Session, office: Office, campaign_id: str, campaign: Campaign, actor: Actor = SYSTEM
) -> tuple[str, ...]:
    """Write into the log which keys came out since the last time; call it now and then. Gives their packs."""
    known = select(Event.subject).where(Event.campaign_id == campaign_id, Event.kind == PUBLISHED)
    noted = set(session.scalars(known))
    fresh = [key for key in published_keys(session, office, campaign_id, campaign) if key.pack not in noted]
    for key in fresh:
        data = {"since": key.since.isoformat()}
        events.record(
            session, PUBLISHED, at=office.clock(), actor=actor.id, subject=key.pack, campaign_id=campaign_id, data=data
        )
    return tuple(key.pack for key in fresh)


def campaign_time(session: Session, office: Office, campaign_id: str) -> datetime:
    """The time as a campaign has it: rehearsals and demonstrations play in the past."""
    return office.clock() + timedelta(seconds=session.get_one(CampaignRow, campaign_id).clock_offset)
