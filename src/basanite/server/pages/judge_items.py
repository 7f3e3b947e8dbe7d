"""A judge's work on a round: an item, the order of a round, and its criteria (R-2)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.work.panels import judge_work
from basanite.campaign.work.panels.desk import Desk, Placed
from basanite.campaign.work.panels.lookup import find_panel, scheme_of
from basanite.server.catalogue import plural, say, say_plain
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse
from basanite.server.pages.judge import (
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
from basanite.server.pages.judge_questions import (
    BACK,
    PAUSE,
    Choice,
    QuestionField,
    ShownBlock,
    answers_of,
    free_key,
    hints,
    instructions_markup,
    keyed_flags,
    number_of,
    question_fields,
    seconds_of,
    shown_blocks,
)
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
UNPROCESSABLE = 422
NOTHING = Markup("")


@dataclass(frozen=True)
class ItemPage:
    """The item on the desk."""

    template = "judging/item.html"
    title: str
    at: At
    assignment: str
    key: str
    """Under which the answer is stored, once."""
    blocks: tuple[ShownBlock, ...]
    questions: tuple[QuestionField, ...]
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


def item_page(caller: Caller, found: Desk) -> ItemPage:
    """The page of the item that is on a desk."""
    scheme, again = found.scheme, found.given is not None
    questions = question_fields(scheme, found.given or {}, found.blocks)
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
        instructions_markup(scheme.instructions),
        tuple(hints(questions, flags, again=again, back=back)),
    )


def _title(found: Desk) -> str:
    if found.given is not None:
        return say("Your last answer")
    return say("Item {position} of {size}", position=found.position, size=found.in_round)


@ROUTER.post(f"{BASE}/answer")
def answer(request: Request, caller: Judge, form: PostedForm, panel: str) -> Response:
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
    act = judge_work.correct if form.text("again") else judge_work.answer
    assignment, key, flags = form.text("assignment"), form.text("key"), form.all("flag")
    with caller.office.writing() as session:
        panel_id = panel_of(session, caller, panel)
        scheme, blocks = scheme_of(find_panel(session, panel_id)), blocks_of(session, caller, assignment)
        answers, spent = answers_of(scheme, blocks, form), seconds_of(form)
        given = judge_work.Answer(answers, key, spent, flags)
        act(session, caller.office, caller.actor, panel_id, assignment, given)


def _asked_again(request: Request, caller: Caller, form: Form, panel: str, error: RefusedError) -> Response:
    """The same page with what was filled in; if the desk has moved on, what is on it now."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel, again=bool(form.text("again")))
    if found.assignment != form.text("assignment") or found.stage not in ("item", "training"):
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    page = item_page(caller, found)
    filled = question_fields(found.scheme, _filled_answers(found, form), found.blocks)
    kept = replace(page, questions=filled, flagged=form.all("flag"), key=form.text("key") or page.key)
    return refuse(request, caller, kept, error)


def _filled_answers(found: Desk, form: Form) -> Mapping[str, Any]:
    try:
        return answers_of(found.scheme, found.blocks, form)
    except RefusedError:
        return {question.id: form.text(f"q-{question.id}") for question in found.scheme.questions}


BEGINS = 160
"""Characters of a passage that are shown folded."""
FIELD = "rank-"


@dataclass(frozen=True)
class Ranked:
    """One item of the round."""

    id: str
    name: str
    place: int | str
    block: ShownBlock
    given: str = ""
    """The stars it got."""
    given_words: str = ""

    @property
    def begins(self) -> str:
        """The first words."""
        text = self.block.text.unescape()
        return say("Summary as an image") if self.block.image else text[:BEGINS] + "…" * (len(text) > BEGINS)


@dataclass(frozen=True)
class RankPage:
    """All items of the round, in the order in which they stand."""

    template = "judging/rank.html"
    title: str
    at: At
    round: int
    key: str
    rows: tuple[Ranked, ...]
    back: bool = False
    keys: tuple[tuple[str, str], ...] = ()


def rank_page(caller: Caller, found: Desk, places: Form | None = None) -> RankPage:
    """The page of the round that is to be put in order; `places` are those of a form that was refused."""
    rows = [_ranked_item(caller, found, one, at, places) for at, one in enumerate(found.placed, 1)]
    keys = [
        ("↑ ↓", say("across all items")),
        ("J K", say("move down, move up")),
        (str(say("Enter")), say("save this ranking")),
    ]
    title = plural(len(rows), "Rank the item", "Rank the {count} items")
    keep = secrets.token_urlsafe(18)
    return RankPage(title, at_of(caller, found), found.round, keep, tuple(rows), bool(found.last), tuple(keys))


def _ranked_item(caller: Caller, found: Desk, one: Placed, at: int, places: Form | None) -> Ranked:
    blocks = shown_blocks(found.scheme, one.blocks, base_of(caller, found.name))
    main = next((block for block in blocks if block.kind in ("text", "image")), blocks[0])
    place = at if places is None else places.text(f"{FIELD}{one.item}")
    return Ranked(one.item, say("Item {number}", number=at), place, main, *_stars(found, one))


def _stars(found: Desk, one: Placed) -> tuple[str, str]:
    question = next((each for each in found.scheme.questions if each.widget == "stars"), None)
    value = one.answers.get(question.id) if question else None
    if question is None or not isinstance(value, int | float):
        return "", ""
    stars, most = int(value), int(question.hi)
    return "★" * stars + "☆" * (most - stars), plural(stars, "{count} star", "{count} stars")


@ROUTER.post(f"{BASE}/rank")
def rank(request: Request, caller: Judge, form: PostedForm, panel: str) -> Response:
    """Keep the order; each place must be given once."""
    try:
        order = order_of(form)
        with caller.office.writing() as session:
            panel_id, number = panel_of(session, caller, panel), number_of(form, "round")
            key, spent = form.text("key"), seconds_of(form, otherwise=0.0)
            reply = judge_work.RoundReply(number, order, key, spent)
            judge_work.rank(session, caller.office, caller.actor, panel_id, reply)
    except RefusedError as error:
        if error.status == MOVED_ON:
            return go(caller, base_of(caller, panel), sentence_of(error), "plain")
        return _rank_again(request, caller, form, panel, error)
    return go(caller, base_of(caller, panel))


def order_of(form: Form) -> list[str]:
    """The items from the first place to the last.

    >>> order_of(Form({"rank-b": ("1",), "rank-a": ("2",)}))
    ['b', 'a']
    """
    places = form.beginning(FIELD)
    if sorted(places.values()) != sorted(map(str, range(1, len(places) + 1))):
        fix = say_plain("give each item a different rank from 1 to {most}", most=len(places))
        raise refused("R-2", say_plain("two items have the same rank, or one has none"), fix, status=422)
    return sorted(places, key=lambda item: int(places[item]))


def _rank_again(request: Request, caller: Caller, form: Form, panel: str, error: RefusedError) -> Response:
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
    if found.stage != "rank":
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    return refuse(request, caller, rank_page(caller, found, form), error)


@dataclass(frozen=True)
class CriteriaPage:
    """A free list."""

    template = "judging/criteria.html"
    title: str
    at: At
    round: int
    key: str
    text: str = ""


def criteria_page(caller: Caller, found: Desk, text: str = "") -> CriteriaPage:
    """The page that asks for the criteria of a round."""
    return CriteriaPage(
        say("What were your criteria?"), at_of(caller, found), found.round, secrets.token_urlsafe(18), text
    )


@ROUTER.post(f"{BASE}/criteria")
def criteria(request: Request, caller: Judge, form: PostedForm, panel: str) -> Response:
    """Keep the list, one criterion in each line."""
    listed = form.text("criteria").splitlines()
    try:
        with caller.office.writing() as session:
            panel_id, number = panel_of(session, caller, panel), number_of(form, "round")
            key, spent = form.text("key"), seconds_of(form, otherwise=0.0)
            reply = judge_work.RoundReply(number, listed, key, spent)
            judge_work.criteria(session, caller.office, caller.actor, panel_id, reply)
    except RefusedError as error:
        return _criteria_again(request, caller, panel, form.text("criteria"), error)
    return go(caller, base_of(caller, panel))


def _criteria_again(request: Request, caller: Caller, panel: str, text: str, error: RefusedError) -> Response:
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
    if found.stage != "criteria":
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    return refuse(request, caller, criteria_page(caller, found, text), error)
