"""Personal data: access, erasure, and the little that is kept about network addresses (P-21, X-7).

Erasing destroys the person's key. What was sealed with it (data, signed copies, second factor) is then unreadable in
every copy, older backups of the database included. Submissions, results and events stay: they know an id alone, so that
scores can be reproduced and the chain of the log still holds. Of an address only a keyed digest is kept, and not for
long: it tells that two were the same, not what they were.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from sqlalchemy import Column, RowMapping, String, Table, Text, cast, delete, event, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.notices.messages import remove_letters
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.membership import end_membership
from basanite.campaign.people.persons import find_person, personal
from basanite.campaign.people.roles import is_organiser, lock_person, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.personal import KEYS, STONES, unseal_bytes
from basanite.campaign.store.tables import (
    Account,
    AddressSeen,
    Base,
    Grant,
    Identity,
    LeadRequest,
    Link,
    Membership,
    Message,
    Person,
    Seat,
    Team,
    Token,
)
from basanite.campaign.store.tables import Session as SignedIn

WHOLE = frozenset({
    "acceptances", "accounts", "addresses_seen", "appeals", "certifications", "downloads", "duty_exceptions",
    "grants", "identities", "judgements", "lead_requests", "links", "memberships", "messages", "panel_consents",
    "panel_round_ends", "panel_seats", "people", "questions", "read_marks", "resources", "sessions", "signatures",
    "tokens",
})  # fmt: skip
"""Tables about people, given in full. Of any other row that names the person only its id, kind and moments are given:
a submission's state, or which other it resembles, is not for everybody to know at any time (P-5, X-7)."""
SECRET = frozenset({"sealed", "mail_digest", "password", "second_factor", "csrf", "digest"})
"""Columns that are never given out, even to the person: they would help somebody else to get in."""
NAMING = frozenset({"by", "actor", "subject", "signatory", "person_id"})


def export_person(session: Session, office: Office, actor: Actor, person_id: str) -> dict[str, Any]:
    """Personal data in plain words, and each row of each table that names the person."""
    find_person(session, person_id)
    check_own(session, actor, person_id)
    known, now = personal(session, office, person_id), office.clock()
    events.record(session, "person.exported", at=now, actor=actor.id, subject=person_id)
    seats = select(Seat).where(Seat.person_id == person_id).order_by(Seat.joined, Seat.id)
    return {
        "format": "basanite-person/1",
        "person": person_id,
        "exported": now.isoformat(),
        "personal": {"name": known.name, "mail": known.mail, "other": dict(known.other)},
        "judging": [_judging_of_seat(office, seat) for seat in session.scalars(seats)],
        "rows": dict(_rows(session, person_id)),
    }


def _judging_of_seat(office: Office, seat: Seat) -> dict[str, Any]:
    """What a judge declared to a panel and was owed at the end, which lies sealed (P-22)."""
    sealed = {"declared": seat.declared, "settled": seat.settled}
    plain = {name: unseal_bytes(office.vault, seat.person_id, value) for name, value in sealed.items() if value}
    return {"panel": seat.panel_id, **{name: json.loads(value) for name, value in plain.items() if value}}


def check_own(session: Session, actor: Actor, person_id: str) -> None:
    """Refuse everybody but the person and administrators."""
    if actor.id != person_id and not is_organiser(session, actor, None):
        raise refused("P-21", "only the person or an administrator may do this", "ask an administrator", status=403)


def _rows(session: Session, person_id: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for table in Base.metadata.sorted_tables:
        columns = [column for column in table.columns if _names_people(table, column)]
        named = or_(*(column == person_id for column in columns)) if columns else None
        found = [] if named is None else session.execute(select(table).where(named)).mappings().all()
        if found:
            yield table.name, [_plain_row(table, row) for row in found]


def _names_people(table: Table, column: Column[Any]) -> bool:
    """Whether a column holds ids of people: who it is about, or who did it."""
    if table.name == "people":
        return column.name == "id"
    return isinstance(column.type, String) and (column.name in NAMING or column.name.endswith("_by"))


def _plain_row(table: Table, row: RowMapping) -> dict[str, Any]:
    keys = {column.name for column in table.primary_key} | {"kind", "role"}
    whole = table.name in WHOLE
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if name not in SECRET
        and not isinstance(value, bytes)
        and (whole or name in keys or isinstance(value, datetime))
    }


GONE = (SignedIn, Link, Identity, AddressSeen)
"""Rows that are deleted at erasure; nothing else depends on them."""


def erase_person(session: Session, office: Office, actor: Actor, person_id: str) -> None:
    """Forget a person. A PI hands the team over first, so that no team is left without anybody who answers for it."""
    person = find_person(session, person_id)
    check_own(session, actor, person_id)
    _check_leads_nobody(session, person_id)
    _forget(session, office, person, actor.id)
    # The key goes once the erasure is certain; should we die in between, `destroy_forgotten` does it.
    event.listen(session, "after_commit", lambda _: _destroy_key(office, person_id), once=True)


def destroy_forgotten(session: Session, office: Office) -> int:
    """Bring vault and database together: no key of an erased person, and no data of one who was erased before.

    The first corrects a crash in the middle of an erasure; the second erases again what an older backup brought back. A
    person whose key is missing without having been erased is left alone: perhaps the vault is yet to be put in place.
    """
    keys, stones = set(office.vault.names(KEYS)), office.vault.names(STONES)
    left = [key for key in keys if (person := session.get(Person, key)) is not None and person.erased is not None]
    for person_id in left:
        _destroy_key(office, person_id)
    back = [person for stone in stones if (person := session.get(Person, stone)) is not None and person.erased is None]
    for person in back:
        _forget(session, office, person, SYSTEM.id)
    return len(left) + len(back)


def _destroy_key(office: Office, person_id: str) -> None:
    """The tombstone comes first: an erased person stays erased, whatever fails later or is restored from a backup."""
    office.vault.keep(STONES, person_id, b"erased")
    office.vault.destroy(KEYS, person_id)


def _forget(session: Session, office: Office, person: Person, by: str) -> None:
    now = office.clock()
    person.sealed, person.mail_digest, person.erased = None, None, now
    _close_account(session, person.id, now)
    _end_roles(session, by, person.id, now)
    for table in GONE:
        session.execute(delete(table).where(table.person_id == person.id))
    _forget_letters(session, office, person.id)
    events.record(session, "person.erased", at=now, actor=by, subject=person.id)


def _check_leads_nobody(session: Session, person_id: str) -> None:
    """Refused while the person is the PI of others; a team of one is closed with its only member."""
    led = select(Membership.team_id).where(
        Membership.person_id == person_id, Membership.role == "pi", Membership.state == "active"
    )
    for team in session.scalars(select(Team).where(Team.id.in_(led), Team.state == "active")):
        others = select(Membership.id).where(
            Membership.team_id == team.id, Membership.person_id != person_id, Membership.state == "active"
        )
        if session.scalars(others).first() is not None:
            raise refused(
                "P-21", f"this person is the PI of the team {team.name}", "hand over the team first", status=409
            )
        team.state = "left"


def _close_account(session: Session, person_id: str, now: datetime) -> None:
    account = session.get(Account, person_id)
    if account is not None:
        account.password, account.second_factor, account.zone = None, None, "UTC"
        account.closed = account.closed or now
    for token in session.scalars(select(Token).where(Token.person_id == person_id)):
        token.label, token.revoked = "", token.revoked or now


def _end_roles(session: Session, by: str, person_id: str, now: datetime) -> None:
    for row in session.scalars(select(Grant).where(Grant.person_id == person_id, Grant.ended.is_(None))):
        row.ended, row.ended_by = now, by
    for member in session.scalars(select(Membership).where(Membership.person_id == person_id)):
        member.site = ""
        if member.state in ("active", "asked"):
            end_membership(member, by, now)
    for request in session.scalars(select(LeadRequest).where(LeadRequest.person_id == person_id)):
        request.text = ""
        request.state = "withdrawn" if request.state == "asked" else request.state


def _forget_letters(session: Session, office: Office, person_id: str) -> None:
    """Mails to the person, and those to others that name it, leave the outbox folder; waiting ones are given up."""
    naming = select(Message).where(or_(Message.person_id == person_id, cast(Message.data, Text).contains(person_id)))
    found = list(session.scalars(naming))
    for message in found:
        if message.person_id == person_id:
            message.state, message.data = ("given up" if message.state == "waiting" else message.state), {}
    remove_letters(office.settings, [message.id for message in found])


@dataclass(frozen=True)
class SharedAddress:
    """Teams whose people were at one address."""

    teams: tuple[str, ...]
    people: tuple[str, ...]


def note_address(session: Session, office: Office, person_id: str, address: str) -> None:
    """Remember that a person was at an address; an IPv6 one counts by its network, of which a household has one."""
    digest, now = _address_digest(office, address), office.clock()
    lock_person(session, person_id)
    row = session.get(AddressSeen, (person_id, digest))
    if row is None:
        session.add(AddressSeen(person_id=person_id, digest=digest, first=now, last=now))
        session.flush()
    else:
        row.last = now


def is_known(session: Session, office: Office, person_id: str, address: str) -> bool:
    """Whether a person was at this address before."""
    return session.get(AddressSeen, (person_id, _address_digest(office, address))) is not None


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
    shared = []
    for pairs in {frozenset(pairs) for pairs in seen.values()}:
        teams, people = ({pair[side] for pair in pairs} for side in (0, 1))
        if len(teams) > 1:
            shared.append(SharedAddress(tuple(sorted(teams)), tuple(sorted(people))))
    return tuple(sorted(shared, key=lambda found: found.teams))


def _address_digest(office: Office, address: str) -> str:
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
