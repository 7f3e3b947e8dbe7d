"""What all judges said of an item, accepted at once: a decision like any other, with who, when and why (M88).

An item counts only when nobody is to judge it any more, so that a late voice cannot differ from what was accepted.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.deciding.adjudicating import decide, decisions
from basanite.campaign.panels.deciding.said import Said, said
from basanite.campaign.panels.found import find_panel, require_decider, scheme_of
from basanite.campaign.store.tables import Assignment
from basanite.judging.scheme import Scheme

REASON: Final = "all judges said the same"
MOST: Final = 2000
"""Items that one act accepts; what is left is accepted by the next."""


def unanimous(session: Session, panel_id: str, *, apart_from: str = "") -> dict[str, Said]:
    """Items that several judges answered alike and nobody decided, each with one of its judgements.

    Those that one person judged can be left out, for nobody decides on own work (X-4).
    """
    scheme = scheme_of(find_panel(session, panel_id))
    if scheme.adjudicate.when == "never":
        return {}
    voices: dict[str, list[Said]] = {}
    for one in said(session, panel_id):
        voices.setdefault(one.item, []).append(one)
    closed = {*decisions(session, panel_id), *_unfinished(session, panel_id)}
    return {
        item: given[0]
        for item, given in voices.items()
        if item not in closed and _alike(scheme, given) and all(one.judge != apart_from for one in given)
    }


def _unfinished(session: Session, panel_id: str) -> set[str]:
    question = select(Assignment.item_id).where(Assignment.panel_id == panel_id, Assignment.state == "planned")
    return set(session.scalars(question))


def _alike(scheme: Scheme, given: list[Said]) -> bool:
    """Whether at least two judges gave the same answers; what they wrote beside them may differ."""
    asked = [question.id for question in scheme.questions if question.widget != "text"]
    answers = [[one.answers.get(name) for name in asked] for one in given]
    return len(answers) > 1 and all(each == answers[0] for each in answers)


def accept_unanimous(session: Session, office: Office, actor: Actor, panel_id: str) -> int:
    """Let hold what all judges said, for every such item; says for how many."""
    require_decider(session, actor, find_panel(session, panel_id).campaign_id)
    found = list(unanimous(session, panel_id, apart_from=actor.id).items())[:MOST]
    for item, voice in found:
        decide(session, office, actor, item, voice.answers, REASON)
    return len(found)
