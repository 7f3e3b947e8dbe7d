"""Agreements of teams, certificates of deletion when they end, and rules that every person accepts (P-26, M77, M82).

The signed copy names its signatory. It is therefore sealed with that person's key: if the person is erased, the copy
is gone, and that the team signed which version when is still known.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Agreement, Campaign, Pack, UsageRules
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import lock_person, organisers, require_organiser
from basanite.campaign.people.teams import find_team, pi_of, require_pi
from basanite.campaign.store import events
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Acceptance, Signature, Team
from basanite.errors import UnknownNameError
from basanite.formats.datasets.usage_rules import UsageRule, rules_for, shipped_rules

LARGEST_COPY = 20 * 2**20
KINDS = {b"%PDF-": "application/pdf", b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True)
class Standing:
    """Where a team stands with an agreement."""

    agreement: Agreement
    state: str
    """`missing`, `uploaded` (waits), `executed`, `outdated` (an older version), `expired` or `refused`."""
    signature: Signature | None = None


def sign(session: Session, office: Office, actor: Actor, team_id: str, agreement_id: str, *, copy: bytes) -> Signature:
    """The copy that the PI signed, of the version in force, uploaded by the PI, or by an organiser who got it on paper.

    It is executed at once where the plan asks for no counter-signature.
    """
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    signatory = pi_of(session, team.id)
    if signatory is None:
        raise missing("PI")
    agreement = find_agreement(in_force(session, team.campaign_id).campaign, agreement_id)
    _check_copy(copy)
    now, sealed = office.clock(), seal_bytes(office.vault, signatory, copy)
    row = Signature(
        campaign_id=team.campaign_id,
        team_id=team.id,
        agreement=agreement.id,
        version=agreement.version,
        signatory=signatory,
        copy_digest=office.files.put(sealed).digest,
        uploaded=now,
        expires=agreement.expires.utc if agreement.expires else None,
    )
    session.add(row)
    session.flush()
    record_signature(session, office, actor, "agreement.uploaded", row)
    if agreement.counter_signed:
        _tell_of_signature(
            session, office, "agreement_uploaded", row, agreement, list(organisers(session, team.campaign_id))
        )
    else:
        _execute(session, office, actor, row, agreement)
    return row


def counter_sign(session: Session, office: Office, actor: Actor, signature_id: str) -> Signature:
    """The organiser signs, too: from now on the agreement is executed."""
    row = _uploaded_signature(session, actor, signature_id)
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    _execute(session, office, actor, row, agreement)
    return row


def refuse_signature(session: Session, office: Office, actor: Actor, signature_id: str, *, reason: str) -> Signature:
    """The organiser does not accept the copy, and says why."""
    row = _uploaded_signature(session, actor, signature_id)
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    row.state = "refused"
    record_signature(session, office, actor, "agreement.refused", row, reason=reason)
    _tell_of_signature(session, office, "agreement_refused", row, agreement, [row.signatory], reason=reason)
    return row


def waiting_copies(session: Session, campaign_id: str) -> tuple[Signature, ...]:
    """The copies that wait for the organizers' signature, the newest of each agreement of a team."""
    query = select(Signature).where(Signature.campaign_id == campaign_id, Signature.state == "uploaded")
    rows = session.scalars(query.order_by(Signature.uploaded, Signature.id))
    return tuple({(row.team_id, row.agreement): row for row in rows}.values())


def signed_copy(session: Session, office: Office, actor: Actor, signature_id: str) -> tuple[str, bytes] | None:
    """The kind and the bytes of a signed copy, for the team's PI and organisers; None if its signatory was erased."""
    row = session.get(Signature, signature_id)
    if row is None or row.copy_digest is None:
        raise missing("copy")
    require_pi(session, actor, session.get_one(Team, row.team_id))
    plain = unseal_bytes(office.vault, row.signatory, office.files.read(row.copy_digest))
    return None if plain is None else (kind_of_copy(plain), plain)


def standing(session: Session, campaign: Campaign, team_id: str | None, agreement_id: str, now: datetime) -> Standing:
    """Where a team stands with an agreement; the best of its signatures counts."""
    agreement = find_agreement(campaign, agreement_id)
    query = select(Signature).where(Signature.team_id == team_id, Signature.agreement == agreement_id)
    rows = session.scalars(query.order_by(Signature.uploaded.desc(), Signature.id)).all()
    found = [Standing(agreement, _state(row, agreement, now), row) for row in rows]
    ranks = ("executed", "uploaded", "outdated", "expired", "refused")
    return min(found, key=lambda one: ranks.index(one.state)) if found else Standing(agreement, "missing")


def find_agreement(campaign: Campaign, agreement_id: str) -> Agreement:
    """The agreement of an id, as the plan in force has it."""
    for agreement in campaign.agreements:
        if agreement.id == agreement_id:
            return agreement
    raise missing("agreement")


def kind_of_copy(copy: bytes) -> str:
    """What a copy is by its first bytes; empty if it is nothing that we take.

    >>> kind_of_copy(b"%PDF-1.7")
    'application/pdf'
    """
    return next((kind for first, kind in KINDS.items() if copy.startswith(first)), "")


def record_signature(session: Session, office: Office, actor: Actor, kind: str, row: Signature, **more: str) -> None:
    """Write to the log what happened to a signature."""
    data = {"team": row.team_id, "agreement": row.agreement, "version": row.version, **more}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )


def _check_copy(copy: bytes) -> None:
    if not kind_of_copy(copy) or len(copy) > LARGEST_COPY:
        fix = f"upload a PDF, PNG or JPEG of at most {LARGEST_COPY >> 20} MiB"
        raise refused("P-26", "this file is not accepted as a signed copy", fix, status=422)


def _execute(session: Session, office: Office, actor: Actor, row: Signature, agreement: Agreement) -> None:
    row.state, row.executed, row.executed_by = "executed", office.clock(), actor.id
    record_signature(session, office, actor, "agreement.executed", row)
    pi = pi_of(session, row.team_id)
    _tell_of_signature(session, office, "agreement_executed", row, agreement, [pi or row.signatory])


def _uploaded_signature(session: Session, actor: Actor, signature_id: str) -> Signature:
    row = session.get(Signature, signature_id)
    if row is None:
        raise missing("signature")
    require_organiser(session, actor, row.campaign_id)
    if row.state != "uploaded":
        raise refused("P-26", f"this copy is already {row.state}", "see the list of agreements", status=409)
    return row


def _state(row: Signature, agreement: Agreement, now: datetime) -> str:
    if row.state == "executed" and row.expires is not None and row.expires <= now:
        return "expired"
    return "outdated" if row.state == "executed" and row.version != agreement.version else row.state


def _tell_of_signature(
    session: Session,
    office: Office,
    template: str,
    row: Signature,
    agreement: Agreement,
    persons: list[str],
    **more: str,
) -> None:
    data = {"signature": row.id, "team": row.team_id, "title": agreement.title, "version": row.version, **more}
    tell(session, office, template, persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


TIME_TO_DELETE = timedelta(days=30)
"""How long a team has where the plan names no day."""


@dataclass(frozen=True)
class Deletion:
    """One certificate that is asked for."""

    signature: str
    team: str
    agreement: str
    asked: datetime
    due: datetime
    certified: datetime | None
    overdue: bool


def ask_for_deletion(session: Session, office: Office, actor: Actor, signature_id: str) -> Signature:
    """End an executed agreement and ask its team to delete the data and certify it."""
    row = session.get(Signature, signature_id)
    if row is None or row.executed is None:
        raise missing("signature")
    if actor != SYSTEM:
        require_organiser(session, actor, row.campaign_id)
    if row.deletion_asked is None:
        row.deletion_asked, row.state = in_force(session, row.campaign_id).now(office.clock()), "expired"
        record_signature(session, office, actor, "deletion.asked", row)
        _tell_of_deletion(session, office, "deletion_asked", row)
    return row


def certify_deletion(
    session: Session, office: Office, actor: Actor, signature_id: str, *, copy: bytes = b""
) -> Signature:
    """The PI certifies that the data are deleted everywhere, with a signed certificate if there is one."""
    row = session.get(Signature, signature_id)
    if row is None or row.deletion_asked is None:
        raise missing("request")
    require_pi(session, actor, session.get_one(Team, row.team_id))
    if copy and not kind_of_copy(copy):
        raise refused("P-26", "this file is not accepted as a certificate", "upload a PDF, PNG or JPEG", status=422)
    keeper = pi_of(session, row.team_id) or row.signatory
    row.deletion_certified, row.deletion_by = office.clock(), keeper
    row.deletion_digest = office.files.put(seal_bytes(office.vault, keeper, copy)).digest if copy else None
    record_signature(session, office, actor, "deletion.certified", row)
    return row


def deletions(session: Session, campaign_id: str, now: datetime) -> tuple[Deletion, ...]:
    """Every certificate asked for: the missing ones first, the most overdue on top; `now` in the campaign's time."""
    query = select(Signature).where(Signature.campaign_id == campaign_id, Signature.deletion_asked.is_not(None))
    campaign = in_force(session, campaign_id).campaign
    found = [_deletion(row, find_agreement(campaign, row.agreement), now) for row in session.scalars(query)]
    return tuple(sorted(found, key=lambda one: (one.certified is not None, one.due, one.signature)))


def look_after_agreements(session: Session, office: Office, campaign_id: str) -> int:
    """The duty: executed agreements whose time is over end, and teams that owe a certificate are reminded once."""
    now = in_force(session, campaign_id).now(office.clock())
    rows = select(Signature).where(Signature.campaign_id == campaign_id)
    over = rows.where(Signature.state == "executed", Signature.expires <= now)
    ended = [ask_for_deletion(session, office, SYSTEM, row.id) for row in session.scalars(over)]
    owed = rows.where(Signature.deletion_asked.is_not(None), Signature.deletion_certified.is_(None))
    reminded = [row for row in session.scalars(owed) if _due(session, row) <= now]
    return len(ended) + sum(_tell_of_deletion(session, office, "deletion_overdue", row) for row in reminded)


def _deletion(row: Signature, agreement: Agreement, now: datetime) -> Deletion:
    asked = row.deletion_asked or now
    due = _due_day(row, agreement)
    missing_yet = row.deletion_certified is None
    return Deletion(row.id, row.team_id, row.agreement, asked, due, row.deletion_certified, missing_yet and due <= now)


def _due(session: Session, row: Signature) -> datetime:
    return _due_day(row, find_agreement(in_force(session, row.campaign_id).campaign, row.agreement))


def _due_day(row: Signature, agreement: Agreement) -> datetime:
    asked = row.deletion_asked or row.uploaded
    return max(asked, agreement.deletion_by.utc) if agreement.deletion_by else asked + TIME_TO_DELETE


def _tell_of_deletion(session: Session, office: Office, template: str, row: Signature) -> int:
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    persons = [pi_of(session, row.team_id) or row.signatory]
    until = f"{_due_day(row, agreement):%Y-%m-%d %H:%M} UTC"
    data = {"signature": row.id, "team": row.team_id, "title": agreement.title, "until": until}
    return tell(session, office, template, persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def unaccepted_rules(session: Session, campaign_id: str, person_id: str) -> tuple[UsageRules, ...]:
    """The rules in force that a person has yet to accept; a new version counts as not accepted."""
    query = select(Acceptance.rules, Acceptance.version).where(
        Acceptance.campaign_id == campaign_id, Acceptance.person_id == person_id
    )
    done = {(rules, version) for rules, version in session.execute(query)}
    rules_now = in_force(session, campaign_id).campaign.rules
    return tuple(rules for rules in rules_now if (rules.id, rules.version) not in done)


def accept_rules(
    session: Session, office: Office, actor: Actor, campaign_id: str, rules_id: str, version: str
) -> Acceptance:
    """A person accepts the version that was shown; one that is not in force (any more) cannot be accepted."""
    find_person(session, actor.id)
    rules = _find_rules(in_force(session, campaign_id).campaign, rules_id)
    if rules.version != version:
        raise refused(
            "M77",
            f"version {version} of these rules is not in force",
            f"read and accept version {rules.version}",
            status=409,
        )
    lock_person(session, actor.id)
    query = select(Acceptance).where(Acceptance.campaign_id == campaign_id, Acceptance.person_id == actor.id)
    known = session.scalars(query.where(Acceptance.rules == rules.id, Acceptance.version == version)).first()
    if known is not None:
        return known
    now = office.clock()
    row = Acceptance(campaign_id=campaign_id, person_id=actor.id, rules=rules.id, version=version, at=now)
    session.add(row)
    data = {"rules": rules.id, "version": version}
    events.record(
        session, "rules.accepted", at=now, actor=actor.id, subject=actor.id, campaign_id=campaign_id, data=data
    )
    return row


def rules_of_pack(pack: Pack) -> tuple[UsageRule, ...]:
    """What may and may not be done with a pack: its column of the usage rules, shown beside it (M82)."""
    try:
        return rules_for(pack.usage or pack.id)
    except UnknownNameError:
        return ()


def obligations() -> tuple[str, ...]:
    """What holds whatever the data, in sentences."""
    return tuple(shipped_rules().obligations.values())


def _find_rules(campaign: Campaign, rules_id: str) -> UsageRules:
    for rules in campaign.rules:
        if rules.id == rules_id:
            return rules
    raise missing("rules")
