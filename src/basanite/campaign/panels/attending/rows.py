"""What a judge's work asks the database: at every click of every judge, and so each question is built once.

Each is about one judge's own rows and answered by an index: how many others sit on the panel does not matter (R-2).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, case, exists, func, or_, select

from basanite.campaign.store.tables import Assignment, Judgement, PanelItem, RoundEnd, Seat

_PANEL: BindParameter[str] = bindparam("panel")
_PERSON: BindParameter[str] = bindparam("person")
_MINE = (Assignment.panel_id == _PANEL, Assignment.person_id == _PERSON)
_WITH_ITEM = select(Assignment, PanelItem).join(PanelItem, PanelItem.id == Assignment.item_id).where(*_MINE)
_IN_ORDER = _WITH_ITEM.where(Assignment.round == bindparam("round")).order_by(Assignment.position, Assignment.id)

COUNTS = (
    select(
        Assignment.round,
        func.sum(case((Assignment.state == "planned", 1), else_=0)),
        func.sum(case((Assignment.state == "done", 1), else_=0)),
    )
    .where(*_MINE, Assignment.state != "freed")
    .group_by(Assignment.round)
    .order_by(Assignment.round)
)
"""Round by round: what is left and what is done."""

NEXT = _IN_ORDER.where(Assignment.state == "planned").limit(1)
"""The first of a round that is to be done."""

DONE = _IN_ORDER.where(Assignment.state == "done")
"""All of a round that are done."""

ONE = _WITH_ITEM.where(Assignment.id == bindparam("assignment"))
"""An assignment of this judge by its id."""

ENDS = select(RoundEnd.round, RoundEnd.kind).where(RoundEnd.panel_id == _PANEL, RoundEnd.person_id == _PERSON)
"""What was done at the ends of rounds."""

_CLOSED = exists().where(RoundEnd.panel_id == _PANEL, RoundEnd.person_id == _PERSON, RoundEnd.round >= Assignment.round)
LAST = (
    select(Judgement.assignment_id, Assignment.round, _CLOSED.label("closed"))
    .join(Assignment, Assignment.id == Judgement.assignment_id)
    .where(Judgement.panel_id == _PANEL, Judgement.person_id == _PERSON)
    .order_by(Judgement.at.desc(), Assignment.position.desc())
    .limit(1)
)
"""The newest judgement, and whether its round has been closed since."""

SAID = (
    select(Judgement)
    .where(
        or_(
            Judgement.assignment_id == bindparam("assignment"),
            and_(Judgement.panel_id == _PANEL, Judgement.person_id == _PERSON, Judgement.key == bindparam("key")),
        )
    )
    .order_by(Judgement.number)
)
"""What was said under an assignment or with a key."""


def of(seat: Seat, **more: Any) -> dict[str, Any]:
    """Whose rows are asked for."""
    return {"panel": seat.panel_id, "person": seat.person_id, **more}
