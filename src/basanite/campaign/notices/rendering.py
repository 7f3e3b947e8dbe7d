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
from basanite.campaign.store.plans import InForce, named
from basanite.campaign.store.tables import Message, Person, Submission, Team
from basanite.problems import visible

SIGNED = "-- \nThis is an automated mail. Nobody reads replies to it."
LONGEST_SUBJECT = 200
LINKS = "/links/"
PASSWORD = "\n\nYou have no password yet. Choose one with this link within 7 days:\n"
NAMES = {
    "role": {"evaluation": "organizer"},
    "act": {
        "release": "release results",
        "reference": "replace a reference",
        "void": "disqualify a run",
        "role": "grant a role",
    },
    "standing": {"baseline": "a baseline", "admitted": "admitted to the ranking although it was late"},
}
"""What people read in place of a name that programs use."""


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
    plan = None if campaign_id is None else named(session, campaign_id)
    words = {key: _word(session, office, plan, key, str(value)) for key, value in data.items()}
    title, slug = (plan.campaign.title, plan.row.slug) if plan else ("this server", "")
    page = office.address + kind.path(slug, data)
    words |= {"campaign": title, "slug": slug, "address": office.address, "page": page}
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


def _word(session: Session, office: Office, plan: InForce | None, key: str, value: str) -> str:
    """What stands for an id in the text."""
    if key in ("link", "password"):
        link = office.address + LINKS + link_secret(office.vault, value) if value else ""
        return PASSWORD + link if link and key == "password" else link
    if key == "window" and plan is not None:
        return next((one.title for one in plan.campaign.windows if one.id == value), value)
    if key == "submission":
        return session.scalar(select(Submission.label).where(Submission.id == value)) or value
    if key.endswith("_person"):
        person = session.get(Person, value)
        return value if person is None else unseal(office.vault, person).name or "somebody"
    if key == "team" or key.endswith("_team"):
        return session.scalar(select(Team.name).where(Team.id == value)) or value
    return NAMES.get(key, {}).get(value, value)
