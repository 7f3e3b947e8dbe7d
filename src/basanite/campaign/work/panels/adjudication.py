"""The queue of disagreements, and what adjudicators decide: who, when and why, only ever added to (M88).

A judge of an item does not adjudicate it (X-4). "None of these" is a decision, and a decided case can be reopened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import Assignment, Panel, PanelDecision, PanelItem
from basanite.campaign.work.decisions import standing_decisions
from basanite.campaign.work.panels.items import visible
from basanite.campaign.work.panels.judge_work import check_answers
from basanite.campaign.work.panels.judgements import Said, counted_judgements
from basanite.campaign.work.panels.lookup import as_item, find_panel, locked_panel, note, require_decider, scheme_of
from basanite.work.agreement import Dispute, comparable_questions, disputes, distance
from basanite.work.items import Block
from basanite.work.scheme import Scheme


class _NoneOfThese:
    """Not one of the answers that were given is right, and no other one either."""

    def __repr__(self) -> str:
        return "NONE_OF_THESE"


NONE_OF_THESE: Final = _NoneOfThese()
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Voice:
    """What one judge said, side by side with the others; judges are distinguished by a letter, never by name."""

    letter: str
    answers: Mapping[str, Any]
    flags: tuple[str, ...]
    at: datetime
    flipped: bool = False


@dataclass(frozen=True)
class Decided:
    """One step in the history of a case."""

    kind: str
    """`decided`, `none`, `reopened`."""
    answers: Mapping[str, Any]
    reason: str
    by: str
    at: datetime


@dataclass(frozen=True)
class Case:
    """An item on which judges differ."""

    id: str
    """That of the item."""
    panel_id: str
    state: str
    """`open`, `decided`, `none`."""
    disagreement: float
    """0 (all alike) to 1."""
    judgements: int
    questions: tuple[str, ...] = ()
    """What they differ about."""
    blocks: tuple[Block, ...] = ()
    voices: tuple[Voice, ...] = ()
    history: tuple[Decided, ...] = ()
    own: bool = False
    """Whether the one who looks judged it: then it is for somebody else to decide (X-4)."""


def queue(session: Session, panel_id: str, *, everything: bool = False) -> tuple[Case, ...]:
    """The cases of a panel, the widest disagreement first; decided ones only if everything is asked for."""
    scheme = scheme_of(find_panel(session, panel_id))
    voices = [one.plain() for one in counted_judgements(session, panel_id)]
    last = _last(session, panel_id)
    found = {one.item: _case_of(panel_id, one, last.get(one.item)) for one in disputes(voices, scheme)}
    if everything:
        for item, row in last.items():
            found.setdefault(item, Case(item, panel_id, _state(row), 0.0, 0))
    wanted = [one for one in found.values() if everything or one.state == "open"]
    return tuple(sorted(wanted, key=lambda one: (-one.disagreement, one.id)))


def _case_of(panel_id: str, dispute: Dispute, last: PanelDecision | None) -> Case:
    facts = (dispute.distance, len(dispute.judgements))
    return Case(dispute.item, panel_id, _state(last), *facts, questions=dispute.questions)


def _state(last: PanelDecision | None) -> str:
    return "open" if last is None or last.kind == "reopened" else last.kind


def open_cases(session: Session, panel_id: str) -> int:
    """How many cases wait for a decision."""
    return len(queue(session, panel_id))


def _last(session: Session, panel_id: str) -> dict[str, PanelDecision]:
    question = select(PanelDecision).where(PanelDecision.panel_id == panel_id).order_by(PanelDecision.number)
    return {row.item_id: row for row in session.scalars(question)}


def decisions(session: Session, panel_id: str) -> dict[str, PanelDecision]:
    """The decision that holds for each item that has one; those that were opened again have none."""
    rows = _last(session, panel_id).values()
    return standing_decisions(rows, lambda row: row.item_id, lambda row: row.kind == "reopened")


def case(session: Session, office: Office, case_id: str, *, viewer: str = "") -> Case:
    """One case with what judges said, side by side, and its whole history; no system and no judge by name."""
    item = session.get(PanelItem, case_id)
    if item is None or item.role != "real":
        raise missing("case")
    panel = find_panel(session, item.panel_id)
    voices = counted_judgements(session, panel.id, item=item.id)
    history = _history(session, item.id)
    apart = {
        one.id: distance(one, [voice.answers.get(one.id) for voice in voices])
        for one in comparable_questions(scheme_of(panel))
    }
    return Case(
        item.id,
        panel.id,
        _state(history[-1] if history else None),
        max(apart.values(), default=0.0),
        len(voices),
        tuple(name for name, far in apart.items() if far > 0),
        visible(item),
        tuple(_voice(at, one) for at, one in enumerate(voices)),
        tuple(Decided(row.kind, row.answers, row.reason, row.by, row.at) for row in history),
        any(one.judge == viewer for one in voices),
    )


def _voice(at: int, one: Said) -> Voice:
    letter = chr(ord("A") + at) if at < 26 else f"A{at}"
    return Voice(letter, one.answers, tuple(one.flags), one.at, one.flipped)


def _history(session: Session, item_id: str) -> Sequence[PanelDecision]:
    question = select(PanelDecision).where(PanelDecision.item_id == item_id).order_by(PanelDecision.number)
    return session.scalars(question).all()


def decide(
    session: Session, office: Office, actor: Actor, case_id: str, answers: Mapping[str, Any] | _NoneOfThese, reason: str
) -> PanelDecision:
    """Decide a case, or say that it is none of these; by an adjudicator who did not judge it, with a reason."""
    panel, item, history = _to_decide(session, actor, case_id)
    _check_reason(reason)
    if history and history[-1].kind != "reopened":
        raise refused("M88", "this case was already decided", "reopen it first", status=409)
    if isinstance(answers, _NoneOfThese):
        row = PanelDecision(kind="none", answers={}, reason=reason)
    else:
        plain = check_answers(scheme_of(panel), answers, as_item(item))
        row = PanelDecision(kind="decided", answers=plain, reason=reason)
    return _add_decision(session, office, actor, panel, item, row)


def reopen(session: Session, office: Office, actor: Actor, case_id: str, reason: str) -> PanelDecision:
    """Open a decided case again, with a reason; what was decided stays in its history."""
    panel, item, history = _to_decide(session, actor, case_id)
    _check_reason(reason)
    if not history or history[-1].kind == "reopened":
        raise refused("M88", "this case is open", "decide it", status=409)
    return _add_decision(session, office, actor, panel, item, PanelDecision(kind="reopened", answers={}, reason=reason))


def _to_decide(session: Session, actor: Actor, case_id: str) -> tuple[Panel, PanelItem, Sequence[PanelDecision]]:
    item = session.get(PanelItem, case_id)
    if item is None or item.role != "real":
        raise missing("case")
    panel = locked_panel(session, item.panel_id)
    require_decider(session, actor, panel.campaign_id)
    if panel.state == "cancelled":
        raise refused("M88", "the panel was canceled", "decide on another panel", status=409)
    if any(one.judge == actor.id for one in counted_judgements(session, panel.id, item=item.id)):
        raise refused("X-4", "you judged this item yourself", "leave it to another adjudicator", status=403)
    return panel, item, _history(session, item.id)


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST_REASON or "\0" in reason:
        fix = f"give a reason of at most {LONGEST_REASON} characters"
        raise refused("M88", "a decision needs a reason", fix, status=422)


def _add_decision(
    session: Session, office: Office, actor: Actor, panel: Panel, item: PanelItem, row: PanelDecision
) -> PanelDecision:
    row.panel_id, row.item_id, row.number = panel.id, item.id, len(_history(session, item.id)) + 1
    row.by, row.at = actor.id, office.clock()
    session.add(row)
    session.flush()
    note(session, office, actor, panel, f"case.{row.kind}", row.id, item=item.id, number=row.number)
    return row


REASON: Final = "judges agree"
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
    for one in counted_judgements(session, panel_id):
        voices.setdefault(one.item, []).append(one)
    question = select(Assignment.item_id).where(Assignment.panel_id == panel_id, Assignment.state == "planned")
    closed = {*decisions(session, panel_id), *session.scalars(question)}
    return {
        item: given[0]
        for item, given in voices.items()
        if item not in closed and _same_answers(scheme, given) and all(one.judge != apart_from for one in given)
    }


def _same_answers(scheme: Scheme, given: list[Said]) -> bool:
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
