"""Panels for programs: lists, progress, cases and decisions (M88), and pictures for crowd workers (X-9)."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.work.panels import adjudication, answers, batches, monitor
from basanite.campaign.work.panels.adjudication import NONE_OF_THESE, Case
from basanite.campaign.work.panels.judgements import Precision
from basanite.campaign.work.panels.lookup import panel_named
from basanite.metrics.judgement.estimate import Estimate
from basanite.server.api.judging import BlockShown
from basanite.server.roles import Caller, allow

ORGANISERS = APIRouter(prefix="/campaigns/{slug}/panels", tags=["panels"])
Organiser = Annotated[Caller, allow("evaluation", scope="organise")]
Decider = Annotated[Caller, allow("adjudicator", "evaluation", scope="organise")]
Name = Annotated[str, Path(max_length=64)]


class PanelShown(BaseModel):
    """A panel in a list."""

    name: str
    title: str
    state: str
    window: str
    items: int
    judges: int
    done: int
    of: int
    made: datetime


class Figure(BaseModel):
    """A number, or why there is none."""

    value: float | None
    low: float | None
    high: float | None
    note: str


class JudgeAgreementShown(BaseModel):
    """How far judges agree on one question."""

    question: str
    level: str
    percent: Figure
    alpha: Figure
    mean: Figure | None


class JudgeShown(BaseModel):
    """One judge in figures."""

    person: str
    group: str
    state: str
    done: int
    of: int
    median_seconds: float | None
    checks: int
    checks_right: int
    weak: bool
    bias: float | None
    with_others: float | None
    flags: int


class PrecisionShown(BaseModel):
    """How well the mean of a question is known: its confidence sequence stays valid however often one looks."""

    question: str
    mean: float
    low: float | None
    high: float | None
    items: int
    half_width: float | None
    wanted: float | None
    """The half-width at which judging stops, if the scheme declares one."""
    reached: bool
    note: str
    """Why there is no sequence; its ends are null then, and judging goes on."""


class ProgressShown(BaseModel):
    """Where a panel stands."""

    name: str
    state: str
    items: int
    done: int
    of: int
    per_item: dict[str, int]
    judges: list[JudgeShown]
    agreement: list[JudgeAgreementShown]
    flags: int
    warnings: list[str]
    interim: bool
    """Whether judging goes on, so that intervals of agreement are for one look only."""
    precision: PrecisionShown | None


class CaseShown(BaseModel):
    """An item on which judges differ; judges by a letter, systems not at all."""

    id: str
    state: str
    disagreement: float
    judgements: int
    questions: list[str]
    blocks: list[BlockShown]
    voices: list[dict[str, Any]]
    history: list[dict[str, Any]]
    own: bool


class Decision(BaseModel):
    """A decision: answers, or null for none of these; with its reason."""

    answers: dict[str, Any] | None = Field(max_length=100)
    reason: str = Field(min_length=1, max_length=adjudication.LONGEST_REASON)


class Reopening(BaseModel):
    """Why a case is opened again."""

    reason: str = Field(min_length=1, max_length=adjudication.LONGEST_REASON)


@ORGANISERS.get("")
def list_panels(caller: Organiser) -> list[PanelShown]:
    """All panels of a campaign, the newest first."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = monitor.overview(session, row.id)
    return [PanelShown(**{name: getattr(one, name) for name in PanelShown.model_fields}) for one in found]


class FlaggedCall(BaseModel):
    """One answer of a language model."""

    item: str = Field(max_length=1000)
    repeat: int = Field(default=1, ge=1, lt=2**31)


class FlaggedAnswers(BaseModel):
    """Answers of one submission that judges shall see."""

    submission: str = Field(max_length=64)
    calls: list[FlaggedCall] = Field(min_length=1, max_length=200)


class AnswersAdded(BaseModel):
    """What became of flagged answers."""

    panel: str
    new: int
    merged: int


@ORGANISERS.post("/{panel}/flagged", status_code=201)
def add_answers(caller: Organiser, panel: Name, flagged: FlaggedAnswers) -> AnswersAdded:
    """Send flagged answers of a language model to a panel; `flagged-answers` is made where it is missing (L-4)."""
    calls = [(one.item, one.repeat) for one in flagged.calls]
    name = "" if panel == answers.NEW_PANEL else panel
    made, added = answers.judge_flagged(caller.office, caller.viewer, caller.actor, flagged.submission, calls, name)
    return AnswersAdded(panel=made, new=added.new, merged=added.merged)


@ORGANISERS.get("/{panel}/progress")
def progress(caller: Organiser, panel: Name) -> ProgressShown:
    """How far a panel is, and how far judges agree, now."""
    with caller.office.reading() as session:
        found = monitor.progress(session, caller.office, _panel_id(session, caller, panel))
    plain = {name: getattr(found, name) for name in ("name", "state", "items", "done", "of", "flags")}
    return ProgressShown(
        **plain,
        per_item={str(number): count for number, count in found.per_item.items()},
        judges=[_judge(one) for one in found.judges],
        agreement=[_agreement(one) for one in found.agreement],
        warnings=list(found.warnings),
        interim=found.state == "open",
        precision=_precision(found.precision),
    )


def _precision(one: Precision | None) -> PrecisionShown | None:
    if one is None or not one.items:
        return None
    found = {name: getattr(one, name) for name in PrecisionShown.model_fields if name != "reached"}
    found |= dict.fromkeys(("low", "high", "half_width")) if one.note else {}
    return PrecisionShown(**found, reached=one.is_reached)


def _judge(one: monitor.JudgeLine) -> JudgeShown:
    names = [name for name in JudgeShown.model_fields if name != "person"]
    return JudgeShown(person=one.person_id, **{name: getattr(one, name) for name in names})


def _agreement(one: monitor.Agreement) -> JudgeAgreementShown:
    mean = None if one.mean is None else _figure(one.mean)
    figures = {"percent": _figure(one.percent), "alpha": _figure(one.alpha)}
    return JudgeAgreementShown(question=one.question, level=one.level, **figures, mean=mean)


def _figure(one: Estimate) -> Figure:
    return Figure(value=None if math.isnan(one.value) else one.value, low=one.low, high=one.high, note=one.reason)


@ORGANISERS.get("/{panel}/cases")
def cases(caller: Decider, panel: Name) -> list[CaseShown]:
    """Open disagreements, the widest first."""
    with caller.office.reading() as session:
        found = adjudication.queue(session, _panel_id(session, caller, panel))
    return [_case(one) for one in found]


@ORGANISERS.get("/{panel}/cases/{case}")
def one_case(caller: Decider, panel: Name, case: Name) -> CaseShown:
    """One disagreement with what judges said, side by side."""
    with caller.office.reading() as session:
        return _case_entry(session, caller, panel, case)


@ORGANISERS.post("/{panel}/cases/{case}/decision")
def decide(caller: Decider, panel: Name, case: Name, said: Decision) -> CaseShown:
    """Decide a disagreement; no matter who judged the item does not."""
    answers = NONE_OF_THESE if said.answers is None else said.answers
    with caller.office.writing() as session:
        _case_entry(session, caller, panel, case)
        adjudication.decide(session, caller.office, caller.actor, case, answers, said.reason)
        return _case_entry(session, caller, panel, case)


@ORGANISERS.post("/{panel}/cases/{case}/reopening")
def reopen(caller: Decider, panel: Name, case: Name, said: Reopening) -> CaseShown:
    """Open a decided disagreement again."""
    with caller.office.writing() as session:
        _case_entry(session, caller, panel, case)
        adjudication.reopen(session, caller.office, caller.actor, case, said.reason)
        return _case_entry(session, caller, panel, case)


def _panel_id(session: Session, caller: Caller, name: str) -> str:
    row, _ = caller.here
    return panel_named(session, row.id, name).id


def _case_entry(session: Session, caller: Caller, panel: str, case: str) -> CaseShown:
    found = adjudication.case(session, caller.office, case, viewer=caller.actor.id)
    if found.panel_id != _panel_id(session, caller, panel):
        raise missing("case")
    return _case(found)


def _case(found: Case) -> CaseShown:
    plain = asdict(found)
    return CaseShown(**{name: plain[name] for name in CaseShown.model_fields})


CROWD = APIRouter(prefix="/crowd", tags=["panels"])
Anybody = Annotated[Caller, allow("visitor")]
Id = Annotated[str, Path(max_length=64)]
BOXED = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "no-store",
}
PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}, "description": "The image."}}


@CROWD.get("/{batch}/{image}", response_class=Response, responses=PICTURE)
def picture(caller: Anybody, batch: Id, image: Id) -> Response:
    """A picture of a batch that is out; there are no others."""
    with caller.office.reading() as session:
        content, media = batches.crowd_image(session, caller.office, batch, image)
    return Response(content, media_type=media, headers=BOXED)
