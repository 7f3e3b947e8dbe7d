"""Relevance: votes on summaries for end-to-end scoring, keys of queries and domains, and grades of pools (M88, M95)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from basanite.formats.retrieval.pools import UNJUDGED, qrels_lines
from basanite.judging.combining.deciding import Decided, decide, rule_of
from basanite.judging.combining.files import Made, file_name, lines, plain
from basanite.judging.items import Item
from basanite.judging.judgements import Judged, by_item
from basanite.judging.schemes.model import Question, Scheme

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


def query_key_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """The key of CLIR: a file for each query with a line for each document, Y or N."""
    return _key_files(scheme, items, judged, "query")


def domain_key_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """The key of DomainID: a file for each domain with a line for each document, Y or N."""
    return _key_files(scheme, items, judged, "domain")


def _key_files(scheme: Scheme, items: Sequence[Item], judged: Judged, named_by: str) -> Iterator[Made]:
    """What is open (tied, "none of these", not judged) is left out and named: such a key is not finished."""
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
