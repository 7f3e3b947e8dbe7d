"""What organizers say: announcements, answers, mails to roles, webhooks; and the mails that their actions cause.

Mails about results hold ids and words only, never a score (P-10, P-34, M68, X-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions.registry import (
    NEWEST,
    ORGANIZER,
    Argument,
    Arguments,
    At,
    Option,
    Outcome,
    action,
    list_outcome,
    newest,
    rows_of,
)
from basanite.campaign.model.refusals import missing
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Office
from basanite.campaign.people import communication
from basanite.campaign.people.roles import organisers
from basanite.campaign.people.teams import pi_of, team_members
from basanite.campaign.store.tables import (
    Appeal,
    Approval,
    Batch,
    Certification,
    Question,
    Release,
    Submission,
)


def mail_rescoring(session: Session, office: Office, batch: Batch, submissions: Sequence[Submission]) -> None:
    """Results were computed again: the members of the teams whose runs these are."""
    for window in dict.fromkeys(one.window for one in submissions):
        persons = _members(session, {one.team_id for one in submissions if one.window == window})
        data = {"window": window, "reason": batch.reason}
        once = f"{batch.id}:{window}"
        tell(session, office, "results_changed", persons=persons, campaign_id=batch.campaign_id, data=data, once=once)


def mail_release(session: Session, office: Office, row: Release, until: datetime | None) -> None:
    """To every member of a team that took part; before certification, which ends then, to the PIs alone."""
    question = select(Submission.team_id).where(
        Submission.campaign_id == row.campaign_id, Submission.window == row.window
    )
    took_part = tuple(session.scalars(question.distinct().order_by(Submission.team_id)))
    if until is None:
        template, persons, more = "results_released", _members(session, took_part), {"level": row.level}
    else:
        template, persons, more = "results_to_certify", _pis(session, took_part), {"until": _moment(until)}
    data = {"window": row.window, **more}
    tell(session, office, template, persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def mail_certified(session: Session, office: Office, row: Certification) -> None:
    """A PI confirmed the own results: the organisers."""
    data = {"team": row.team_id, "window": row.window}
    persons = organisers(session, row.campaign_id)
    tell(session, office, "certified", persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def mail_appeal(session: Session, office: Office, appeal: Appeal) -> None:
    """A team appeals: the organisers."""
    facts = {"appeal": appeal.id, "number": appeal.number, "team": appeal.team_id, "window": appeal.window}
    data = {**facts, "until": _moment(appeal.deadline)}
    persons = organisers(session, appeal.campaign_id)
    tell(session, office, "appeal_made", persons=persons, campaign_id=appeal.campaign_id, data=data, once=appeal.id)


def mail_decision(session: Session, office: Office, appeal: Appeal) -> None:
    """An appeal has been decided: the PI."""
    facts = {"appeal": appeal.id, "number": appeal.number, "window": appeal.window}
    data = facts | {"decision": appeal.state, "reason": appeal.decision}
    persons = _pis(session, [appeal.team_id])
    tell(session, office, "appeal_decided", persons=persons, campaign_id=appeal.campaign_id, data=data, once=appeal.id)


def mail_second_person(session: Session, office: Office, approval: Approval) -> None:
    """An act waits for a second person: every other organiser."""
    persons = [one for one in organisers(session, approval.campaign_id) if one != approval.asked_by]
    words = {"approval": approval.id, "who_person": approval.asked_by, "act": approval.act, "reason": approval.reason}
    campaign = approval.campaign_id
    tell(session, office, "approval_asked", persons=persons, campaign_id=campaign, data=words, once=approval.id)


def _pis(session: Session, teams: Iterable[str]) -> list[str]:
    return [person for person in (pi_of(session, team) for team in teams) if person is not None]


def _members(session: Session, teams: Iterable[str]) -> list[str]:
    return [person for team in teams for person in team_members(session, team)]


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


class NewAnnouncement(Arguments):
    """What is said, and to whom."""

    title: Annotated[str, Argument("One line.")]
    text: Annotated[str, Argument("What is said.")]
    audience: Annotated[str, Option("The audience: everybody, or a role.", show_default=True)] = "everybody"
    by_mail: Annotated[bool, Option("Show it on the pages only.", name="no-mail", inverted=True)] = True


class RoleMail(Arguments):
    """A mail to a role; without the key of its preview nothing is sent."""

    audience: Annotated[str, Argument("The audience: everybody, teams, pis, judges …")]
    title: Annotated[str, Argument("The subject.")]
    text: Annotated[str, Argument("What is written.")]
    send: Annotated[str, Option("Send what the preview with this key showed.", metavar="KEY")] = ""


class QuestionsWanted(Arguments):
    """Which questions are listed."""

    waiting: Annotated[bool, Option("Only those without an answer.", name="open")] = False


class Answer(Arguments):
    """An answer to a question."""

    which: Annotated[str, Argument("An id, or the newest without an answer.", metavar="QUESTION")]
    text: Annotated[str, Argument("The answer.")]
    private: Annotated[
        bool, Option("Show the answer only to the person who asked; otherwise everybody can read it.")
    ] = False


class NewWebhook(Arguments):
    """An address and what it is called for."""

    url: Annotated[str, Argument("Where the calls go; https only.")]
    kinds: Annotated[
        tuple[str, ...], Option("The kind of event to call for. Can be repeated.", name="kind", required=True)
    ]

    form: Annotated[
        Literal["basanite", "slack", "mattermost", "matrix"],
        Option("What is sent: JSON for a program, or a line for a room of a chat."),
    ] = "basanite"


class OneWebhook(Arguments):
    """A webhook."""

    which: Annotated[str, Argument("Its address or id.", metavar="URL")]


@action("announce", hint='"New data" "The pack EVAL1 is out." --data season', logs="announcement.made")
def announce(at: At, given: NewAnnouncement) -> Outcome:
    """Announce TEXT to everyone or to a role, on the website and by mail."""
    letter = communication.Letter(given.title, given.text, given.audience)
    row = communication.announce(*at.who, at.campaign_id, letter, by_mail=given.by_mail)
    words = f"Announced to {given.audience}: {given.title}"
    return Outcome({"announcement": row.id, "audience": given.audience}, (words,))


@action("mail", hint='pis "Next week" "The week opens on Monday." --data season', logs="mail.sent")
def mail_role(at: At, given: RoleMail) -> Outcome:
    """Write to an AUDIENCE (everybody, teams, pis, judges …): preview the message, or send it with --send."""
    words = given.model_dump(exclude={"send"})
    if given.send:
        seen = communication.send_mail(*at.who, at.campaign_id, communication.Letter(**words), key=given.send)
    else:
        seen = communication.preview_mail(*at.who, at.campaign_id, communication.Letter(**words))
    receivers = f"{len(seen.persons)} recipients"
    lines = (f"To {receivers}:", seen.subject, "", *seen.body.splitlines(), "")
    shown = {"sent": bool(given.send), "receivers": list(seen.persons), "subject": seen.subject, "body": seen.body}
    hint = "" if given.send else f"\nNothing has been sent yet. To send it: --send {seen.key}"
    return Outcome(shown | {"key": seen.key}, (f"Sent to {receivers}.",) if given.send else lines, hint=hint)


@action("question list", reads=True, hint="--open --data season")
def list_questions(at: At, given: QuestionsWanted) -> Outcome:
    """List questions with their answers, newest first."""
    found = communication.questions(at.session, at.campaign_id, ORGANIZER)
    columns = ("id", "at", "by", "text", "answer", "answered", "shown")
    rows = rows_of([one for one in found if one.answered is None or not given.waiting], columns)
    return list_outcome("questions", rows, columns, "There are no questions.")


@action("question answer", hint='newest "Both archives are taken." --data season', logs="question.answered")
def answer(at: At, given: Answer) -> Outcome:
    """Answer a question (an id, or the newest open one); the person who asked is notified."""
    which = given.which
    if which == NEWEST:
        found = communication.questions(at.session, at.campaign_id, ORGANIZER)
        which = newest([one for one in reversed(found) if one.answered is None], "question without an answer")
    known = at.session.get(Question, which)
    at.check_here(None if known is None else known.campaign_id, "question")
    row = communication.answer_question(*at.who, which, given.text, shown=not given.private)
    return Outcome({"question": row.id, "shown": row.shown}, ("Answered. The person who asked is notified.",))


@action(
    "webhook add",
    hint="https://hooks.example.org/x --kind results_released --data season",
    logs="webhook.added",
)
def add_webhook(at: At, given: NewWebhook) -> Outcome:
    """Call URL (https only) on events of a kind; the secret that signs calls is shown only once."""
    made = communication.add_webhook(*at.who, at.campaign_id, url=given.url, kinds=given.kinds, form=given.form)
    words = f"Webhook {made.id}. Its secret: {made.secret}"
    return Outcome({"webhook": made.id, "secret": made.secret}, (words,))


@action("webhook list", reads=True, hint="--data season")
def list_webhooks(at: At, given: Arguments) -> Outcome:
    """List webhooks and their events."""
    columns = ("id", "url", "form", "kinds", "made", "ended")
    rows = rows_of(communication.webhooks(at.session, at.actor, at.campaign_id), columns)
    return list_outcome("webhooks", rows, columns, "There are no webhooks.")


@action("webhook end", hint="https://example.org/hook --data season", logs="webhook.ended")
def end_webhook(at: At, given: OneWebhook) -> Outcome:
    """Remove the webhook of this URL or id; its secret is destroyed."""
    known = communication.webhooks(at.session, at.actor, at.campaign_id)
    found = [one.id for one in known if given.which in (one.id, one.url) and one.ended is None]
    if not found:
        raise missing("webhook")
    for one in found:
        communication.end_webhook(*at.who, one)
    return Outcome({"ended": found}, (f"{given.which} is no longer called.",))
