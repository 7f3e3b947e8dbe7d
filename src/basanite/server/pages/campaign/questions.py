"""Questions to the organisers, and their answers for everybody (P-34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.saying import questions as saying
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/questions"
SHOWN = 500


@dataclass(frozen=True)
class Asked:
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

    title: str
    asked: tuple[Asked, ...]
    can_ask: bool
    text: str = ""


@ROUTER.get(ADDRESS)
def questions(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(ADDRESS)
def ask(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Ask something."""
    row, _ = caller.here
    try:
        with caller.office.writing() as session:
            saying.ask_question(session, caller.office, caller.actor, row.id, form.text("text"))
    except RefusedError as error:
        return refuse(request, caller, _asked(caller, form.text("text")), error)
    return go(caller, ADDRESS.format(slug=row.slug), said("The organisers have your question."))


def _asked(caller: Caller, text: str = "") -> QuestionsPage:
    row, _ = caller.here
    person = caller.viewer.person
    with caller.office.reading() as session:
        found = saying.questions(session, row.id, caller.viewer)
    lines = tuple(
        Asked(
            one.id,
            one.text,
            one.at,
            one.answer,
            one.answered,
            person is not None and one.by == person,
            not one.shown,
        )
        for one in found[:SHOWN]
    )
    return QuestionsPage(say("Questions"), lines, person is not None, text)
