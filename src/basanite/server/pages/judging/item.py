"""One item and what is asked about it; sent with a key, so that it is stored once whatever the line does (R-2, M52)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.panels.attending import working
from basanite.campaign.panels.found import find_panel, scheme_of
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse
from basanite.server.pages.judging.filled import answers_of, seconds_of
from basanite.server.pages.judging.place import (
    BASE,
    MOVED_ON,
    At,
    Judge,
    at_of,
    base_of,
    blocks_of,
    desk_of,
    panel_of,
    sentence_of,
)
from basanite.server.pages.judging.questions import BACK, PAUSE, Asked, Choice, asked, free_key, hints, keyed_flags
from basanite.server.pages.judging.shown import Shown, shown_blocks, told
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
UNPROCESSABLE = 422
NOTHING = Markup("")


@dataclass(frozen=True)
class ItemPage:
    """The item on the desk."""

    title: str
    at: At
    assignment: str
    key: str
    """Under which the answer is stored, once."""
    blocks: tuple[Shown, ...]
    questions: tuple[Asked, ...]
    flags: tuple[Choice, ...] = ()
    flagged: tuple[str, ...] = ()
    training: bool = False
    again: bool = False
    """The last answer is looked at once more."""
    back: bool = False
    """Whether there is a last answer that can be corrected."""
    first: bool = False
    instructions: Markup = NOTHING
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def below(self) -> bool:
        """Whether the questions stand below the item, since both need the width."""
        return self.sides or any(one.widget == "spans" for one in self.questions)

    @property
    def pause_key(self) -> str:
        """The key for a pause, if no answer has it."""
        return free_key(self.questions, PAUSE)

    @property
    def back_key(self) -> str:
        """The key for going back, if no answer has it."""
        return free_key(self.questions, BACK)

    @property
    def sides(self) -> bool:
        """Whether two things stand side by side."""
        return any(one.side for one in self.blocks)


def item_page(caller: Caller, found: working.Desk) -> ItemPage:
    """The page of the item that is on a desk."""
    scheme, again = found.scheme, found.given is not None
    questions = asked(scheme, found.given or {}, found.blocks)
    flags, back = keyed_flags(scheme, questions), bool(found.last) and not again
    return ItemPage(
        _title(found),
        at_of(caller, found),
        found.assignment,
        secrets.token_urlsafe(18),
        shown_blocks(scheme, found.blocks, base_of(caller, found.name)),
        questions,
        flags,
        found.flags,
        found.stage == "training",
        again,
        back,
        found.position == 1 and not again,
        told(scheme.instructions),
        tuple(hints(questions, flags, again=again, back=back)),
    )


def _title(found: working.Desk) -> str:
    if found.given is not None:
        return say("Your last answer")
    return say("Item {position} of {size}", position=found.position, size=found.in_round)


@ROUTER.post(f"{BASE}/answer")
def answer(request: Request, caller: Judge, form: Filled, panel: str) -> Response:
    """Store an answer, or correct the last one; what is missing is asked for on the same page."""
    try:
        _store(caller, form, panel)
    except RefusedError as error:
        if error.status == UNPROCESSABLE:
            return _asked_again(request, caller, form, panel, error)
        if error.status == MOVED_ON:
            return go(caller, base_of(caller, panel), sentence_of(error), "plain")
        raise
    return go(caller, base_of(caller, panel))


def _store(caller: Caller, form: Form, panel: str) -> None:
    act = working.correct if form.text("again") else working.answer
    assignment, key, flags = form.text("assignment"), form.text("key"), form.all("flag")
    with caller.office.writing() as session:
        panel_id = panel_of(session, caller, panel)
        scheme, blocks = scheme_of(find_panel(session, panel_id)), blocks_of(session, caller, assignment)
        answers, spent = answers_of(scheme, blocks, form), seconds_of(form)
        who = (session, caller.office, caller.actor)
        act(*who, panel_id, assignment, answers, key=key, seconds=spent, flags=flags)


def _asked_again(request: Request, caller: Caller, form: Form, panel: str, error: RefusedError) -> Response:
    """The same page with what was filled in; if the desk has moved on, what is on it now."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel, again=bool(form.text("again")))
    if found.assignment != form.text("assignment") or found.stage not in ("item", "training"):
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    page = item_page(caller, found)
    filled = asked(found.scheme, _kept(found, form), found.blocks)
    kept = replace(page, questions=filled, flagged=form.all("flag"), key=form.text("key") or page.key)
    return refuse(request, caller, kept, error)


def _kept(found: working.Desk, form: Form) -> Mapping[str, Any]:
    try:
        return answers_of(found.scheme, found.blocks, form)
    except RefusedError:
        return {question.id: form.text(f"q-{question.id}") for question in found.scheme.questions}
