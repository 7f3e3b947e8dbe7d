"""What a worker does for people and their mail from round to round; done twice, it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import select

from basanite.campaign.notices.posting import Posted, send_due
from basanite.campaign.office import Office
from basanite.campaign.people.privacy.retention import Forgotten, apply_retention
from basanite.campaign.people.terms.deletions import look_after_agreements
from basanite.campaign.people.terms.resources import remind_of_resources
from basanite.campaign.store.tables import CampaignRow


def send_messages(office: Office) -> Posted:
    """Send what waits to be sent."""
    return send_due(office)


def forget(office: Office) -> Forgotten:
    """Forget what has had its time."""
    with office.writing() as session:
        return apply_retention(session, office)


def look_after_terms(office: Office) -> int:
    """End agreements whose time is over, and remind teams of what they owe."""
    with office.writing() as session:
        campaigns = session.scalars(select(CampaignRow.id)).all()
        reminded = sum(remind_of_resources(session, office, campaign) for campaign in campaigns)
        return reminded + sum(look_after_agreements(session, office, campaign) for campaign in campaigns)


class NowAndThen:
    """A duty that is done in few of the rounds: the first, and then after each pause."""

    def __init__(self, duty: Callable[[Office], object], pause: timedelta = timedelta(hours=1)) -> None:
        self.duty, self.pause = duty, pause
        self.done: datetime | None = None
        self.__name__ = getattr(duty, "__name__", "duty")

    def __call__(self, office: Office) -> object:
        """Do the duty, if its time has come."""
        now = office.clock()
        if self.done is not None and now < self.done + self.pause:
            return None
        self.done = now
        return self.duty(office)


def people_duties() -> tuple[Callable[[Office], object], ...]:
    """The duties of this part, fresh for one worker."""
    return send_messages, NowAndThen(forget), NowAndThen(look_after_terms)
