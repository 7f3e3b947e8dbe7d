"""A board over time: the moments at which something on it changed, for a chart of the season (P-38)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.results.boards import Subject, on_board
from basanite.campaign.store.tables import Adoption, Submission

MOST_MOMENTS: Final = 24
"""Points of a chart; every one of them is a whole board."""
MOST_ROWS: Final = 9_600
"""Rows of all boards of a chart together: large boards have fewer moments."""
FEWEST_MOMENTS: Final = 4


def moments(session: Session, campaign_id: str, subject: Subject, rows: int) -> list[datetime]:
    """The moments at which results of this board came in, evenly chosen where there are many; the last is one of them.

    Nobody learns from them what the board at a moment would not show them.
    """
    question = select(Adoption.at).join(Submission, Submission.id == Adoption.submission_id)
    question = question.where(*on_board(campaign_id, subject)).distinct().order_by(Adoption.at)
    found = list(session.scalars(question))
    most = max(FEWEST_MOMENTS, min(MOST_MOMENTS, MOST_ROWS // max(rows, 1)))
    if len(found) <= most:
        return found
    return [found[round(at * (len(found) - 1) / (most - 1))] for at in range(most)]
