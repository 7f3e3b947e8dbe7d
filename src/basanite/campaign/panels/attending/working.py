"""A judge's work, act by act: every answer is stored exactly once, whatever happens to the connection (R-2).

An answer carries a key that the judge's page chose: sent again, it changes nothing and gets the same reply. A second,
different answer to the same item is refused; correcting the last one is an act of its own, as long as the round lasts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.attending import rows
from basanite.campaign.panels.attending.answers import checked, checked_flags
from basanite.campaign.panels.attending.desk import (
    CRITERIA,
    RANKING,
    Desk,
    Feedback,
    Placed,
    Stage,
    desk,
    ended,
    last_open,
    look_again,
    needs_consent,
    turn,
)
from basanite.campaign.panels.found import as_item, locked_seat, note, place, scheme_of
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelItem, RoundEnd, Seat
from basanite.judging.scheme import Scheme

__all__ = [
    "Answered",
    "Desk",
    "Feedback",
    "Placed",
    "Stage",
    "answer",
    "correct",
    "criteria",
    "desk",
    "go_on",
    "look_again",
    "mark_shown",
    "pause",
    "rank",
]

LONGEST_KEY = 100
LONGEST_SECONDS = 24 * 3600.0
MOST_CRITERIA = 50
LONGEST_CRITERION = 500


@dataclass(frozen=True)
class Answered:
    """What became of an answer."""

    judgement_id: str
    repeated: bool = False
    """It had been stored before; nothing changed."""


def answer(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    assignment_id: str,
    answers: Mapping[str, Any],
    *,
    key: str,
    seconds: float = 0.0,
    flags: Iterable[str] = (),
) -> Answered:
    """Store what a judge says of the item that is on the desk; sent again, it is stored once."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    row, item = _own(session, seat, assignment_id)
    plain = checked(scheme, answers, as_item(item))
    marks = checked_flags(scheme, flags)
    if (before := _before(session, seat, row, plain, _key(key))) is not None:
        return before
    _check_open(panel, seat, scheme)
    _check_turn(session, office, panel, seat, row)
    row.state = "done"
    if item.role == "training" and scheme.training.feedback and item.expected:
        seat.feedback = row.id
    given = _stored(session, office, panel, seat, row, plain, key=key, seconds=seconds, flags=marks, number=1)
    return Answered(given.id)


def correct(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    assignment_id: str,
    answers: Mapping[str, Any],
    *,
    key: str,
    seconds: float = 0.0,
    flags: Iterable[str] = (),
) -> Answered:
    """Say otherwise of the last item, as long as its round lasts: one more judgement, which counts from now on."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    row, item = _own(session, seat, assignment_id)
    plain = checked(scheme, answers, as_item(item))
    marks = checked_flags(scheme, flags)
    said = _said(session, seat, row, _key(key))
    if (known := _with_key(said, key)) is not None:
        return _repeated(known, row, plain)
    _check_open(panel, seat, scheme)
    if row.state != "done" or last_open(session, seat) != row.id:
        fix = "go on with the next item"
        raise refused("R-2", "this answer can no longer be changed", fix, status=409)
    number = said[-1].number + 1
    given = _stored(session, office, panel, seat, row, plain, key=key, seconds=seconds, flags=marks, number=number)
    return Answered(given.id)


def _at_work(session: Session, actor: Actor, panel_id: str) -> tuple[Panel, Seat, Scheme]:
    """The judge's own seat, locked: two tabs come one after the other."""
    panel, seat = place(session, panel_id, actor.id, lock=True)
    return panel, seat, scheme_of(panel)


def _own(session: Session, seat: Seat, assignment_id: str) -> tuple[Assignment, PanelItem]:
    found = session.execute(rows.ONE, rows.of(seat, assignment=assignment_id)).first()
    if found is None:
        raise missing("item")
    return found[0], found[1]


def _key(key: str) -> str:
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise refused("R-2", "the key of the answer is missing or too long", "load the page again", status=422)
    return key


def _said(session: Session, seat: Seat, row: Assignment, key: str) -> Sequence[Judgement]:
    """What this judge said of an item, the newest last, and under a key, be it of another item."""
    return session.scalars(rows.SAID, rows.of(seat, assignment=row.id, key=key)).all()


def _with_key(said: Sequence[Judgement], key: str) -> Judgement | None:
    return next((one for one in said if one.key == key), None)


def _before(session: Session, seat: Seat, row: Assignment, plain: Mapping[str, Any], key: str) -> Answered | None:
    """The reply that was given before to the same answer, told by its key or by its content."""
    said = _said(session, seat, row, key)
    known = _with_key(said, key) or next(reversed(said), None)
    return None if known is None else _repeated(known, row, plain)


def _repeated(known: Judgement, row: Assignment, plain: Mapping[str, Any]) -> Answered:
    if known.assignment_id == row.id and known.answers == dict(plain):
        return Answered(known.id, repeated=True)
    fix = "go on with the next item; to change your last answer, go back to it"
    raise refused("R-2", "this item has been answered already, and otherwise", fix, status=409)


def _check_open(panel: Panel, seat: Seat, scheme: Scheme) -> None:
    if ended(panel, seat) or panel.state != "open":
        raise refused("P-22", "this panel takes no answers now", "load the page again", status=409)
    if needs_consent(scheme, seat):
        raise refused("P-22", "there is a consent text to read first", "load the page again", status=409)


def _check_turn(session: Session, office: Office, panel: Panel, seat: Seat, row: Assignment) -> None:
    """One item at a time, in order: nobody looks ahead and nobody goes back (X-4)."""
    now = turn(session, office, panel, seat)
    if row.state == "freed":
        raise refused("P-22", "this item has gone to somebody else", "go on with the next item", status=409)
    if now.assignment != row.id or now.feedback is not None:
        raise refused("R-2", "it is not this item's turn", "go on with the item on your desk", status=409)


def _stored(
    session: Session,
    office: Office,
    panel: Panel,
    seat: Seat,
    row: Assignment,
    plain: dict[str, Any],
    *,
    key: str,
    seconds: float,
    flags: list[str],
    number: int,
) -> Judgement:
    given = Judgement(
        panel_id=panel.id,
        assignment_id=row.id,
        item_id=row.item_id,
        person_id=seat.person_id,
        number=number,
        key=key,
        answers=plain,
        flags=flags,
        seconds=_spent(office, row, seconds),
        scheme_version=panel.scheme_version,
        at=office.clock(),
    )
    session.add(given)
    session.flush()
    facts = {"assignment": row.id, "number": number, "digest": digest(plain)}
    note(session, office, Actor(seat.person_id), panel, "judgement.given", given.id, **facts)
    return given


def digest(plain: Mapping[str, Any]) -> str:
    """What the log keeps of an answer: proof of it, not the answer."""
    return hashlib.sha256(json.dumps(dict(plain), sort_keys=True).encode()).hexdigest()


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


def rank(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    number: int,
    order: Sequence[str],
    *,
    key: str,
    seconds: float = 0.0,
) -> RoundEnd:
    """Put the items of a round in order, the best first; afterwards no star of the round can be changed (R-2)."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    if (known := _ended_round(session, seat, number, RANKING)) is not None:
        return _same(known, list(order))
    _check_open(panel, seat, scheme)
    now = turn(session, office, panel, seat)
    if now.stage != "rank" or now.round != number:
        raise refused("R-2", "there is no round to put in order now", "load the page again", status=409)
    if sorted(order) != sorted(one.item for one in now.placed):
        raise refused("R-2", "the order does not hold every item once", "give each item its own rank", status=422)
    return _end_round(session, office, panel, seat, number, RANKING, list(order), key, seconds)


def criteria(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    number: int,
    listed: Iterable[str],
    *,
    key: str,
    seconds: float = 0.0,
) -> RoundEnd:
    """List the criteria that were used in a round; an empty list is an answer, too (R-2)."""
    panel, seat, scheme = _at_work(session, actor, panel_id)
    words = [text.strip() for text in listed if text.strip()]
    if len(words) > MOST_CRITERIA or any(len(text) > LONGEST_CRITERION or "\0" in text for text in words):
        fix = f"write at most {MOST_CRITERIA} lines of {LONGEST_CRITERION} characters"
        raise refused("R-2", "these are too many or too long criteria", fix, status=422)
    if (known := _ended_round(session, seat, number, CRITERIA)) is not None:
        return _same(known, words)
    _check_open(panel, seat, scheme)
    now = turn(session, office, panel, seat)
    if now.stage != "criteria" or now.round != number:
        raise refused("R-2", "no criteria are asked for now", "load the page again", status=409)
    return _end_round(session, office, panel, seat, number, CRITERIA, words, key, seconds)


def _ended_round(session: Session, seat: Seat, number: int, kind: str) -> RoundEnd | None:
    where = (RoundEnd.panel_id == seat.panel_id, RoundEnd.person_id == seat.person_id)
    return session.scalar(select(RoundEnd).where(*where, RoundEnd.round == number, RoundEnd.kind == kind))


def _same(known: RoundEnd, content: list[str]) -> RoundEnd:
    if known.content == content:
        return known
    raise refused("R-2", "this round has ended already, and otherwise", "go on with the next round", status=409)


def _end_round(
    session: Session,
    office: Office,
    panel: Panel,
    seat: Seat,
    number: int,
    kind: str,
    content: list[str],
    key: str,
    seconds: float,
) -> RoundEnd:
    row = RoundEnd(panel_id=panel.id, person_id=seat.person_id, round=number, kind=kind, content=content, key=_key(key))
    row.seconds, row.at = min(max(float(seconds), 0.0), LONGEST_SECONDS), office.clock()
    session.add(row)
    session.flush()
    facts = {"round": number, "digest": digest({kind: content})}
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
