"""Announcements, questions and answers, mails to roles, and webhooks, each for an audience (P-34, X-10)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import JUDGING, Viewer
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.notices.messages import fill_template, webhook_kinds
from basanite.campaign.notices.outbox import HOOK_KEYS, tell
from basanite.campaign.notices.webhook_calls import RefusedAddressError, checked_url
from basanite.campaign.notices.webhook_forms import FORMS, OWN
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.agreements import unaccepted_rules
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import holders, lock_person, organisers, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import (
    Announcement,
    LeadRequest,
    Membership,
    Question,
    ReadMark,
    Submission,
    Team,
    Webhook,
)

Group = Callable[[Session, str], set[str]]


def _members(session: Session, campaign_id: str, *states: str, pi: bool = False) -> set[str]:
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    query = query.where(Team.campaign_id == campaign_id, Team.state == "active", Membership.state.in_(states))
    return set(session.scalars(query.where(Membership.role == "pi") if pi else query))


def _staff(session: Session, campaign_id: str) -> set[str]:
    return set(holders(session, campaign_id, ("evaluation",)))


def _judges(session: Session, campaign_id: str) -> set[str]:
    return set(holders(session, campaign_id, JUDGING))


def _no_submission(session: Session, campaign_id: str) -> set[str]:
    """PIs of teams that never submitted."""
    busy = select(Submission.team_id).where(Submission.campaign_id == campaign_id)
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    found = query.where(Team.campaign_id == campaign_id, Team.state == "active", Team.id.not_in(busy))
    return set(session.scalars(found.where(Membership.state == "active", Membership.role == "pi")))


def _rules_open(session: Session, campaign_id: str) -> set[str]:
    return {
        person for person in _members(session, campaign_id, "active") if unaccepted_rules(session, campaign_id, person)
    }


def _asking(session: Session, campaign_id: str) -> set[str]:
    query = select(LeadRequest.person_id).where(LeadRequest.campaign_id == campaign_id, LeadRequest.state == "asked")
    return set(session.scalars(query)) | _members(session, campaign_id, "asked")


def _everybody(session: Session, campaign_id: str) -> set[str]:
    groups: tuple[Group, ...] = (_staff, _judges, _team_members)
    return set().union(*(group(session, campaign_id) for group in groups))


def _team_members(session: Session, campaign_id: str) -> set[str]:
    return _members(session, campaign_id, "active")


def _pis(session: Session, campaign_id: str) -> set[str]:
    return _members(session, campaign_id, "active", pi=True)


AUDIENCES: dict[str, Group] = {
    "everybody": _everybody,
    "teams": _team_members,
    "pis": _pis,
    "judges": _judges,
    "evaluation": _staff,
    "asking": _asking,
    "rules-not-accepted": _rules_open,
    "without-submission": _no_submission,
}
"""Groups of people by role and status."""


def people_of(session: Session, campaign_id: str, audience: str) -> tuple[str, ...]:
    """The person ids of an audience at this moment."""
    return tuple(sorted(AUDIENCES[audience](session, campaign_id)))


def belongs(viewer: Viewer, audience: str) -> bool:
    """Whether a viewer may read what is said to an audience; organisers read everything.

    >>> belongs(Viewer("p", team="t"), "pis")
    False
    """
    if viewer.staff or audience == "everybody":
        return True
    groups = {"teams": viewer.team is not None, "pis": viewer.pi, "judges": bool(viewer.roles & JUDGING)}
    return groups.get(audience, False)


LONGEST_TITLE = 150
LONGEST_TEXT = 4000


@dataclass(frozen=True)
class SeenAnnouncement:
    """An announcement as one person sees it."""

    row: Announcement
    read: bool


@dataclass(frozen=True, slots=True)
class Letter:
    """Words to an audience."""

    title: str
    text: str
    audience: str = "everybody"


def announce(
    session: Session, office: Office, actor: Actor, campaign_id: str, letter: Letter, *, by_mail: bool = True
) -> Announcement:
    """Say something to an audience."""
    title, text, audience = letter.title, letter.text, letter.audience
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


def announcements(session: Session, campaign_id: str, viewer: Viewer) -> tuple[SeenAnnouncement, ...]:
    """What was said to this person, the newest first, and whether it was read."""
    query = select(Announcement).where(Announcement.campaign_id == campaign_id)
    rows = session.scalars(query.order_by(Announcement.at.desc(), Announcement.id))
    marks = select(ReadMark.announcement_id).where(ReadMark.person_id == viewer.person)
    read = set(session.scalars(marks)) if viewer.person else set()
    return tuple(SeenAnnouncement(row, row.id in read) for row in rows if belongs(viewer, row.audience))


def unread_count(session: Session, campaign_id: str, viewer: Viewer) -> int:
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
            problem(
                "P-34",
                "the title is missing, too long or longer than one line",
                f"write 1 to {LONGEST_TITLE} characters",
            )
        )
    if not 0 < len(text.strip()) <= LONGEST_TEXT:
        found.append(problem("P-34", "the text is missing or too long", f"write 1 to {LONGEST_TEXT} characters"))
    if audience not in AUDIENCES:
        found.append(problem("P-34", f"there is no audience {audience!r}", f"one of: {', '.join(AUDIENCES)}"))
    if found:
        raise RefusedError(found, status=422)


LONGEST_QUESTION = 4000
MOST_OPEN_QUESTIONS = 20
"""Questions of one person that may wait for an answer."""


def ask_question(session: Session, office: Office, actor: Actor, campaign_id: str, text: str) -> Question:
    """Ask the organisers; the question is shown to others once it is answered."""
    find_person(session, actor.id)
    _check_question(text)
    waiting = select(Question.id).where(Question.by == actor.id, Question.answered.is_(None))
    if len(session.scalars(waiting).all()) >= MOST_OPEN_QUESTIONS:
        raise refused(
            "P-34", f"{MOST_OPEN_QUESTIONS} of your questions are still waiting", "wait for an answer", status=429
        )
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
    _check_question(answer)
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


def _check_question(text: str) -> None:
    if not 0 < len(text.strip()) <= LONGEST_QUESTION:
        raise refused(
            "P-34", "the text is missing or too long", f"write 1 to {LONGEST_QUESTION} characters", status=422
        )


@dataclass(frozen=True)
class MailPreview:
    """What would be sent to whom; `key` stands for exactly this."""

    audience: str
    persons: tuple[str, ...]
    subject: str
    body: str
    key: str


def preview_mail(session: Session, office: Office, actor: Actor, campaign_id: str, letter: Letter) -> MailPreview:
    """The mail and its receivers at this moment; nothing is sent."""
    title, text, audience = letter.title, letter.text, letter.audience
    require_organiser(session, actor, campaign_id)
    check_words(title, text, audience)
    persons = people_of(session, campaign_id, audience)
    subject, body = fill_template(session, office, "to_role", {"title": title, "text": text}, campaign_id)
    parts = "\0".join((campaign_id, audience, title, text, *persons))
    return MailPreview(audience, persons, subject, body, hashlib.sha256(parts.encode()).hexdigest())


def send_mail(
    session: Session, office: Office, actor: Actor, campaign_id: str, letter: Letter, *, key: str
) -> MailPreview:
    """Send what was previewed; refused if words or receivers changed since. The same mail goes out once only."""
    seen = preview_mail(session, office, actor, campaign_id, letter)
    if seen.key != key:
        raise refused("P-34", "the message or its recipients changed since the preview", "preview it again", status=409)
    words = {"title": letter.title, "text": letter.text}
    tell(session, office, "to_role", persons=seen.persons, campaign_id=campaign_id, data=words, once=key)
    data = {"audience": letter.audience, "receivers": len(seen.persons)}
    events.record(
        session, "mail.sent", at=office.clock(), actor=actor.id, subject=key[:20], campaign_id=campaign_id, data=data
    )
    return seen


MOST_WEBHOOKS = 10
"""Webhooks of one campaign."""


@dataclass(frozen=True)
class MadeWebhook:
    """A new webhook; its secret is shown this once."""

    id: str
    secret: str = field(repr=False)
    """In hex; calls are signed with its bytes."""


def add_webhook(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    *,
    url: str,
    kinds: Iterable[str],
    form: str = OWN,
) -> MadeWebhook:
    """Have a program, or a room of a chat, called when something of these kinds happens."""
    # Seven arguments: who acts where, and the three facts of a webhook.
    require_organiser(session, actor, campaign_id)
    wanted = sorted(set(kinds))
    _check_webhook(session, office, campaign_id, url, wanted)
    if form not in FORMS:
        raise refused("X-10", f"webhooks have no form {form!r}", f"choose from: {', '.join(FORMS)}", status=422)
    now = office.clock()
    row = Webhook(campaign_id=campaign_id, url=url, kinds=wanted, form=form, made=now, made_by=actor.id)
    session.add(row)
    session.flush()
    secret = office.vault.secret(HOOK_KEYS, row.id)
    data = {"kinds": wanted, "form": form}
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


def _check_webhook(session: Session, office: Office, campaign_id: str, url: str, kinds: list[str]) -> None:
    found = []
    try:
        checked_url(url, loopback=office.settings.loopback_webhooks)
    except RefusedAddressError as error:
        found.append(problem("X-10", str(error), "write an address like https://example.org/hook"))
    unknown = [kind for kind in kinds if kind not in webhook_kinds()]
    if unknown or not kinds:
        named = ", ".join(unknown) or "nothing"
        found.append(problem("X-10", f"webhooks do not support {named}", f"choose from: {', '.join(webhook_kinds())}"))
    in_use = select(Webhook.id).where(Webhook.campaign_id == campaign_id, Webhook.ended.is_(None))
    if len(session.scalars(in_use).all()) >= MOST_WEBHOOKS:
        found.append(
            problem("X-10", f"the campaign has {MOST_WEBHOOKS} webhooks", "remove one that is no longer needed")
        )
    if found:
        raise RefusedError(found, status=422)
