"""The cases of one panel, the widest disagreement first; numbers only, for what is in a case is seen one at a time."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.panels.deciding import accepting, adjudicating
from basanite.campaign.panels.found import panel_named
from basanite.server.catalogue import plural
from basanite.server.pages.adjudicating.desk import LISTED, PANEL, Adjudicator, at, found
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class CaseLine:
    """One case in the queue."""

    id: str
    number: int
    state: str
    disagreement: float
    judgements: int


@dataclass(frozen=True)
class QueuePage:
    """The queue, and what all judges agree on."""

    title: str
    address: str
    back: str
    first: str
    open: int
    decided: int
    unanimous: int
    """Items that all judges answered alike and nobody accepted yet."""
    cases: tuple[CaseLine, ...]
    more: int = 0

    @property
    def graded(self) -> bool:
        """Whether cases differ in how far judges are apart: two judges and a plain choice can only differ wholly."""
        return any(0 < one.disagreement < 1 for one in self.cases)


@ROUTER.get(PANEL)
def queue(request: Request, caller: Adjudicator, panel: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel))


@ROUTER.post(f"{PANEL}/accept")
def accept(request: Request, caller: Adjudicator, panel: str, form: Filled) -> Response:
    """Let hold what all judges said of an item, for all such items at once."""
    try:
        with caller.office.writing() as session:
            row = panel_named(session, caller.here[0].id, panel)
            count = accepting.accept_unanimous(session, caller.office, caller.actor, row.id)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, panel), error)
    words = plural(
        count, "{count} item is accepted as all judges said.", "{count} items are accepted as all judges said."
    )
    return go(caller, at(caller, f"/{panel}"), words.striptags())


def _asked(caller: Caller, name: str) -> QueuePage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        cases = adjudicating.queue(session, panel.id, everything=True)
        alike = len(accepting.unanimous(session, panel.id))
    ordered = sorted(cases, key=lambda one: one.state != "open")
    waits = sum(one.state == "open" for one in ordered)
    lines = tuple(
        CaseLine(one.id, number, one.state, one.disagreement, one.judgements)
        for number, one in enumerate(ordered[:LISTED], 1)
    )
    address = at(caller, f"/{name}")
    first = f"{address}/{ordered[0].id}" if waits else ""
    given = (waits, len(ordered) - waits, alike, lines, max(len(ordered) - LISTED, 0))
    return QueuePage(scheme.title, address, at(caller), first, *given)
