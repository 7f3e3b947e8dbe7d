"""A judge's home, one panel's facts, money and pictures, and what all pages of judges share (M52, X-4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.store.tables import Assignment, PanelImage, PanelItem
from basanite.campaign.work.panels import enrolment, payroll
from basanite.campaign.work.panels.desk import Desk, blocks_for, judge_desk, look_again
from basanite.campaign.work.panels.enrolment import MyPanel, my_panels
from basanite.campaign.work.panels.lookup import find_seat, panel_of_judge
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, show
from basanite.server.pages.judge_questions import flowing, instructions_markup
from basanite.server.roles import Caller, allow
from basanite.work.items import Block
from basanite.work.scheme import Pay

BASE = "/campaigns/{slug}/judging/{panel}"
Judge: TypeAlias = Annotated[Caller, allow("judge")]
MOVED_ON = 409
"""What acts answer when the work has gone on elsewhere, in another tab say."""


@dataclass(frozen=True)
class At:
    """Which panel, and how far one is."""

    panel: str
    base: str
    words: str = ""
    done: int = 0
    of: int = 0


def base_of(caller: Caller, panel: str) -> str:
    """The address of the desk."""
    row, _ = caller.here
    return BASE.format(slug=row.slug, panel=panel)


def panel_of(session: Session, caller: Caller, name: str) -> str:
    """The id of a panel on which the caller has a seat; any other is not there (X-4)."""
    row, _ = caller.here
    return panel_of_judge(session, row.id, name, caller.actor.id)


def desk_of(session: Session, caller: Caller, name: str, *, again: bool = False) -> Desk:
    """What the caller has to do now on a panel; `again`: the last answer once more."""
    look = look_again if again else judge_desk
    return look(session, caller.office, panel_of(session, caller, name), caller.actor.id)


def at_of(caller: Caller, found: Desk) -> At:
    """Where the caller stands, in words."""
    return At(found.scheme.title, base_of(caller, found.name), progress_words(found), found.done, found.of)


def progress_words(found: Desk) -> str:
    """How far a judge is: the round, the item of it, and all in all."""
    whole = say("{done} of {of} done", done=found.done, of=found.of) if found.of else ""
    if found.stage == "training":
        return _training_words(found)
    if not found.round or found.rounds < 1:
        return whole
    place = say("Round {round} of {rounds}", round=found.round, rounds=found.rounds)
    if found.position and found.given is None:
        place += say(", item {position} of {size}", position=found.position, size=found.in_round)
    return place + " · " + whole


def _training_words(found: Desk) -> str:
    if not found.in_round:
        return say("Training")
    return say("Training, item {position} of {size}", position=found.position, size=found.in_round)


def act_on_desk(caller: Caller, panel: str, act: Callable[[Session, str], object]) -> Response:
    """Do what a form asks for, and go to the desk; what has moved on meanwhile is said there."""
    address = base_of(caller, panel)
    try:
        with caller.office.writing() as session:
            act(session, panel_of(session, caller, panel))
    except RefusedError as error:
        if error.status != MOVED_ON:
            raise
        return go(caller, address, sentence_of(error), "plain")
    return go(caller, address)


def sentence_of(error: RefusedError) -> str:
    """A refusal as one sentence above the next page."""
    words = "; ".join(f"{one.message}: {one.fix}" for one in error.problems)
    return f"{words[:1].upper()}{words[1:]}."


def blocks_of(session: Session, caller: Caller, assignment_id: str) -> tuple[Block, ...]:
    """What the caller was shown under an assignment; somebody else's is not there."""
    row = session.get(Assignment, assignment_id)
    if row is None or row.person_id != caller.actor.id:
        raise missing("item")
    return blocks_for(row, session.get_one(PanelItem, row.item_id))


ROUTER = APIRouter(include_in_schema=False)
MOST = 100
NEXT = {
    "consent": sentence("Read instructions and consent"),
    "declare": sentence("Say which languages you read"),
    "training": sentence("Continue training"),
    "item": sentence("Continue judging"),
    "rank": sentence("Rank the items of this round"),
    "criteria": sentence("List your criteria"),
    "break": sentence("Start next round"),
    "paused": sentence("Continue judging"),
}
OVER = sentence("View")


@dataclass(frozen=True)
class Line:
    """One panel."""

    panel: str
    campaign: str
    address: str
    words: str
    done: int
    of: int
    next: str
    open: bool
    tone: str
    state: str


@dataclass(frozen=True)
class HomePage:
    """Everything that the reader judges."""

    template = "judging/home.html"
    title: str
    panels: tuple[Line, ...]
    more: int = 0


@ROUTER.get("/judging")
def home(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page, over all campaigns."""
    return show(request, caller, _home(caller, None))


@ROUTER.get("/campaigns/{slug}/judging")
def here(request: Request, caller: Judge) -> Response:
    """The page, for one campaign."""
    row, _ = caller.here
    return show(request, caller, _home(caller, row.id))


def _home(caller: Caller, campaign_id: str | None) -> HomePage:
    with caller.office.reading() as session:
        mine = [one for one in my_panels(session, caller.actor.id) if campaign_id in (None, one.campaign_id)]
        lines = tuple(_line(session, caller, one) for one in mine[:MOST])
    return HomePage(say("My judging"), lines, max(0, len(mine) - MOST))


def _line(session: Session, caller: Caller, one: MyPanel) -> Line:
    found = judge_desk(session, caller.office, one.panel_id, caller.actor.id)
    _, campaign, _ = plans.current(session, one.slug)
    address, is_open = BASE.format(slug=one.slug, panel=one.name), found.stage in NEXT
    following = say(NEXT.get(found.stage, OVER))
    done, of = (found.done, found.of) if found.of else (one.done, one.of)
    where = (one.title, campaign.title, address, _words(found, done, of), done, of, following, is_open)
    return Line(*where, *_state(found, of))


def _words(found: Desk, done: int, of: int) -> str:
    if not of:
        return say("You have no assigned items yet.")
    return progress_words(found) if found.of else say("{done} of {of} done", done=done, of=of)


def _state(found: Desk, of: int) -> tuple[str, str]:
    if found.stage == "paused":
        return "gold", say("paused")
    if found.stage in NEXT:
        return "good", say("open")
    if found.stage == "done":
        return "quiet", say("done") if of else say("not started")
    return "quiet", say("not started") if found.stage == "waiting" else say("ended")


Lines = tuple[tuple[str, str], ...]


def pay_words(pay: Pay) -> str:
    """What judging is paid with."""
    parts = []
    if pay.per_item:
        parts.append(say("{amount} per item", amount=amount(pay.per_item, pay.currency)))
    if pay.per_hour:
        parts.append(say("{amount} per hour", amount=amount(pay.per_hour, pay.currency)))
    return ", ".join(parts)


def amount(value: float, currency: str) -> str:
    """A sum of money.

    >>> amount(12.5, "EUR")
    '12.50 EUR'
    """
    return f"{value:.2f} {currency}".strip()


def own_statement(session: Session, caller: Caller, panel_id: str, pay: Pay) -> Lines:
    """What the caller did and is owed; the caller's own alone, and nothing where nothing is paid."""
    if not pay.is_paid:
        return ()
    seat = find_seat(session, panel_id, caller.actor.id)
    statement = payroll.settlement(caller.office, seat) or payroll.statement(session, panel_id, caller.actor.id)
    return () if statement is None else tuple(_lines(statement, pay))


def _lines(one: payroll.Statement, pay: Pay) -> Iterator[tuple[str, str]]:
    yield say("Items"), f"{one.items:,}"
    yield say("Time"), say("{hours} h {minutes} min", hours=int(one.hours), minutes=round(one.hours * 60) % 60)
    yield say("Pay"), f"{one.pay} {one.currency}"
    yield say("Rule"), pay_words(pay)
    if one.rate is not None:
        yield say("Hourly rate achieved"), amount(one.rate, one.currency)


@dataclass(frozen=True)
class AboutPage:
    """What a judge may want to read again."""

    template = "judging/about.html"
    title: str
    at: At
    instructions: Markup
    version: str
    consent: str
    pay: Lines = ()
    can_stop: bool = True


@ROUTER.get(f"{BASE}/about")
def about(request: Request, caller: Judge, panel: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
        pay = own_statement(session, caller, found.panel_id, found.scheme.pay)
    scheme, at = found.scheme, at_of(caller, found)
    facts = (
        instructions_markup(scheme.instructions),
        scheme.consent.version,
        flowing(scheme.consent.text),
        pay,
        found.stage != "closed",
    )
    return show(request, caller, AboutPage(say("About this panel"), at, *facts))


@ROUTER.post(f"{BASE}/withdraw")
def withdraw(caller: Judge, form: PostedForm, panel: str) -> Response:
    """Stop: no more items, and the past work is settled."""
    with caller.office.writing() as session:
        enrolment.withdraw(session, caller.office, caller.actor, panel_of(session, caller, panel))
    return go(caller, base_of(caller, panel), say_plain("You have stopped judging on this panel."))


BOXED = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Disposition": "inline",
    "Cache-Control": "no-store",
}
"""Opened by itself the picture is a page of no origin, in which nothing runs and nothing is fetched."""


@ROUTER.get(f"{BASE}/images/{{image}}")
def picture(caller: Judge, panel: str, image: str) -> Response:
    """A picture that is on the caller's desk at this moment; there are no others."""
    with caller.office.reading() as session:
        panel_id = panel_of(session, caller, panel)
        row = session.get(PanelImage, image)
        if row is None or row.panel_id != panel_id or image not in set(_on_the_desk(session, caller, panel_id)):
            raise missing("image")
        return Response(caller.office.files.read(row.digest), media_type=row.media, headers=BOXED)


def _on_the_desk(session: Session, caller: Caller, panel_id: str) -> Iterator[str]:
    for look in (judge_desk, look_again):
        found = look(session, caller.office, panel_id, caller.actor.id)
        yield from _images(found.blocks)
        yield from (image for one in found.placed for image in _images(one.blocks))


def _images(blocks: tuple[Block, ...]) -> Iterator[str]:
    return (block.value for block in blocks if block.kind == "image")
