"""What a system is, in its team's words: said with the submission or later, and kept in the log (M77, P-31)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from basanite.campaign.intake.accepting import LONGEST_DESCRIPTION
from basanite.campaign.intake.submissions import get
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import Submission


def describe(
    session: Session, office: Office, actor: Actor, submission_id: str, description: Mapping[str, str]
) -> Submission:
    """Replace the description of a submission; its file, type and label stay as they are."""
    row = get(session, actor, submission_id)
    if sum(len(name) + len(words) for name, words in description.items()) > LONGEST_DESCRIPTION:
        message = f"the system's description has more than {LONGEST_DESCRIPTION} characters"
        raise refused("M77", message, "shorten it", status=422)
    row.description = dict(description)
    events.record(
        session,
        "submission.described",
        at=office.clock(),
        actor=actor.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data={"fields": sorted(description)},
    )
    return row
