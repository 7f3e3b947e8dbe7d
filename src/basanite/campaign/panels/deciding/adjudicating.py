"""The queue of disagreements, and what adjudicators decide: who, when and why, only ever added to (M88).

Whoever judged an item does not decide it (X-4). "None of these" is a decision, and a decided case can be opened again.
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
from basanite.campaign.panels.attending.answers import checked
from basanite.campaign.panels.deciding.said import Said, said
from basanite.campaign.panels.found import as_item, find_panel, locked_panel, note, require_decider, scheme_of
from basanite.campaign.panels.preparing.hiding import visible
from basanite.campaign.store.tables import Panel, PanelDecision, PanelItem
from basanite.judging.disagreement import Dispute, asked, disputes, distance
from basanite.judging.items import Block


class _NoneOfThese:
    """Not one of the answers that were given is right, and no other one either."""

    def __repr__(self) -> str:
        return "NONE_OF_THESE"


NONE_OF_THESE: Final = _NoneOfThese()
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Voice:
    """What one judge said, side by side with the others; judges are told apart by a letter, never by name."""

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
    voices = [one.plain() for one in said(session, panel_id)]
    last = _last(session, panel_id)
    found = {one.item: _disputed(panel_id, one, last.get(one.item)) for one in disputes(voices, scheme)}
    if everything:
        for item, row in last.items():
            found.setdefault(item, Case(item, panel_id, _state(row), 0.0, 0))
    wanted = [one for one in found.values() if everything or one.state == "open"]
    return tuple(sorted(wanted, key=lambda one: (-one.disagreement, one.id)))


def _disputed(panel_id: str, dispute: Dispute, last: PanelDecision | None) -> Case:
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
    return {item: row for item, row in _last(session, panel_id).items() if row.kind != "reopened"}


def case(session: Session, office: Office, case_id: str, *, viewer: str = "") -> Case:
    """One case with what judges said, side by side, and its whole history; no system and no judge by name."""
    item = session.get(PanelItem, case_id)
    if item is None or item.role != "real":
        raise missing("case")
    panel = find_panel(session, item.panel_id)
    voices = said(session, panel.id, item=item.id)
    history = _history(session, item.id)
    apart = {one.id: distance(one, [voice.answers.get(one.id) for voice in voices]) for one in asked(scheme_of(panel))}
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
    session: Session,
    office: Office,
    actor: Actor,
    case_id: str,
    answers: Mapping[str, Any] | _NoneOfThese,
    reason: str,
) -> PanelDecision:
    """Decide a case, or say that it is none of these; by an adjudicator who did not judge it, with a reason."""
    panel, item, history = _to_decide(session, actor, case_id)
    _check_reason(reason)
    if history and history[-1].kind != "reopened":
        raise refused("M88", "this case has been decided already", "open it again first", status=409)
    if isinstance(answers, _NoneOfThese):
        return _added(session, office, actor, panel, item, "none", {}, reason, len(history) + 1)
    plain = checked(scheme_of(panel), answers, as_item(item))
    return _added(session, office, actor, panel, item, "decided", plain, reason, len(history) + 1)


def reopen(session: Session, office: Office, actor: Actor, case_id: str, reason: str) -> PanelDecision:
    """Open a decided case again, with a reason; what was decided stays in its history."""
    panel, item, history = _to_decide(session, actor, case_id)
    _check_reason(reason)
    if not history or history[-1].kind == "reopened":
        raise refused("M88", "this case is open", "decide it", status=409)
    return _added(session, office, actor, panel, item, "reopened", {}, reason, len(history) + 1)


def _to_decide(session: Session, actor: Actor, case_id: str) -> tuple[Panel, PanelItem, Sequence[PanelDecision]]:
    item = session.get(PanelItem, case_id)
    if item is None or item.role != "real":
        raise missing("case")
    panel = locked_panel(session, item.panel_id)
    require_decider(session, actor, panel.campaign_id)
    if panel.state == "cancelled":
        raise refused("M88", "the panel was given up", "decide on another panel", status=409)
    if any(one.judge == actor.id for one in said(session, panel.id, item=item.id)):
        raise refused("X-4", "you judged this item yourself", "leave it to another adjudicator", status=403)
    return panel, item, _history(session, item.id)


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST_REASON or "\0" in reason:
        fix = f"say why, in at most {LONGEST_REASON} characters"
        raise refused("M88", "a decision needs its reason", fix, status=422)


def _added(
    session: Session,
    office: Office,
    actor: Actor,
    panel: Panel,
    item: PanelItem,
    kind: str,
    answers: dict[str, Any],
    reason: str,
    number: int,
) -> PanelDecision:
    row = PanelDecision(panel_id=panel.id, item_id=item.id, number=number, kind=kind, answers=answers, reason=reason)
    row.by, row.at = actor.id, office.clock()
    session.add(row)
    session.flush()
    note(session, office, actor, panel, f"case.{kind}", row.id, item=item.id, number=number)
    return row
