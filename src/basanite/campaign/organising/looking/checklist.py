"""What is still to be set up before a campaign can take and score a submission, step by step (D-10).

Windows that are open and the one that opens next are looked at: what lies further ahead need not be ready. A campaign
that is over has nothing left to set up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model import stages
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.viewer import STAFF
from basanite.campaign.organising.references import Place, versions, window_places
from basanite.campaign.people.roles import holders
from basanite.campaign.people.terms.agreements import find_agreement, standing
from basanite.campaign.store.tables import Membership, PackFile, Submission, Team


@dataclass(frozen=True)
class Step:
    """One thing to set up."""

    kind: Literal["window", "reference", "pack", "team", "agreement", "organizer"]
    done: bool
    what: Place | str = ""
    """The place of a reference, or the title of a pack or an agreement."""
    window: Window | None = None
    """The first window that needs it."""
    proposed: bool = False
    """Whether it is there and waits for a second organizer."""


def checklist(session: Session, campaign_id: str, campaign: Campaign, now: datetime) -> tuple[Step, ...]:
    """All steps in the order in which they are done; empty once none is left."""
    windows = (*stages.open_windows(campaign, now), *stages.upcoming(campaign, now, 1))
    if windows:
        steps = tuple(_steps(session, campaign_id, campaign, windows, now))
    else:
        used = session.scalar(select(Submission.id).where(Submission.campaign_id == campaign_id).limit(1))
        steps = () if used else (Step("window", False),)
    return () if all(one.done for one in steps) else steps


def _steps(
    session: Session, campaign_id: str, campaign: Campaign, windows: tuple[Window, ...], now: datetime
) -> Iterator[Step]:
    yield Step("window", True, windows[0].title)
    yield from _references(session, campaign_id, campaign, windows, now)
    yield from _packs(session, campaign_id, campaign, windows)
    teams = session.scalars(
        select(Team.id)
        .join(Membership, Membership.team_id == Team.id)
        .where(Team.campaign_id == campaign_id, Team.state == "active")
        .where(Membership.role == "pi", Membership.state == "active")
    ).all()
    yield Step("team", bool(teams))
    yield from _agreements(session, campaign, windows, teams, now)
    if campaign.two_people:
        yield Step("organizer", len(holders(session, campaign_id, STAFF)) > 1)


def _references(
    session: Session, campaign_id: str, campaign: Campaign, windows: tuple[Window, ...], now: datetime
) -> Iterator[Step]:
    states: dict[Place, set[str]] = {}
    for one in versions(session, campaign_id):
        states.setdefault(Place(one.task, one.dataset, one.language, one.queryset), set()).add(one.state)
    needed = {place: window for window in reversed(windows) for place in window_places(campaign, window)}
    for place, window in reversed(needed.items()):
        found = states.get(place, set())
        proposed = "proposed" in found
        in_time = proposed and now < window.opens.utc  # it waits among the acts of two people
        yield Step("reference", "active" in found or in_time, place, window, proposed)


def _packs(session: Session, campaign_id: str, campaign: Campaign, windows: tuple[Window, ...]) -> Iterator[Step]:
    """Packs without a file; where teams submit already they have the data from elsewhere."""
    filled = set(session.scalars(select(PackFile.pack).where(PackFile.campaign_id == campaign_id).distinct()))
    used = select(Submission.window).where(Submission.campaign_id == campaign_id).distinct()
    begun = set(session.scalars(used.where(Submission.window.in_([window.id for window in windows]))))
    needed = {name: window for window in reversed(windows) if window.id not in begun for name in window.dataset}
    for name, window in reversed(needed.items()):
        pack = campaign.pack(name)
        yield Step("pack", name in filled, pack.title or pack.id, window)


def _agreements(
    session: Session, campaign: Campaign, windows: tuple[Window, ...], teams: Iterable[str], now: datetime
) -> Iterator[Step]:
    packs = (campaign.pack(name) for window in windows for name in window.dataset)
    for agreement in dict.fromkeys(pack.agreement for pack in packs if pack.agreement):
        signed = any(standing(session, campaign, team, agreement, now).state == "executed" for team in teams)
        yield Step("agreement", signed, find_agreement(campaign, agreement).title or agreement)
