"""Adjudication of annotations by programs: the queue, the cases of a text, decisions, finishing (R-38).

The checks are those of the pages: adjudicators alone, never of a text that they annotated.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.store.tables import AnnotationDocument
from basanite.campaign.work.annotation import adjudication, decisions
from basanite.campaign.work.annotation.lookup import project_named
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}/annotation", tags=["annotation"])
Looker = Annotated[Caller, allow("adjudicator", "evaluation", scope="read")]
Adjudicator = Annotated[Caller, allow("adjudicator", scope="submit")]
Id = Annotated[str, Path(max_length=64)]
Pieces = Annotated[list[tuple[int, int]], Field(max_length=100)]


class ReadingGiven(BaseModel):
    """Another reading than those of the annotators."""

    model_config = ConfigDict(extra="forbid")
    fields: dict[str, Annotated[str, Field(max_length=10_000)]] = Field(default_factory=dict, max_length=100)
    mentions: dict[str, Annotated[list[Pieces], Field(max_length=1000)]] = Field(default_factory=dict, max_length=100)
    inferred: bool = False
    note: str = Field(default="", max_length=2_000)


class DecisionGiven(BaseModel):
    """A decision: a side by its number, 0 for none of these; or another reading."""

    model_config = ConfigDict(extra="forbid")
    take: int | None = Field(default=None, ge=0, le=100)
    edit: ReadingGiven | None = None
    code: str = Field(default="", max_length=40)
    note: str = Field(default="", max_length=2_000)
    key: str = Field(default="", max_length=64)
    """Sent twice under one key, it counts once."""


class EndGiven(BaseModel):
    """How many open contradictions were seen and stay."""

    contradictions: int = Field(default=0, ge=0, le=10**6)


class ReasonGiven(BaseModel):
    """Why."""

    reason: str = Field(max_length=500)


class QueueShown(BaseModel):
    """The texts of a project, those with most disagreements first."""

    texts: list[dict[str, Any]]


class CasesShown(BaseModel):
    """Everything that is to be decided about a text."""

    document: str
    sides: int
    open_cases: int
    cases: list[dict[str, Any]]


class StateShown(BaseModel):
    """What became of it."""

    state: str
    accepted: int = 0


@ROUTER.get("/projects/{project}/adjudication")
def show_queue(project: Id, caller: Looker) -> QueueShown:
    """The texts of a project that can be adjudicated."""
    with caller.office.reading() as session:
        found = project_named(session, caller.here[0].id, project)
        texts = adjudication.queue(session, caller.office, caller.actor, found.id)
    return QueueShown(texts=[one.as_dict() for one in texts])


@ROUTER.get("/adjudication/{document}")
def show_cases(document: Id, caller: Looker) -> CasesShown:
    """The cases of a text with what each side says."""
    with caller.office.reading() as session:
        _check_here(session, caller, document)
        found = decisions.disagreements_object(session, caller.office, caller.actor, document)
    return CasesShown(**found)


@ROUTER.post("/adjudication/{document}/cases/{case}")
def decide_case(document: Id, case: Id, given: DecisionGiven, caller: Adjudicator) -> dict[str, Any]:
    """Decide one case."""
    with caller.office.writing() as session:
        _check_here(session, caller, document)
        ruling = given.model_dump(exclude_none=True)
        return decisions.decide_side(session, caller.office, caller.actor, document, case, ruling)


@ROUTER.post("/adjudication/{document}/unanimous")
def accept_unanimous(document: Id, caller: Adjudicator) -> StateShown:
    """Accept everything on which all annotators agree."""
    with caller.office.writing() as session:
        _check_here(session, caller, document)
        count = adjudication.accept_unanimous(session, caller.office, caller.actor, document)
    return StateShown(state="working", accepted=count)


@ROUTER.post("/adjudication/{document}/finish")
def finish_text(document: Id, given: EndGiven, caller: Adjudicator) -> StateShown:
    """Finish a text whose cases are all decided."""
    with caller.office.writing() as session:
        _check_here(session, caller, document)
        who = (session, caller.office, caller.actor, document)
        made = adjudication.finish(*who, contradictions=given.contradictions)
    return StateShown(state=made.stage)


@ROUTER.post("/adjudication/{document}/reopen")
def reopen_text(document: Id, given: ReasonGiven, caller: Adjudicator) -> StateShown:
    """Go on with a text that was adjudicated."""
    with caller.office.writing() as session:
        _check_here(session, caller, document)
        task = adjudication.reopen(session, caller.office, caller.actor, document, reason=given.reason)
        return StateShown(state=task.state)


def _check_here(session: Session, caller: Caller, document: str) -> None:
    """A text of another campaign is none of this one."""
    row = session.get(AnnotationDocument, document)
    if row is None or row.campaign_id != caller.here[0].id:
        raise missing("text")
