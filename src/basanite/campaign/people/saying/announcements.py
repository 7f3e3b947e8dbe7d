"""Announcements: said once to everybody or to a role, shown until read, and mailed (P-34)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, problem
from basanite.campaign.model.viewer import Viewer
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import lock_person
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.saying.audiences import AUDIENCES, belongs, people_of
from basanite.campaign.store import events
from basanite.campaign.store.tables import Announcement, ReadMark

LONGEST_TITLE = 150
LONGEST_TEXT = 4000


@dataclass(frozen=True)
class Said:
    """An announcement as one person sees it."""

    row: Announcement
    read: bool


def announce(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    *,
    title: str,
    text: str,
    audience: str = "everybody",
    by_mail: bool = True,
) -> Announcement:
    """Say something to an audience."""
    require_organiser(session, actor, campaign_id)
    check_words(title, text, audience)
    now = office.clock()
    row = Announcement(campaign_id=campaign_id, title=title, text=text, audience=audience, by=actor.id, at=now)
    session.add(row)
    session.flush()
    events.record(session, "announcement.made", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id)
    persons = people_of(session, campaign_id, audience) if by_mail else ()
    words = {"announcement": row.id, "title": title, "text": text}
    tell(session, office, "announced", persons=persons, campaign_id=campaign_id, data=words, once=row.id)
    return row


def announcements(session: Session, campaign_id: str, viewer: Viewer) -> tuple[Said, ...]:
    """What was said to this person, the newest first, and whether it was read."""
    query = select(Announcement).where(Announcement.campaign_id == campaign_id)
    rows = session.scalars(query.order_by(Announcement.at.desc(), Announcement.id))
    marks = select(ReadMark.announcement_id).where(ReadMark.person_id == viewer.person)
    read = set(session.scalars(marks)) if viewer.person else set()
    return tuple(Said(row, row.id in read) for row in rows if belongs(viewer, row.audience))


def unread(session: Session, campaign_id: str, viewer: Viewer) -> int:
    """How many announcements a person has yet to read."""
    return sum(not said.read for said in announcements(session, campaign_id, viewer)) if viewer.person else 0


def mark_read(session: Session, office: Office, viewer: Viewer, announcement_id: str) -> None:
    """A person has read an announcement; reading it again changes nothing."""
    row = session.get(Announcement, announcement_id)
    if row is None or viewer.person is None or not belongs(viewer, row.audience):
        raise missing("announcement")
    lock_person(session, viewer.person)
    if session.get(ReadMark, (row.id, viewer.person)) is None:
        session.add(ReadMark(announcement_id=row.id, person_id=viewer.person, at=office.clock()))
        session.flush()


def check_words(title: str, text: str, audience: str) -> None:
    """Refuse empty or endless words, and an audience that does not exist."""
    found = []
    if not 0 < len(title.strip()) <= LONGEST_TITLE or any(not char.isprintable() for char in title):
        found.append(
            problem("P-34", "the title is missing, too long or not one line", f"write 1 to {LONGEST_TITLE} characters")
        )
    if not 0 < len(text.strip()) <= LONGEST_TEXT:
        found.append(problem("P-34", "the text is missing or too long", f"write 1 to {LONGEST_TEXT} characters"))
    if audience not in AUDIENCES:
        found.append(problem("P-34", f"there is no audience {audience!r}", f"one of: {', '.join(AUDIENCES)}"))
    if found:
        raise RefusedError(found, status=422)
