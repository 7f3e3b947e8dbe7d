"""What every act of people's work begins and ends with: a row found or refused as missing, and a line in the log."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events


class CampaignRecord(Protocol):
    """A row of something that belongs to a campaign."""

    @property
    def id(self) -> str:
        """Its own id."""

    @property
    def campaign_id(self) -> str:
        """The id of the campaign."""


Row = TypeVar("Row", bound=CampaignRecord)


def find_row(
    session: Session, table: type[Row], id_: str, what: str, *, campaign_id: str | None = None, lock: bool = False
) -> Row:
    """The row of an id, in this campaign where one is named; locked until the transaction ends if it will change."""
    row = session.get(table, id_, with_for_update=lock, populate_existing=lock)
    if row is None or campaign_id not in (None, row.campaign_id):
        raise missing(what)
    return row


def log_event(
    session: Session, office: Office, actor: Actor, row: CampaignRecord, kind: str, subject: str = "", /, **data: Any
) -> None:
    """Write down what happened to a row, or to a `subject` that belongs to it; ids and facts, never anybody's words."""
    who = {"actor": actor.id, "subject": subject or row.id, "campaign_id": row.campaign_id}
    events.record(session, kind, at=office.clock(), data=data, **who)
