"""From transcripts to files that tasks take: submissions, and a table of scores with cost, latency and errors (L-3)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.canonical import canonical_line
from basanite.errors import SettingError
from basanite.functions import score
from basanite.models.requests import Items
from basanite.models.system_file import AnswerRule, System
from basanite.models.transcript_file import Turn
from basanite.registry import suggestion

COLUMNS: Final[Mapping[str, str]] = {
    "captions": "text",
    "classification": "label",
    "questions": "text",
    "speech": "text",
    "summaries": "text",
    "translation": "text",
}
"""The tasks whose answers are texts by item, and what they call an answer."""
SCORE_COLUMNS: Final = ("item", "system", "repeat", "score", "cost", "latency", "tokens", "refusal", "error")


def check_task(task: str) -> None:
    """Refuse a task whose answers are no texts by item."""
    if task not in COLUMNS:
        raise SettingError(f"`run` asks for texts, and {task} takes something else. {suggestion(task, tuple(COLUMNS))}")


def answer_of(rule: AnswerRule, turn: Turn) -> str:
    """The answer in what the model wrote; a text in which the pattern finds nothing has none.

    >>> answer_of(AnswerRule(pattern=r"Answer: (.*)"), Turn("1", 1, "", "", text="Hm. Answer: no.\\nAnswer: yes"))
    'yes'
    """
    if not rule.pattern:
        return turn.text.strip()
    found = list(re.finditer(rule.pattern, turn.text))
    return (found[-1][1 if found[-1].lastindex else 0] or "").strip() if found else ""


def is_refusal(rule: AnswerRule, turn: Turn) -> bool:
    """Whether the endpoint or the pattern of refusals says that there is no answer."""
    return turn.refused or bool(rule.refusal and re.search(rule.refusal, turn.text))


def submission_lines(
    task: str, system: System, items: Items, turns: Mapping[tuple[str, int], Turn], repeat: int
) -> bytes:
    """The submission of one repeat: a record for each item, in the order of the data."""
    column = COLUMNS[task]
    return b"".join(
        canonical_line({"id": name, column: answer_of(system.answer, turns[name, repeat])}) for name in items.names
    )


def write_submissions(
    folder: Path, task: str, system: System, items: Items, turns: Mapping[tuple[str, int], Turn]
) -> tuple[Path, ...]:
    """The submissions of a run in which every item has an answer: one file, or one for each repeat."""
    several = system.repeats > 1
    paths = []
    for repeat in range(1, system.repeats + 1):
        path = folder / (f"submission-{repeat}.jsonl" if several else "submission.jsonl")
        path.write_bytes(submission_lines(task, system, items, turns, repeat))
        paths.append(path)
    return tuple(paths)


def score_table(
    task: str,
    system: System,
    turns: Mapping[tuple[str, int], Turn],
    submissions: Sequence[Path],
    references: Sequence[Path],
    settings: Mapping[str, Any],
) -> tuple[str, str]:
    """A table for the task `scores`, one row a call, and the name of the metric that is its score."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(SCORE_COLUMNS)
    primary = ""
    for repeat, path in enumerate(submissions, start=1):
        result = score(task, submission=path, reference=list(references), draws=1, **settings)
        primary = result.scores.primary
        for row in result.units(primary):
            item = str(next(iter(row.values())))
            writer.writerow(_score_row(system, turns[item, repeat], row[primary]))
    return buffer.getvalue(), primary


def _score_row(system: System, turn: Turn, value: Any) -> Iterator[Any]:
    yield from (turn.item, system.name, turn.repeat, "" if value is None else value)
    yield from ("" if cell is None else cell for cell in (turn.cost, turn.latency, turn.tokens))
    yield from (int(is_refusal(system.answer, turn)), int(bool(turn.error)))
