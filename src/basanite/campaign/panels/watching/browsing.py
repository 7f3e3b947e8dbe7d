"""The items of a panel for organisers: page by page, and one with its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.store.tables import PanelItem


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


def counts(session: Session, panel_id: str) -> Counts:
    """How many items there are of each role, and how many were joined into them."""
    question = select(PanelItem.role, func.count()).where(PanelItem.panel_id == panel_id).group_by(PanelItem.role)
    found = {str(role): int(number) for role, number in session.execute(question)}
    joined = sum(len(also) for also in session.scalars(select(PanelItem.also).where(PanelItem.panel_id == panel_id)))
    return Counts(found.get("real", 0), found.get("check", 0), found.get("training", 0), joined)
