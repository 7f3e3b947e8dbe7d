"""Mails to people by role and status: first a preview with who would get what, then exactly that is sent (P-34)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.notices.rendering import filled
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.saying.announcements import check_words
from basanite.campaign.people.saying.audiences import people_of
from basanite.campaign.store import events


@dataclass(frozen=True)
class Preview:
    """What would be sent to whom; `key` stands for exactly this."""

    audience: str
    persons: tuple[str, ...]
    subject: str
    body: str
    key: str


def preview(
    session: Session, office: Office, actor: Actor, campaign_id: str, *, audience: str, title: str, text: str
) -> Preview:
    """The mail and its receivers at this moment; nothing is sent."""
    require_organiser(session, actor, campaign_id)
    check_words(title, text, audience)
    persons = people_of(session, campaign_id, audience)
    subject, body = filled(session, office, "to_role", {"title": title, "text": text}, campaign_id)
    parts = "\0".join((campaign_id, audience, title, text, *persons))
    return Preview(audience, persons, subject, body, hashlib.sha256(parts.encode()).hexdigest())


def send_previewed(
    session: Session, office: Office, actor: Actor, campaign_id: str, *, audience: str, title: str, text: str, key: str
) -> Preview:
    """Send what was previewed; refused if words or receivers changed since. The same mail goes out once only."""
    seen = preview(session, office, actor, campaign_id, audience=audience, title=title, text=text)
    if seen.key != key:
        raise refused(
            "P-34", "the mail or its receivers changed since the preview", "look at the preview again", status=409
        )
    words = {"title": title, "text": text}
    tell(session, office, "to_role", persons=seen.persons, campaign_id=campaign_id, data=words, once=key)
    data = {"audience": audience, "receivers": len(seen.persons)}
    events.record(
        session, "mail.sent", at=office.clock(), actor=actor.id, subject=key[:20], campaign_id=campaign_id, data=data
    )
    return seen
