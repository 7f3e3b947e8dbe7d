"""Whose name a new one could be taken for: an organizer's, another team's, or that of an office (X-26).

Ordinary people may share a name, as people do. Nobody may be taken for an organizer, of whatever campaign, nor for a
team of a campaign that they take part in. Whoever checks holds the rows of the organizers until the transaction ends,
so that two who choose one name at the same moment are seen one after the other.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.viewer import STAFF
from basanite.campaign.office import Office
from basanite.campaign.people.names import is_seen, scripts, skeleton
from basanite.campaign.store.personal import unseal
from basanite.campaign.store.tables import Grant, Membership, Person, Team
from basanite.problems import Problem, shortened

TITLES: Final = "organizer organizers organiser organisers administrator administrators admin moderator"
"""Words that say that somebody runs the evaluation."""
OFFICES: Final = ("evaluation team", "the evaluation team", "the server", "the command line", "system", "erased")
"""How pages call those who are no person."""
_TITLES: Final = frozenset(map(skeleton, TITLES.split()))
_OFFICES: Final = frozenset(map(skeleton, OFFICES))
TAKEN: Final = "this name can be taken for that of an organizer, or of another team"
OTHER: Final = "choose another one, or add a middle name or an initial"


def check_person_name(session: Session, office: Office, name: str, *, person_id: str | None = None) -> None:
    """Refuse the name of a person that can be taken for somebody else's; no name at all is to be chosen later."""
    if found := list(_person_problems(session, office, name, person_id)):
        raise RefusedError(found, status=422)


def free_name(session: Session, office: Office, *wanted: str) -> str:
    """The first of these names that nobody is taken for somebody else by; a number, if there is none."""
    for name in wanted:
        plain = "".join(char for char in name if char.isprintable())[:100].strip()
        if plain and not list(_person_problems(session, office, plain, None)):
            return plain
    return f"Somebody {secrets.randbelow(9000) + 1000}"


def team_name_problems(session: Session, office: Office, campaign_id: str, name: str) -> Iterator[Problem]:
    """What is wrong with the name of a new team of a campaign besides its letters."""
    seen = skeleton(name)
    teams = session.execute(select(Team.name, Team.pseudonym).where(Team.campaign_id == campaign_id)).all()
    if seen in {skeleton(one) for row in teams for one in row}:
        message, fix = "another team's name looks the same", "choose a name that cannot be taken for it"
        yield Problem("X-14", "", None, None, message, fix)
    if seen in _organizers(session, office, None) or _claims_office(name):
        yield _problem(TAKEN, OTHER, name)


def _person_problems(session: Session, office: Office, name: str, person_id: str | None) -> Iterator[Problem]:
    if not name:
        return
    if not all(map(is_seen, name)) or not skeleton(name):
        yield _problem("the name holds what nobody sees", "write the letters of your name, and nothing else", name)
    if any(len(scripts(word)) > 1 for word in name.split()):
        yield _problem("a word of the name mixes letters of several scripts", "write each word in one script", name)
    seen, teams = skeleton(name), _teams_beside(session, person_id)
    if seen in _organizers(session, office, person_id) or seen in teams or _claims_office(name):
        yield _problem(TAKEN, OTHER, name)


def _claims_office(name: str) -> bool:
    """Whether a name says that its owner runs the evaluation."""
    words = map(skeleton, re.split(r"[\W_]+", name))
    return skeleton(name) in _OFFICES or not _TITLES.isdisjoint(words)


def _organizers(session: Session, office: Office, besides: str | None) -> set[str]:
    """What the names of all who run an evaluation here look like."""
    holding = select(Grant.person_id).where(Grant.role.in_(STAFF), Grant.ended.is_(None))
    rows = session.scalars(select(Person).where(Person.id.in_(holding)).order_by(Person.id).with_for_update(read=True))
    return {skeleton(unseal(office.vault, row).name) for row in rows if row.id != besides} - {""}


def _teams_beside(session: Session, person_id: str | None) -> set[str]:
    """What the names of the other teams look like, in the campaigns that somebody has to do with."""
    if person_id is None:
        return set()
    granted = select(Grant.campaign_id).where(Grant.person_id == person_id, Grant.ended.is_(None))
    own = select(Membership.team_id).where(Membership.person_id == person_id, Membership.state.in_(("active", "asked")))
    placed = select(Team.campaign_id).where(Team.id.in_(own))
    here = or_(Team.campaign_id.in_(granted), Team.campaign_id.in_(placed))
    beside = select(Team.name).where(here, Team.id.not_in(own), Team.state == "active")
    return set(map(skeleton, session.scalars(beside)))


def _problem(message: str, fix: str, found: str) -> Problem:
    return Problem("X-26", "", None, None, message, fix, shortened(found))
