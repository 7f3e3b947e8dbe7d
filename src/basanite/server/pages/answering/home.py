"""Where reading begins for people: what can be answered, what waits to be adjudicated, how the gold stands."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.answering import people
from basanite.campaign.answering.adjudicating import progress
from basanite.campaign.answering.packages import packages
from basanite.campaign.store.tables import ReadingPackage, ReadingTaskRow
from basanite.server.catalogue import say
from basanite.server.pages.answering.desk import BASE, Helper, answers, at
from basanite.server.pages.foundation.frame import show
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ToAnswer:
    """A task whose questions somebody can answer."""

    title: str
    part: str
    documents: int
    questions: int
    address: str


@dataclass(frozen=True)
class ToSettle:
    """A package whose answers are adjudicated."""

    title: str
    waiting: int
    decided: int
    total: int
    address: str
    gold: str
    """The page of its gold, for the evaluation team; "" for others."""


@dataclass(frozen=True)
class HomePage:
    """Everything that this reader can do."""

    title: str
    tasks: tuple[ToAnswer, ...]
    packages: tuple[ToSettle, ...]
    answers: bool
    adjudicates: bool


@ROUTER.get(BASE)
def reading_home(request: Request, caller: Helper) -> Response:
    """The page."""
    row, _ = caller.here
    adjudicates = bool({"adjudicator", "evaluation"} & caller.roles)
    with caller.office.reading() as session:
        found = packages(session, row.id)
        asked = people.human_tasks(session, row.id) if answers(caller.viewer) else ()
        tasks = tuple(_task(session, caller, one) for one in asked)
        settled = tuple(_package(session, caller, one) for one in found) if adjudicates else ()
    page = HomePage(say("Reading"), tasks, settled, answers(caller.viewer), adjudicates)
    return show(request, caller, page)


def _task(session: Session, caller: Caller, one: ReadingTaskRow) -> ToAnswer:
    package = session.get_one(ReadingPackage, one.reading_package_id)
    address = at(caller, f"/answer/{one.id}")
    return ToAnswer(package.title, one.part, one.documents, len(one.queries), address)


def _package(session: Session, caller: Caller, one: ReadingPackage) -> ToSettle:
    state = progress(session, caller.office, one)
    gold = at(caller, f"/gold/{one.id}") if caller.viewer.staff else ""
    counts = (len(state.waiting), state.decided, state.total)
    return ToSettle(f"{one.title} {one.version}", *counts, at(caller, f"/adjudicate/{one.id}"), gold)
