"""Submissions of every task, and references of some, by the same way as `basanite validate` and `score`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.target import EXAMPLES, Target, example, shown

import basanite

TASKS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "clir": ("key", "tgz", ".tgz", {}),
    "e2e": ("key", "tgz", ".tgz", {}),
    "domainid": ("key", "tgz", ".tgz", {}),
    "langid": ("key", "tgz", ".tgz", {}),
    "ranking": ("qrels.txt", "text", ".run", {}),
    "labels": ("reference.csv", "text", ".csv", {}),
    "ratings": ("reference.csv", "text", ".csv", {}),
    "relevance": ("reference.csv", "text", ".csv", {}),
    "readability": ("panels.csv", "text", ".csv", {}),
    "translation": ("reference.jsonl", "ndjson", ".jsonl", {}),
    "speech": ("reference.stm", "text", ".ctm", {}),
    "captions": ("captions.json", "json", ".json", {}),
    "parsing": ("treebank.trees", "text", ".trees", {}),
    "lm": ("tokens.jsonl", "ndjson", ".jsonl", {}),
    "classification": ("key.csv", "text", ".csv", {}),
}
SENT = {
    "clir": "Alpha.tgz", "e2e": "Alpha.tgz", "domainid": "Alpha.tgz", "langid": "Alpha.tgz", "ranking": "alpha.run",
    "labels": "alpha.csv", "ratings": "alpha.csv", "relevance": "alpha.csv", "readability": "machine.csv",
    "translation": "Alpha.jsonl", "speech": "Alpha.ctm", "captions": "Alpha.json", "parsing": "Alpha.trees",
    "lm": "Alpha.jsonl", "classification": "Alpha.csv",
}  # fmt: skip
DEAR = {"e2e", "translation", "captions", "relevance", "readability", "speech"}


def targets() -> list[Target]:
    """All of them."""
    return [*map(_submission, TASKS), *(_reference(task) for task in TASKS if TASKS[task][1] != "tgz"), _judged()]


def _submission(task: str) -> Target:
    reference, kind, ending, settings = TASKS[task]

    def read(data: bytes, place: Path) -> None:
        path = place / f"sent{ending}"
        path.write_bytes(data)
        _run(task, path, EXAMPLES / task / reference, settings)

    return Target(f"{task} submission", kind, example(f"{task}/{SENT[task]}"), read, 20 if task in DEAR else 8)


def _reference(task: str) -> Target:
    reference, kind, _, settings = TASKS[task]

    def read(data: bytes, place: Path) -> None:
        path = place / f"key{Path(reference).suffix}"
        path.write_bytes(data)
        _run(task, EXAMPLES / task / SENT[task], path, settings)

    return Target(f"{task} reference", kind, example(f"{task}/{reference}"), read, 20 if task in DEAR else 8)


def _run(task: str, submission: Path, reference: Path, settings: dict[str, Any]) -> None:
    """What is valid must score too."""
    found = basanite.validate(task, submission=submission, reference=reference, **settings)
    shown(found)
    if found.valid:
        basanite.score(task, submission=submission, reference=reference, draws=2, **settings)


def _judged() -> Target:
    def read(data: bytes, place: Path) -> None:
        path = place / "judgements.tsv"
        path.write_bytes(data)
        e2e = EXAMPLES / "e2e"
        shown(basanite.validate("e2e", submission=e2e / "Alpha.tgz", reference=e2e / "key", judgements=path))

    return Target("e2e judgements", "text", example("e2e/Alpha.judgements.tsv"), read, 20)


Read = Callable[[bytes, Path], object]
