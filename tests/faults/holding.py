"""A process that begins to write and comes no further, to be frozen while it holds a lock."""

from __future__ import annotations

import threading
from pathlib import Path

from basanite.campaign.intake import charges
from basanite.campaign.office import Office
from basanite.campaign.settings import Settings
from basanite.campaign.store.tables import Team

LONG_SECONDS = 8.0
"""Longer than a transaction may stand still in tests."""


def hold_a_team(settings: Settings, team_id: str, sign: str) -> None:
    """Lock a team, rename it, say so by a file, and stand still before the change is kept."""
    with Office.open(settings).writing() as session:
        charges.lock_team(session, team_id)
        session.get_one(Team, team_id).name = "Frozen"
        session.flush()
        Path(sign).touch()
        threading.Event().wait(LONG_SECONDS)
