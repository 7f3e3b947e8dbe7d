"""Network addresses that people of different teams share, shown to the organiser alone (X-7).

Only a keyed digest is kept, and not for long: it tells that two were the same, not what they were.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from ipaddress import ip_address

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import lock_person
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import AddressSeen, Membership, Team


@dataclass(frozen=True)
class SharedAddress:
    """Teams whose people were at one address."""

    teams: tuple[str, ...]
    people: tuple[str, ...]


def note_address(session: Session, office: Office, person_id: str, address: str) -> None:
    """Remember that a person was at an address; an IPv6 one counts by its network, of which a household has one."""
    digest, now = _digest(office, address), office.clock()
    lock_person(session, person_id)
    row = session.get(AddressSeen, (person_id, digest))
    if row is None:
        session.add(AddressSeen(person_id=person_id, digest=digest, first=now, last=now))
        session.flush()
    else:
        row.last = now


def is_known(session: Session, office: Office, person_id: str, address: str) -> bool:
    """Whether a person was at this address before."""
    return session.get(AddressSeen, (person_id, _digest(office, address))) is not None


def shared_addresses(session: Session, actor: Actor, campaign_id: str) -> tuple[SharedAddress, ...]:
    """Where people of two or more teams of a campaign were at one address. A hint, no proof: institutes share one."""
    require_organiser(session, actor, campaign_id)
    query = (
        select(AddressSeen.digest, Team.id, Membership.person_id)
        .join(Membership, Membership.person_id == AddressSeen.person_id)
        .join(Team, Team.id == Membership.team_id)
        .where(Team.campaign_id == campaign_id, Membership.state == "active")
    )
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for digest, team, person in session.execute(query):
        seen[digest].add((team, person))
    shared = {frozenset(pairs) for pairs in seen.values() if len({team for team, _ in pairs}) > 1}
    return tuple(sorted((_shared(pairs) for pairs in shared), key=lambda found: found.teams))


def _shared(pairs: frozenset[tuple[str, str]]) -> SharedAddress:
    return SharedAddress(tuple(sorted({team for team, _ in pairs})), tuple(sorted({person for _, person in pairs})))


def _digest(office: Office, address: str) -> str:
    return office.vault.hmac("digest", "addresses", network(address).encode())


def network(address: str) -> str:
    """What an address counts as: itself, or for IPv6 the network that a household has.

    >>> network("2001:db8:1:2:3:4:5:6"), network("::ffff:192.0.2.1")
    ('2001:0db8:0001:0002', '192.0.2.1')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = getattr(found, "ipv4_mapped", None) or found
    return str(mapped) if mapped.version == 4 else mapped.exploded[:19]
