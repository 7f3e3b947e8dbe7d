"""The panels of a campaign whose judges disagree somewhere: where an adjudicator begins."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.deciding import adjudicating
from basanite.campaign.panels.watching import looking
from basanite.server.catalogue import say
from basanite.server.pages.adjudicating.desk import BASE, LISTED, Adjudicator, at
from basanite.server.pages.foundation.frame import show

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class QueueCard:
    """A panel with its cases in numbers."""

    name: str
    title: str
    state: str
    open: int
    decided: int


@dataclass(frozen=True)
class QueuesPage:
    """All panels that have cases, those with open ones first."""

    title: str
    address: str
    panels: tuple[QueueCard, ...]


@ROUTER.get(BASE)
def queues(request: Request, caller: Adjudicator) -> Response:
    """The page."""
    with caller.office.reading() as session:
        cards = tuple(_cards(session, caller.here[0].id))
    return show(request, caller, QueuesPage(say("Adjudication"), at(caller), cards))


def _cards(session: Session, campaign_id: str) -> list[QueueCard]:
    found = [_card(session, one) for one in looking.overview(session, campaign_id) if one.state in ("open", "closed")]
    return sorted((one for one in found if one.open or one.decided), key=lambda one: -one.open)[:LISTED]


def _card(session: Session, one: looking.PanelLine) -> QueueCard:
    cases = adjudicating.queue(session, one.id, everything=True)
    waits = sum(each.state == "open" for each in cases)
    return QueueCard(one.name, one.title, one.state, waits, len(cases) - waits)
