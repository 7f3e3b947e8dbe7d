"""Whether a call begins an upload anew that was begun before: the same file as the same run of the same team (X-21)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import holds
from basanite.campaign.intake.open_uploads import INTERRUPTED, TOLD
from basanite.campaign.model import calendar
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Office
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Team, Upload


def same_upload(
    session: Session, office: Office, team_id: str, declared: Declared, size: int, sha256: str
) -> Upload | None:
    """The upload of the same file as the same run that is open, or whose sender was not told how it ended.

    One that we interrupted counts too once its window is closed: its start was in time (X-2).
    """
    team = session.get_one(Team, team_id)
    plan, wanted = in_force(session, team.campaign_id), replace(declared, track=declared.track or team.track)
    now, window = plan.now(office.clock()), None
    with suppress(RefusedError):
        window = calendar.row_for(plan.campaign, wanted, now, team=team.code).id
    query = select(Upload).where(Upload.team_id == team_id, Upload.sha256 == sha256, Upload.size == size)
    recent = case((Upload.state == "open", Upload.expires > now), else_=Upload.ended > now - TOLD)
    for row in session.scalars(query.where(recent).order_by(Upload.started.desc(), Upload.id)):
        if window not in (None, row.window) or not (_is_unfinished(office, row) or (window is None and _is_cut(row))):
            continue
        if calendar.completed(plan.campaign, plan.campaign.window(row.window), wanted) == declared_in(row):
            return row
    return None


def _is_unfinished(office: Office, row: Upload) -> bool:
    """Whether an upload is open, or nobody was told of its submission: who would tell is gone."""
    untold = row.state == "complete" and row.holder is not None
    return row.state == "open" or (untold and not holds.is_locked(holds.part(office, row.id)))


def _is_cut(row: Upload) -> bool:
    return row.state == "lapsed" and row.cause == INTERRUPTED


def declared_in(row: Upload) -> Declared:
    """What the sender of an upload said that it will be."""
    return Declared(**row.declared | {name: tuple(row.declared[name]) for name in ("dataset", "domains")})
