"""All files of a panel: the table of every answer, one answer for each item, and what the scheme asks for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from basanite.judging.combining import pairs, panels, relevance, translation
from basanite.judging.combining.deciding import Decided, decide, rule_of
from basanite.judging.combining.files import Made, spreadsheet
from basanite.judging.items import Item
from basanite.judging.judgements import Judged, Judgement
from basanite.judging.schemes.model import Scheme

__all__ = ("Made", "digest_of_judgements", "files_of")

Maker = Callable[[Scheme, Sequence[Item], Judged], Iterable[Made]]
MAKERS: Mapping[str, Maker] = {
    "panels": panels.panel_files,
    "rankings": panels.ranking_files,
    "verdicts": relevance.verdict_files,
    "key-query": relevance.query_key_files,
    "key-domain": relevance.domain_key_files,
    "qrels": relevance.qrels_files,
    "pairs": pairs.pair_files,
    "appraise": translation.appraise_files,
    "mqm": translation.mqm_files,
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
        (*_decided(found[item.id]), *(known.get(name, "") for name in facts))
        for item in items
        if item.id in found
        for known in item.all_facts
    ]
    open_items = tuple(item for item, one in found.items() if one.why_not)
    note = f"{rule_of(scheme)}; {digest_of_judgements(judged.judgements)}"
    header = ("item", "answer", "open", "rule", "votes", *facts)
    return Made("combined.csv", spreadsheet(header, rows), note, open_items)


def _decided(one: Decided) -> tuple[str, ...]:
    return one.item, _value(one.value), one.why_not, one.by, json.dumps(dict(one.votes))


def _value(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
