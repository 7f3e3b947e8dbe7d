"""News of the organizers, and questions to them with answers for everybody (P-34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people import communication
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
NEWS_ADDRESS = "/campaigns/{slug}/announcements"
MOST_NEWS = 200


@dataclass(frozen=True)
class News:
    """One announcement."""

    id: str
    title: str
    text: str
    at: datetime
    read: bool


@dataclass(frozen=True)
class AnnouncementsPage:
    """All news, the newest first."""

    template = "campaign/announcements.html"
    title: str
    news: tuple[News, ...]
    unread: int
    reader: bool
    older: int = 0
    """How many are not listed any more."""


@ROUTER.get(NEWS_ADDRESS)
def show_news(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = communication.announcements(session, row.id, caller.viewer)
    reader = caller.viewer.person is not None
    news = tuple(News(one.row.id, one.row.title, one.row.text, one.row.at, one.read or not reader) for one in found)
    unread = sum(not one.read for one in news)
    return show(
        request, caller, AnnouncementsPage(say("News"), news[:MOST_NEWS], unread, reader, max(len(news) - MOST_NEWS, 0))
    )


@ROUTER.post(f"{NEWS_ADDRESS}/read")
def mark_read(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Remember that all were read."""
    row, _ = caller.here
    with caller.office.writing() as session:
        for one in communication.announcements(session, row.id, caller.viewer):
            if not one.read:
                communication.mark_read(session, caller.office, caller.viewer, one.row.id)
    return go(caller, NEWS_ADDRESS.format(slug=row.slug))


QUESTIONS_ADDRESS = "/campaigns/{slug}/questions"
MOST_QUESTIONS = 500


@dataclass(frozen=True)
class Question:
    """A question with its answer, if there is one. Who asked is told to nobody but the asker."""

    id: str
    text: str
    at: datetime
    answer: str
    answered: datetime | None
    mine: bool
    private: bool


@dataclass(frozen=True)
class QuestionsPage:
    """All questions that the reader may see."""

    template = "campaign/questions.html"
    title: str
    asked: tuple[Question, ...]
    can_ask: bool
    text: str = ""


@ROUTER.get(QUESTIONS_ADDRESS)
def show_questions(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    return show(request, caller, _questions_page(caller))


@ROUTER.post(QUESTIONS_ADDRESS)
def ask_question(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Ask something."""
    row, _ = caller.here
    try:
        with caller.office.writing() as session:
            communication.ask_question(session, caller.office, caller.actor, row.id, form.text("text"))
    except RefusedError as error:
        return refuse(request, caller, _questions_page(caller, form.text("text")), error)
    return go(caller, QUESTIONS_ADDRESS.format(slug=row.slug), say_plain("Your question is sent to the organizers."))


def _questions_page(caller: Caller, text: str = "") -> QuestionsPage:
    row, _ = caller.here
    person = caller.viewer.person
    with caller.office.reading() as session:
        found = communication.questions(session, row.id, caller.viewer)
    lines = tuple(
        Question(
            one.id,
            one.text,
            one.at,
            one.answer,
            one.answered,
            person is not None and one.by == person,
            not one.shown,
        )
        for one in found[:MOST_QUESTIONS]
    )
    return QuestionsPage(say("Questions"), lines, person is not None, text)
