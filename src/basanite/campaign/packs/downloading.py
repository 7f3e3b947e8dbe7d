"""Downloading files of packs: by members of teams that signed, who accepted the rules, and never unrecorded (P-26)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Pack
from basanite.campaign.model.refusals import RefusedError, missing, problem
from basanite.campaign.model.viewer import Viewer
from basanite.campaign.office import Actor, Office
from basanite.campaign.packs.files import find_pack
from basanite.campaign.packs.keys import PackKey, campaign_time, published_key
from basanite.campaign.people.terms.agreements import standing
from basanite.campaign.people.terms.rules import unaccepted
from basanite.campaign.store import events
from basanite.campaign.store.tables import Download, PackFile
from basanite.problems import Problem


@dataclass(frozen=True)
class Handed:
    """A file to be sent to who asked for it."""

    path: Path
    name: str
    size: int
    digest: str


def hand_out(
    session: Session, office: Office, actor: Actor, viewer: Viewer, campaign_id: str, campaign: Campaign, file_id: str
) -> Handed:
    """Let a person have a file of a pack: checked against agreement and rules, and recorded with its digest."""
    row = session.get(PackFile, file_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("file")
    check_access(session, office, viewer, campaign_id, campaign, find_pack(campaign, row.pack))
    now = office.clock()
    session.add(
        Download(
            campaign_id=campaign_id, person_id=actor.id, team_id=viewer.team, pack=row.pack, digest=row.digest, at=now
        )
    )
    data = {"pack": row.pack, "digest": row.digest}
    events.record(
        session, "pack.downloaded", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data
    )
    return Handed(office.files.local(row.digest), row.name, row.size, row.digest)


def hand_out_key(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, campaign: Campaign, pack_id: str
) -> PackKey:
    """The key of a pack, from its minute on, for those who may have the pack (M89)."""
    pack = find_pack(campaign, pack_id)
    check_access(session, office, viewer, campaign_id, campaign, pack)
    return published_key(session, office, campaign_id, pack)


def check_access(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, campaign: Campaign, pack: Pack
) -> None:
    """Refuse a pack to who may not have it, with everything that is still to be done."""
    if viewer.staff:
        return
    now = campaign_time(session, office, campaign_id)
    if viewer.person is None or viewer.team is None or now < pack.released.utc:
        raise missing("pack")
    found = tuple(obstacles(session, viewer, campaign_id, campaign, pack, now))
    if found:
        raise RefusedError(found, status=403)


def obstacles(
    session: Session, viewer: Viewer, campaign_id: str, campaign: Campaign, pack: Pack, now: datetime
) -> Iterator[Problem]:
    """What a member of a team must still do before getting a pack; nothing if it is open (P-26, M82)."""
    if pack.agreement:
        found = standing(session, campaign, viewer.team, pack.agreement, now)
        if found.state != "executed":
            words = f"the agreement {found.agreement.title!r} is {found.state} for your team"
            yield problem("P-26", words, "let your PI upload the signed copy and wait for the counter-signature")
    for rules in unaccepted(session, campaign_id, viewer.person or ""):
        words = f"you have not accepted the rules {rules.id!r} in version {rules.version}"
        yield problem("M82", words, "read them and accept them")


def downloads(session: Session, campaign_id: str) -> tuple[Download, ...]:
    """Who downloaded what and when, oldest first; for the evaluation team."""
    question = select(Download).where(Download.campaign_id == campaign_id).order_by(Download.at, Download.id)
    return tuple(session.scalars(question))
