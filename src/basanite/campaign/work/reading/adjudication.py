"""Adjudicating answers one at a time, blind to who gave them; decisions stay, with who, when and why (R-21)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import PooledAnswer, ReadingDecision, ReadingPackage
from basanite.campaign.work.lookup import find_row, log_event
from basanite.campaign.work.reading import golds
from basanite.campaign.work.reading.packages import Asked, Document, GoldLine, corpus, find
from basanite.campaign.work.reading.pool import (
    REOPENED,
    VERDICTS,
    Givers,
    givers,
    latest,
    pooled_answers,
    resolved_bindings,
)
from basanite.metrics.answers import match

AROUND: Final = 90
"""Characters of a text before and after the words that an answer rests on."""
LONGEST_WHY: Final = 1_000
FULL: Final = 1 - 1e-9


@dataclass(frozen=True)
class Progress:
    """How far the pool is adjudicated."""

    waiting: tuple[str, ...]
    """Answers that nobody has decided about and the gold does not know, in their order."""
    decided: int
    known: int
    """Answers that the gold knew already."""

    @property
    def total(self) -> int:
        """All pooled answers."""
        return len(self.waiting) + self.decided + self.known


@dataclass(frozen=True)
class Excerpt:
    """Words that an answer rests on, where they stand."""

    before: str
    exact: str
    after: str
    start: int
    end: int
    differs: bool
    """Whether the giver quotes other words than stand there."""


@dataclass(frozen=True)
class Said:
    """An answer in the same place: of the gold, or of the pool."""

    id: str
    values: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str
    verdict: str
    gold: bool


@dataclass(frozen=True)
class Past:
    """A decision, as history shows it."""

    verdict: str
    why: str
    by: str
    at: datetime


@dataclass(frozen=True)
class Ruling:
    """A decision about an answer; `seen` is how many decisions the adjudicator saw: nobody overrules unseen ones."""

    verdict: str
    seen: int
    same_as: str = ""
    why: str = ""


@dataclass(frozen=True)
class Case:
    """One pooled answer before an adjudicator; nothing in it tells who gave it."""

    id: str
    package: ReadingPackage
    asked: Asked
    document: Document
    values: tuple[tuple[str, tuple[str, ...]], ...]
    kind: str
    excerpts: tuple[Excerpt, ...]
    beside: tuple[Said, ...]
    decision: ReadingDecision | None
    history: tuple[Past, ...]
    number: int
    progress: Progress
    after: str
    """The next answer that waits, "" if there is none."""


def progress(session: Session, office: Office, package: ReadingPackage) -> Progress:
    """What waits, what is decided, what the gold knew."""
    rows = pooled_answers(session, package.id)
    live, held = givers(session, package.id), latest(session, [row.id for row in rows])
    lines = golds.lines(session, office, package)
    gold, said = _by_cell(lines), resolved_bindings(session, package.id, lines)
    waiting, known = [], 0
    for row in rows:
        if row.id in held or row.id not in live:
            continue
        found = match([said[row.id]], [line.bindings for line in gold.get((row.query, row.document), ())])
        if found and found[0].credit >= FULL:  # the gold has settled this answer: one of its lines says all of it
            known += 1
        else:
            waiting.append(row.id)
    return Progress(tuple(waiting), len(held), known)


def _by_cell(lines: Iterable[GoldLine]) -> dict[tuple[str, str], list[GoldLine]]:
    cells: dict[tuple[str, str], list[GoldLine]] = {}
    for line in lines:
        cells.setdefault((line.query, line.document), []).append(line)
    return cells


def case(session: Session, office: Office, campaign_id: str, package_id: str, pool_id: str = "") -> Case | Progress:
    """An answer by its id, or the first that waits; where nothing waits, how far all is."""
    package = find(session, campaign_id, package_id)
    state = progress(session, office, package)
    chosen = pool_id or next(iter(state.waiting), "")
    if not chosen:
        return state
    row = session.get(PooledAnswer, chosen)
    if row is None or row.reading_package_id != package.id:
        raise missing("answer")
    return _case(session, office, package, row, state)


def _case(session: Session, office: Office, package: ReadingPackage, row: PooledAnswer, state: Progress) -> Case:
    texts = corpus(office, package)
    document = texts.documents[row.document]
    who = givers(session, package.id, row.id).get(row.id, Givers(0, 0, [], frozenset()))
    waiting = state.waiting
    at = waiting.index(row.id) if row.id in waiting else -1
    others = [one for one in waiting[at + 1 :] + waiting[: max(at, 0)] if one != row.id]
    return Case(
        row.id,
        package,
        texts.queries[row.query],
        document,
        _values(row.told.items()),
        who.kind,
        tuple(_excerpts(document, who.provenance)),
        tuple(_beside(session, office, package, row)),
        latest(session, [row.id]).get(row.id),
        tuple(_history(session, row.id)),
        at + 1,
        state,
        others[0] if others else "",
    )


def _values(bindings: Iterable[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (name, tuple(sorted(map(str, value))) if isinstance(value, list | frozenset) else (str(value),))
        for name, value in bindings
    )


def _excerpts(document: Document, pieces: Iterable[Mapping[str, Any]]) -> Iterable[Excerpt]:
    """What stands at the places that givers name; a place outside the text is left out."""
    text = document.text
    for piece in pieces:
        start, end = piece.get("start"), piece.get("end")
        elsewhere = piece.get("document") not in (None, document.name)
        if elsewhere or not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
            continue
        exact = text[start:end]
        quoted = piece.get("exact")
        before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
        yield Excerpt(before, exact, after, start, end, quoted is not None and quoted != exact)


def _beside(session: Session, office: Office, package: ReadingPackage, row: PooledAnswer) -> Iterable[Said]:
    """What the gold and the pool say to the same question about the same document."""
    for number, line in enumerate(golds.lines(session, office, package)):
        if (line.query, line.document) == (row.query, row.document):
            given = json.loads(line.line)["answer"].items()
            values = _values((name.removeprefix("?"), value) for name, value in given)
            yield Said(f"gold-{number}", values, line.kind, line.verdict, True)
    question = select(PooledAnswer).where(
        PooledAnswer.reading_package_id == package.id,
        PooledAnswer.query == row.query,
        PooledAnswer.document == row.document,
        PooledAnswer.id != row.id,
    )
    rows = session.scalars(question.order_by(PooledAnswer.digest)).all()
    held = latest(session, [one.id for one in rows])
    for one in rows:
        verdict = held[one.id].verdict if one.id in held else ""
        yield Said(one.id, _values(one.told.items()), "", verdict, False)


def _history(session: Session, pool_id: str) -> Iterable[Past]:
    question = select(ReadingDecision).where(ReadingDecision.reading_pool_id == pool_id)
    for row in session.scalars(question.order_by(ReadingDecision.sequence)):
        yield Past(row.verdict, row.why, row.by, row.at)


def decide(
    session: Session, office: Office, actor: Actor, campaign_id: str, pool_id: str, ruling: Ruling
) -> ReadingDecision:
    """Decide about an answer; refused if somebody has decided meanwhile."""
    row = find_row(session, PooledAnswer, pool_id, "answer", campaign_id=campaign_id, lock=True)
    if _count(session, row.id) != ruling.seen:
        raise refused("R-21", "somebody has decided this answer in the meantime", "review it again", status=409)
    if ruling.verdict not in VERDICTS:
        raise refused("R-21", "there is no such verdict", f"choose one of {', '.join(VERDICTS)}", status=422)
    same_as = ruling.same_as if ruling.verdict == "duplicate-of" else ""
    package = session.get_one(ReadingPackage, row.reading_package_id)
    beside = _beside(session, office, package, row) if ruling.verdict == "duplicate-of" else ()
    if ruling.verdict == "duplicate-of" and same_as not in {one.id for one in beside}:
        fix = "choose the answer that it duplicates"
        raise refused("R-21", "the duplicated answer is missing", fix, status=422)
    decision = ReadingDecision(verdict=ruling.verdict, same_as=same_as, why=ruling.why)
    return _add_decision(session, office, actor, row, decision)


def reopen(
    session: Session, office: Office, actor: Actor, campaign_id: str, pool_id: str, *, why: str = ""
) -> ReadingDecision:
    """Open an answer again, no matter who decided about it; the decision stays in its history."""
    row = find_row(session, PooledAnswer, pool_id, "answer", campaign_id=campaign_id, lock=True)
    if row.id not in latest(session, [row.id]):
        raise refused("R-21", "this answer is open", "decide it", status=409)
    return _add_decision(session, office, actor, row, ReadingDecision(verdict=REOPENED, same_as="", why=why))


def undo(session: Session, office: Office, actor: Actor, campaign_id: str, package_id: str) -> str:
    """Open again what this adjudicator decided last; gives the answer."""
    package = find(session, campaign_id, package_id)
    question = select(ReadingDecision).join(PooledAnswer).where(PooledAnswer.reading_package_id == package.id)
    mine = question.where(ReadingDecision.by == actor.id).order_by(ReadingDecision.at.desc(), ReadingDecision.id)
    for row in session.scalars(mine):
        held = latest(session, [row.reading_pool_id]).get(row.reading_pool_id)
        if held is not None and held.id == row.id:
            reopen(session, office, actor, campaign_id, row.reading_pool_id, why="undone")
            return row.reading_pool_id
    raise refused("R-21", "you have no decision to undo", "decide first", status=409)


def _count(session: Session, pool_id: str) -> int:
    newest = select(func.max(ReadingDecision.sequence)).where(ReadingDecision.reading_pool_id == pool_id)
    return session.scalar(newest) or 0


def _add_decision(
    session: Session, office: Office, actor: Actor, row: PooledAnswer, decision: ReadingDecision
) -> ReadingDecision:
    decision.campaign_id, decision.reading_pool_id = row.campaign_id, row.id
    decision.sequence, decision.why = _count(session, row.id) + 1, decision.why.strip()[:LONGEST_WHY]
    decision.at, decision.by = office.clock(), actor.id
    session.add(decision)
    session.flush()
    log_event(session, office, actor, row, "reading.decided", verdict=decision.verdict)
    return decision
