"""Reading for people: what can be answered, what waits, and one answer, a key a verdict (R-21)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.tables import ReadingPackage, ReadingTaskRow
from basanite.campaign.work.reading import adjudication, people, services
from basanite.campaign.work.reading.adjudication import Case, Excerpt, Progress, Said, progress
from basanite.campaign.work.reading.packages import packages
from basanite.campaign.work.reading.people import ANSWERING
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import name_of
from basanite.server.roles import Caller, allow

BASE = "/campaigns/{slug}/reading"
Helper = Annotated[Caller, allow("annotator", "judge", "adjudicator", "evaluation")]
Answerer = Annotated[Caller, allow("annotator", "judge", "evaluation")]
Adjudicator = Annotated[Caller, allow("adjudicator", "evaluation")]
Organiser = Annotated[Caller, allow("evaluation")]
VERDICTS = {
    "right-explicit": sentence("Correct, and stated in the text"),
    "right-inferred": sentence("Correct, but inferred"),
    "wrong": sentence("Wrong"),
    "out-of-scope": sentence("Out of scope"),
    "duplicate-of": sentence("Duplicate of another answer"),
    "reopened": sentence("Reopened"),
    "correct": sentence("Correct"),
    "": sentence("Not decided"),
}
"""What a verdict is called."""


def at(caller: Caller, part: str = "") -> str:
    """The address of a page of reading."""
    return BASE.format(slug=caller.here[0].slug) + part


def answers(who: Viewer) -> bool:
    """Whether somebody may answer questions."""
    return bool(who.roles & ANSWERING) and who.team is None


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

    template = "reading/home.html"
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


ADDRESS = f"{BASE}/adjudicate/{{package_id}}"
DERIVATION_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Run:
    """A run of the text, marked or not."""

    text: str
    marked: bool


@dataclass(frozen=True)
class Step:
    """A decision of the past."""

    verdict: str
    why: str
    by: str
    at: datetime


@dataclass(frozen=True)
class CasePage:
    """One answer, or the end of the queue."""

    template = "reading/case.html"
    title: str
    package: str
    address: str
    waiting: int
    decided: int
    total: int
    id: str = ""
    question: str = ""
    document: str = ""
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kind: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    beside: tuple[tuple[Said, str], ...] = ()
    """Answers to the same question about the same text, each with its verdict in words."""
    text: tuple[Run, ...] = ()
    verdict: str = ""
    """What holds, in words; "" while it is open."""
    history: tuple[Step, ...] = ()
    seen: int = 0
    after: str = ""
    why: str = ""


@ROUTER.get(ADDRESS)
def adjudicate_next(request: Request, package_id: str, caller: Adjudicator) -> Response:
    """The first answer that waits."""
    return show(request, caller, _case_page(caller, package_id))


@ROUTER.get(f"{ADDRESS}/{{pool_id}}")
def adjudicate_one(request: Request, package_id: str, pool_id: str, caller: Adjudicator) -> Response:
    """An answer by its id."""
    return show(request, caller, _case_page(caller, package_id, pool_id))


@ROUTER.post(f"{ADDRESS}/undo")
def undo_decision(request: Request, package_id: str, caller: Adjudicator, form: PostedForm) -> Response:
    """Open again what this adjudicator decided last, and show it."""
    with caller.office.writing() as session:
        who = (session, caller.office, caller.actor, caller.here[0].id)
        pool_id = adjudication.undo(*who, package_id)
    return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), say_plain("Your last decision is undone."))


@ROUTER.post(f"{ADDRESS}/{{pool_id}}")
def decide_answer(request: Request, package_id: str, pool_id: str, caller: Adjudicator, form: PostedForm) -> Response:
    """Decide, and go on to the next answer that waits."""
    verdict, why = form.text("verdict"), form.text("why")
    try:
        with caller.office.writing() as session:
            after = _decide(session, caller, package_id, pool_id, form)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _case_page(caller, package_id, pool_id, why), error)
    there = at(caller, f"/adjudicate/{package_id}" + (f"/{after}" if after else ""))
    return go(caller, there, say_plain("Decided: {verdict}.", verdict=say(VERDICTS[verdict])))


def _decide(session: Session, caller: Caller, package_id: str, pool_id: str, form: Form) -> str:
    """Keep a decision as the form says it; returns the id of the answer after this one, "" behind the last."""
    seen = form.text("seen")
    case = adjudication.case(session, caller.office, caller.here[0].id, package_id, pool_id)
    after = case.after if isinstance(case, Case) else ""
    if not seen.isdecimal() or len(seen) > 9:
        raise refused("R-21", say_plain("the form has expired"), say_plain("reload the answer"), status=422)
    ruling = adjudication.Ruling(form.text("verdict"), int(seen), form.text("same_as"), form.text("why"))
    adjudication.decide(session, caller.office, caller.actor, caller.here[0].id, pool_id, ruling)
    return after


@ROUTER.post(f"{ADDRESS}/{{pool_id}}/reopen")
def reopen_answer(request: Request, package_id: str, pool_id: str, caller: Adjudicator, form: PostedForm) -> Response:
    """Open an answer again, no matter who decided about it."""
    with caller.office.writing() as session:
        who = (session, caller.office, caller.actor, caller.here[0].id)
        adjudication.reopen(*who, pool_id, why=form.text("why"))
    return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), say_plain("The answer is reopened."))


@ROUTER.get(f"{ADDRESS}/{{pool_id}}/derivation")
def show_derivation(request: Request, package_id: str, pool_id: str, caller: Adjudicator) -> Response:
    """How annotations and rules lead to the answer, as the reasoner draws it; a page without scripts."""
    found = services.derivation(caller.office, caller.here[0].id, pool_id)
    if found is None:
        words = say_plain("The annotations in this text do not lead to this answer.")
        return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), words, "plain")
    return HTMLResponse(found, headers={"Content-Security-Policy": DERIVATION_POLICY})


def _case_page(caller: Caller, package_id: str, pool_id: str = "", why: str = "") -> CasePage:
    with caller.office.reading() as session:
        found = adjudication.case(session, caller.office, caller.here[0].id, package_id, pool_id)
        if isinstance(found, Progress):
            return _end(caller, package_id, found)
        history = tuple(
            Step(say(VERDICTS[one.verdict]), one.why, name_of(session, caller, one.by), one.at) for one in found.history
        )
    return _page(caller, package_id, found, history, why)


def _end(caller: Caller, package_id: str, state: Progress) -> CasePage:
    address = at(caller, f"/adjudicate/{package_id}")
    return CasePage(say("No requests waiting"), "", address, 0, state.decided, state.total)


def _page(caller: Caller, package_id: str, found: Case, history: tuple[Step, ...], why: str) -> CasePage:
    return CasePage(
        say("Is this answer right?"),
        found.package.title,
        at(caller, f"/adjudicate/{package_id}"),
        len(found.progress.waiting),
        found.progress.decided,
        found.progress.total,
        found.id,
        found.asked.question,
        found.document.name,
        tuple((found.asked.labels.get(name, name), told) for name, told in found.values),
        found.kind,
        found.excerpts,
        tuple((_with_labels(one, found), say(VERDICTS[one.verdict])) for one in found.beside),
        tuple(runs_of(found.document.text, found.excerpts)),
        say(VERDICTS[found.decision.verdict]) if found.decision else "",
        history,
        len(history),
        found.after,
        why,
    )


def _with_labels(one: Said, found: Case) -> Said:
    return replace(one, values=tuple((found.asked.labels.get(name, name), told) for name, told in one.values))


def runs_of(text: str, excerpts: tuple[Excerpt, ...]) -> list[Run]:
    """The text cut where excerpts begin and end."""
    cuts = sorted({0, len(text), *(cut for one in excerpts for cut in (one.start, one.end))})
    found = []
    for start, end in pairwise(cuts):
        found.append(Run(text[start:end], any(one.start <= start and end <= one.end for one in excerpts)))
    return found
