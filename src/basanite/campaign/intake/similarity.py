"""Near-identical submissions of different teams, shown to the organiser alone (X-7).

Of each submission's files the few smallest keyed digests are kept. Two sets of files share about as many of these as
they share files, so that a copy with some files changed is found without comparing every file with every other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from basanite.campaign.office import Actor
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import Sketch, Submission

KEPT = 16
VALUE = re.compile(r"[0-9a-f]{24}")
NEAR = 0.75
"""The share of kept digests from which on two submissions are called near-identical."""


@dataclass(frozen=True)
class Pair:
    """Two submissions of different teams that are nearly the same."""

    submission: str
    team: str
    other: str
    other_team: str


def note_members(session: Session, submission: Submission, kept: Iterable[str]) -> str | None:
    """Keep a submission's sketch and note the nearest submission of another team, if it is near.

    The values come from the child that read the archive: what is no digest is left out.
    """
    values = sorted({value for value in kept if isinstance(value, str) and VALUE.fullmatch(value)})[:KEPT]
    if not values:
        return None
    known = set(session.scalars(select(Sketch.value).where(Sketch.submission_id == submission.id)))
    session.add_all(Sketch(submission_id=submission.id, value=value) for value in values if value not in known)
    session.flush()
    found = _nearest(session, submission, values)
    submission.similar_to = found or submission.similar_to
    return found


def _nearest(session: Session, submission: Submission, values: list[str]) -> str | None:
    """The one that shares most, of those the oldest: first who shares enough, then whose it is, each by its index."""
    count = func.count()
    near = select(Sketch.submission_id, count).where(Sketch.value.in_(values)).group_by(Sketch.submission_id)
    shared = {row[0]: row[1] for row in session.execute(near.having(count >= NEAR * len(values)))}
    others = []
    for block in in_blocks(shared):
        some = select(Submission.id, Submission.received).where(
            Submission.id.in_(block),
            Submission.campaign_id == submission.campaign_id,
            Submission.team_id != submission.team_id,
        )
        others += [(-shared[row[0]], row[1], row[0]) for row in session.execute(some)]
    return min(others)[2] if others else None


def similar(session: Session, actor: Actor, campaign_id: str, most: int = 500) -> tuple[Pair, ...]:
    """Near-identical submissions of a campaign, newest first; for organisers."""
    require_organiser(session, actor, campaign_id)
    other = aliased(Submission)
    query = (
        select(Submission.id, Submission.team_id, other.id, other.team_id)
        .join(other, other.id == Submission.similar_to)
        .where(Submission.campaign_id == campaign_id)
        .order_by(Submission.received.desc(), Submission.id)
    )
    return tuple(Pair(*row) for row in session.execute(query.limit(most)))
