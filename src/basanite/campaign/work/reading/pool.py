"""The pool: equal answers of all runs as one, who gave them hidden, and what adjudicators decided about each (R-21).

Answers about things without a name are called as the gold calls them, by the structure of their runs (R-31).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import PooledAnswer, ReadingDecision, ReadingRun, ReceivedAnswer
from basanite.campaign.work.decisions import standing_decisions
from basanite.campaign.work.reading.child import digest, read_bindings
from basanite.campaign.work.reading.packages import GoldLine
from basanite.metrics.answers import Bindings, Bound, share
from basanite.reading.gold.answers import Answer
from basanite.reading.gold.structure import own_id, resolve

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
    """The one system or person that gave it, if no other did (S-21)."""


@dataclass(frozen=True)
class Givers:
    """What all who gave an answer say of it, without who they are."""

    count: int
    inferred: int
    provenance: list[Any]
    systems: frozenset[str]
    """Who gave it: systems, and people by their codes."""

    @property
    def kind(self) -> str:
        """What most of them call it."""
        return "inferred" if 2 * self.inferred > self.count else "explicit"

    @property
    def system(self) -> str:
        """The only system or person that gave it; "" if several did."""
        return next(iter(self.systems)) if len(self.systems) == 1 else ""


def latest(session: Session, pool_ids: Iterable[str]) -> dict[str, ReadingDecision]:
    """The newest decision about each pooled answer; one that was reopened has none."""
    asked = select(ReadingDecision).order_by(ReadingDecision.sequence)
    blocks = (session.scalars(asked.where(ReadingDecision.reading_pool_id.in_(some))) for some in in_blocks(pool_ids))
    rows = (row for block in blocks for row in block)
    return standing_decisions(rows, lambda row: row.reading_pool_id, lambda row: row.verdict == REOPENED)


def pooled_answers(session: Session, package_id: str) -> Sequence[PooledAnswer]:
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
    systems = frozenset(system_of(run) for _, run in found)
    inferred = sum(received.kind == "inferred" for received, _ in found)
    return Givers(len(found), inferred, [dict(one) for one in list(pieces.values())[:PIECES]], systems)


def system_of(run: ReadingRun) -> str:
    """The name under which a giver's own contributions are known: team and label, or a code for a person (R-39)."""
    return f"reader-{run.id[-6:]}" if run.side == "human" else f"{run.team_id or 'evaluation'}/{run.label}"


def standing_answers(session: Session, package_id: str) -> list[Decided]:
    """Every pooled answer that is decided, with what holds."""
    rows = {row.id: row for row in pooled_answers(session, package_id)}
    held, who = latest(session, rows), givers(session, package_id)
    nobody = Givers(0, 0, [], frozenset())
    return [_decision_of(row, held[row.id], who.get(row.id, nobody)) for row in rows.values() if row.id in held]


def _decision_of(row: PooledAnswer, decision: ReadingDecision, who: Givers) -> Decided:
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


def resolved_bindings(session: Session, package_id: str, lines: Iterable[GoldLine]) -> dict[str, Bindings]:
    """What pooled answers say, by their ids, with the gold's strings for things that their runs tell by structure.

    A thing that the gold does not have keeps its id, with its run before it, so that it is nobody else's.
    """
    gold = [
        Answer(line.query, line.document, line.bindings, "explicit", 0) for line in lines if line.verdict == "correct"
    ]
    question = select(ReceivedAnswer.reading_run_id, PooledAnswer).join(PooledAnswer).join(ReadingRun)
    question = question.where(ReadingRun.reading_package_id == package_id).order_by(ReceivedAnswer.sequence)
    by_run: dict[str, dict[str, PooledAnswer]] = {}
    for run, row in session.execute(question.order_by(ReceivedAnswer.reading_run_id)):
        by_run.setdefault(run, {})[row.id] = row
    found: dict[str, Bindings] = {}
    for run, rows in by_run.items():
        given = [Answer(row.query, row.document, read_bindings(row.bindings), "explicit", 0) for row in rows.values()]
        for row_id, bindings in zip(rows, _gold_names(run, given, resolve(given, [gold], share)), strict=True):
            found.setdefault(row_id, bindings)
    return found


def _gold_names(run: str, given: Sequence[Answer], resolved: Sequence[Answer]) -> Iterator[Bindings]:
    """What a run says, with the gold's strings also where the gold has no answer yet about a thing that it knows."""
    known: dict[tuple[str, str, str], Bound] = {}
    for mine, theirs in zip(given, resolved, strict=True):
        for (name, said), (_, golden) in zip(mine.bindings, theirs.bindings, strict=True):
            if own_id(golden):
                known |= dict.fromkeys(((mine.document, name, text) for text in said), golden)
    for mine, theirs in zip(given, resolved, strict=True):
        pairs = zip(mine.bindings, theirs.bindings, strict=True)
        yield tuple(
            (name, _one(run, mine.document, name, (said, golden), known)) for (name, said), (_, golden) in pairs
        )


def _one(
    run: str, document: str, name: str, sides: tuple[Bound, Bound], known: Mapping[tuple[str, str, str], Bound]
) -> Bound:
    said, golden = sides
    if isinstance(said, str) or isinstance(golden, str) or own_id(golden):
        return golden
    meant = next((known[document, name, text] for text in sorted(said) if (document, name, text) in known), None)
    own = {f"_:{run}-{own_id(said)[2:]}"} if own_id(said) else set()
    return golden | own if meant is None else meant


def in_words_of_the_gold(
    session: Session, package_id: str, found: Sequence[Decided], lines: Sequence[GoldLine]
) -> list[Decided]:
    """Decisions whose answers call things without a name as the gold does."""
    known = resolved_bindings(session, package_id, lines) if found else {}
    written = dict(_gold_spellings(lines))
    return [_rename_things(one, known.get(one.id, ()), written) for one in found]


def _gold_spellings(lines: Iterable[GoldLine]) -> Iterable[tuple[tuple[str, str], list[str]]]:
    for line in lines:
        told: Mapping[str, Any] = json.loads(line.line)["answer"]
        for name, said in line.bindings:
            if own_id(said):
                yield (line.document, own_id(said)), told.get(f"?{name}", told.get(name))


def _rename_things(one: Decided, bindings: Bindings, written: Mapping[tuple[str, str], list[str]]) -> Decided:
    things = {name: own_id(said) for name, said in bindings if own_id(said)}
    if not things:
        return one
    told = {
        name: written.get((one.document, things[name]), [things[name]]) if name in things else said
        for name, said in one.told.items()
    }
    return replace(one, told=told, digest=digest(one.query, one.document, bindings))
