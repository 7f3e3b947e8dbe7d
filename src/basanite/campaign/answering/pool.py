"""The pool: equal answers of all runs as one, who gave them hidden, and what adjudicators decided about each (R-21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import PooledAnswer, ReadingDecision, ReadingRun, ReceivedAnswer

RIGHT: Final = ("right-explicit", "right-inferred")
VERDICTS: Final = (*RIGHT, "wrong", "out-of-scope", "duplicate-of")
REOPENED: Final = "reopened"
PIECES: Final = 20


@dataclass(frozen=True)
class Decided:
    """A pooled answer with the decision that holds for it."""

    id: str
    digest: str
    query: str
    document: str
    told: dict[str, Any]
    verdict: str
    same_as: str
    why: str
    by: str
    at: datetime
    kind: str
    """What most of its givers call it."""
    provenance: list[Any]
    system: str
    """The one system that gave it, if no other and no person did (S-21)."""


@dataclass(frozen=True)
class Givers:
    """What all who gave an answer say of it, without who they are."""

    count: int
    inferred: int
    provenance: list[Any]
    systems: frozenset[str]
    people: int

    @property
    def kind(self) -> str:
        """What most of them call it."""
        return "inferred" if 2 * self.inferred > self.count else "explicit"

    @property
    def system(self) -> str:
        """The only system that gave it; "" if several did, or a person."""
        return next(iter(self.systems)) if len(self.systems) == 1 and not self.people else ""


def latest(session: Session, pool_ids: Iterable[str]) -> dict[str, ReadingDecision]:
    """The newest decision about each pooled answer; one that was reopened has none."""
    found: dict[str, ReadingDecision] = {}
    for some in in_blocks(pool_ids):
        question = select(ReadingDecision).where(ReadingDecision.reading_pool_id.in_(some))
        for row in session.scalars(question.order_by(ReadingDecision.sequence)):
            found[row.reading_pool_id] = row
    return {pool: row for pool, row in found.items() if row.verdict != REOPENED}


def pooled(session: Session, package_id: str) -> Sequence[PooledAnswer]:
    """All pooled answers of a package, in an order that tells nothing of who gave them."""
    question = select(PooledAnswer).where(PooledAnswer.reading_package_id == package_id)
    return session.scalars(question.order_by(PooledAnswer.document, PooledAnswer.query, PooledAnswer.digest)).all()


def givers(session: Session, package_id: str, pool_id: str | None = None) -> dict[str, Givers]:
    """For each pooled answer, or one, what its givers say; answers that were taken back count for nothing."""
    question = select(ReceivedAnswer, ReadingRun).join(ReadingRun)
    question = question.where(ReadingRun.reading_package_id == package_id)
    if pool_id is not None:
        question = question.where(ReceivedAnswer.reading_pool_id == pool_id)
    rows = session.execute(question.order_by(ReceivedAnswer.sequence)).all()
    gone = {one.withdraws for one, _ in rows if one.withdraws}
    grouped: dict[str, list[tuple[ReceivedAnswer, ReadingRun]]] = {}
    for received, run in rows:
        if received.withdraws is None and received.id not in gone:
            grouped.setdefault(received.reading_pool_id, []).append((received, run))
    return {pool: _givers(found) for pool, found in grouped.items()}


def _givers(found: Sequence[tuple[ReceivedAnswer, ReadingRun]]) -> Givers:
    pieces: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for received, _ in found:
        for piece in received.provenance:
            pieces.setdefault((piece.get("document"), piece.get("start"), piece.get("end")), piece)
    machines = frozenset(system_of(run) for _, run in found if run.side == "machine")
    people = sum(run.side == "human" for _, run in found)
    inferred = sum(received.kind == "inferred" for received, _ in found)
    return Givers(len(found), inferred, [dict(one) for one in list(pieces.values())[:PIECES]], machines, people)


def system_of(run: ReadingRun) -> str:
    """The name under which a system's own contributions are known: its team and label."""
    return f"{run.team_id or 'evaluation'}/{run.label}"


def decided(session: Session, package_id: str) -> list[Decided]:
    """Every pooled answer that is decided, with what holds."""
    rows = {row.id: row for row in pooled(session, package_id)}
    held, who = latest(session, rows), givers(session, package_id)
    nobody = Givers(0, 0, [], frozenset(), 0)
    return [_decided(row, held[row.id], who.get(row.id, nobody)) for row in rows.values() if row.id in held]


def _decided(row: PooledAnswer, decision: ReadingDecision, who: Givers) -> Decided:
    return Decided(
        row.id,
        row.digest,
        row.query,
        row.document,
        dict(row.told),
        decision.verdict,
        decision.same_as,
        decision.why,
        decision.by,
        decision.at,
        who.kind,
        who.provenance,
        who.system,
    )
