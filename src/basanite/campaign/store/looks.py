"""How many results each team had seen on a set of data: kept as a number, so that no board counts them again (S-17).

A submission that is scored stays scored, so the number only grows. It is written after the event that goes with it:
anyone who writes both takes the lock of the log first, and nobody waits for each other in a circle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, func, insert, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.store.database import in_blocks, inserting
from basanite.campaign.store.tables import Looks, Submission

PLACE = ("campaign_id", "window", "task", "language", "team_id")


def note(session: Session, row: Submission) -> None:
    """One more result is there. The database adds, so that two at the same moment both count."""
    first = inserting(session, Looks).values({name: getattr(row, name) for name in PLACE} | {"count": 1})
    session.execute(first.on_conflict_do_update(index_elements=PLACE, set_={"count": Looks.count + 1}))


def recount(session: Session, campaign_id: str) -> None:
    """Count a campaign again whose submissions came as they are, from another server."""
    session.execute(delete(Looks).where(Looks.campaign_id == campaign_id))
    place = [getattr(Submission, name) for name in PLACE]
    scored = select(*place, func.count()).where(Submission.campaign_id == campaign_id, Submission.state == "scored")
    session.execute(insert(Looks).from_select((*PLACE, "count"), scored.group_by(*place)))


def beyond(session: Session, campaign_id: str, most: Mapping[str, int], team: str | None = None) -> frozenset[str]:
    """Submissions that came when their team had used up its looks, by window so many; of one team, or of all (X-23).

    Those that are not scored yet count too: which result came out first changes nothing.
    """
    if not most:
        return frozenset()
    place = [getattr(Submission, name) for name in PLACE]
    number = func.row_number().over(partition_by=place, order_by=(Submission.received, Submission.id)).label("number")
    valid = select(Submission.id, Submission.window, number).where(
        Submission.campaign_id == campaign_id, Submission.window.in_(most), Submission.state != "invalid"
    )
    of = valid.subquery() if team is None else valid.where(Submission.team_id == team).subquery()
    over = or_(*((of.c.window == window) & (of.c.number > count) for window, count in most.items()))
    return frozenset(session.scalars(select(of.c.id).where(over)))


class DataSet(NamedTuple):
    """What looks are counted on: the windows that show results of the same data, a task and a language."""

    campaign_id: str
    windows: Sequence[str]
    task: str
    language: str


def before(session: Session, data: DataSet, teams: Iterable[str], end: datetime) -> Counter[str]:
    """By team, the results for what was received in these windows before a moment.

    Only what came later is counted, and taken off: nothing as long as the moment is to come, then what was late, and
    what came to a window that closes after it.
    """
    there, later = (
        [
            table.campaign_id == data.campaign_id,
            table.window.in_(data.windows),
            table.task == data.task,
            table.language == data.language,
        ]
        for table in (Looks, Submission)
    )
    later += [Submission.state == "scored", Submission.received >= end]
    found: Counter[str] = Counter()
    for some in in_blocks(sorted(teams)):
        kept = select(Looks.team_id, Looks.count).where(*there, Looks.team_id.in_(some))
        for team, count in session.execute(kept):
            found[team] += count
        off = select(Submission.team_id, func.count()).where(*later, Submission.team_id.in_(some))
        for team, count in session.execute(off.group_by(Submission.team_id)):
            found[team] -= count
    return found
