"""What the pages of adjudicators share: who may open them, their addresses, and one panel's questions (M88, X-4).

An adjudicator sees what judges saw and what they said, told apart by letters; no system, and nobody by name.
"""

from __future__ import annotations

from typing import Annotated

from sqlalchemy.orm import Session

from basanite.campaign.panels.found import panel_named, scheme_of
from basanite.campaign.store.tables import Panel
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import sentence
from basanite.server.roles import Caller, allow

BASE = "/campaigns/{slug}/adjudicate"
PANEL = f"{BASE}/{{panel}}"
Adjudicator = Annotated[Caller, allow("adjudicator", "evaluation")]
OTHER = "other"
CODES = (
    ("overlooked", sentence("a judge overlooked something"), "q"),
    ("guidelines", sentence("the instructions say so"), "w"),
    ("borderline", sentence("it lies on the border"), "e"),
    (OTHER, sentence("another reason"), "r"),
)
"""Why a case is decided as it is: the code that is kept, its words and its key."""
LISTED = 200


def at(caller: Caller, part: str = "") -> str:
    """The address of an adjudicator's page of this campaign."""
    return BASE.format(slug=caller.here[0].slug) + part


def found(session: Session, caller: Caller, name: str) -> tuple[Panel, Scheme]:
    """The panel of this campaign, or not found."""
    panel = panel_named(session, caller.here[0].id, name)
    return panel, scheme_of(panel)
