"""Readers of what judges and annotators send, and of the files that say how they work."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.target import EXAMPLES, Target, example, shown

from basanite.problems import Findings
from basanite.reading.package import read_package
from basanite.work.annotation.config.config_file import read_config
from basanite.work.annotation.migration import read_records
from basanite.work.annotation.replay import check, event_of, replay
from basanite.work.answers import read_answers
from basanite.work.appraise import read_appraise
from basanite.work.direct_assessment import read_wmt_da
from basanite.work.exchange.formats import FORMATS, format_named, read_statements, write_statements, write_to
from basanite.work.item_files import read_items
from basanite.work.mqm import read_mqm
from basanite.work.passages import read_pool
from basanite.work.scheme import read_scheme

SCHEMES = EXAMPLES / "judging" / "schemes"
TEXTS = {"nfl-001": (EXAMPLES / "annotation" / "brat" / "nfl-001.txt").read_text("utf-8")}
EVENTS = [
    {"id": "e1", "kind": "create", "data": {"object": "o1", "category": "Team", "parent": ""}},
    {"id": "e2", "kind": "span.add", "data": {"object": "o1", "field": "", "parts": [[0, 4], [6, 9]]}},
    {"id": "e3", "kind": "set", "data": {"object": "o1", "field": "name", "value": "Jets"}},
    {"id": "e4", "kind": "undo", "data": {"events": ["e3"]}},
    {"id": "e5", "kind": "span.remove", "data": {"object": "o1", "field": "", "mention": "e2"}},
    {"id": "e6", "kind": "done", "data": {}},
]
ASSESSED = (
    b"HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
    b"h1\tw1\tcs\ten\tad\t97\tA.1\t7\tSYSTEM\t1\t0.5\t3015.0\nh1\tw1\tcs\ten\tad\t97\tA.1\t8\tBAD_REF\t1\t-7\t3015.0\n"
)
Read = Callable[[bytes, Path], object]


def targets() -> list[Target]:
    """All of them."""
    return [
        Target("judging scheme", "text", _schemes, lambda data, _: shown(read_scheme(_text(data))[1])),
        Target("judging items", "text", example("judging/pairs.csv"), _items),
        Target("judging passages", "text", example("judging/pool.csv"), _pool, 4),
        Target(
            "appraise", "text", example("judging/appraise.csv"), lambda data, _: shown(read_appraise(data, "a.csv")[1])
        ),
        Target("mqm", "text", example("judging/mqm.tsv"), lambda data, _: shown(read_mqm(data, "a.tsv")[1])),
        Target(
            "wmt direct assessment", "text", lambda: [ASSESSED], lambda data, _: shown(read_wmt_da(data, "a.csv")[1])
        ),
        Target("judges' answers", "json", lambda: [_said()], _answers),
        Target("annotation configuration", "text", _configs, _config, 2),
        Target("annotation records", "ndjson", example("annotation/older/records.ndjson"), _record_file, 2),
        Target("annotation events", "json", lambda: [json.dumps(EVENTS).encode()], _events, 2),
        *(Target(f"exchange {name}", _KINDS[name], _exchanged(name), _exchange(name)) for name in FORMATS),
        Target("annotations as RDF", "text", _graphs, _statements, 4),
    ]


_KINDS = {"brat": "text", "label-studio": "json", "conll": "text", "web-annotation": "json"}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _schemes() -> list[bytes]:
    return [path.read_bytes() for path in sorted(SCHEMES.glob("*.toml"))]


def _configs() -> list[bytes]:
    return example("annotation/nfl-scoring.yaml", "annotation/protests/annotation.yaml")()


def _items(data: bytes, place: Path) -> None:
    (place / "pairs.csv").write_bytes(data)
    for name in ("pairwise", "binary"):
        scheme, _ = read_scheme((SCHEMES / f"{name}.toml").read_text("utf-8"))
        ids = map(str, itertools.count())
        shown(read_items(place / "pairs.csv", scheme, role="real", new_id=lambda ids=ids: next(ids))[1])


def _pool(data: bytes, place: Path) -> None:
    (place / "pool.csv").write_bytes(data)
    shown(read_pool(place / "pool.csv")[1])


def _said() -> bytes:
    return json.dumps(
        {"verdict": "R", "score": "50", "spans": [{"start": 0, "end": 3, "kind": "x"}], "rank": [1, 2]}
    ).encode()


def _answers(data: bytes, place: Path) -> None:
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return
    for path in sorted(SCHEMES.glob("*.toml")):
        scheme, _ = read_scheme(path.read_text("utf-8"))
        raw = said if isinstance(said, dict) else {}
        for given in (raw, {question.id: said for question in scheme.questions}):
            shown(read_answers(scheme, None, given)[1])


def _config(data: bytes, place: Path) -> None:
    shown(read_config(_text(data), EXAMPLES / "annotation" / "protests")[1])


def _record_file(data: bytes, place: Path) -> None:
    findings = Findings()
    (place / "records.ndjson").write_bytes(data)
    read_records(place / "records.ndjson", findings)
    shown(findings)


def _events(data: bytes, place: Path) -> None:
    try:
        sent = json.loads(data)
    except (ValueError, RecursionError):
        return
    config, _ = read_config(EXAMPLES / "annotation" / "protests" / "annotation.yaml")
    taken = []
    for one in sent if isinstance(sent, list) else [sent]:
        event = event_of(one)
        problems = check(config, replay(config, taken), event, length=500)
        shown(problems)
        taken += [] if problems else [event]
    replay(config, taken)


def _exchanged(name: str) -> Callable[[], list[bytes]]:
    def made() -> list[bytes]:
        annotated = format_named("brat").read(EXAMPLES / "annotation" / "brat", {}, Findings())
        return [
            data for path, data in write_to(format_named(name), annotated, Findings()).items() if ".txt" not in path
        ]

    return made


def _exchange(name: str) -> Read:
    endings = {"brat": "nfl-001.ann", "label-studio": "a.json", "conll": "a.conll", "web-annotation": "a.jsonld"}

    def read(data: bytes, place: Path) -> None:
        findings = Findings()
        (place / endings[name]).write_bytes(data)
        found = format_named(name).read(place / endings[name], TEXTS, findings)
        shown(findings)
        for other in FORMATS.values():
            write_to(other, found, Findings())

    return read


def _graphs() -> list[bytes]:
    findings, out = Findings(), io.BytesIO()
    package = read_package(EXAMPLES / "annotation" / "protests", findings)
    documents = package.documents("train")
    found = list(package.assertions("train", documents))[:12]
    write_statements(found, documents.values(), out, "turtle", package.manifest.prefixes)
    return [out.getvalue()]


def _statements(data: bytes, place: Path) -> None:
    findings = Findings()
    (place / "train.ttl").write_bytes(data)
    read_statements(place / "train.ttl", findings)
    shown(findings)
