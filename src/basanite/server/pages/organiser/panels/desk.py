"""What the pages of one panel share: its address, its head with tabs, and how an act on it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.deciding import adjudicating
from basanite.campaign.panels.found import panel_named, scheme_of
from basanite.campaign.panels.watching import looking
from basanite.campaign.store.tables import Panel
from basanite.judging.scheme import Scheme
from basanite.server.pages.foundation.frame import Page
from basanite.server.pages.organiser.desk import BASE, at, done
from basanite.server.roles import Caller

ADDRESS = f"{BASE}/judging"
PANEL = f"{ADDRESS}/{{panel}}"


@dataclass(frozen=True)
class PanelHead:
    """A panel as the head of its pages shows it."""

    id: str
    name: str
    title: str
    state: str
    """`draft`, `open`, `closed`, `cancelled`."""
    cases: int = 0
    """Disagreements that nobody decided yet."""
    flags: int = 0


def here(caller: Caller, name: str, part: str = "") -> str:
    """The address of a page of a panel."""
    return at(caller, f"/judging/{name}{part}")


def found(session: Session, caller: Caller, name: str) -> tuple[Panel, Scheme]:
    """The panel of this campaign with its scheme, or not found."""
    panel = panel_named(session, caller.here[0].id, name)
    return panel, scheme_of(panel)


def head(session: Session, panel: Panel, scheme: Scheme) -> PanelHead:
    """What the tabs of a panel show."""
    waits = adjudicating.open_cases(session, panel.id)
    return PanelHead(panel.id, panel.name, scheme.title, panel.state, waits, looking.count_flags(session, panel.id))


def acted(
    request: Request,
    caller: Caller,
    name: str,
    act: Callable[[Session, Panel], object],
    again: Callable[[], Page],
    words: str,
    *,
    then: str = "",
) -> Response:
    """Act on the panel of this name and go on, or show the page again with what was wrong."""

    def inside(session: Session) -> object:
        return act(session, panel_named(session, caller.here[0].id, name))

    return done(request, caller, inside, again, here(caller, name, then), words)
