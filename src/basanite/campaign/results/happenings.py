"""What of the log a team sees: what was done with its own submissions, and what concerns everybody.

Kinds are named here one by one, so that a new kind of event stays hidden until somebody decides otherwise. In a blind
window the events of every valid run are the same ones, in the same order (M68).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.viewer import Viewer
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.results.facts import desk
from basanite.campaign.store.tables import Event, Submission

FOR_ALL: Final[Mapping[str, tuple[str, ...]]] = {
    "window.extended": ("closes", "reason"),
    "window.frozen": ("version", "digest"),
    "plan.deviated": ("changed", "version", "reason"),
    "milestone.changed": ("state", "note"),
    "results.released": ("level",),
}
"""Kinds that everybody in the campaign sees, with what of their data."""
OF_RUNS: Final[Mapping[str, tuple[str, ...]]] = {
    "submission.accepted": ("number", "window", "standing"),
    "submission.valid": (),
    "submission.invalid": (),
    "submission.failed": (),
    "submission.scored": (),
    "submission.withdrawn": ("reason",),
    "submission.disqualified": ("reason",),
    "submission.baseline": ("reason",),
    "submission.admitted": ("reason",),
    "submission.designated": ("reason",),
    "submission.described": (),
    "quota.refunded": ("reason",),
}
"""Kinds that are about a team's own submissions."""
HIDDEN_WHILE_BLIND: Final = frozenset({"submission.scored"})


@dataclass(frozen=True)
class Happening:
    """One event as a team sees it; its number in the log would tell how much others do, so it is left out."""

    at: datetime
    kind: str
    subject: str
    data: Mapping[str, Any]


def happenings(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, *, limit: int = 200
) -> tuple[Happening, ...]:
    """The newest events that a member of a team may see, newest first; a visitor sees none."""
    if viewer.team is None:
        return ()
    at = desk(session, office, viewer, plans.current(session, campaign_id))
    own = {row.id: row for row in session.scalars(select(Submission).where(Submission.team_id == viewer.team))}
    mine = Event.kind.in_(tuple(OF_RUNS)) & Event.subject.in_(tuple(own))
    question = select(Event).where(Event.campaign_id == campaign_id, or_(Event.kind.in_(tuple(FOR_ALL)), mine))
    found = session.scalars(question.order_by(Event.sequence.desc()).limit(limit)).all()
    hidden = {run.id for run in own.values() if at.sight(run).level == "none"}
    shown = [one for one in found if not (one.kind in HIDDEN_WHILE_BLIND and one.subject in hidden)]
    return tuple(_happening(one) for one in shown)


def _happening(event: Event) -> Happening:
    names = FOR_ALL.get(event.kind) or OF_RUNS.get(event.kind, ())
    return Happening(
        event.at, event.kind, event.subject, {name: event.data[name] for name in names if name in event.data}
    )
