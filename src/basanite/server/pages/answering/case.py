"""Adjudicating one answer: the question, the answer, where the text says so, and a key for each verdict (R-21)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.answering import adjudicating, services
from basanite.campaign.answering.adjudicating import Case, Excerpt, Progress, Said
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.server.catalogue import said, say
from basanite.server.pages.answering.desk import BASE, VERDICTS, Adjudicator, at
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.organiser.desk import name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
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
    return show(request, caller, _asked(caller, package_id))


@ROUTER.get(f"{ADDRESS}/{{pool_id}}")
def adjudicate_one(request: Request, package_id: str, pool_id: str, caller: Adjudicator) -> Response:
    """An answer by its id."""
    return show(request, caller, _asked(caller, package_id, pool_id))


@ROUTER.post(f"{ADDRESS}/undo")
def undo_decision(request: Request, package_id: str, caller: Adjudicator, form: Filled) -> Response:
    """Open again what this adjudicator decided last, and show it."""
    with caller.office.writing() as session:
        who = (session, caller.office, caller.actor, caller.here[0].id)
        pool_id = adjudicating.undo(*who, package_id)
    return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), said("Your last decision is undone."))


@ROUTER.post(f"{ADDRESS}/{{pool_id}}")
def decide_answer(request: Request, package_id: str, pool_id: str, caller: Adjudicator, form: Filled) -> Response:
    """Decide, and go on to the next answer that waits."""
    verdict, why = form.text("verdict"), form.text("why")
    try:
        with caller.office.writing() as session:
            after = _decided(
                session, caller, package_id, pool_id, verdict, form.text("same_as"), why, form.text("seen")
            )
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, package_id, pool_id, why), error)
    there = at(caller, f"/adjudicate/{package_id}" + (f"/{after}" if after else ""))
    return go(caller, there, said("Decided: {verdict}.", verdict=say(VERDICTS[verdict])))


def _decided(
    session: Session, caller: Caller, package_id: str, pool_id: str, verdict: str, same_as: str, why: str, seen: str
) -> str:
    case = adjudicating.case(session, caller.office, caller.here[0].id, package_id, pool_id)
    after = case.after if isinstance(case, Case) else ""
    if not seen.isdecimal() or len(seen) > 9:
        raise refused("R-21", said("the form has expired"), said("look at the answer again"), status=422)
    who = (session, caller.office, caller.actor, caller.here[0].id)
    adjudicating.decide(*who, pool_id, verdict, seen=int(seen), same_as=same_as, why=why)
    return after


@ROUTER.post(f"{ADDRESS}/{{pool_id}}/reopen")
def reopen_answer(request: Request, package_id: str, pool_id: str, caller: Adjudicator, form: Filled) -> Response:
    """Open an answer again, whoever decided about it."""
    with caller.office.writing() as session:
        who = (session, caller.office, caller.actor, caller.here[0].id)
        adjudicating.reopen(*who, pool_id, why=form.text("why"))
    return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), said("The answer is open again."))


@ROUTER.get(f"{ADDRESS}/{{pool_id}}/derivation")
def show_derivation(request: Request, package_id: str, pool_id: str, caller: Adjudicator) -> Response:
    """How annotations and rules lead to the answer, as the reasoner draws it; a page without scripts."""
    found = services.derivation(caller.office, caller.here[0].id, pool_id)
    if found is None:
        words = said("What annotators marked in this text does not lead to this answer.")
        return go(caller, at(caller, f"/adjudicate/{package_id}/{pool_id}"), words, "plain")
    return HTMLResponse(found, headers={"Content-Security-Policy": DERIVATION_POLICY})


def _asked(caller: Caller, package_id: str, pool_id: str = "", why: str = "") -> CasePage:
    with caller.office.reading() as session:
        found = adjudicating.case(session, caller.office, caller.here[0].id, package_id, pool_id)
        if isinstance(found, Progress):
            return _end(caller, package_id, found)
        history = tuple(
            Step(say(VERDICTS[one.verdict]), one.why, name_of(session, caller, one.by), one.at) for one in found.history
        )
    return _page(caller, package_id, found, history, why)


def _end(caller: Caller, package_id: str, state: Progress) -> CasePage:
    address = at(caller, f"/adjudicate/{package_id}")
    return CasePage(say("Nothing waits"), "", address, 0, state.decided, state.total)


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
        tuple((_labelled(one, found), say(VERDICTS[one.verdict])) for one in found.beside),
        tuple(runs_of(found.document.text, found.excerpts)),
        say(VERDICTS[found.decision.verdict]) if found.decision else "",
        history,
        len(history),
        found.after,
        why,
    )


def _labelled(one: Said, found: Case) -> Said:
    return replace(one, values=tuple((found.asked.labels.get(name, name), told) for name, told in one.values))


def runs_of(text: str, excerpts: tuple[Excerpt, ...]) -> list[Run]:
    """The text cut where excerpts begin and end."""
    cuts = sorted({0, len(text), *(cut for one in excerpts for cut in (one.start, one.end))})
    found = []
    for start, end in pairwise(cuts):
        found.append(Run(text[start:end], any(one.start <= start and end <= one.end for one in excerpts)))
    return found
