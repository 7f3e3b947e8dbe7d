"""Breaks between rounds and pauses in between: nothing is lost, and nothing is timed (R-2)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from basanite.campaign.panels.attending import working
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.judging.place import BASE, At, Judge, acted, at_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class RestPage:
    """Time to do something else."""

    title: str
    at: At
    words: str
    button: str
    back: bool = False
    """Whether the last answer can still be corrected."""


def rest_page(caller: Caller, found: working.Desk) -> RestPage:
    """The page of a pause, or of the break after a round."""
    at = at_of(caller, found)
    if found.stage == "paused":
        words = say("Everything that you sent is kept, and no time is counted. Go on today or another day.")
        return RestPage(say("You are having a pause"), at, words, say("Go on"))
    back = bool(found.last)
    words = say("Look out of the window, have a drink. The next round waits, today or another day.")
    return RestPage(
        say("Round {round} is done: time for a break", round=found.round), at, words, say("Next round"), back
    )


@ROUTER.post(f"{BASE}/go-on")
def go_on(caller: Judge, form: Filled, panel: str) -> Response:
    """After a pause, a break, or the feedback of a training item."""
    return acted(caller, panel, lambda session, at: working.go_on(session, caller.office, caller.actor, at))


@ROUTER.post(f"{BASE}/pause")
def pause(caller: Judge, form: Filled, panel: str) -> Response:
    """Stop for now."""
    return acted(caller, panel, lambda session, at: working.pause(session, caller.office, caller.actor, at))
