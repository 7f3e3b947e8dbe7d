"""Where a judge stands: the panel of an address, how far the work is, and what follows a form.

Whatever a form meant, the judge ends up at the desk: an answer that came too late, or from another tab, is said there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.panels.attending import working
from basanite.campaign.panels.attending.desk import blocks_for
from basanite.campaign.panels.found import panel_of_judge
from basanite.campaign.store.tables import Assignment, PanelItem
from basanite.judging.items import Block
from basanite.server.catalogue import say
from basanite.server.pages.foundation.frame import go
from basanite.server.roles import Caller, allow

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


def desk_of(session: Session, caller: Caller, name: str, *, again: bool = False) -> working.Desk:
    """What the caller has to do now on a panel; `again`: the last answer once more."""
    look = working.look_again if again else working.desk
    return look(session, caller.office, panel_of(session, caller, name), caller.actor.id)


def at_of(caller: Caller, found: working.Desk) -> At:
    """Where the caller stands, in words."""
    return At(found.scheme.title, base_of(caller, found.name), progress_words(found), found.done, found.of)


def progress_words(found: working.Desk) -> str:
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


def _training_words(found: working.Desk) -> str:
    if not found.in_round:
        return say("Training")
    return say("Training, item {position} of {size}", position=found.position, size=found.in_round)


def acted(caller: Caller, panel: str, act: Callable[[Session, str], object]) -> Response:
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
