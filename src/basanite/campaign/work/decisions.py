"""What panels, annotation and reading answers share once people decide: which decision holds, and what it becomes.

What becomes of it is a version of a reference: judgements, annotations, adjudicated answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from sqlalchemy.orm import Session

from basanite.campaign.actions import approvals, plans, references, two_people
from basanite.campaign.actions.references import NewVersion
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import Reference

Decision = TypeVar("Decision")


def standing_decisions(
    newest_last: Iterable[Decision], case_of: Callable[[Decision], str], reopens: Callable[[Decision], bool]
) -> dict[str, Decision]:
    """The decision that holds for each case: the newest, unless it opened the case again.

    >>> standing_decisions(["a1", "b1", "a2", "b-"], lambda one: one[0], lambda one: one.endswith("-"))
    {'a': 'a2'}
    """
    newest = {case_of(one): one for one in newest_last}
    return {case: one for case, one in newest.items() if not reopens(one)}


def add_version(
    session: Session, office: Office, actor: Actor, campaign_id: str, new: NewVersion
) -> tuple[Reference, bool]:
    """Add a version whose files have been checked in the limited child, and say whether it is the first of its place.

    The first opens the task, or waits for a second person where references take two (X-4); a later one waits for the
    preview of its re-scoring.
    """
    first = references.active_material(session, campaign_id, new.place) is None
    two = two_people.needs_two(plans.current(session, campaign_id).campaign, "reference")
    row = references.add(session, office, actor, campaign_id, replace(new, hold=two))
    if two and first:
        approvals.ask_to_open(session, office, actor, campaign_id, row.id)
    return row, first
