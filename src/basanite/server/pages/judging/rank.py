"""The items of a round put in order: by dragging, keys and buttons, or by numbers in a plain form (R-2, P-33)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.panels.attending import working
from basanite.server.catalogue import plural, said, say
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse
from basanite.server.pages.judging.filled import number_of, seconds_of
from basanite.server.pages.judging.place import (
    BASE,
    MOVED_ON,
    At,
    Judge,
    at_of,
    base_of,
    desk_of,
    panel_of,
    sentence_of,
)
from basanite.server.pages.judging.shown import Shown, shown_blocks
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
BEGINS = 160
"""Characters of a passage that are shown folded."""
FIELD = "rank-"


@dataclass(frozen=True)
class Ranked:
    """One item of the round."""

    id: str
    name: str
    place: int | str
    block: Shown
    given: str = ""
    """The stars it got."""
    given_words: str = ""

    @property
    def begins(self) -> str:
        """The first words."""
        text = self.block.text.unescape()
        return say("The summary, as an image") if self.block.image else text[:BEGINS] + "…" * (len(text) > BEGINS)


@dataclass(frozen=True)
class RankPage:
    """All items of the round, in the order in which they stand."""

    title: str
    at: At
    round: int
    key: str
    rows: tuple[Ranked, ...]
    back: bool = False
    keys: tuple[tuple[str, str], ...] = ()


def rank_page(caller: Caller, found: working.Desk, places: Form | None = None) -> RankPage:
    """The page of the round that is to be put in order; `places` are those of a form that was refused."""
    rows = [_ranked(caller, found, one, at, places) for at, one in enumerate(found.placed, 1)]
    keys = [("↑ ↓", say("from item to item")), ("J K", say("move down, move up")), ("Enter", say("keep this order"))]
    title = plural(len(rows), "Put the item in order", "Put the {count} items in order")
    keep = secrets.token_urlsafe(18)
    return RankPage(title, at_of(caller, found), found.round, keep, tuple(rows), bool(found.last), tuple(keys))


def _ranked(caller: Caller, found: working.Desk, one: working.Placed, at: int, places: Form | None) -> Ranked:
    blocks = shown_blocks(found.scheme, one.blocks, base_of(caller, found.name))
    main = next((block for block in blocks if block.kind in ("text", "image")), blocks[0])
    place = at if places is None else places.text(f"{FIELD}{one.item}")
    return Ranked(one.item, say("Item {number}", number=at), place, main, *_stars(found, one))


def _stars(found: working.Desk, one: working.Placed) -> tuple[str, str]:
    question = next((each for each in found.scheme.questions if each.widget == "stars"), None)
    value = one.answers.get(question.id) if question else None
    if question is None or not isinstance(value, int | float):
        return "", ""
    stars, most = int(value), int(question.hi)
    return "★" * stars + "☆" * (most - stars), plural(stars, "{count} star", "{count} stars")


@ROUTER.post(f"{BASE}/rank")
def rank(request: Request, caller: Judge, form: Filled, panel: str) -> Response:
    """Keep the order; each place must be given once."""
    try:
        order = order_of(form)
        with caller.office.writing() as session:
            panel_id, number = panel_of(session, caller, panel), number_of(form, "round")
            key, spent = form.text("key"), seconds_of(form, otherwise=0.0)
            working.rank(session, caller.office, caller.actor, panel_id, number, order, key=key, seconds=spent)
    except RefusedError as error:
        if error.status == MOVED_ON:
            return go(caller, base_of(caller, panel), sentence_of(error), "plain")
        return _once_more(request, caller, form, panel, error)
    return go(caller, base_of(caller, panel))


def order_of(form: Form) -> list[str]:
    """The items from the first place to the last.

    >>> order_of(Form({"rank-b": ("1",), "rank-a": ("2",)}))
    ['b', 'a']
    """
    places = form.beginning(FIELD)
    if sorted(places.values()) != sorted(map(str, range(1, len(places) + 1))):
        fix = said("give each place from 1 to {most} to one item", most=len(places))
        raise refused("R-2", said("two items have the same place, or one has none"), fix, status=422)
    return sorted(places, key=lambda item: int(places[item]))


def _once_more(request: Request, caller: Caller, form: Form, panel: str, error: RefusedError) -> Response:
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
    if found.stage != "rank":
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    return refuse(request, caller, rank_page(caller, found, form), error)
