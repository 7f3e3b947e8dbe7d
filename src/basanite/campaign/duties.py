"""Everything that a worker looks after from round to round: done by whoever comes first, and done twice the same.

It stands above all parts of a campaign, so that jobs need not know what builds on them.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from basanite.campaign.anchors import write_head
from basanite.campaign.answering.scoring import score_due
from basanite.campaign.intake import recovery, standings
from basanite.campaign.office import Office
from basanite.campaign.organising import due
from basanite.campaign.packs.keys import note_published
from basanite.campaign.people.duties import NowAndThen, people_duties
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import CampaignRow


def publish_keys(office: Office) -> int:
    """Write down the keys of packs whose minute has come (M89); says how many."""
    with office.writing() as session:
        ids = session.scalars(select(CampaignRow.id)).all()
        return sum(len(note_published(session, office, one, in_force(session, one).campaign)) for one in ids)


def remind_of_primaries(office: Office) -> int:
    """Tell teams in time that they have no primary run in a window that closes (C46); says how many mails."""
    with office.writing() as session:
        ids = session.scalars(select(CampaignRow.id)).all()
        return sum(standings.remind_of_primaries(session, office, one) for one in ids)


def all_duties() -> tuple[Callable[[Office], object], ...]:
    """All duties in the order in which they are done, fresh for one worker."""
    hourly = NowAndThen(remind_of_primaries), NowAndThen(write_head)
    return (*due.DUTIES, publish_keys, recovery.sweep, *hourly, *people_duties(), score_due)
