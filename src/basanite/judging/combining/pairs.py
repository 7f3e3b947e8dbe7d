"""Judgements of pairs: a table for programs, and the strengths of systems by Bradley and Terry (S-19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from basanite.judging.combining.files import Made, spreadsheet
from basanite.judging.items import Item
from basanite.judging.judgements import Judged
from basanite.judging.schemes.model import Scheme
from basanite.metrics.judgement.bradley_terry import FIRST, SECOND, TIE, Comparisons, comparisons_of

HEADER = ("first", "second", "outcome", "item", "judge")
OUTCOMES = {"left": FIRST, "right": SECOND, "tie": TIE}
WORDS = {FIRST: "first", SECOND: "second", TIE: "tie"}


@dataclass(frozen=True)
class Compared:
    """One judgement of a pair: who stood on the left, who on the right, and what was said."""

    first: str
    second: str
    outcome: int
    item: str
    judge: str


def compared(scheme: Scheme, items: Sequence[Item], judged: Judged) -> tuple[Compared, ...]:
    """All judgements of pairs as the judges saw them: sides that were changed are changed back by name."""
    question, facts = scheme.combined_question, {item.id: item.facts for item in items}
    found = []
    for each in sorted(judged.judgements, key=lambda each: (each.item, each.judge)):
        said = str(each.answers.get(question.id if question else "", ""))
        if said in OUTCOMES and each.item in facts:
            found.append(_seen(facts[each.item], OUTCOMES[said], each.item, each.judge, flipped=each.flipped))
    return tuple(found)


def _seen(facts: Mapping[str, str], outcome: int, item: str, judge: str, *, flipped: bool) -> Compared:
    left, right = facts.get("left", ""), facts.get("right", "")
    first, second = (right, left) if flipped else (left, right)
    return Compared(first, second, outcome, item, judge)


def comparisons(found: Sequence[Compared]) -> tuple[tuple[str, ...], Comparisons]:
    """The names of the systems, and the same judgements by number for `bradley_terry.fit`."""
    systems = tuple(sorted({name for each in found for name in (each.first, each.second)}))
    place = {name: at for at, name in enumerate(systems)}
    items = {name: at for at, name in enumerate(sorted({each.item for each in found}))}
    judges = {name: at for at, name in enumerate(sorted({each.judge for each in found}))}
    return systems, comparisons_of(
        [place[each.first] for each in found],
        [place[each.second] for each in found],
        [each.outcome for each in found],
        systems=len(systems),
        item=[items[each.item] for each in found],
        judge=[judges[each.judge] for each in found],
    )


def pair_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`pairs.csv`: who stood first and second, and who was better."""
    rows = [
        (each.first, each.second, WORDS[each.outcome], each.item, each.judge)
        for each in compared(scheme, items, judged)
    ]
    yield Made("pairs.csv", spreadsheet(HEADER, rows), "first stood on the left; for Bradley-Terry")
