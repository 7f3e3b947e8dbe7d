"""What is sent for each item: the template filled in, as a body of the endpoint's interface, and its digest (L-2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from basanite.canonical import canonical_digest
from basanite.formats.records import Place, read_records
from basanite.models.system_file import CHAT, COLUMN, MILLION, RULE, System
from basanite.problems import Findings
from basanite.registry import suggestion

DATA: Final = Place("metadata", RULE)
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ANSWERS: Final = ("answer", "answers", "references", "reference", "label", "labels", "target", "gold", "answerKey")
"""Columns that mostly hold what is right, which no prompt should show."""
MESSAGE_TOKENS: Final = 64
"""What an endpoint may add around messages, in tokens: more than any known one does."""


@dataclass(frozen=True)
class Request:
    """One call: an item, a repeat, and the body that is sent."""

    item: str
    repeat: int
    body: Mapping[str, Any]
    digest: str
    """Names the content: the same request to the same endpoint has the same digest."""

    @property
    def prompt(self) -> str:
        """The text that the model reads, with the name of who says it in chats."""
        messages = self.body.get("messages")
        if messages is None:
            return str(self.body["prompt"])
        return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)

    @property
    def most_tokens(self) -> tuple[int, int]:
        """The most tokens that the prompt and the answer can have: no token is shorter than a byte."""
        sent = len(json.dumps(self.body.get("messages", self.body.get("prompt")), ensure_ascii=False).encode())
        return sent + MESSAGE_TOKENS, int(self.body["max_tokens"])


@dataclass(frozen=True)
class Items:
    """The items that a system is asked about."""

    file: str
    digest: str
    names: tuple[str, ...]
    fields: tuple[Mapping[str, Any], ...]


def read_items(path: Path, system: System, findings: Findings) -> Items | None:
    """The items of a table or of JSON lines; None with problems where the prompt cannot be made of them."""
    records = read_records(path, DATA, findings)
    if records is None:
        return None
    columns = tuple(records.columns)
    missing = [name for name in ("id", *system.columns) if name not in columns]
    for name in missing if len(records) else ():
        needed = "items need it to be named" if name == "id" else "the template names it"
        message = f"there is no column {name!r}, and {needed}"
        findings.add(DATA.problem(records.file, None, message, suggestion(name, columns), name))
    if not len(records) and not records.lost:
        findings.add(DATA.problem(records.file, None, "there is no item in it", "write one record for each item"))
    for name in sorted(set(system.columns) & set(ANSWERS) & set(columns)):
        message = f"the prompt shows the column {name!r}, which mostly holds what is right"
        findings.add(DATA.problem(records.file, None, message, "leave it out of the template", name, severity="warn"))
    if missing or not len(records) or records.lost:
        return None
    rows = [records.fields(at) for at in range(len(records))]
    _check_rows(rows, records.lines, records.file, system, findings)
    return Items(records.file, records.digest, tuple(str(row.get("id")) for row in rows), tuple(rows))


def _check_rows(rows: list[dict[str, Any]], lines: Any, file: str, system: System, findings: Findings) -> None:
    """Report items without a name, named twice, or without what the template shows."""
    seen: dict[str, int] = {}
    for row, line in zip(rows, lines, strict=True):
        name = "" if row.get("id") is None else str(row["id"])
        if not name.strip():
            findings.add(DATA.problem(file, line, "the item has no id", "give each item an id of its own"))
        elif name in seen:
            message = f"item {name!r} stands here again; it is on line {seen[name]} already"
            findings.add(DATA.problem(file, line, message, "give each item an id of its own", name))
        seen.setdefault(name, line)
        for column in system.columns:
            if row.get(column) is None:
                message = f"item {name!r} says nothing under {column!r}, which the template shows"
                findings.add(DATA.problem(file, line, message, "fill it in, or leave the item out", name))


def requests(items: Items, system: System) -> Iterator[Request]:
    """Every call of a run: all items once, then all again for each repeat."""
    for repeat in range(1, system.repeats + 1):
        for name, fields in zip(items.names, items.fields, strict=True):
            yield request(system, name, fields, repeat)


def request(system: System, item: str, fields: Mapping[str, Any], repeat: int) -> Request:
    """The call for one item and repeat."""
    text = filled_template(system.prompt.template, fields)
    decoding = system.decoding
    body: dict[str, Any] = {
        "model": system.endpoint.model,
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "top_p": decoding.top_p,
    }
    if decoding.seed >= 0:
        body["seed"] = decoding.seed + repeat - 1
    if decoding.stop:
        body["stop"] = list(decoding.stop)
    if system.endpoint.api == CHAT:
        first = [{"role": "system", "content": system.prompt.system}] if system.prompt.system else []
        body["messages"] = [*first, {"role": "user", "content": text}]
    else:
        body["prompt"] = text
    digest = canonical_digest({"url": system.endpoint.url, "body": body, "repeat": repeat})
    return Request(item, repeat, body, digest)


def filled_template(template: str, fields: Mapping[str, Any]) -> str:
    """The template with the item's columns; what stands in a column is never read as a template.

    >>> filled_template("{question}\\n{choices}", {"question": "Which {one}?", "choices": ["red", "blue"]})
    'Which {one}?\\nA. red\\nB. blue'
    """
    return COLUMN.sub(partial(_column_text, fields), template)


def _column_text(fields: Mapping[str, Any], match: re.Match[str]) -> str:
    if match[1] is None:
        return match[0][0]
    value = fields[match[1]]
    if isinstance(value, list) and len(value) <= len(LETTERS):
        return "\n".join(f"{letter}. {one}" for letter, one in zip(LETTERS, value, strict=False))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def most_cost(system: System, one: Request) -> float:
    """The most that a call can cost."""
    sent, answered = one.most_tokens
    return (sent * system.price.input + answered * system.price.output) / MILLION
