"""Questions of participants, and answers: for everybody, or for the asker alone (P-34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.people.saying import questions
from basanite.campaign.store.tables import Question
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/questions"
SHOWN = 300


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
class AnsweringPage:
    """What waits for an answer first."""

    title: str
    waiting: tuple[QuestionLine, ...]
    answered: tuple[QuestionLine, ...]
    more: int = 0


@ROUTER.get(ADDRESS)
def answering(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/{{question}}")
def answer(request: Request, caller: Organiser, form: Filled, question: str) -> Response:
    """Answer a question."""

    def act(session: Session) -> None:
        if question not in {one.id for one in questions.questions(session, caller.here[0].id, caller.viewer)}:
            raise missing("question")
        public = form.text("shown") != "no"
        questions.answer_question(session, caller.office, caller.actor, question, form.text("answer"), shown=public)

    return done(request, caller, act, lambda: _asked(caller), at(caller, "/questions"), said("The answer is given."))


def _asked(caller: Caller) -> AnsweringPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = questions.questions(session, row.id, caller.viewer)
        waiting = [one for one in found if one.answered is None][::-1]
        answered = [one for one in found if one.answered is not None]
        return AnsweringPage(
            say("Questions and answers"),
            tuple(_line(session, caller, one) for one in waiting[:SHOWN]),
            tuple(_line(session, caller, one) for one in answered[:SHOWN]),
            max(len(waiting) - SHOWN, 0) + max(len(answered) - SHOWN, 0),
        )


def _line(session: Session, caller: Caller, one: Question) -> QuestionLine:
    by = name_of(session, caller, one.by)
    return QuestionLine(one.id, one.text, by, one.at, one.answer, one.answered, one.shown)
