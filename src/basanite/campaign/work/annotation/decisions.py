"""A decision as programs and commands give it: a side by its number, none of these, or another reading (R-38)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.work.annotation import adjudication
from basanite.campaign.work.annotation.adjudication import NONE_OF_THESE, Choice, Edit, Ruling, Side

RULE = "R-38"


def disagreements_object(session: Session, office: Office, actor: Actor, document_id: str) -> dict[str, Any]:
    """All cases of a text with what each side says; sides are numbers from 1, and who they are is not said."""
    table = adjudication.disagreements(session, office, actor, document_id)
    return {
        "document": table.document.name,
        "sides": len(table.tasks),
        "open_cases": len(table.open_cases),
        "cases": [one.as_dict() for one in table.cases],
    }


def decide_side(
    session: Session, office: Office, actor: Actor, document_id: str, case: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Decide a case: `take` a side by its number, 0 for none of these; or `edit`, another reading."""
    take, edit = given.get("take"), given.get("edit")
    if (take is None) == (edit is None):
        raise refused(RULE, "no decision is given", "give take (0 is none of these) or edit, not both", status=422)
    choice = _edit(edit) if edit is not None else _side(session, office, actor, document_id, int(take or 0))
    ruling = Ruling(choice, given.get("code", ""), given.get("note", ""), given.get("key", ""))
    made = adjudication.decide(session, office, actor, document_id, case, ruling)
    return {"case": made.case, "verdict": made.verdict, "code": made.code}


def _side(session: Session, office: Office, actor: Actor, document_id: str, number: int) -> Choice:
    if number == 0:
        return NONE_OF_THESE
    tasks = adjudication.disagreements(session, office, actor, document_id).tasks
    if not 1 <= number <= len(tasks):
        raise refused(RULE, f"there is no side {number}", f"give 1 to {len(tasks)}, or 0 for none of these", status=422)
    return Side(tasks[number - 1].id)


def _edit(edit: Mapping[str, Any]) -> Edit:
    mentions: Mapping[str, Sequence[Sequence[Sequence[int]]]] = edit.get("mentions", {})
    words = {slot: [[(part[0], part[1]) for part in parts] for parts in several] for slot, several in mentions.items()}
    return Edit(dict(edit.get("fields", {})), words, bool(edit.get("inferred", False)), str(edit.get("note", "")))
