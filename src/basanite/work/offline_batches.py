"""A batch without a server: items of a table go out, and one record, sealed by the key, holds what came of it (X-18).

Ids are drawn from the key, so they tell nothing without it, and the same key, scheme and table give the same batch.
The record has the facts that no worker sees; it stays with the organiser, apart from the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from basanite.formats.bounded import read_bounded
from basanite.formats.datasets.domains import Catalogue
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem
from basanite.reports.outputs.data_files import csv_cell
from basanite.work.batches import RULE, Batch, Hit, Vote, export_batch, read_results
from basanite.work.item_files import TABLE, read_items
from basanite.work.items import Block, Item, without_duplicates
from basanite.work.result_files import table
from basanite.work.scheme import Scheme, read_scheme

FORMAT: Final = "basanite-batch/1"
LARGEST: Final = 256 << 20
IMAGE: Final = "image"
NAMES: Final = ("item", "passage", "id")
"""Facts that name an item in what the batch becomes."""
FIRST: Final = ("item", "judge")
LAST: Final = ("seconds", "flags", "comment")


@dataclass(frozen=True)
class Record:
    """What was sent out, with what each row stands for."""

    batch: Batch
    scheme: Scheme
    facts: Mapping[str, Sequence[Mapping[str, str]]]
    """By item; several where rows of the table look the same and are judged once."""


@dataclass(frozen=True)
class Taken:
    """What results hold; nothing of it counts if one row was refused."""

    votes: tuple[Vote, ...]
    rejected: int
    findings: Findings


def read_offline_items(path: Path, scheme: Scheme, key: bytes) -> tuple[tuple[Item, ...], Findings]:
    """The items of a table, each once; pictures stand in a column `image`, as https addresses."""
    numbers = count(1)
    digest = hashlib.sha256(read_bounded(path, LARGEST)).hexdigest()
    made, findings = read_items(
        path, scheme, role="real", new_id=lambda: _mac(key, ["item", digest, next(numbers)])[:20]
    )
    if IMAGE in scheme.shows:
        made = tuple(_with_image(item, path.name, findings) for item in made)
    return (without_duplicates(made) if findings.valid else ()), findings


def _with_image(item: Item, file: str, findings: Findings) -> Item:
    address = item.facts.get(IMAGE, "")
    if not address.startswith("https://"):
        fix = "add a column `image`: an https address for every row, that workers' browsers reach"
        findings.add(TABLE.problem(file, None, "this scheme shows a picture, and there is none", fix, address))
    digest = hashlib.sha256(f"{item.digest} {address}".encode()).hexdigest()
    return replace(item, blocks=(*item.blocks, Block(IMAGE, address)), digest=digest)


def export_offline(
    scheme: Scheme, text: str, items: Sequence[Item], key: bytes, *, catalogue: Catalogue | None = None
) -> tuple[Batch, bytes]:
    """The batch, and its record as a file: the text of the scheme, every row and its facts, under a seal."""
    name = _mac(key, ["batch", text, [item.id for item in items]])[:20]
    batch = export_batch(scheme, items, batch=name, key=key, image_url=lambda address: address, catalogue=catalogue)
    content = {
        "format": FORMAT,
        "batch": name,
        "scheme": text,
        "assignments": batch.assignments,
        "hits": [asdict(hit) for hit in batch.hits],
        "facts": {item.id: [dict(facts) for facts in item.all_facts] for item in items},
    }
    whole = {**content, "seal": _mac(key, content)}
    return batch, (json.dumps(whole, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode()


def _mac(key: bytes, content: Any) -> str:
    words = json.dumps(content, ensure_ascii=True, sort_keys=True)
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()


def read_record(data: bytes, file: str, key: bytes) -> tuple[Record | None, tuple[Problem, ...]]:
    """The record of a batch, if it is one and nobody changed it; with another key it is not ours to read."""
    parsed = parse(data, limit=LARGEST, rule=RULE)
    if parsed.fault or not isinstance(parsed.value, dict):
        return None, (_problem(file, parsed.fault or "no object", "give the file that the export wrote"),)
    content = dict(parsed.value)
    if content.get("format") != FORMAT:
        return None, (_problem(file, "no record of a batch", f"give a file that says {FORMAT}"),)
    sent = content.pop("seal", "")
    if not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), _mac(key, content).encode()):
        fix = "give the record and the key of one export, both unchanged"
        return None, (_problem(file, "the record was changed, or the key is that of another batch", fix),)
    return _record(content, file)


def _record(content: Mapping[str, Any], file: str) -> tuple[Record | None, tuple[Problem, ...]]:
    """A record whose seal fits is one that we wrote: its parts are as they should be."""
    scheme, problems = read_scheme(content["scheme"], file)
    if scheme is None:
        return None, problems
    hits = tuple(Hit(**hit) for hit in content["hits"])
    batch = Batch(content["batch"], hits, "", b"", content["assignments"])
    return Record(batch, scheme, content["facts"]), ()


def _problem(file: str, message: str, fix: str) -> Problem:
    return Problem(RULE, file, None, None, message, fix, where="judgements")


def take_results(record: Record, files: Iterable[tuple[str, bytes]], key: bytes) -> Taken:
    """The votes of all files of results together; of a worker's votes on one item the first counts (C45)."""
    findings, hits, rejected = Findings(), dict[str, str](), 0
    votes: dict[tuple[str, str], Vote] = {}
    for name, data in files:
        read = read_results(data, name, record.batch, record.scheme, key=key, known_hits=hits)
        findings.extend(read.problems)
        hits |= read.hits
        rejected += read.rejected
        for vote in read.votes:
            votes.setdefault((vote.judge, vote.item), vote)
    return Taken(tuple(votes.values()) if findings.valid else (), rejected, findings)


def judgements_table(record: Record, votes: Sequence[Vote]) -> bytes:
    """A line for each vote on each row of the table that it stands for, answers beside the facts (C45).

    Numbers stay numbers; a text that a spreadsheet would run is made harmless (X-14).
    """
    asked = [question.id for question in record.scheme.questions]
    known = sorted({name for some in record.facts.values() for facts in some for name in facts})
    names = [name for name in known if name not in (*FIRST, *asked, *LAST)]
    rows = [
        [
            csv_cell(value)
            for value in (*_start(vote, facts), *_answers(vote, asked), *_end(vote), *_facts(facts, names))
        ]
        for vote in sorted(votes, key=lambda vote: (vote.item, vote.judge))
        for facts in record.facts[vote.item]
    ]
    return table((*FIRST, *asked, *LAST, *names), sorted(rows))


def _start(vote: Vote, facts: Mapping[str, str]) -> tuple[str, str]:
    return next((facts[name] for name in NAMES if facts.get(name)), vote.item), vote.judge


def _answers(vote: Vote, asked: Sequence[str]) -> list[str | float | None]:
    given = [vote.answers.get(name) for name in asked]
    return [value if value is None or isinstance(value, int | float) else str(value) for value in given]


def _end(vote: Vote) -> tuple[float, str, str]:
    return vote.seconds, " ".join(vote.flags), vote.comment


def _facts(facts: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [facts.get(name, "") for name in names]
