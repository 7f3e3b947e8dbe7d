"""A judgement of what became of every submission, from the database alone (P-8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store import events, looks
from basanite.campaign.store.tables import (
    Adoption,
    Charge,
    Event,
    Looks,
    Message,
    Receipt,
    Result,
    Submission,
    Upload,
    Worker,
)

FINAL = ("scored", "invalid", "failed")
COSTS = {"scored": "charged", "invalid": "freed", "failed": "refunded"}


def states(office: Office) -> Counter[str]:
    """How many submissions are in which state."""
    with office.reading() as session:
        return Counter(session.scalars(select(Submission.state)))


def all_ended(office: Office) -> bool:
    """Whether every submission is in a final state."""
    return set(states(office)) <= set(FINAL)


@dataclass(frozen=True)
class Judgement:
    """What the database says of all submissions."""

    states: Counter[str]
    wrong: tuple[str, ...]
    tries: int
    workers: int

    @property
    def words(self) -> str:
        """What became of all, in one line.

        >>> Judgement(Counter({"scored": 3, "invalid": 1}), (), tries=1, workers=2).words
        'all 4 submissions ended, each once: 1 invalid, 3 scored'
        """
        ends = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        if self.wrong:
            return f"{len(self.wrong)} things wrong; {ends}"
        if self.states.total() == 1:
            return f"the submission ended once: {next(iter(self.states))}"
        return f"all {self.states.total()} submissions ended, each once: {ends}"

    def table(self, **more: Any) -> str:
        """The judgement for people, after some facts about how it came to be."""
        rows = {name.replace("_", " "): value for name, value in more.items()}
        rows |= {f"ended {name}": count for name, count in sorted(self.states.items())}
        rows |= {"worker processes": self.workers, "most tries of a stage": self.tries, "wrong": len(self.wrong)}
        wide = max(map(len, rows))
        return "\n".join(f"  {name:<{wide}}  {value:>10}" for name, value in rows.items())


def judge(office: Office) -> Judgement:
    """Look at every row: each submission ended once, with one cost, one result if scored, one receipt, one story."""
    with office.reading() as session:
        rows = session.scalars(select(Submission)).all()
        wrong = [f"event {number} of the log" for number in events.broken(session)]
        for row in rows:
            wrong += [f"{row.id} ({row.state}): {fault}" for fault in _faults(session, row)]
        wrong += [f"attempt {one} is taken by nothing" for one in _loose(session)]
        wrong += _miscounted(session, rows)
        workers = session.scalar(select(func.count()).select_from(Worker)) or 0
        tries = max((row.tries for row in rows), default=0)
        return Judgement(Counter(row.state for row in rows), tuple(wrong), tries, workers)


def _faults(session: Session, row: Submission) -> Iterator[str]:
    if row.state not in FINAL:
        yield "has not ended"
        return
    charges = list(session.scalars(select(Charge.state).where(Charge.submission_id == row.id)))
    if charges != [COSTS[row.state]]:
        yield f"costs {charges}"
    yield from _results(session, row)
    yield from _story(session, row)


def _loose(session: Session) -> Iterator[str]:
    """Attempts that are still reserved although their upload is not under way."""
    reserved = select(Charge.id).join(Upload, Upload.id == Charge.upload_id, isouter=True)
    yield from session.scalars(reserved.where(Charge.state == "reserved", func.coalesce(Upload.state, "") != "open"))


def _miscounted(session: Session, rows: Iterable[Submission]) -> list[str]:
    """Whether the numbers of results that are kept are those of the submissions that are scored."""
    kept = {tuple(getattr(one, name) for name in looks.PLACE): one.count for one in session.scalars(select(Looks))}
    there = Counter(tuple(getattr(row, name) for name in looks.PLACE) for row in rows if row.state == "scored")
    return [] if kept == there else [f"looks are {kept}, results are {dict(there)}"]


def _results(session: Session, row: Submission) -> Iterator[str]:
    receipts = select(func.count()).where(Receipt.submission_id == row.id, Receipt.kind == "intake")
    counts = {
        "results": session.scalar(select(func.count()).where(Result.submission_id == row.id)),
        "adoptions": session.scalar(select(func.count()).where(Adoption.submission_id == row.id)),
    }
    for name, count in counts.items():
        if count != int(row.state == "scored"):
            yield f"{count} {name}"
    if session.scalar(receipts) != 1:
        yield "not one intake receipt"


def _story(session: Session, row: Submission) -> Iterator[str]:
    """The log tells one verdict, and nobody is told anything twice."""
    said = Counter(session.scalars(select(Event.kind).where(Event.subject == row.id)))
    ends = {kind: said[f"submission.{kind}"] for kind in FINAL}
    if ends != {kind: int(kind == row.state) for kind in FINAL} or said["submission.accepted"] != 1:
        yield f"the log says {dict(said)}"
    if row.state != "failed" and said["submission.valid"] != int(row.state == "scored"):
        yield f"the log says {dict(said)}"
    mails = select(Message.template).where(Message.once.contains(row.id), Message.kind == "mail")
    told = Counter(session.scalars(mails))
    if twice := [template for template, count in told.items() if count > 1]:
        yield f"told twice: {twice}"
