"""A judge's work, act by act: every answer is stored exactly once, whatever happens to the connection (R-2).

An answer carries a key that the judge's page chose: sent again, it changes nothing and gets the same reply. A second,
different answer to the same item is refused; correcting the last one is an act of its own, as long as the round lasts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelItem, RoundEnd, Seat
from basanite.campaign.work.panels.desk import (
    CRITERIA,
    ONE,
    RANKING,
    SAID,
    end_reason,
    last_open,
    needs_consent,
    of_seat,
    turn,
)
from basanite.campaign.work.panels.lookup import as_item, locked_seat, note, place, scheme_of
from basanite.canonical import canonical_digest
from basanite.work.answers import read_answers
from basanite.work.items import Item
from basanite.work.scheme import Scheme


def check_answers(scheme: Scheme, answers: Mapping[str, Any], item: Item | None = None) -> dict[str, Any]:
    """The answers in their plain form; refused with every problem that they have."""
    found, problems = read_answers(scheme, item, answers)
    if problems:
        raise RefusedError(problems, status=422)
    return found


def check_flags(scheme: Scheme, flags: Iterable[str]) -> list[str]:
    """The flags that a judge set; only those of the scheme."""
    known, given = [flag.value for flag in scheme.flags], list(dict.fromkeys(flags))
    if unknown := [flag for flag in given if flag not in known]:
        fix = f"one of: {', '.join(known)}" if known else "omit flags"
        raise RefusedError(problem("X-9", "there is no such flag", fix, found=str(unknown[0])), status=422)
    return given


LONGEST_KEY = 100
LONGEST_SECONDS = 24 * 3600.0
MOST_CRITERIA = 50
LONGEST_CRITERION = 500


@dataclass(frozen=True)
class Answer:
    """What a judge says of an item, under a key that the page chose; `seconds` is the time that the page measured."""

    answers: Mapping[str, Any]
    key: str
    seconds: float = 0.0
    flags: Iterable[str] = ()


@dataclass(frozen=True)
class RoundReply:
    """What a judge says at the end of a round: the order of its items, the best first, or the criteria used."""

    round: int
    content: Sequence[str]
    key: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Answered:
    """What became of an answer."""

    judgement_id: str
    repeated: bool = False
    """It had been stored before; nothing changed."""


def answer(
    session: Session, office: Office, actor: Actor, panel_id: str, assignment_id: str, given: Answer
) -> Answered:
    """Store what a judge says of the item that is on the desk; sent again, it is stored once."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    row, item = _own(session, seat, assignment_id)
    given = _check_answer(scheme, item, given)
    if (before := _before(session, seat, row, given)) is not None:
        return before
    _check_open(panel, seat, scheme)
    _check_turn(session, office, panel, seat, row)
    row.state = "done"
    if item.role == "training" and scheme.training.feedback and item.expected:
        seat.feedback = row.id
    return Answered(_store_judgement(session, office, panel, row, given).id)


def correct(
    session: Session, office: Office, actor: Actor, panel_id: str, assignment_id: str, given: Answer
) -> Answered:
    """Say otherwise of the last item, as long as its round lasts: one more judgement, which counts from now on."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    row, item = _own(session, seat, assignment_id)
    given = _check_answer(scheme, item, given)
    earlier = _earlier_judgements(session, seat, row, given.key)
    if (known := _with_key(earlier, given.key)) is not None:
        return _repeat_reply(known, row, given)
    _check_open(panel, seat, scheme)
    if row.state != "done" or last_open(session, seat) != row.id:
        fix = "continue with the next item"
        raise refused("R-2", "this answer can no longer be changed", fix, status=409)
    return Answered(_store_judgement(session, office, panel, row, given, number=earlier[-1].number + 1).id)


def _check_answer(scheme: Scheme, item: PanelItem, given: Answer) -> Answer:
    """An answer in its plain form; refused with every problem that it has."""
    plain = check_answers(scheme, given.answers, as_item(item))
    return replace(given, answers=plain, flags=check_flags(scheme, given.flags), key=_key(given.key))


def _at_work(session: Session, actor: Actor, panel_id: str) -> tuple[Panel, Seat, Scheme]:
    """The judge's own seat, locked: two tabs come one after the other."""
    panel, seat = place(session, panel_id, actor.id, lock=True)
    return panel, seat, scheme_of(panel)


def _own(session: Session, seat: Seat, assignment_id: str) -> tuple[Assignment, PanelItem]:
    found = session.execute(ONE, of_seat(seat, assignment=assignment_id)).first()
    if found is None:
        raise missing("item")
    return found[0], found[1]


def _key(key: str) -> str:
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise refused("R-2", "the key of the answer is missing or too long", "reload the page", status=422)
    return key


def _earlier_judgements(session: Session, seat: Seat, row: Assignment, key: str) -> Sequence[Judgement]:
    """What this judge said of an item, the newest last, and under a key, be it of another item."""
    return session.scalars(SAID, of_seat(seat, assignment=row.id, key=key)).all()


def _with_key(said: Sequence[Judgement], key: str) -> Judgement | None:
    return next((one for one in said if one.key == key), None)


def _before(session: Session, seat: Seat, row: Assignment, given: Answer) -> Answered | None:
    """The reply that was given before to the same answer, told by its key or by its content."""
    earlier = _earlier_judgements(session, seat, row, given.key)
    known = _with_key(earlier, given.key) or next(reversed(earlier), None)
    return None if known is None else _repeat_reply(known, row, given)


def _repeat_reply(known: Judgement, row: Assignment, given: Answer) -> Answered:
    if known.assignment_id == row.id and known.answers == given.answers:
        return Answered(known.id, repeated=True)
    fix = "continue with the next item; to change your last answer, go back to it"
    raise refused("R-2", "this item already has a different answer", fix, status=409)


def _check_open(panel: Panel, seat: Seat, scheme: Scheme) -> None:
    if end_reason(panel, seat) or panel.state != "open":
        raise refused("P-22", "this panel accepts no answers now", "reload the page", status=409)
    if needs_consent(scheme, seat):
        raise refused("P-22", "the consent text must be accepted first", "reload the page", status=409)


def _check_turn(session: Session, office: Office, panel: Panel, seat: Seat, row: Assignment) -> None:
    """One item at a time, in order: nobody looks ahead and nobody goes back (X-4)."""
    now = turn(session, office, panel, seat)
    if row.state == "freed":
        raise refused("P-22", "this item is assigned to another judge", "continue with the next item", status=409)
    if now.assignment != row.id or now.feedback is not None:
        raise refused("R-2", "this item is not next", "continue with your current item", status=409)


def _store_judgement(
    session: Session, office: Office, panel: Panel, row: Assignment, given: Answer, *, number: int = 1
) -> Judgement:
    stored = Judgement(
        panel_id=panel.id,
        assignment_id=row.id,
        item_id=row.item_id,
        person_id=row.person_id,
        number=number,
        key=given.key,
        answers=dict(given.answers),
        flags=list(given.flags),
        seconds=_spent(office, row, given.seconds),
        scheme_version=panel.scheme_version,
        at=office.clock(),
    )
    session.add(stored)
    session.flush()
    facts = {"assignment": row.id, "number": number, "digest": digest(given.answers)}
    note(session, office, Actor(row.person_id), panel, "judgement.given", stored.id, **facts)
    return stored


def digest(plain: Mapping[str, Any]) -> str:
    """What the log keeps of an answer: proof of it, not the answer."""
    return canonical_digest(dict(plain))


def _spent(office: Office, row: Assignment, seconds: float) -> float:
    """The time on an item: what the page measured, but never more than has passed since it was shown (P-22)."""
    most = LONGEST_SECONDS
    if row.shown is not None:
        most = max(0.0, min(most, (office.clock() - row.shown).total_seconds()))
    given = float(seconds) if seconds == seconds else 0.0
    return round(max(0.0, min(given, most)), 3)


def mark_shown(session: Session, office: Office, actor: Actor, panel_id: str, assignment_id: str) -> None:
    """Note when a judge first saw an item, which is what time on it is measured against."""
    seat = locked_seat(session, panel_id, actor.id)
    row, _ = _own(session, seat, assignment_id)
    row.shown = row.shown or office.clock()


def rank(session: Session, office: Office, actor: Actor, panel_id: str, given: RoundReply) -> RoundEnd:
    """Put the items of a round in order, the best first; afterwards no star of the round can be changed (R-2)."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    if (known := _ended_round(session, seat, given, RANKING)) is not None:
        return known
    _check_open(panel, seat, scheme)
    now = turn(session, office, panel, seat)
    if now.stage != "rank" or now.round != given.round:
        raise refused("R-2", "there is no round to rank now", "reload the page", status=409)
    if sorted(given.content) != sorted(one.item for one in now.placed):
        raise refused(
            "R-2", "the ranking does not contain every item exactly once", "give each item its own rank", status=422
        )
    return _end_round(session, office, panel, seat, RANKING, given)


def criteria(session: Session, office: Office, actor: Actor, panel_id: str, given: RoundReply) -> RoundEnd:
    """List the criteria that were used in a round; an empty list is an answer, too (R-2)."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    words = [text.strip() for text in given.content if text.strip()]
    if len(words) > MOST_CRITERIA or any(len(text) > LONGEST_CRITERION or "\0" in text for text in words):
        fix = f"write at most {MOST_CRITERIA} lines of {LONGEST_CRITERION} characters"
        raise refused("R-2", "there are too many criteria, or they are too long", fix, status=422)
    given = replace(given, content=words)
    if (known := _ended_round(session, seat, given, CRITERIA)) is not None:
        return known
    _check_open(panel, seat, scheme)
    now = turn(session, office, panel, seat)
    if now.stage != "criteria" or now.round != given.round:
        raise refused("R-2", "no criteria are needed now", "reload the page", status=409)
    return _end_round(session, office, panel, seat, CRITERIA, given)


def _ended_round(session: Session, seat: Seat, given: RoundReply, kind: str) -> RoundEnd | None:
    """The end of this round that was stored before; another content than the same is refused."""
    where = (RoundEnd.panel_id == seat.panel_id, RoundEnd.person_id == seat.person_id)
    known = session.scalar(select(RoundEnd).where(*where, RoundEnd.round == given.round, RoundEnd.kind == kind))
    if known is not None and known.content != list(given.content):
        raise refused(
            "R-2", "this round already ended with a different ranking", "continue with the next round", status=409
        )
    return known


def _end_round(session: Session, office: Office, panel: Panel, seat: Seat, kind: str, given: RoundReply) -> RoundEnd:
    content = list(given.content)
    row = RoundEnd(panel_id=panel.id, person_id=seat.person_id, round=given.round, kind=kind, content=content)
    row.key, row.seconds = _key(given.key), min(max(float(given.seconds), 0.0), LONGEST_SECONDS)
    row.at = office.clock()
    session.add(row)
    session.flush()
    facts = {"round": given.round, "digest": digest({kind: content})}
    note(session, office, Actor(seat.person_id), panel, f"round.{kind}", row.id, **facts)
    return row


def pause(session: Session, office: Office, actor: Actor, panel_id: str) -> Seat:
    """Stop for now; nothing is lost, and `go_on` goes on where it was."""
    panel, seat, _ = _at_work(session, actor, panel_id)
    if seat.state == "active":
        seat.state = "paused"
        note(session, office, actor, panel, "judge.paused", seat.id)
    return seat


def go_on(session: Session, office: Office, actor: Actor, panel_id: str) -> Seat:
    """Go on: after a pause, after the break between rounds, or after the feedback of a training item."""
    panel, seat, _ = _at_work(session, actor, panel_id)
    if seat.state == "paused":
        seat.state = "active"
        note(session, office, actor, panel, "judge.resumed", seat.id)
        return seat
    now = turn(session, office, panel, seat)
    if now.feedback is not None:
        seat.feedback = None
    elif now.stage == "break":
        seat.rested = now.round
    session.flush()
    return seat
