"""From a message's ids and words to what a person reads; names and links are looked up now and kept nowhere (P-21)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template as Words

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.notices.catalogue import template_named
from basanite.campaign.office import Office
from basanite.campaign.store.link_secrets import link_secret
from basanite.campaign.store.personal import unseal
from basanite.campaign.store.tables import CampaignRow, Message, Person, Team
from basanite.problems import visible

SIGNED = "-- \nThis mail was sent by a program; nobody reads answers to it."
LONGEST_SUBJECT = 200
LINKS = "/links/"


@dataclass(frozen=True)
class Letter:
    """A mail as it is read."""

    to: str
    subject: str
    body: str


def letter(session: Session, office: Office, message: Message) -> Letter | None:
    """The mail of a message; None if its person was erased or has no address."""
    person = session.get(Person, message.person_id)
    known = None if person is None else unseal(office.vault, person)
    if known is None or not known.mail:
        return None
    subject, text = filled(session, office, message.template, message.data, message.campaign_id)
    greeting = f"Hello {one_line(known.name)}," if known.name else "Hello,"
    return Letter(known.mail, subject, f"{greeting}\n\n{text}\n\n{SIGNED}\n")


def filled(
    session: Session, office: Office, template: str, data: Mapping[str, str | int], campaign_id: str | None
) -> tuple[str, str]:
    """Subject and text with everything filled in; strangers' words are harmless in both (X-14)."""
    kind = template_named(template)
    words = {key: _word(session, office, key, str(value)) for key, value in data.items()}
    words |= {"campaign": _campaign(session, campaign_id), "address": office.settings.address}
    lines = {key: one_line(value) for key, value in words.items()}
    paragraphs = {key: several_lines(value) for key, value in words.items()}
    subject = Words(kind.subject).safe_substitute(lines)[:LONGEST_SUBJECT]
    return subject, Words(kind.body).safe_substitute(paragraphs)


def one_line(text: str) -> str:
    """A word for a header or a greeting: whatever could break a line or turn the writing is shown escaped.

    >>> one_line("Ada" + chr(10) + "Bcc: x@example.org")
    'Ada\\\\nBcc: x@example.org'
    """
    return visible(text)


def several_lines(text: str) -> str:
    """Words of a body: lines stay lines, and everything else that cannot be seen is shown escaped."""
    return "\n".join(visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def _word(session: Session, office: Office, key: str, value: str) -> str:
    """What stands for an id in the text."""
    if key == "link":
        return office.settings.address.rstrip("/") + LINKS + link_secret(office.vault, value)
    if key.endswith("_person"):
        person = session.get(Person, value)
        return value if person is None else unseal(office.vault, person).name or "somebody"
    if key == "team" or key.endswith("_team"):
        return session.scalar(select(Team.name).where(Team.id == value)) or value
    return value


def _campaign(session: Session, campaign_id: str | None) -> str:
    row = None if campaign_id is None else session.get(CampaignRow, campaign_id)
    return "this server" if row is None else row.slug
