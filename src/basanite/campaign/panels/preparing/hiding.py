"""What systems tell the judges is looked at before: words that name their maker or ask for a verdict are hidden (X-9).

Nothing is taken out of an item: what was hidden, by whom and why is written beside it, and every page, batch and case
leaves those blocks out.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session, object_session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import as_block, as_item, locked_panel, note
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import PanelHidden, PanelItem
from basanite.judging.items import Block, Item

HIDEABLE = "instructions"


def hide(session: Session, office: Office, actor: Actor, item_id: str, block: int, *, reason: str) -> PanelHidden:
    """Hide what a system tells the judges of one item, from now on and from everybody who judges it."""
    item = session.get(PanelItem, item_id)
    if item is None:
        raise missing("item")
    panel = locked_panel(session, item.panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if not reason.strip():
        raise refused("X-9", "words of a system are hidden without a reason", "say why", status=422)
    if not (0 <= block < len(item.blocks) and item.blocks[block]["kind"] == HIDEABLE):
        raise refused("X-9", "only what a system tells the judges can be hidden", "look at the item", status=422)
    if block in hidden(session, item.id):
        raise refused("X-9", "this is hidden already", "load the page again", status=409)
    row = PanelHidden(panel_id=panel.id, item_id=item.id, block=block, reason=reason, by=actor.id, at=office.clock())
    session.add(row)
    session.flush()
    note(session, office, actor, panel, "item.hidden", item.id, block=block, reason=reason)
    return row


def hidden(session: Session, item_id: str) -> frozenset[int]:
    """The places of the blocks of an item that judges do not see."""
    return frozenset(session.scalars(select(PanelHidden.block).where(PanelHidden.item_id == item_id)))


def visible(item: PanelItem) -> tuple[Block, ...]:
    """The blocks of an item that may be shown to whoever judges it."""
    session = object_session(item)
    left_out = hidden(session, item.id) if session is not None and _tells(item) else frozenset()
    return tuple(as_block(plain) for at, plain in enumerate(item.blocks) if at not in left_out)


def _tells(item: PanelItem) -> bool:
    return any(plain["kind"] == HIDEABLE for plain in item.blocks)


def as_seen(item: PanelItem) -> Item:
    """A stored item as judging knows it, without what is hidden."""
    return replace(as_item(item), blocks=visible(item))
