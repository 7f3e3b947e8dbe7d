"""Items from a table, and pools of what runs returned: what judges see, and what is kept from them (M52, M95).

In a table, `query`, `domain`, `text`, `document`, `context` and `instructions` are shown; `left` and `right` are the
two texts of a pair. `expected.QUESTION` is the right answer of a hidden check or a training item. `lang` and `dir`
belong to the texts; `query_id`, `domain_id` and `document_id` name in files what judges read in full. Any other column
is a fact that no judge sees, such as `system`, `genre` or `topic`. A pool keeps the order of precedence, and says
nothing on which run found a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, Records, read_records
from basanite.problems import Findings
from basanite.work.items import Block, BlockKind, Direction, Item, Role, item_of
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

RULE: Final = "R-1"
TABLE: Final = Place("metadata", RULE)
SHOWN: Final[tuple[BlockKind, ...]] = ("query", "domain", "context", "text", "document", "instructions")
PAIR: Final = ("left", "right")
FOREIGN: Final = ("text", "document", "context", *PAIR)
"""What is in the language that `lang` names."""
EXPECTED: Final = "expected."
LONGEST: Final = 100_000
MOST: Final = 200_000
DIRECTIONS: Final = ("auto", "ltr", "rtl")
POOL_TABLE: Final = Place("metadata", "M95")
SIDES: Final = ("query", "document")


def read_items(
    path: Path, scheme: Scheme, *, role: Role, new_id: Callable[[], str]
) -> tuple[tuple[Item, ...], Findings]:
    """The items of a table for a scheme, and everything that is wrong with it, by line."""
    findings = Findings()
    records = read_records(path, TABLE, findings)
    if records is None:
        return (), findings
    for kind in _needed_columns(scheme):
        if kind not in records.columns:
            fix = f"name the columns in the first line; this scheme shows {', '.join(_needed_columns(scheme))}"
            findings.add(TABLE.problem(records.file, 1, f"there is no column {kind!r}", fix, kind))
    if not findings.valid:
        return (), findings
    made = tuple(_items(records, scheme, role, new_id, findings))
    return (made if findings.valid else ()), findings


def _needed_columns(scheme: Scheme) -> tuple[str, ...]:
    """The columns that there must be: pictures come from submissions, never from a table."""
    if scheme.pairwise:
        return PAIR
    return tuple(kind for kind in scheme.shows if kind != "image")


def _items(
    records: Records, scheme: Scheme, role: Role, new_id: Callable[[], str], findings: Findings
) -> Iterator[Item]:
    if len(records) > MOST:
        findings.add(TABLE.problem(records.file, None, f"{len(records)} items", f"give at most {MOST}"))
    for row, line in enumerate(records.lines[:MOST]):
        fields = {name: value for name, value in records.fields(row).items() if value not in (None, "")}
        faults = list(_faults(fields, scheme, role))
        for message, fix, found in faults:
            findings.add(TABLE.problem(records.file, line, message, fix, found))
        if not faults:
            right = _expected_answers(fields, scheme)
            yield item_of(_blocks(fields), _facts(fields), new_id=new_id, role=role, expected=right or None)


def _faults(fields: Mapping[str, Any], scheme: Scheme, role: Role) -> Iterator[tuple[str, str, str]]:
    for kind in _needed_columns(scheme):
        size = len(str(fields.get(kind, "")))
        if not 0 < size <= LONGEST:
            yield f"{kind}: {size} characters", f"give 1 to {LONGEST}", kind
    if fields.get("dir", "auto") not in DIRECTIONS:
        yield "no such direction", f"one of: {', '.join(DIRECTIONS)}", str(fields["dir"])
    known = {question.id for question in scheme.questions}
    asked = [name.removeprefix(EXPECTED) for name in fields if name.startswith(EXPECTED)]
    for name in asked:
        if name not in known:
            yield "an answer is expected to no question of the scheme", f"one of: {', '.join(sorted(known))}", name
    if role != "real" and not asked:
        yield "there is no correct answer", f"add a column {EXPECTED}QUESTION", role


def _blocks(fields: Mapping[str, Any]) -> Iterator[Block]:
    for kind in SHOWN:
        if kind in fields:
            yield _block(kind, kind, fields)
    for name in PAIR:
        if name in fields:
            yield _block("text", name, fields)


def _block(kind: BlockKind, column: str, fields: Mapping[str, Any]) -> Block:
    foreign = column in FOREIGN
    way: Direction = fields.get("dir", "auto") if foreign else "auto"
    return Block(kind, str(fields[column]), lang=str(fields.get("lang", "")) if foreign else "", dir=way)


def _facts(fields: Mapping[str, Any]) -> dict[str, str]:
    """What no judge sees. A query or domain is a fact too, for judges are kept from seeing one twice by it."""
    hidden = {
        name: str(value)
        for name, value in fields.items()
        if name not in (*SHOWN, *PAIR, "lang", "dir") and not name.startswith(EXPECTED)
    }
    shown = {name: str(fields[name]) for name in ("query", "domain") if name in fields and f"{name}_id" not in fields}
    named = {name: str(fields[f"{name}_id"]) for name in ("query", "domain", "document") if f"{name}_id" in fields}
    return {**shown, **hidden, **named}


def _expected_answers(fields: Mapping[str, Any], scheme: Scheme) -> dict[str, Any]:
    return {
        question.id: _right(question, fields[EXPECTED + question.id])
        for question in scheme.questions
        if EXPECTED + question.id in fields
    }


def _right(question: Question, value: Any) -> Any:
    if not question.numeric or isinstance(value, Mapping):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


@dataclass(frozen=True)
class Texts:
    """What judges read in place of ids."""

    queries: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)


def read_texts(path: Path, findings: Findings) -> Texts:
    """The texts of a table: each line names a `query` or a `document` by its id, and gives its `text`."""
    records = read_records(path, POOL_TABLE, findings)
    if records is None:
        return Texts()
    missing = [name for name in ("text",) if name not in records.columns]
    missing += [] if any(name in records.columns for name in SIDES) else [" or ".join(SIDES)]
    for name in missing:
        fix = "name the columns in the first line: query, document, text"
        findings.add(POOL_TABLE.problem(records.file, 1, f"there is no column {name}", fix, name))
    return _texts(records, findings) if not missing else Texts()


def _texts(records: Records, findings: Findings) -> Texts:
    found: dict[str, dict[str, str]] = {name: {} for name in SIDES}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        named = [name for name in SIDES if fields.get(name) not in (None, "")]
        if (fault := _fault(fields, named, found)) is not None:
            findings.add(POOL_TABLE.problem(records.file, line, *fault))
        else:
            found[named[0]][str(fields[named[0]])] = str(fields["text"])
    return Texts(found["query"], found["document"])


def _fault(
    fields: Mapping[str, Any], named: Sequence[str], found: Mapping[str, Mapping[str, str]]
) -> tuple[str, str, str] | None:
    size = len(str(fields.get("text") or ""))
    if len(named) != 1:
        return "a line for a query and a document, or for neither", "give one of both ids in each line", ""
    if not 0 < size <= LONGEST:
        return f"text: {size} characters", f"give 1 to {LONGEST}", str(fields[named[0]])
    if str(fields[named[0]]) in found[named[0]]:
        return f"this {named[0]} was there before", "keep one of them", str(fields[named[0]])
    return None


def items_of_pool(
    pairs: Sequence[tuple[str, str]],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    *,
    new_id: Callable[[], str],
    lang: str = "",
) -> tuple[Item, ...]:
    """Items for the pairs that `formats.retrieval.pools.to_judge` gives, each with its texts; ids stand where none is.

    >>> items_of_pool([("q1", "d1")], {"q1": "rain"}, {"d1": "It rained."}, new_id=lambda: "x")[0].blocks[1].value
    'It rained.'
    """
    return tuple(
        item_of(
            [
                Block("query", queries.get(query, query)),
                Block("document", documents.get(document, document), lang=lang),
            ],
            {"query": query, "document": document, "order": str(order)},
            new_id=new_id,
        )
        for order, (query, document) in enumerate(pairs, start=1)
    )
