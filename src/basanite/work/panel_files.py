"""From judgements to files: each of a declared format, with the rule by which it was combined and what is undecided."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from basanite.formats.retrieval.pools import UNJUDGED, qrels_lines
from basanite.metrics.judgement.bradley_terry import FIRST, SECOND, TIE, Comparisons, comparisons_of
from basanite.reports.outputs.data_files import csv_cell
from basanite.work.answers import Judged, Judgement, by_item
from basanite.work.appraise import appraise_files
from basanite.work.combination import Decided, decide, rule_of
from basanite.work.items import Item
from basanite.work.mqm import mqm_files
from basanite.work.questions import Question
from basanite.work.result_files import Made, file_name, lines, plain, spreadsheet, table
from basanite.work.scheme import EXPERT, JUDGE, NOVICE, Scheme

PAIR_HEADER = ("first", "second", "outcome", "item", "judge")
NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")


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
    styles: Mapping[str, float] = field(default_factory=dict)
    """How much more of each property of style the first text has, from -1 to 1."""


STYLES: Final = {
    "length": re.compile(r"\S"),
    "headings": re.compile(r"^#{1,6} ", re.MULTILINE),
    "lists": re.compile(r"^\s*(?:[-*+•]|[0-9]+[.)]) ", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*"),
}
"""Properties that lead judges and say nothing of content: each is counted in both texts of a pair."""


def style_differences(first: str, second: str) -> dict[str, float]:
    """How much more of each property the first of two texts has: the difference over the sum, 0 where neither has any.

    >>> style_differences("a longer text", "a text")["length"]
    0.375
    """
    counts = {name: [len(sign.findall(text)) for text in (first, second)] for name, sign in STYLES.items()}
    return {name: (one - other) / (one + other) if one + other else 0.0 for name, (one, other) in counts.items()}


def judged_pairs(scheme: Scheme, items: Sequence[Item], judged: Judged) -> tuple[Compared, ...]:
    """All judgements of pairs as the judges saw them: sides that were changed are changed back by name."""
    question, facts = scheme.combined_question, {item.id: item.facts for item in items}
    texts = {item.id: [block.value for block in item.blocks if block.kind == "text"][-2:] for item in items}
    found = []
    for each in sorted(judged.judgements, key=lambda each: (each.item, each.judge)):
        said = str(each.answers.get(question.id if question else "", ""))
        if said in OUTCOMES and each.item in facts:
            left, right = facts[each.item].get("left", ""), facts[each.item].get("right", "")
            first, second = (right, left) if each.flipped else (left, right)
            shown = texts[each.item][::-1] if each.flipped else texts[each.item]
            styles = style_differences(*shown) if len(shown) == 2 else {}
            found.append(Compared(first, second, OUTCOMES[said], each.item, each.judge, styles))
    return tuple(found)


def _safe(cell: str) -> str:
    """A cell that acts as no formula (X-14); a number is none."""
    return cell if NUMBER.fullmatch(cell) else csv_cell(cell)


def comparisons(found: Sequence[Compared], controls: Sequence[str] = ()) -> tuple[tuple[str, ...], Comparisons]:
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
        controls=[[each.styles[name] for name in controls] for each in found],
    )


def pair_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`pairs.csv`: who stood first and second, and who was better."""
    rows = [
        (
            *(each.first, each.second, WORDS[each.outcome], each.item, each.judge),
            *(f"{each.styles[name]:.6f}" if each.styles else "" for name in STYLES),
        )
        for each in judged_pairs(scheme, items, judged)
    ]
    yield Made(
        "pairs.csv",
        table((*PAIR_HEADER, *STYLES), [[_safe(cell) for cell in row] for row in rows]),
        "first stood on the left; for Bradley-Terry",
    )


PANEL_HEADER = ("passage", "judge", "panel", "rating", "genre", "topic", "round", "rank", "text")


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
    yield Made("panels.csv", table(PANEL_HEADER, rows), f"stars by {question.id!r}; reference of the task readability")
    if judged.criteria:
        criteria = (
            (judge, place, words)
            for judge, several in sorted(judged.criteria.items())
            for place, words in enumerate(several, start=1)
        )
        yield Made("criteria.csv", spreadsheet(CRITERIA, criteria), "what experts went by")


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


VERDICTS = ("judge", "query", "document", "verdict")


def verdict_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """One table of votes for each system: what `score e2e --judgements` reads; a vote counts for all it stands for."""
    question = _choice(scheme)
    said = by_item(judged.judgements)
    rows: dict[str, list[tuple[str, ...]]] = {}
    for item in items:
        for facts in item.all_facts:
            mine = rows.setdefault(facts.get("system", ""), [])
            pair = plain(facts.get("query", "")), plain(facts.get("document", ""))
            mine.extend((each.judge, *pair, str(each.answers[question.id])) for each in said.get(item.id, ()))
    unjudged = tuple(item.id for item in items if item.id not in said)
    for system, mine in sorted(rows.items()):
        name = f"{file_name(system)}.judgements.tsv" if system else "judgements.tsv"
        yield Made(name, lines([VERDICTS, *sorted(set(mine))]), _settings(scheme), unjudged)


def _settings(scheme: Scheme) -> str:
    """How to score with these votes, so that the result names the scheme's rule (S-18)."""
    combine = scheme.combine
    if combine.rule == "raw":
        return f"votes; {rule_of(scheme)}: score with --set judging=raw"
    rule = "dawid_skene" if combine.rule == "dawid-skene" else combine.rule
    return f"votes; {rule_of(scheme)}: score with --set rule={rule} --set tie={combine.tie or 'N'}"


def _choice(scheme: Scheme) -> Question:
    asked = scheme.combined_question
    return (
        asked
        if asked is not None and asked.widget == "choice"
        else next(question for question in scheme.questions if question.widget == "choice")
    )


def _key_files(scheme: Scheme, items: Sequence[Item], judged: Judged, named_by: str) -> Iterator[Made]:
    """The key of CLIR or DomainID: a file for each query or domain with a line for each document, Y or N.

    What is open (tied, "none of these", not judged) is left out and named: such a key is not finished.
    """
    found = decide(scheme, [item.id for item in items], judged)
    yes = _choice(scheme).options[0].value
    marks: dict[str, dict[str, str]] = {}
    undecided: dict[str, list[str]] = {}
    for item in items:
        for facts in item.all_facts:
            target, one = facts.get(named_by, ""), found[item.id]
            if one.value is None:
                undecided.setdefault(target, []).append(item.id)
            else:
                marks.setdefault(target, {})[facts.get("document", "")] = "Y" if one.value == yes else "N"
    for target in sorted({*marks, *undecided}):
        rows = [(plain(document), mark) for document, mark in sorted(marks.get(target, {}).items())]
        note = f"key by {rule_of(scheme)}, differences adjudicated"
        yield Made(f"key/{file_name(target)}.tsv", lines(rows), note, tuple(undecided.get(target, ())))


def qrels_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """Grades of a pool; what nobody judged has -1, which is not the same as 0 (M95)."""
    found = decide(scheme, [item.id for item in items], judged)
    grades: dict[str, dict[str, int]] = {}
    for item in items:
        for facts in item.all_facts:
            query = grades.setdefault(plain(facts.get("query", "")), {})
            query[plain(facts.get("document", ""))] = _grade(scheme, found[item.id])
    text = "".join(qrels_lines(grades))
    unjudged = tuple(item.id for item in items if found[item.id].value is None)
    yield Made("qrels.txt", text.encode(), f"grades by {rule_of(scheme)}; not judged is {UNJUDGED}", unjudged)


def _grade(scheme: Scheme, one: Decided) -> int:
    if one.value is None:
        return UNJUDGED
    question = scheme.combined_question
    values: Mapping[str, int] = {option.value: at for at, option in enumerate(question.options)} if question else {}
    text = str(one.value)
    return int(text) if text.isdigit() else values.get(text, round(float(one.value)) if _is_number(one.value) else 0)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


Maker = Callable[[Scheme, Sequence[Item], Judged], Iterable[Made]]


MAKERS: Mapping[str, Maker] = {
    "panels": panel_files,
    "rankings": ranking_files,
    "verdicts": verdict_files,
    "key-query": partial(_key_files, named_by="query"),
    "key-domain": partial(_key_files, named_by="domain"),
    "qrels": qrels_files,
    "pairs": pair_files,
    "appraise": appraise_files,
    "mqm": mqm_files,
}


"""By the name that a scheme gives under `files`."""


def files_of(scheme: Scheme, items: Sequence[Item], judged: Judged) -> tuple[Made, ...]:
    """Every file that a panel's judgements become; hidden checks and training are in none but the table of answers."""
    real = [item for item in items if item.role == "real"]
    names = {item.id for item in real}
    counted = Judged(
        [each for each in judged.judgements if each.item in names],
        judged.rankings,
        [each for each in judged.decisions if each.item in names],
        judged.criteria,
    )
    made = [answers_file(items, judged), combined_file(scheme, real, counted)]
    return (*made, *(file for name in scheme.files for file in MAKERS[name](scheme, real, counted)))


def digest_of_judgements(judgements: Iterable[Judgement]) -> str:
    """The digest of a set of judgements, the same in any order: it enters key and receipt (S-18)."""
    lines = sorted(json.dumps([each.item, each.judge, each.answers], sort_keys=True) for each in judgements)
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def answers_file(items: Sequence[Item], judged: Judged) -> Made:
    """Every answer in a row of its own, with what is known of its item: the one file that needs no rule."""
    by_id = {item.id: item for item in items}
    facts = sorted({name for item in items for name in item.facts})
    rows = [row for each in judged.judgements if each.item in by_id for row in _rows(each, by_id[each.item], facts)]
    header = ("item", "role", "judge", "group", "round", "position", "seconds", "flags", "question", "answer", *facts)
    note = f"all answers, {digest_of_judgements(judged.judgements)}"
    return Made("answers.csv", spreadsheet(header, sorted(rows)), note)


def _rows(each: Judgement, item: Item, facts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    known = [item.facts.get(name, "") for name in facts]
    where = (str(each.round), str(each.position), f"{each.seconds:.3f}", " ".join(each.flags))
    for question, answer in each.answers.items():
        yield (each.item, item.role, each.judge, each.group, *where, question, _cell(answer), *known)


def _cell(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True)


def combined_file(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Made:
    """One answer for each item by the scheme's rule, with the votes behind it; what is open says why."""
    found = decide(scheme, [item.id for item in items], judged)
    facts = sorted({name for item in items for name in item.facts})
    rows = [
        (*_decision_cells(found[item.id]), *(known.get(name, "") for name in facts))
        for item in items
        if item.id in found
        for known in item.all_facts
    ]
    open_items = tuple(item for item, one in found.items() if one.why_not)
    note = f"{rule_of(scheme)}; {digest_of_judgements(judged.judgements)}"
    header = ("item", "answer", "open", "rule", "votes", *facts)
    return Made("combined.csv", spreadsheet(header, rows), note, open_items)


def _decision_cells(one: Decided) -> tuple[str, ...]:
    return one.item, _value(one.value), one.why_not, one.by, json.dumps(dict(one.votes))


def _value(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
