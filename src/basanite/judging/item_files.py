"""Items from a table: what judges see stands in columns named like blocks, everything else is kept from them (M52).

`query`, `domain`, `text`, `document`, `context` and `instructions` are shown; `left` and `right` are the two texts of
a pair. `expected.QUESTION` is the right answer of a hidden check or a training item. `lang` and `dir` belong to the
texts; `query_id`, `domain_id` and `document_id` name in files what judges read in full. Any other column is a fact that
no judge sees, such as `system`, `genre` or `topic`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, Records, read_records
from basanite.judging.items import Block, BlockKind, Direction, Item, Role, item_of
from basanite.judging.schemes.model import Question, Scheme
from basanite.problems import Findings

RULE: Final = "R-1"
TABLE: Final = Place("metadata", RULE)
SHOWN: Final[tuple[BlockKind, ...]] = ("query", "domain", "context", "text", "document", "instructions")
PAIR: Final = ("left", "right")
FOREIGN: Final = ("text", "document", "context", *PAIR)
"""What is in the language that `lang` names."""
EXPECTED: Final = "expected."
LONGEST, MOST = 100_000, 200_000
DIRECTIONS: Final = ("auto", "ltr", "rtl")


def read_items(
    path: Path, scheme: Scheme, *, role: Role, new_id: Callable[[], str]
) -> tuple[tuple[Item, ...], Findings]:
    """The items of a table for a scheme, and everything that is wrong with it, by line."""
    findings = Findings()
    records = read_records(path, TABLE, findings)
    if records is None:
        return (), findings
    for kind in _wanted(scheme):
        if kind not in records.columns:
            fix = f"name the columns in the first line; this scheme shows {', '.join(_wanted(scheme))}"
            findings.add(TABLE.problem(records.file, 1, f"there is no column {kind!r}", fix, kind))
    if not findings.valid:
        return (), findings
    made = tuple(_items(records, scheme, role, new_id, findings))
    return (made if findings.valid else ()), findings


def _wanted(scheme: Scheme) -> tuple[str, ...]:
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
            right = _expected(fields, scheme)
            yield item_of(_blocks(fields), _facts(fields), new_id=new_id, role=role, expected=right or None)


def _faults(fields: Mapping[str, Any], scheme: Scheme, role: Role) -> Iterator[tuple[str, str, str]]:
    for kind in _wanted(scheme):
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
        yield "there is no right answer", f"add a column {EXPECTED}QUESTION", role


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


def _expected(fields: Mapping[str, Any], scheme: Scheme) -> dict[str, Any]:
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
