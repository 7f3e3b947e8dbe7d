"""Every item as a judge will see it, before anybody does; what a system tells the judges can be hidden (X-9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.panels.found import as_block
from basanite.campaign.panels.preparing import hiding
from basanite.campaign.panels.watching.browsing import Neighbours, neighbours
from basanite.campaign.store.tables import Panel, PanelItem
from basanite.formats.summaries.instructions import sanitised
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import said
from basanite.server.pages.adjudicating.desk import at as adjudicating_at
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.judging.questions import Asked, asked
from basanite.server.pages.judging.shown import Shown, shown_blocks
from basanite.server.pages.organiser.desk import Organiser
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, acted, found, head, here
from basanite.server.pages.organiser.panels.facts import facts_of_item
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Told:
    """What a system tells the judges in one block."""

    at: int
    html: Markup
    hidden: bool = False


@dataclass(frozen=True)
class PreviewPage:
    """One item: what judges see, what they are asked, and what is kept from them."""

    title: str
    panel: PanelHead
    item: str = ""
    number: int = 0
    of: int = 0
    before: str = ""
    after: str = ""
    blocks: tuple[Shown, ...] = ()
    sides: bool = False
    instructions: Markup = field(default_factory=Markup)
    questions: tuple[Asked, ...] = ()
    marks: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    may_hide: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    place: str = "/preview"


@ROUTER.get(f"{PANEL}/preview")
def preview(
    request: Request, caller: Organiser, panel: str, item: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel, item))


@ROUTER.post(f"{PANEL}/items/{{item}}/hide")
def hide(request: Request, caller: Organiser, panel: str, item: str, form: Filled) -> Response:
    """Hide what a system tells the judges of this item."""
    block, reason = form.text("block"), form.text("reason")

    def act(session: Session, row: Panel) -> None:
        known = session.get(PanelItem, item)
        if known is None or known.panel_id != row.id or not block.isdecimal():
            raise missing("item")
        hiding.hide(session, caller.office, caller.actor, item, int(block[:6]), reason=reason)

    words = said("No judge sees these words any more.")
    return acted(request, caller, panel, act, lambda: _asked(caller, panel, item), words, then=f"/preview?item={item}")


def _asked(caller: Caller, name: str, item_id: str) -> PreviewPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        top = head(session, panel, scheme)
        around = neighbours(session, panel.id, item_id)
        if around is None:
            return PreviewPage(said("As judges see it"), top)
        return _page(session, caller, top, scheme, around)


def _page(session: Session, caller: Caller, top: PanelHead, scheme: Scheme, around: Neighbours) -> PreviewPage:
    row = around.item
    hidden = hiding.hidden(session, row.id)
    blocks = hiding.visible(row)
    every = [(at, as_block(plain)) for at, plain in enumerate(row.blocks)]
    return PreviewPage(
        said("As judges see it"),
        top,
        row.id,
        row.number,
        around.of,
        _address(caller, top.name, around.before),
        _address(caller, top.name, around.after),
        shown_blocks(scheme, blocks, adjudicating_at(caller, f"/{top.name}")),
        scheme.pairwise,
        Markup(scheme.instructions),  # sanitised when the scheme was read (M51)
        asked(scheme, {}, blocks),
        tuple(flag.title for flag in scheme.flags),
        tuple(_told(at, one.value, at in hidden) for at, one in every if one.kind == hiding.HIDEABLE),
        top.state in ("draft", "open"),
        facts_of_item(row.facts),
    )


def _told(at: int, value: str, hidden: bool) -> Told:
    return Told(at, Markup(sanitised(value)), hidden)  # built from an allow-list (M51)


def _address(caller: Caller, name: str, item: str) -> str:
    return here(caller, name, f"/preview?item={item}") if item else ""
