"""What follows from the passing of time, looked after by workers: freezing, comparing boards, signing receipts.

Each may be done at any moment by anybody, and again: what already exists is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model.plan import Window
from basanite.campaign.model.policy import SubmissionFacts, Viewer, sight
from basanite.campaign.office import Actor, Office
from basanite.campaign.results import boards, facts, ladder
from basanite.campaign.results.facts import Desk, beyond_looks, desk
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import CampaignRow, Submission

AT_ONCE: Final = 200
"""Receipts in one transaction."""


def freeze(office: Office) -> int:
    """Freeze the plans of windows that have opened (P-28)."""
    with office.writing() as session:
        return plans.freeze_opened(session, office)


def compare(office: Office) -> int:
    """Ask for the comparisons that boards and ladders wait for."""
    with office.reading() as session:
        due = [*boards.orders_due(session, office), *ladder.orders_due(session, office)]
    if not due:
        return 0
    with office.writing() as session:
        return facts.ask(session, office, due)


def compare_again(session: Session, office: Office, actor: Actor, campaign_id: str) -> int:
    """An organiser asks for the comparisons of a campaign that are still missing, whatever became of them before."""
    due = [*boards.orders_due(session, office), *ladder.orders_due(session, office)]
    return facts.ask_again(session, office, actor, campaign_id, due)


def sign(office: Office) -> int:
    """Make the score receipts that policy has released and that are not there yet (P-9, X-6)."""
    with office.reading() as session:
        due = [
            one
            for row in session.scalars(select(CampaignRow.id)).all()
            for one in runs_without_receipt(session, office, row)
        ]
    for some in in_blocks(due, AT_ONCE):
        with office.writing() as session:
            for submission_id in some:
                score_receipt(session, office, submission_id)
    return len(due)


def runs_without_receipt(session: Session, office: Office, campaign_id: str) -> list[str]:
    """Submissions whose result may be seen by their team and has no receipt yet.

    Only those are loaded that have none, and of windows that show something at all: a round costs what there is to do.
    """
    plan = plans.current(session, campaign_id)
    at = replace(desk(session, office, Viewer(), plan), beyond_looks=beyond_looks(session, plan))
    windows = [window.id for window in at.campaign.windows if _shows(at, window)]
    waiting = sorted(session.scalars(without_receipt(campaign_id, windows)), key=lambda run: (run.received, run.id))
    return [run.id for run in waiting if replace(at, viewer=Viewer(team=run.team_id)).sight(run).level != "none"]


def without_receipt(campaign_id: str, windows: Sequence[str]) -> Select[Submission]:
    """The question for submissions of these windows whose result has no receipt."""
    here = Submission.campaign_id == campaign_id, Submission.window.in_(windows)
    return select(Submission).where(Submission.unsigned, *here)


def _shows(at: Desk, window: Window) -> bool:
    """Whether a team may see anything of a scored run of its own in this window now."""
    run = SubmissionFacts(team="own", task=window.tasks[0])
    return sight(Viewer(team="own"), at.campaign, window, run, at.releases.get(window.id, {}), at.now).level != "none"


DUTIES: Final = (freeze, compare, sign)
