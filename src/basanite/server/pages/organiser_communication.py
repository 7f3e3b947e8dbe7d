"""Announcements, answers to questions, mails to roles after a preview, and webhooks (P-34, X-10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.notices.messages import template_named, webhook_kinds
from basanite.campaign.notices.webhook_forms import FORMS, OWN
from basanite.campaign.people import communication
from basanite.campaign.people.communication import MailPreview
from basanite.campaign.store.tables import Question
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import refuse, show
from basanite.server.pages.organiser_frame import (
    BASE,
    ConfirmPage,
    Organiser,
    at,
    decode_text,
    encode_text,
    name_of,
    perform,
)
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ANNOUNCEMENT_ADDRESS = f"{BASE}/announcements"
ANNOUNCEMENT_SHOWN = 200
AUDIENCES = {
    "everybody": sentence("everybody"),
    "teams": sentence("all team members"),
    "pis": sentence("all PIs"),
    "judges": sentence("all judges"),
    "evaluation": sentence("the evaluation team"),
    "asking": sentence("everybody with an open request to join or lead a team"),
    "rules-not-accepted": sentence("members who have not accepted the rules"),
    "without-submission": sentence("PIs whose team never submitted"),
}
LASTING = ("everybody", "teams", "pis", "judges", "evaluation")
"""Audiences that stay the same group: who was asking yesterday would not find today what was said to them."""


@dataclass(frozen=True)
class NewsLine:
    """One announcement."""

    title: str
    text: str
    audience: str
    by: str
    at: datetime


@dataclass(frozen=True)
class AnnouncementsPage:
    """A form, and what was announced."""

    template = "organiser/announcements.html"
    title: str
    news: tuple[NewsLine, ...]
    audiences: tuple[tuple[str, str], ...]
    heading: str = ""
    text: str = ""
    audience: str = "everybody"


@ROUTER.get(ANNOUNCEMENT_ADDRESS)
def show_announcements(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _announcement_page(caller))


@ROUTER.post(ANNOUNCEMENT_ADDRESS)
def announce(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Say something."""
    words = {name: form.text(name) for name in ("title", "text", "audience")}
    given, again = words | {"by_mail": form.text("mail") == "yes"}, partial(_announcement_page, caller, *words.values())
    said_so = say_plain("The announcement is published.")
    return perform(request, caller, "announce", given, again=again, then="/announcements", words=said_so)


def audience_words(audience: str) -> str:
    """An audience in words."""
    return str(say(AUDIENCES.get(audience, audience)))


def _announcement_page(
    caller: Caller, heading: str = "", text: str = "", audience: str = "everybody"
) -> AnnouncementsPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = communication.announcements(session, row.id, caller.viewer)[:ANNOUNCEMENT_SHOWN]
        news = tuple(
            NewsLine(
                one.row.title,
                one.row.text,
                audience_words(one.row.audience),
                name_of(session, caller, one.row.by),
                one.row.at,
            )
            for one in found
        )
    choices = tuple((name, audience_words(name)) for name in LASTING)
    return AnnouncementsPage(say("Announcements"), news, choices, heading, text, audience)


QUESTION_ADDRESS = f"{BASE}/questions"
QUESTION_SHOWN = 300


@dataclass(frozen=True)
class QuestionLine:
    """One question; who asked is known to organisers alone."""

    id: str
    text: str
    by: str
    at: datetime
    answer: str
    answered: datetime | None
    shown: bool


@dataclass(frozen=True)
class QuestionsPage:
    """What waits for an answer first."""

    template = "organiser/questions.html"
    title: str
    waiting: tuple[QuestionLine, ...]
    answered: tuple[QuestionLine, ...]
    more: int = 0


@ROUTER.get(QUESTION_ADDRESS)
def show_questions(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _question_page(caller))


@ROUTER.post(f"{QUESTION_ADDRESS}/{{question}}")
def answer(request: Request, caller: Organiser, form: PostedForm, question: str) -> Response:
    """Answer a question."""
    given = {"which": question, "text": form.text("answer"), "private": form.text("shown") == "no"}
    again, words = partial(_question_page, caller), say_plain("The answer is published.")
    return perform(request, caller, "question answer", given, again=again, then="/questions", words=words)


def _question_page(caller: Caller) -> QuestionsPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = communication.questions(session, row.id, caller.viewer)
        waiting = [one for one in found if one.answered is None][::-1]
        answered = [one for one in found if one.answered is not None]
        return QuestionsPage(
            say("Questions and answers"),
            tuple(_line(session, caller, one) for one in waiting[:QUESTION_SHOWN]),
            tuple(_line(session, caller, one) for one in answered[:QUESTION_SHOWN]),
            max(len(waiting) - QUESTION_SHOWN, 0) + max(len(answered) - QUESTION_SHOWN, 0),
        )


def _line(session: Session, caller: Caller, one: Question) -> QuestionLine:
    by = name_of(session, caller, one.by)
    return QuestionLine(one.id, one.text, by, one.at, one.answer, one.answered, one.shown)


MAIL_ADDRESS = f"{BASE}/mail"
LISTED = 100
MAIL_WORDS = ("audience", "title", "text")


@dataclass(frozen=True)
class MailPage:
    """A form, or the preview of what it says."""

    template = "organiser/mail.html"
    title: str
    audiences: tuple[tuple[str, str], ...]
    audience: str = "pis"
    heading: str = ""
    text: str = ""
    preview: MailPreview | None = None
    receivers: tuple[str, ...] = ()
    """Names of the first of those who would get it."""
    audience_words: str = ""
    carried: str = ""
    """Audience, title and text as they were previewed."""


@ROUTER.get(MAIL_ADDRESS)
def show_mail(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _empty_mail({}))


@ROUTER.post(f"{MAIL_ADDRESS}/preview")
def preview(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Who would get what; nothing is sent."""
    words = _words(form)
    try:
        with caller.office.reading() as session:
            page = _mail_preview(session, caller, words)
    except RefusedError as error:
        return refuse(request, caller, _empty_mail(words), error)
    return show(request, caller, page)


@ROUTER.post(MAIL_ADDRESS)
def send(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Send exactly what was previewed."""
    words, key = (
        dict(zip(MAIL_WORDS, map(decode_text, form.text("carried").split(".")), strict=False)),
        form.text("key"),
    )
    if set(words) != set(MAIL_WORDS):
        raise refused("P-11", say_plain("this form cannot be read"), say_plain("use the form on its page"), status=422)
    given, again = words | {"send": key or "none"}, partial(_empty_mail, words)  # without a key it would be a preview
    return perform(request, caller, "mail", given, again=again, then="/mail", words=say_plain("The email is sent."))


def _words(form: Form) -> dict[str, str]:
    return {
        "audience": form.text("audience"),
        "title": form.text("title"),
        "text": form.text("text").replace("\r\n", "\n"),
    }


def _empty_mail(words: dict[str, str]) -> MailPage:
    choices = tuple((name, audience_words(name)) for name in AUDIENCES)
    given = (words.get("audience") or "pis", words.get("title", ""), words.get("text", ""))
    return MailPage(say("Email to roles"), choices, *given)


def _mail_preview(session: Session, caller: Caller, words: dict[str, str]) -> MailPage:
    seen = communication.preview_mail(
        session, caller.office, caller.actor, caller.here[0].id, communication.Letter(**words)
    )
    names = tuple(name_of(session, caller, person) for person in seen.persons[:LISTED])
    base = _empty_mail(words)
    return MailPage(
        say("Preview message"),
        base.audiences,
        base.audience,
        base.heading,
        base.text,
        seen,
        names,
        audience_words(seen.audience),
        ".".join(encode_text(words[name]) for name in MAIL_WORDS),
    )


WEBHOOK_ADDRESS = f"{BASE}/webhooks"
FORM_NAMES = (sentence("JSON for a program"), "Slack", "Mattermost", sentence("Matrix (matrix-hookshot)"))
"""What the forms of a webhook's body are called, in the order of `FORMS`."""


@dataclass(frozen=True)
class HookLine:
    """One webhook."""

    id: str
    url: str
    kinds: tuple[str, ...]
    made: datetime
    form: str = OWN


@dataclass(frozen=True)
class WebhooksPage:
    """All webhooks, and a form for another."""

    template = "organiser/webhooks.html"
    title: str
    hooks: tuple[HookLine, ...]
    kinds: tuple[tuple[str, Markup], ...]
    """Each kind of event with its name."""
    most: int = communication.MOST_WEBHOOKS
    fresh: str = ""
    """The secret of a new webhook, shown this once."""
    url: str = ""
    chosen: tuple[str, ...] = ()
    form: str = OWN
    forms: tuple[tuple[str, str], ...] = tuple(zip(FORMS, FORM_NAMES, strict=True))


@ROUTER.get(WEBHOOK_ADDRESS)
def webhooks(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _webhook_page(caller))


@ROUTER.post(WEBHOOK_ADDRESS)
def add(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Have a program called; its secret is on the answer and nowhere else."""
    url, kinds, body = form.text("url"), form.all("kinds"), form.text("form") or OWN
    try:
        with caller.office.writing() as session:
            made = communication.add_webhook(
                session, caller.office, caller.actor, caller.here[0].id, url=url, kinds=kinds, form=body
            )
    except RefusedError as error:
        return refuse(request, caller, _webhook_page(caller, url=url, chosen=kinds, form=body), error)
    return show(request, caller, _webhook_page(caller, fresh=made.secret))


@ROUTER.get(f"{WEBHOOK_ADDRESS}/{{hook}}/end")
def ask_end(request: Request, caller: Organiser, hook: str) -> Response:
    """Before a webhook is ended."""
    return show(request, caller, _webhook_end_page(caller, hook))


@ROUTER.post(f"{WEBHOOK_ADDRESS}/{{hook}}/end")
def end(request: Request, caller: Organiser, form: PostedForm, hook: str) -> Response:
    """Call it no more."""
    again, words = partial(_webhook_end_page, caller, hook), say_plain("This webhook is no longer called.")
    return perform(request, caller, "webhook end", {"which": hook}, again=again, then="/webhooks", words=words)


def _find(session: Session, caller: Caller, hook: str) -> HookLine:
    """A webhook of this campaign."""
    found = communication.webhooks(session, caller.actor, caller.here[0].id)
    for one in found:
        if one.id == hook:
            return HookLine(one.id, one.url, tuple(one.kinds), one.made, one.form)
    raise missing("webhook")


def _webhook_page(
    caller: Caller, *, fresh: str = "", url: str = "", chosen: tuple[str, ...] = (), form: str = OWN
) -> WebhooksPage:
    with caller.office.reading() as session:
        found = communication.webhooks(session, caller.actor, caller.here[0].id)
        lines = tuple(HookLine(one.id, one.url, tuple(one.kinds), one.made, one.form) for one in found)
    kinds = tuple((kind, say(template_named(kind).event)) for kind in webhook_kinds())
    return WebhooksPage(say("Webhooks"), lines, kinds, fresh=fresh, url=url, chosen=chosen, form=form)


def _webhook_end_page(caller: Caller, hook: str) -> ConfirmPage:
    with caller.office.reading() as session:
        one = _find(session, caller, hook)
    return ConfirmPage(
        say("Remove webhook"),
        (say("The webhook is no longer called, and its secret is destroyed."),),
        at(caller, f"/webhooks/{hook}/end"),
        say("Remove webhook"),
        at(caller, "/webhooks"),
        facts=((str(say("Address")), one.url),),
        reason=False,
    )
