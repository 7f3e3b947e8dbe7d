"""A judge's work by a program: the desk, answers that are stored once, ranks, criteria, consent and leaving (R-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.work.panels import enrolment, judge_work
from basanite.campaign.work.panels.desk import Desk, judge_desk
from basanite.campaign.work.panels.lookup import panel_of_judge
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}/panels", tags=["panels"])
Reader = Annotated[Caller, allow("judge", scope="read")]
Judge = Annotated[Caller, allow("judge", scope="submit")]
Name = Annotated[str, Path(max_length=64)]
Key = Annotated[str, Field(min_length=1, max_length=judge_work.LONGEST_KEY)]
Seconds = Annotated[float, Field(ge=0, le=judge_work.LONGEST_SECONDS)]
Short = Annotated[str, Field(max_length=200)]


class BlockShown(BaseModel):
    """One thing that a judge sees."""

    kind: str
    value: str
    title: str
    lang: str
    dir: str


class PlacedShown(BaseModel):
    """An item that is to be put in order."""

    item: str
    blocks: list[BlockShown]
    answers: dict[str, Any]


class FeedbackShown(BaseModel):
    """What would have been right in training."""

    right: bool
    expected: dict[str, Any]
    given: dict[str, Any]


class DeskShown(BaseModel):
    """What the caller has to do now, with one item and nothing of anybody else's (M52)."""

    panel: str
    stage: str
    """consent, declare, waiting, training, item, rank, criteria, break, paused, done or closed."""
    why: str
    title: str
    instructions: str
    questions: list[dict[str, Any]]
    flags: list[str]
    consent_version: str
    consent_text: str
    assignment: str
    blocks: list[BlockShown]
    round: int
    position: int
    in_round: int
    rounds: int
    done: int
    of: int
    last: str
    feedback: FeedbackShown | None
    placed: list[PlacedShown]


class MyPanelShown(BaseModel):
    """A panel that the caller is on."""

    name: str
    title: str
    state: str
    seat: str
    done: int
    of: int


class JudgeAnswer(BaseModel):
    """What the caller says of an item; sent again under the same key, it is stored once."""

    assignment: Annotated[str, Field(max_length=64)]
    answers: dict[str, Any] = Field(max_length=100)
    key: Key
    seconds: Seconds = 0.0
    flags: list[Short] = Field(default_factory=list, max_length=20)


class Answered(BaseModel):
    """What became of an answer."""

    judgement: str
    repeated: bool
    desk: DeskShown


class Ranking(BaseModel):
    """The items of a round in order, the best first."""

    round: Annotated[int, Field(ge=1, le=1_000_000)]
    order: list[Annotated[str, Field(max_length=64)]] = Field(max_length=1000)
    key: Key
    seconds: Seconds = 0.0


class Criteria(BaseModel):
    """What the caller went by in a round."""

    round: Annotated[int, Field(ge=1, le=1_000_000)]
    criteria: list[Annotated[str, Field(max_length=judge_work.LONGEST_CRITERION)]] = Field(max_length=50)
    key: Key
    seconds: Seconds = 0.0


class Consent(BaseModel):
    """The version of the consent text that the caller read and accepts."""

    version: Short


class Declaration(BaseModel):
    """Languages that the caller knows, and teams (by name) with which there is a conflict."""

    languages: list[Short] = Field(default_factory=list, max_length=50)
    conflicts: list[Short] = Field(default_factory=list, max_length=100)


@ROUTER.get("/mine")
def my_panels(caller: Reader) -> list[MyPanelShown]:
    """The panels of this campaign that the caller is on."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = enrolment.my_panels(session, caller.actor.id)
    mine = [one for one in found if one.campaign_id == row.id]
    names = ("name", "title", "state", "seat", "done", "of")
    return [MyPanelShown(**{name: getattr(one, name) for name in names}) for one in mine]


@ROUTER.get("/{panel}/desk")
def desk(caller: Reader, panel: Name) -> DeskShown:
    """What the caller has to do now."""
    with caller.office.reading() as session:
        return _desk(session, caller, _panel(session, caller, panel))


@ROUTER.post("/{panel}/answers")
def answer(caller: Judge, panel: Name, said: JudgeAnswer) -> Answered:
    """Answer the item on the desk."""
    return _store_answer(caller, panel, said, judge_work.answer)


@ROUTER.post("/{panel}/corrections")
def correct(caller: Judge, panel: Name, said: JudgeAnswer) -> Answered:
    """Say otherwise of the last item, as long as its round lasts."""
    return _store_answer(caller, panel, said, judge_work.correct)


def _store_answer(caller: Caller, panel: str, said: JudgeAnswer, act: Callable[..., judge_work.Answered]) -> Answered:
    with caller.office.writing() as session:
        panel_id = _panel(session, caller, panel)
        given = judge_work.Answer(said.answers, said.key, said.seconds, said.flags)
        made = act(session, caller.office, caller.actor, panel_id, said.assignment, given)
    return Answered(judgement=made.judgement_id, repeated=made.repeated, desk=_then(caller, panel_id))


@ROUTER.post("/{panel}/rankings")
def rank(caller: Judge, panel: Name, said: Ranking) -> DeskShown:
    """Put the items of a round in order."""
    given = judge_work.RoundReply(said.round, said.order, said.key, said.seconds)
    return _act_on_desk(caller, panel, judge_work.rank, given)


@ROUTER.post("/{panel}/criteria")
def criteria(caller: Judge, panel: Name, said: Criteria) -> DeskShown:
    """List the criteria of a round."""
    given = judge_work.RoundReply(said.round, said.criteria, said.key, said.seconds)
    return _act_on_desk(caller, panel, judge_work.criteria, given)


@ROUTER.post("/{panel}/consent")
def consent(caller: Judge, panel: Name, said: Consent) -> DeskShown:
    """Accept the consent text."""
    return _act_on_desk(caller, panel, enrolment.consent, said.version)


@ROUTER.post("/{panel}/declaration")
def declare(caller: Judge, panel: Name, said: Declaration) -> DeskShown:
    """Declare languages and conflicts."""
    return _act_on_desk(caller, panel, enrolment.declare, languages=said.languages, conflicts=said.conflicts)


@ROUTER.post("/{panel}/pause")
def pause(caller: Judge, panel: Name) -> DeskShown:
    """Stop for now."""
    return _act_on_desk(caller, panel, judge_work.pause)


@ROUTER.post("/{panel}/go-on")
def go_on(caller: Judge, panel: Name) -> DeskShown:
    """Go on after a pause, a break or feedback."""
    return _act_on_desk(caller, panel, judge_work.go_on)


@ROUTER.post("/{panel}/withdrawal")
def withdraw_from_panel(caller: Judge, panel: Name) -> DeskShown:
    """Stop for good; what was done is settled."""
    return _act_on_desk(caller, panel, enrolment.withdraw)


def _act_on_desk(caller: Caller, panel: str, act: Callable[..., object], *said: Any, **more: Any) -> DeskShown:
    with caller.office.writing() as session:
        panel_id = _panel(session, caller, panel)
        act(session, caller.office, caller.actor, panel_id, *said, **more)
    return _then(caller, panel_id)


def _then(caller: Caller, panel_id: str) -> DeskShown:
    """What comes next, looked up when the act is over: nobody waits for that who wants to write."""
    with caller.office.reading() as session:
        return _desk(session, caller, panel_id)


def _panel(session: Session, caller: Caller, name: str) -> str:
    """The id of a panel on which the caller has a seat; any other is not there (X-4)."""
    row, _ = caller.here
    return panel_of_judge(session, row.id, name, caller.actor.id)


def _desk(session: Session, caller: Caller, panel_id: str) -> DeskShown:
    return desk_entry(judge_desk(session, caller.office, panel_id, caller.actor.id))


def desk_entry(found: Desk) -> DeskShown:
    """A desk as it is sent."""
    scheme = found.scheme
    told = None if found.feedback is None else FeedbackShown(**asdict(found.feedback))
    names = ("stage", "why", "assignment", "round", "position", "in_round", "rounds", "done", "of", "last")
    placed = [PlacedShown(item=one.item, blocks=_blocks(one), answers=dict(one.answers)) for one in found.placed]
    return DeskShown(
        **{name: getattr(found, name) for name in names},
        panel=found.name,
        title=scheme.title,
        instructions=scheme.instructions,
        questions=[asdict(question) for question in scheme.questions],
        flags=[flag.value for flag in scheme.flags],
        consent_version=scheme.consent.version,
        consent_text=scheme.consent.text,
        blocks=_blocks(found),
        feedback=told,
        placed=placed,
    )


def _blocks(found: Any) -> list[BlockShown]:
    return [BlockShown(**asdict(block)) for block in found.blocks]
