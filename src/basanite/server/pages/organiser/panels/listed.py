"""The panels of a campaign with their progress and agreement; before the first, how to make one (P-7)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.deciding import adjudicating
from basanite.campaign.panels.found import find_panel, scheme_of
from basanite.campaign.panels.watching import looking
from basanite.campaign.people.roles import holders
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import Organiser, name_of
from basanite.server.pages.organiser.panels.desk import ADDRESS
from basanite.server.pages.organiser.panels.presets import kind_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
JUDGING = ("judge", "annotator", "adjudicator")
SHOWN = 200


@dataclass(frozen=True)
class PanelLine:
    """One panel."""

    name: str
    title: str
    kind: str
    state: str
    done: int
    of: int
    judges: int
    agreement: float | None
    why: str
    """Why there is no agreement yet."""
    cases: int
    flags: int


@dataclass(frozen=True)
class ListedPage:
    """All panels, who may judge, and what the plan says about judging."""

    title: str
    panels: tuple[PanelLine, ...]
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Role, and who holds it."""
    rules: tuple[tuple[str, str], ...]
    """What the campaign's file says under `judging`."""
    more: int = 0


@ROUTER.get(ADDRESS)
def panels(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        known = looking.overview(session, row.id)
        lines = tuple(_line(session, caller, one) for one in known[:SHOWN])
        people = tuple(
            (role, tuple(name_of(session, caller, one) for one in holders(session, row.id, (role,))))
            for role in JUDGING
        )
    rules = tuple((str(name), str(value)) for name, value in campaign.judging.items())
    return show(request, caller, ListedPage(say("Judging"), lines, people, rules, max(len(known) - SHOWN, 0)))


def _line(session: Session, caller: Caller, one: looking.PanelLine) -> PanelLine:
    scheme = scheme_of(find_panel(session, one.id))
    stands = looking.progress(session, caller.office, one.id)
    first = stands.agreement[0].alpha if stands.agreement else None
    value = first.value if first is not None and first.defined else None
    why = said("nothing to compare") if first is None else first.reason
    waits = adjudicating.open_cases(session, one.id)
    counts = (stands.done, stands.of, one.judges)
    return PanelLine(one.name, one.title, kind_of(scheme), one.state, *counts, value, why, waits, stands.flags)
