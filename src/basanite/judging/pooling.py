"""Pools as items to judge: query and document in the order of precedence, and no word on which run found it (M95)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, Records, read_records
from basanite.judging.items import Block, Item, item_of
from basanite.problems import Findings

TABLE: Final = Place("metadata", "M95")
SIDES: Final = ("query", "document")
LONGEST: Final = 100_000


@dataclass(frozen=True)
class Texts:
    """What judges read in place of ids."""

    queries: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)


def read_texts(path: Path, findings: Findings) -> Texts:
    """The texts of a table: each line names a `query` or a `document` by its id, and gives its `text`."""
    records = read_records(path, TABLE, findings)
    if records is None:
        return Texts()
    missing = [name for name in ("text",) if name not in records.columns]
    missing += [] if any(name in records.columns for name in SIDES) else [" or ".join(SIDES)]
    for name in missing:
        fix = "name the columns in the first line: query, document, text"
        findings.add(TABLE.problem(records.file, 1, f"there is no column {name}", fix, name))
    return _texts(records, findings) if not missing else Texts()


def _texts(records: Records, findings: Findings) -> Texts:
    found: dict[str, dict[str, str]] = {name: {} for name in SIDES}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        named = [name for name in SIDES if fields.get(name) not in (None, "")]
        if (fault := _fault(fields, named, found)) is not None:
            findings.add(TABLE.problem(records.file, line, *fault))
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
