"""Schemes that were changed while they were judged by, with what changed: deviations from the plan, as any (P-28)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.freezing import Change, changes
from basanite.campaign.panels.found import checked_scheme
from basanite.campaign.panels.preparing.setting_up import deviations
from basanite.campaign.store.tables import Panel, PanelScheme


@dataclass(frozen=True)
class SchemeDeparture:
    """A scheme that departs from the one under which its panel was opened."""

    panel: str
    window: str
    """The window whose submissions are judged; empty if they are not."""
    at: datetime
    reason: str
    judged: bool
    """Whether judgements had been given by then."""
    changes: tuple[Change, ...]


def departures(session: Session, campaign_id: str) -> tuple[SchemeDeparture, ...]:
    """Every change of a scheme after its panel was opened, in the order of time."""
    return tuple(_departure(session, row) for row in deviations(session, campaign_id))


def _departure(session: Session, row: PanelScheme) -> SchemeDeparture:
    panel = session.get_one(Panel, row.panel_id)
    question = select(PanelScheme.text).where(PanelScheme.panel_id == row.panel_id, PanelScheme.version < row.version)
    before = session.scalars(question.order_by(PanelScheme.version.desc()).limit(1)).one()
    found = changes(checked_scheme(before), checked_scheme(row.text))
    return SchemeDeparture(panel.name, panel.window, row.at, row.reason, row.results_known, found)
