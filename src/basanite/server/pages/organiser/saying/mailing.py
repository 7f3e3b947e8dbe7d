"""Mails to people by role and status: first a preview with who would get what, then exactly that is sent (P-34)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.people.saying import mailing as acts
from basanite.campaign.people.saying.mailing import Preview
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import refuse, show
from basanite.server.pages.organiser.carrying import back, carried
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.organiser.saying.announcing import AUDIENCES, named
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/mail"
LISTED = 100
WORDS = ("audience", "title", "text")


@dataclass(frozen=True)
class MailingPage:
    """A form, or the preview of what it says."""

    title: str
    audiences: tuple[tuple[str, str], ...]
    audience: str = "pis"
    heading: str = ""
    text: str = ""
    preview: Preview | None = None
    receivers: tuple[str, ...] = ()
    """Names of the first of those who would get it."""
    audience_words: str = ""
    carried: str = ""
    """Audience, title and text as they were previewed."""


@ROUTER.get(ADDRESS)
def mailing(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _empty({}))


@ROUTER.post(f"{ADDRESS}/preview")
def preview(request: Request, caller: Organiser, form: Filled) -> Response:
    """Who would get what; nothing is sent."""
    words = _words(form)
    try:
        with caller.office.reading() as session:
            page = _previewed(session, caller, words)
    except RefusedError as error:
        return refuse(request, caller, _empty(words), error)
    return show(request, caller, page)


@ROUTER.post(ADDRESS)
def send(request: Request, caller: Organiser, form: Filled) -> Response:
    """Send exactly what was previewed."""
    words, key = dict(zip(WORDS, map(back, form.text("carried").split(".")), strict=False)), form.text("key")
    if set(words) != set(WORDS):
        raise refused("P-11", said("this form cannot be read"), said("send it from its own page"), status=422)

    def act(session: Session) -> None:
        acts.send_previewed(session, caller.office, caller.actor, caller.here[0].id, **words, key=key)

    return done(request, caller, act, lambda: _empty(words), at(caller, "/mail"), said("The mail is on its way."))


def _words(form: Form) -> dict[str, str]:
    return {
        "audience": form.text("audience"),
        "title": form.text("title"),
        "text": form.text("text").replace("\r\n", "\n"),
    }


def _empty(words: dict[str, str]) -> MailingPage:
    choices = tuple((name, named(name)) for name in AUDIENCES)
    given = (words.get("audience") or "pis", words.get("title", ""), words.get("text", ""))
    return MailingPage(say("Mail to roles"), choices, *given)


def _previewed(session: Session, caller: Caller, words: dict[str, str]) -> MailingPage:
    seen = acts.preview(session, caller.office, caller.actor, caller.here[0].id, **words)
    names = tuple(name_of(session, caller, person) for person in seen.persons[:LISTED])
    base = _empty(words)
    return MailingPage(
        say("Look at the mail"),
        base.audiences,
        base.audience,
        base.heading,
        base.text,
        seen,
        names,
        named(seen.audience),
        ".".join(carried(words[name]) for name in WORDS),
    )
