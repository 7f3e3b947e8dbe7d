"""Adjudication of one text: what annotators say side by side, and a key for every decision (R-15).

Who the annotators are is not shown. Whatever all of them say alike is taken at once; a reading that none of them has,
and `none of these`, are decisions like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from string import ascii_uppercase
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.annotation.config import Config
from basanite.campaign.annotating import adjudicating
from basanite.campaign.annotating.adjudicating import CODES, NONE_OF_THESE, Choice, Edit, Side
from basanite.campaign.annotating.cases import Table
from basanite.campaign.annotating.packages import text_of
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.store.tables import AnnotationDocument
from basanite.server.catalogue import said
from basanite.server.pages.annotating.disagreements import DECIDE, Looker
from basanite.server.pages.annotating.sides import CaseView, case_view, parts_of
from basanite.server.pages.annotating.wire import config_data
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
TEXT = f"{DECIDE}/{{document}}"
Adjudicator = Annotated[Caller, allow("adjudicator")]
SHOWN = 100
"""Cases of a kind that one page lists; what is decided makes room for the next."""


@dataclass(frozen=True)
class DecisionLine:
    """A decision that was made."""

    at: datetime
    verdict: str
    code: str
    note: str


@dataclass(frozen=True)
class DecidePage:
    """A text and all that is to be decided about it."""

    title: str
    text: str
    given: dict[str, Any]
    apart: tuple[CaseView, ...]
    """Open cases on which annotators differ."""
    alike: int
    """Open cases on which all agree; those that lie in something undecided come when it is decided."""
    waiting: int
    """Open cases in something that is not decided yet."""
    decided: tuple[CaseView, ...]
    total: int
    left: int
    letters: tuple[str, ...]
    base: str
    back: str
    codes: tuple[tuple[str, str], ...]
    done: bool = False
    history: tuple[DecisionLine, ...] = field(default=())


@ROUTER.get(TEXT)
def look(request: Request, caller: Looker, document: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, document))


@ROUTER.post(f"{TEXT}/case")
def decide(request: Request, caller: Adjudicator, document: str, form: Filled) -> Response:
    """Decide one case: a side, another reading, or none of these."""
    choice = _choice(form)

    def act(session: Session) -> object:
        reason = {"code": form.text("code"), "note": form.text("note"), "key": form.text("key")[:64]}
        return adjudicating.decide(
            session, caller.office, caller.actor, document, form.text("case"), _checked(choice), **reason
        )

    return _done(request, caller, document, act)


@ROUTER.post(f"{TEXT}/unanimous")
def accept(request: Request, caller: Adjudicator, document: str, form: Filled) -> Response:
    """Take everything that all annotators say alike."""
    return _done(
        request,
        caller,
        document,
        lambda session: adjudicating.accept_unanimous(session, caller.office, caller.actor, document),
    )


@ROUTER.post(f"{TEXT}/again")
def again(request: Request, caller: Adjudicator, document: str, form: Filled) -> Response:
    """Take one decision back."""
    case, note = form.text("case"), form.text("note")
    return _done(
        request,
        caller,
        document,
        lambda session: adjudicating.reopen_case(session, caller.office, caller.actor, document, case, note=note),
    )


@ROUTER.post(f"{TEXT}/finish")
def finish(request: Request, caller: Adjudicator, document: str, form: Filled) -> Response:
    """Everything is decided."""
    back = f"/campaigns/{caller.here[0].slug}/annotate/decide"
    return _done(
        request,
        caller,
        document,
        lambda session: adjudicating.finish(session, caller.office, caller.actor, document),
        (back, said("The text is adjudicated. Its answers go into the next version of the gold.")),
    )


@ROUTER.post(f"{TEXT}/reopen")
def reopen(request: Request, caller: Adjudicator, document: str, form: Filled) -> Response:
    """Go on with a text that was finished, whoever finished it."""
    reason = form.text("reason")
    return _done(
        request,
        caller,
        document,
        lambda session: adjudicating.reopen(session, caller.office, caller.actor, document, reason=reason),
    )


def _choice(form: Form) -> Choice | None:
    chosen = form.text("choice")
    if chosen == "none":
        return NONE_OF_THESE
    if chosen == "edit":
        words = {slot.removeprefix("words-"): form.all(slot) for slot in form.fields if slot.startswith("words-")}
        places = {slot: [parts_of(one) for one in several] for slot, several in words.items()}
        fields = {name: value for name, value in form.beginning("field-").items() if value}
        return Edit(fields, places, form.text("inferred") == "yes", "")
    return Side(chosen) if chosen else None


def _checked(choice: Choice | None) -> Choice:
    if choice is None:
        raise refused(
            "R-15", said("nothing was chosen"), said("take a side, another reading, or none of these"), status=422
        )
    return choice


def _done(
    request: Request,
    caller: Caller,
    document: str,
    act: Callable[[Session], object],
    then: tuple[str, str] | None = None,
) -> Response:
    """Do it and go on with the next case; or show the page again with what was wrong."""
    try:
        _find(caller, document)
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, document), error)
    here = f"/campaigns/{caller.here[0].slug}/annotate/decide/{document}"
    return go(caller, *(then or (here, "")))


def _find(caller: Caller, document: str) -> None:
    """A text of this campaign; those of others are not there."""
    with caller.office.reading() as session:
        row = session.get(AnnotationDocument, document)
        if row is None or row.campaign_id != caller.here[0].id:
            raise missing("text")


def _asked(caller: Caller, document: str) -> DecidePage:
    _find(caller, document)
    office, base = caller.office, f"/campaigns/{caller.here[0].slug}/annotate/decide"
    with office.reading() as session:
        table = adjudicating.disagreements(session, office, caller.actor, document)
        text = text_of(office, table.document).text
        past = adjudicating.history(session, caller.actor, document)
        views = [case_view(table, one, text) for one in table.cases]
    waiting = [one for one in views if one.open and one.hidden]
    ready = [one for one in views if one.open and not one.hidden]
    apart = tuple(one for one in ready if not one.unanimous)
    return DecidePage(
        title=table.document.name,
        text=text,
        given={"text": text, "config": config_data(table.config), "marks": marks_of(table)},
        apart=apart[:SHOWN],
        alike=sum(one.unanimous for one in ready),
        waiting=len(waiting),
        decided=tuple(one for one in views if one.verdict)[:SHOWN],
        total=len(views),
        left=len(table.open_cases),
        letters=tuple(ascii_uppercase[: len(table.tasks)]),
        base=f"{base}/{document}",
        back=base,
        codes=tuple((code, said(words)) for code, words in CODES.items()),
        done=table.record is not None and table.record.state == "done",
        history=tuple(DecisionLine(one.at, one.verdict, one.code, one.note) for one in past[::-1][:SHOWN]),
    )


def marks_of(table: Table) -> list[dict[str, Any]]:
    """All marks of all annotators, each named after its annotator's letter."""
    return [
        {
            "id": f"{ascii_uppercase[at]}-{mention.id}",
            "category": one.category,
            "label": f"{ascii_uppercase[at]} {_title(table.config, one.category)}",
            "parts": [list(part) for part in mention.parts],
        }
        for at, state in enumerate(table.states)
        for one in state.objects.values()
        for several in one.mentions.values()
        for mention in several
    ]


def _title(config: Config, name: str) -> str:
    return config.categories[name].title or name
