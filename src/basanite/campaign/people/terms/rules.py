"""Rules that every person accepts, version by version, before downloading or submitting (M77, M82)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Pack, UsageRules
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import lock_person
from basanite.campaign.people.persons import find_person
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Acceptance
from basanite.errors import UnknownNameError
from basanite.formats.packs.usage_rules import UsageRule, rules_for, shipped_rules


def unaccepted(session: Session, campaign_id: str, person_id: str) -> tuple[UsageRules, ...]:
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
    rules = _rules(in_force(session, campaign_id).campaign, rules_id)
    if rules.version != version:
        raise refused(
            "M77",
            f"version {version} of these rules is not in force",
            f"read and accept version {rules.version}",
            status=409,
        )
    lock_person(session, actor.id)
    known = _accepted(session, campaign_id, actor.id, rules)
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


def _rules(campaign: Campaign, rules_id: str) -> UsageRules:
    for rules in campaign.rules:
        if rules.id == rules_id:
            return rules
    raise missing("rules")


def _accepted(session: Session, campaign_id: str, person_id: str, rules: UsageRules) -> Acceptance | None:
    query = select(Acceptance).where(Acceptance.campaign_id == campaign_id, Acceptance.person_id == person_id)
    return session.scalars(query.where(Acceptance.rules == rules.id, Acceptance.version == rules.version)).first()
