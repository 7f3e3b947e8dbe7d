"""What panels said of passages as the task `readability` reads it: stars, rounds and ranks (R-2, R-3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from basanite.judging.combining.files import Made, plain, spreadsheet, table
from basanite.judging.items import Item
from basanite.judging.judgements import Judged
from basanite.judging.schemes.model import EXPERT, JUDGE, NOVICE, Scheme

HEADER = ("passage", "judge", "panel", "rating", "genre", "topic", "round", "rank", "text")
CRITERIA = ("judge", "place", "criterion")
PANEL = {EXPERT: EXPERT, NOVICE: NOVICE, JUDGE: NOVICE}
"""A plain judge is a novice: nobody said that this is an expert."""


def panel_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`panels.csv`, the reference of the task `readability`, and the experts' criteria if there are any."""
    question = next(each for each in scheme.questions if each.numeric)
    names, rounds, ranks = _names(items), round_names(judged), _ranks(judged)
    texts, facts = {item.id: _text(item) for item in items}, {item.id: item.facts for item in items}
    rows = []
    for each in sorted(judged.judgements, key=lambda each: (each.item, each.judge)):
        if each.answers.get(question.id) is not None:
            about, rank = facts[each.item], ranks.get((each.judge, each.item), "")
            where = (about.get("genre", ""), about.get("topic", ""), rounds.get((each.judge, each.round), ""), rank)
            said = (PANEL.get(each.group, NOVICE), each.answers[question.id], *where, texts.pop(each.item, ""))
            rows.append((names[each.item], each.judge, *said))
    yield Made("panels.csv", table(HEADER, rows), f"stars by {question.id!r}; reference of the task readability")
    if judged.criteria:
        yield Made("criteria.csv", spreadsheet(CRITERIA, _criteria(judged)), "what experts went by")


def _criteria(judged: Judged) -> Iterator[tuple[str, int, str]]:
    for judge, several in sorted(judged.criteria.items()):
        yield from ((judge, place, words) for place, words in enumerate(several, start=1))


def _names(items: Sequence[Item]) -> dict[str, str]:
    """The name of each passage: its own if no other has it, else the item's id."""
    own = {item.id: plain(item.facts.get("passage", "")) or item.id for item in items}
    taken = Counter(own.values())
    return {item: name if taken[name] == 1 else item for item, name in own.items()}


def _text(item: Item) -> str:
    return next((block.value for block in item.blocks if block.kind == "text"), "")


def round_names(judged: Judged) -> dict[tuple[str, int], str]:
    """A name for each judge's round: rounds of the same items have the same one, whenever each judge had them."""
    members: dict[tuple[str, int], set[str]] = {}
    for each in judged.judgements:
        members.setdefault((each.judge, each.round), set()).add(each.item)
    for ranking in judged.rankings:
        members[ranking.judge, ranking.round] = set(ranking.order)
    known = sorted({tuple(sorted(items)) for items in members.values()})
    number = {items: at for at, items in enumerate(known, start=1)}
    return {place: f"{number[tuple(sorted(items))]:03d}" for place, items in members.items()}


def _ranks(judged: Judged) -> dict[tuple[str, str], int]:
    return {
        (ranking.judge, item): rank for ranking in judged.rankings for rank, item in enumerate(ranking.order, start=1)
    }


def ranking_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`rankings.csv`: every rank that a judge gave, rounds of the same items under one name."""
    rounds, facts = round_names(judged), {item.id: item.facts for item in items}
    rows = [
        (rounds[ranking.judge, ranking.round], ranking.judge, rank, item, facts[item].get("system", ""))
        for ranking in judged.rankings
        for rank, item in enumerate(ranking.order, start=1)
        if item in facts
    ]
    yield Made("rankings.csv", spreadsheet(("round", "judge", "rank", "item", "system"), sorted(rows)), "1 is best")
