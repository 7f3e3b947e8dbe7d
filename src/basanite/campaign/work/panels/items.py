"""The items of a panel: page by page for organisers, and what of their words judges do not see (X-9).

What systems tell the judges is checked before: words that name their maker or ask for a verdict are hidden. Nothing is
taken out of an item: what was hidden, by whom and why is written beside it, and every page, batch and case leaves those
blocks out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session, object_session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import PanelHidden, PanelItem
from basanite.campaign.work.panels.lookup import as_block, as_item, locked_panel, note
from basanite.work.items import Block, Item

HIDEABLE = "instructions"


def hide(session: Session, office: Office, actor: Actor, item_id: str, block: int, *, reason: str) -> PanelHidden:
    """Hide what a system tells the judges of one item, from now on and from everybody who judges it."""
    item = session.get(PanelItem, item_id)
    if item is None:
        raise missing("item")
    panel = locked_panel(session, item.panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if not reason.strip():
        raise refused("X-9", "hiding a system's words needs a reason", "give a reason", status=422)
    if not (0 <= block < len(item.blocks) and item.blocks[block]["kind"] == HIDEABLE):
        raise refused("X-9", "only words that a system wrote for the judges can be hidden", "view the item", status=422)
    if block in hidden_blocks(session, item.id):
        raise refused("X-9", "this is already hidden", "reload the page", status=409)
    row = PanelHidden(panel_id=panel.id, item_id=item.id, block=block, reason=reason, by=actor.id, at=office.clock())
    session.add(row)
    session.flush()
    note(session, office, actor, panel, "item.hidden", item.id, block=block, reason=reason)
    return row


def hidden_blocks(session: Session, item_id: str) -> frozenset[int]:
    """The places of the blocks of an item that judges do not see."""
    return frozenset(session.scalars(select(PanelHidden.block).where(PanelHidden.item_id == item_id)))


def visible(item: PanelItem) -> tuple[Block, ...]:
    """The blocks of an item that may be shown to anyone who judges it."""
    session = object_session(item)
    left_out = (
        hidden_blocks(session, item.id)
        if session is not None and any(plain["kind"] == HIDEABLE for plain in item.blocks)
        else frozenset()
    )
    return tuple(as_block(plain) for at, plain in enumerate(item.blocks) if at not in left_out)


def as_seen(item: PanelItem) -> Item:
    """A stored item as judging knows it, without what is hidden."""
    return replace(as_item(item), blocks=visible(item))


@dataclass(frozen=True)
class Neighbours:
    """An item, and the ids of those before and after it; empty where there is none."""

    item: PanelItem
    of: int
    before: str
    after: str


@dataclass(frozen=True)
class Counts:
    """How many items a panel has for what, and how many were joined into equal ones."""

    real: int
    checks: int
    training: int
    joined: int


def page_of_items(session: Session, panel_id: str, *, after: int = 0, limit: int = 50) -> tuple[PanelItem, ...]:
    """Items in the order of their numbers; `after` is where the last page ended."""
    question = select(PanelItem).where(PanelItem.panel_id == panel_id, PanelItem.number > after)
    return tuple(session.scalars(question.order_by(PanelItem.number).limit(limit)))


def neighbours(session: Session, panel_id: str, item_id: str = "") -> Neighbours | None:
    """An item of a panel, the first one if none is named; None if the panel has none."""
    of = session.scalar(select(func.count()).select_from(PanelItem).where(PanelItem.panel_id == panel_id)) or 0
    item = session.get(PanelItem, item_id) if item_id else next(iter(page_of_items(session, panel_id, limit=1)), None)
    if item is None and not item_id:
        return None
    if item is None or item.panel_id != panel_id:
        raise missing("item")
    return Neighbours(item, of, _beside(session, item, -1), _beside(session, item, 1))


def _beside(session: Session, item: PanelItem, way: int) -> str:
    question = select(PanelItem.id).where(PanelItem.panel_id == item.panel_id)
    if way < 0:
        question = question.where(PanelItem.number < item.number).order_by(PanelItem.number.desc())
    else:
        question = question.where(PanelItem.number > item.number).order_by(PanelItem.number)
    return session.scalar(question.limit(1)) or ""


def item_counts(session: Session, panel_id: str) -> Counts:
    """How many items there are of each role, and how many were joined into them."""
    question = select(PanelItem.role, func.count()).where(PanelItem.panel_id == panel_id).group_by(PanelItem.role)
    found = {str(role): int(number) for role, number in session.execute(question)}
    joined = sum(len(also) for also in session.scalars(select(PanelItem.also).where(PanelItem.panel_id == panel_id)))
    return Counts(found.get("real", 0), found.get("check", 0), found.get("training", 0), joined)
