"""Submissions once they are in: found, listed page by page, and their place in the queue.

Pages begin where the last one ended (by key, not by count), so that the hundredth costs what the first does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.intake.entitlement import belongs
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import is_organiser
from basanite.campaign.store.tables import Submission

PAGE, MOST = 50, 500
WAITING = ("received", "validating", "scoring")


@dataclass(frozen=True)
class Page:
    """Some submissions, newest first, and where the next page begins."""

    rows: Sequence[Submission]
    following: str | None
    """To be given as `after` for the next page; None at the end."""


@dataclass(frozen=True)
class Place:
    """Where a submission stands in the queue."""

    ahead: int
    """Submissions of all teams that came before it and have not ended."""
    within: timedelta
    """How long it takes at the most if everything before it takes as long as anything may."""


def get(session: Session, actor: Actor, submission_id: str) -> Submission:
    """A submission of the actor's own team, or any for organisers; those of other teams do not exist."""
    row = session.get(Submission, submission_id)
    if row is None:
        raise missing("submission")
    if not (is_organiser(session, actor, row.campaign_id) or belongs(session, actor, row.team_id)):
        raise missing("submission")
    return row


def page_of_team(
    session: Session, team_id: str, *, after: str | None = None, limit: int = PAGE, state: str = ""
) -> Page:
    """A team's own submissions, by their number."""
    query = select(Submission).where(Submission.team_id == team_id).order_by(Submission.number.desc())
    if after is not None:
        query = query.where(Submission.number < _number(after))
    return _page(session, query, limit, state, lambda row: str(row.number))


def page_of_campaign(
    session: Session,
    campaign_id: str,
    *,
    after: str | None = None,
    limit: int = PAGE,
    state: str = "",
    window: str = "",
) -> Page:
    """All submissions of a campaign, by the moment they came in; for organisers."""
    query = campaign_query(campaign_id, after)
    if window:
        query = query.where(Submission.window == window)
    return _page(session, query, limit, state, lambda row: f"{row.received.isoformat()}~{row.id}")


def campaign_query(campaign_id: str, after: str | None = None) -> Select[Submission]:
    """What `page_of_campaign` asks, newest first."""
    query = select(Submission).where(Submission.campaign_id == campaign_id)
    query = query.order_by(Submission.received.desc(), Submission.id.desc())
    if after is None:
        return query
    moment, last = _moment(after)
    return query.where(Submission.received <= moment, or_(Submission.received < moment, Submission.id < last))


def _page(
    session: Session,
    query: Select[Submission],
    limit: int,
    state: str,
    mark: Callable[[Submission], str],
) -> Page:
    if state:
        query = query.where(Submission.state == state)
    size = min(max(limit, 1), MOST)
    rows = session.scalars(query.limit(size + 1)).all()
    return Page(rows[:size], mark(rows[size - 1]) if len(rows) > size else None)


def _number(after: str) -> int:
    if not (after.isascii() and after.isdigit() and len(after) < 10):
        raise _no_page()
    return int(after)


def _moment(after: str) -> tuple[datetime, str]:
    text, _, last = after.partition("~")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _no_page() from None
    if moment.tzinfo is None:
        raise _no_page()
    return moment, last


def _no_page() -> RefusedError:
    return refused("P-6", "no page begins there", "begin with the first page", status=422)


def place(session: Session, office: Office, row: Submission) -> Place | None:
    """Where a submission stands in the queue; None once it has ended."""
    if row.state not in WAITING:
        return None
    waiting = select(func.count()).select_from(Submission).where(Submission.state.in_(WAITING))
    ahead = session.scalar(waiting.where(Submission.received < row.received)) or 0
    return Place(ahead, bound(office, ahead))


def bound(office: Office, ahead: int) -> timedelta:
    """The longest that a submission with so many before it can take on one worker process.

    Each of two stages is tried a few times, each try within its limit; a worker that died is noticed after a while.
    """
    limits = office.settings.limits
    each = 2 * limits.tries * (limits.seconds + limits.silent_seconds)
    return timedelta(seconds=each * (1 + ahead // max(office.settings.workers, 1)))
