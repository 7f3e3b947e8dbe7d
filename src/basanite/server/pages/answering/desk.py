"""What the pages of reading share: their addresses, and who may open them."""

from __future__ import annotations

from typing import Annotated

from basanite.campaign.answering.people import ANSWERING
from basanite.campaign.model.viewer import Viewer
from basanite.server.catalogue import sentence
from basanite.server.roles import Caller, allow

BASE = "/campaigns/{slug}/reading"
Helper = Annotated[Caller, allow("annotator", "judge", "adjudicator", "evaluation")]
Answerer = Annotated[Caller, allow("annotator", "judge", "evaluation")]
Adjudicator = Annotated[Caller, allow("adjudicator", "evaluation")]
Organiser = Annotated[Caller, allow("evaluation")]
VERDICTS = {
    "right-explicit": sentence("Right, and said in the text"),
    "right-inferred": sentence("Right, but inferred"),
    "wrong": sentence("Wrong"),
    "out-of-scope": sentence("Out of scope"),
    "duplicate-of": sentence("The same as another answer"),
    "reopened": sentence("Opened again"),
    "correct": sentence("Right"),
    "": sentence("Not decided"),
}
"""What a verdict is called."""


def at(caller: Caller, part: str = "") -> str:
    """The address of a page of reading."""
    return BASE.format(slug=caller.here[0].slug) + part


def answers(who: Viewer) -> bool:
    """Whether somebody may answer questions."""
    return bool(who.roles & ANSWERING) and who.team is None
