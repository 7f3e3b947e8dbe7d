"""The judge's desk: which step comes next, with one item on it and nothing of anybody else's (M52, X-4, R-2).

Each question to the database is about one judge's own rows and answered by an index: how many others sit on the panel
does not matter. They are asked at every click of every judge, and so built once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import BindParameter, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelItem, RoundEnd, Seat
from basanite.campaign.work.panels.enrolment import declaration
from basanite.campaign.work.panels.items import visible
from basanite.campaign.work.panels.judgements import is_precise
from basanite.campaign.work.panels.lookup import as_item, place, scheme_of
from basanite.work.controls import meets_expectation
from basanite.work.items import Block
from basanite.work.scheme import Scheme

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


def of_seat(seat: Seat, **more: Any) -> dict[str, Any]:
    """Whose rows are asked for."""
    return {"panel": seat.panel_id, "person": seat.person_id, **more}


Stage = Literal[
    "consent", "declare", "training", "item", "rank", "criteria", "break", "paused", "done", "closed", "waiting"
]
TRAINING = 0
"""The round of training items."""
RANKING, CRITERIA = "ranking", "criteria"


@dataclass(frozen=True)
class Placed:
    """An item of a round that is to be put in order, with what the judge said of it."""

    item: str
    blocks: tuple[Block, ...]
    answers: Mapping[str, Any]


@dataclass(frozen=True)
class Feedback:
    """What would have been right in training, beside what was said."""

    right: bool
    expected: Mapping[str, Any]
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Desk:
    """What a judge has to do now. No system, no other judge, no other item (M52)."""

    stage: Stage
    scheme: Scheme
    panel_id: str
    name: str
    group: str
    done: int = 0
    of: int = 0
    """Items done, of how many; training not counted."""
    assignment: str = ""
    seen: bool = False
    """Whether the judge has had the item on the desk before."""
    blocks: tuple[Block, ...] = ()
    round: int = 0
    position: int = 0
    in_round: int = 0
    """How many items the round has."""
    rounds: int = 0
    given: Mapping[str, Any] | None = None
    """What was said before, where an answer is looked at again."""
    flags: tuple[str, ...] = ()
    last: str = ""
    """The assignment that can still be corrected, if there is one."""
    feedback: Feedback | None = None
    placed: tuple[Placed, ...] = ()
    """The items of the round, where they are to be put in order."""
    languages: tuple[str, ...] = ()
    """What the judge declared."""
    why: str = ""
    """Why there is nothing to do: `draft`, `closed`, `cancelled`, `withdrawn`, `removed`, `precise`."""


@dataclass(frozen=True)
class RoundCount:
    """How far a judge is with one round."""

    round: int
    planned: int
    done: int


def judge_desk(session: Session, office: Office, panel_id: str, person_id: str) -> Desk:
    """Where a judge's work stands; the same question twice gives the same answer."""
    panel, seat = place(session, panel_id, person_id)
    now = turn(session, office, panel, seat)
    return replace(now, last=last_open(session, seat)) if now.done else now


def turn(session: Session, office: Office, panel: Panel, seat: Seat) -> Desk:
    """What comes next, without what can still be corrected."""
    plain = Desk("done", scheme_of(panel), panel.id, panel.name, seat.group)
    before = _before_work(office, plain, panel, seat)
    if before is None:
        return _without_new_items(session, _at_work(session, plain, seat), panel)
    return _with_counts(before, counts(session, seat)) if before.stage == "paused" else before


def _without_new_items(session: Session, now: Desk, panel: Panel) -> Desk:
    """Give out no item that the judge has not seen once the declared precision is reached (S-33)."""
    if now.stage == "item" and not now.seen and is_precise(session, panel, now.scheme):
        return replace(now, stage="closed", why="precise", assignment="", blocks=())
    return now


def _before_work(office: Office, plain: Desk, panel: Panel, seat: Seat) -> Desk | None:
    if why := end_reason(panel, seat):
        return replace(plain, stage="closed", why=why)
    if needs_consent(plain.scheme, seat):
        return replace(plain, stage="consent")
    if declaration(office, seat) is None:
        return replace(plain, stage="declare")
    if panel.state == "draft":
        return replace(plain, stage="waiting", why="draft")
    return replace(plain, stage="paused") if seat.state == "paused" else None


def end_reason(panel: Panel, seat: Seat) -> str:
    """Why a judge has nothing to do here any more; empty if there may be."""
    if seat.state in ("withdrawn", "removed"):
        return seat.state
    return panel.state if panel.state in ("closed", "cancelled") else ""


def needs_consent(scheme: Scheme, seat: Seat) -> bool:
    """Whether the text that holds now has not been accepted; a changed one asks again (P-22)."""
    return seat.consented is None or seat.consent_version != scheme.consent.version


def _at_work(session: Session, plain: Desk, seat: Seat) -> Desk:
    rounds = counts(session, seat)
    at = _with_counts(plain, rounds)
    if seat.feedback is not None:
        return _with_feedback(session, at, seat)
    ends = _ends(session, seat)
    for one in rounds:
        if one.planned:
            return _with_next(session, at, seat, one)
        if (stage := _after_round(plain.scheme, seat, one, ends)) is not None:
            placed = of_round(session, seat, one.round) if stage == "rank" else ()
            return replace(at, stage=stage, round=one.round, in_round=one.done, placed=placed)
        due = plain.scheme.break_every and one.round and one.round % plain.scheme.break_every == 0
        if due and seat.rested < one.round and one is not rounds[-1]:
            return replace(at, stage="break", round=one.round)
    return at


def _with_counts(plain: Desk, rounds: list[RoundCount]) -> Desk:
    """The desk with how far all rounds are; training counts for nothing."""
    real = [one for one in rounds if one.round != TRAINING]
    done, left = sum(one.done for one in real), sum(one.planned for one in real)
    return replace(plain, done=done, of=done + left, rounds=len(real))


def counts(session: Session, seat: Seat) -> list[RoundCount]:
    """The rounds of a judge in order, each with what is done and what is not."""
    found = session.execute(COUNTS, of_seat(seat))
    return [RoundCount(number, int(left), int(ready)) for number, left, ready in found]


def _ends(session: Session, seat: Seat) -> set[tuple[int, str]]:
    return {(number, kind) for number, kind in session.execute(ENDS, of_seat(seat))}


def _after_round(scheme: Scheme, seat: Seat, one: RoundCount, ends: set[tuple[int, str]]) -> Stage | None:
    """What is still to be done once all items of a round have their stars."""
    if one.round == TRAINING:
        return None
    if scheme.rank_after_round and one.done > 1 and (one.round, RANKING) not in ends:
        return "rank"
    if scheme.criteria_from and scheme.criteria_from == seat.group and (one.round, CRITERIA) not in ends:
        return "criteria"
    return None


def blocks_for(row: Assignment, item: PanelItem) -> tuple[Block, ...]:
    """What a judge sees of an item; of a pair the sides are changed where the plan says so."""
    blocks = visible(item)
    return swap_sides(blocks) if row.flipped else blocks


def swap_sides(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with the last two texts changed over; their titles stay where they are.

    >>> [block.value for block in swap_sides((Block("text", "a", "Left"), Block("text", "b", "Right")))]
    ['b', 'a']
    """
    sides = [at for at, block in enumerate(blocks) if block.kind in ("text", "image")][-2:]
    if len(sides) < 2:
        return blocks
    made, (one, other) = list(blocks), sides
    made[one] = replace(blocks[other], title=blocks[one].title)
    made[other] = replace(blocks[one], title=blocks[other].title)
    return tuple(made)


def _with_next(session: Session, at: Desk, seat: Seat, one: RoundCount) -> Desk:
    row, item = session.execute(NEXT, of_seat(seat, round=one.round)).one()
    stage: Stage = "training" if one.round == TRAINING else "item"
    shown = _on_desk(at, row, item)
    return replace(shown, stage=stage, position=one.done + 1, in_round=one.planned + one.done)


def _on_desk(at: Desk, row: Assignment, item: PanelItem) -> Desk:
    seen = row.shown is not None
    return replace(at, assignment=row.id, blocks=blocks_for(row, item), round=row.round, seen=seen)


def of_round(session: Session, seat: Seat, number: int) -> tuple[Placed, ...]:
    """The items of a round with what the judge said of each, in the order in which they were judged."""
    found = session.execute(DONE, of_seat(seat, round=number)).all()
    said = newest(session, [row.id for row, _ in found])
    return tuple(Placed(item.id, blocks_for(row, item), said[row.id].answers) for row, item in found)


def newest(session: Session, assignment_ids: list[str]) -> dict[str, Judgement]:
    """The judgement that counts for each of these assignments."""
    question = select(Judgement).where(Judgement.assignment_id.in_(assignment_ids)).order_by(Judgement.number)
    return {row.assignment_id: row for row in session.scalars(question)}


def last_open(session: Session, seat: Seat) -> str:
    """The assignment whose answer can still be corrected: the last one given, as long as its round lasts (R-2)."""
    row = session.execute(LAST, of_seat(seat)).first()
    if row is None or row.closed or row.round == TRAINING or row.round <= seat.rested:
        return ""
    return str(row.assignment_id)


def _with_feedback(session: Session, at: Desk, seat: Seat) -> Desk:
    row = session.get_one(Assignment, seat.feedback)
    item = session.get_one(PanelItem, row.item_id)
    said = newest(session, [row.id])[row.id]
    expected = dict(item.expected or {})
    told = Feedback(bool(meets_expectation(as_item(item), said.answers)), expected, said.answers)
    return replace(_on_desk(at, row, item), stage="training", feedback=told, given=said.answers)


def look_again(session: Session, office: Office, panel_id: str, person_id: str) -> Desk:
    """The last item once more with what was said of it, to correct it; the desk as ever if that is not possible."""
    found = judge_desk(session, office, panel_id, person_id)
    if not found.last or found.stage in ("closed", "consent", "declare", "paused"):
        return found
    row = session.get_one(Assignment, found.last)
    item, said = session.get_one(PanelItem, row.item_id), newest(session, [row.id])[row.id]
    shown = _on_desk(found, row, item)
    flags = tuple(said.flags)
    return replace(shown, stage="item", given=said.answers, flags=flags, placed=(), position=row.position)
