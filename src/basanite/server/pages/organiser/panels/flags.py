"""What judges flagged: an item that addresses them, shows its maker or is not text (X-9, M49)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.watching import looking
from basanite.campaign.store.tables import PanelItem
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import said
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import Organiser, name_of
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, found, head
from basanite.server.pages.organiser.panels.facts import facts_in_words
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
SHOWN = 200


@dataclass(frozen=True)
class FlagLine:
    """One mark of one judge."""

    words: str
    item: str
    number: int
    who: str
    facts: str
    at: datetime


@dataclass(frozen=True)
class FlagsPage:
    """All marks, the newest first."""

    title: str
    panel: PanelHead
    flags: tuple[FlagLine, ...]
    more: int = 0
    place: str = "/flags"


@ROUTER.get(f"{PANEL}/flags")
def flags(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        row, scheme = found(session, caller, panel)
        raised = looking.flags(session, row.id)
        lines = tuple(_line(session, caller, scheme, one) for one in raised[:SHOWN])
        top = head(session, row, scheme)
    return show(request, caller, FlagsPage(said("Flags"), top, lines, max(len(raised) - SHOWN, 0)))


def _line(session: Session, caller: Caller, scheme: Scheme, one: looking.Flag) -> FlagLine:
    words = next((flag.title for flag in scheme.flags if flag.value == one.flag), one.flag)
    number = session.get_one(PanelItem, one.item).number
    who = name_of(session, caller, one.person_id)
    return FlagLine(words, one.item, number, who, facts_in_words(one.facts), one.at)
