"""Pooled answers about things without a name, called as the gold calls them, by the structure of their runs (R-31).

Ids like `_:g1` mean something inside one run and document only. What enters the gold must say which of its things it is
about, and what the gold knows already needs no adjudicator.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.answering.corpus import GoldLine
from basanite.campaign.answering.inside.bindings import bound, digest
from basanite.campaign.answering.pool import Decided
from basanite.campaign.store.tables import PooledAnswer, ReadingRun, ReceivedAnswer
from basanite.metrics.answers import Bindings, Bound, share
from basanite.reading.gold.answers import Answer
from basanite.reading.gold.structure import own_id, resolve


def recognized(session: Session, package_id: str, lines: Iterable[GoldLine]) -> dict[str, Bindings]:
    """What pooled answers say, by their ids, with the gold's strings for things that their runs tell by structure.

    A thing that the gold does not have keeps its id, with its run before it, so that it is nobody else's.
    """
    gold = [_gold_answer(line) for line in lines if line.verdict == "correct"]
    question = select(ReceivedAnswer.reading_run_id, PooledAnswer).join(PooledAnswer).join(ReadingRun)
    question = question.where(ReadingRun.reading_package_id == package_id).order_by(ReceivedAnswer.sequence)
    by_run: dict[str, dict[str, PooledAnswer]] = {}
    for run, row in session.execute(question.order_by(ReceivedAnswer.reading_run_id)):
        by_run.setdefault(run, {})[row.id] = row
    found: dict[str, Bindings] = {}
    for run, rows in by_run.items():
        given = [Answer(row.query, row.document, bound(row.bindings), "explicit", 0) for row in rows.values()]
        for row_id, bindings in zip(rows, _called(run, given, resolve(given, [gold], share)), strict=True):
            found.setdefault(row_id, bindings)
    return found


def _gold_answer(line: GoldLine) -> Answer:
    return Answer(line.query, line.document, line.bindings, "explicit", 0)


def _called(run: str, given: Sequence[Answer], resolved: Sequence[Answer]) -> Iterator[Bindings]:
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
    known = recognized(session, package_id, lines) if found else {}
    written = dict(_written(lines))
    return [_renamed(one, known.get(one.id, ()), written) for one in found]


def _written(lines: Iterable[GoldLine]) -> Iterable[tuple[tuple[str, str], list[str]]]:
    for line in lines:
        told: Mapping[str, Any] = json.loads(line.line)["answer"]
        for name, said in line.bindings:
            if own_id(said):
                yield (line.document, own_id(said)), told.get(f"?{name}", told.get(name))


def _renamed(one: Decided, bindings: Bindings, written: Mapping[tuple[str, str], list[str]]) -> Decided:
    things = {name: own_id(said) for name, said in bindings if own_id(said)}
    if not things:
        return one
    told = {
        name: written.get((one.document, things[name]), [things[name]]) if name in things else said
        for name, said in one.told.items()
    }
    return replace(one, told=told, digest=digest(one.query, one.document, bindings))
