"""Public questions and answers: who asked is known to organisers alone (P-34)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.model.viewer import Viewer
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import organisers, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import Question

LONGEST = 4000
MOST_OPEN = 20
"""Questions of one person that may wait for an answer."""


def ask_question(session: Session, office: Office, actor: Actor, campaign_id: str, text: str) -> Question:
    """Ask the organisers; the question is shown to others once it is answered."""
    find_person(session, actor.id)
    _check_text(text)
    waiting = select(Question.id).where(Question.by == actor.id, Question.answered.is_(None))
    if len(session.scalars(waiting).all()) >= MOST_OPEN:
        raise refused("P-34", f"{MOST_OPEN} of your questions wait already", "wait for an answer", status=429)
    now = office.clock()
    row = Question(campaign_id=campaign_id, text=text, by=actor.id, at=now)
    session.add(row)
    session.flush()
    events.record(session, "question.asked", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id)
    words = {"question": row.id, "text": text}
    persons = organisers(session, campaign_id)
    tell(session, office, "question_asked", persons=persons, campaign_id=campaign_id, data=words, once=row.id)
    return row


def answer_question(
    session: Session, office: Office, actor: Actor, question_id: str, answer: str, *, shown: bool = True
) -> Question:
    """Answer, for everybody to read unless it concerns the asker alone; a later answer replaces the text."""
    row = session.get(Question, question_id)
    if row is None:
        raise missing("question")
    require_organiser(session, actor, row.campaign_id)
    _check_text(answer)
    now = office.clock()
    row.answer, row.answered, row.answered_by, row.shown = answer, now, actor.id, shown
    events.record(session, "question.answered", at=now, actor=actor.id, subject=row.id, campaign_id=row.campaign_id)
    words = {"question": row.id}
    tell(session, office, "question_answered", persons=[row.by], campaign_id=row.campaign_id, data=words, once=row.id)
    return row


def questions(session: Session, campaign_id: str, viewer: Viewer) -> tuple[Question, ...]:
    """What a viewer may read: what is public, the own ones, and for organisers all; the newest first."""
    query = select(Question).where(Question.campaign_id == campaign_id).order_by(Question.at.desc(), Question.id)
    mine = viewer.person
    return tuple(row for row in session.scalars(query) if viewer.staff or row.shown or (mine and row.by == mine))


def _check_text(text: str) -> None:
    if not 0 < len(text.strip()) <= LONGEST:
        raise refused("P-34", "the text is missing or too long", f"write 1 to {LONGEST} characters", status=422)
