"""From transcripts to files that tasks take: submissions, and a table of scores with cost, latency and errors (L-3)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from basanite.canonical import canonical_line
from basanite.errors import SettingError
from basanite.formats.model_answers import fenced_code, patterns_of
from basanite.functions import score
from basanite.models.code_tests import tested_answers
from basanite.models.requests import Items
from basanite.models.system_file import AnswerRule, System
from basanite.models.transcript_file import Turn
from basanite.registry import suggestion

CODE: Final = "code"
COLUMNS: Final[Mapping[str, str]] = {
    "captions": "text",
    "classification": "label",
    CODE: "code",
    "questions": "text",
    "speech": "text",
    "summaries": "text",
    "translation": "text",
}
"""The tasks whose answers are texts by item, and what they call an answer; code is run against tests instead."""
SCORE_COLUMNS: Final = ("item", "system", "repeat", "score", "cost", "latency", "tokens", "refusal", "error")
Turns = Mapping[tuple[str, int], Turn]


def check_task(task: str) -> None:
    """Refuse a task whose answers are no texts by item."""
    if task not in COLUMNS:
        raise SettingError(f"`run` asks for texts, and {task} takes something else. {suggestion(task, tuple(COLUMNS))}")


def answer_of(rule: AnswerRule, turn: Turn) -> str:
    """The answer in what the model wrote; a text in which the pattern finds nothing has none.

    >>> answer_of(AnswerRule(pattern=r"Answer: (.*)"), Turn("1", 1, "", "", text="Hm. Answer: no.\\nAnswer: yes"))
    'yes'
    """
    return patterns_of({"answer": asdict(rule)}).answer_in(turn.text)


def is_refusal(rule: AnswerRule, turn: Turn) -> bool:
    """Whether the endpoint or the pattern of refusals says that there is no answer."""
    return turn.refused or patterns_of({"answer": asdict(rule)}).is_refusal(turn.text)


def answers_of(task: str, system: System, items: Items, turns: Turns, repeat: int) -> dict[str, str]:
    """The answer to each item, in the order of the data; code without a pattern is the last block between fences."""
    answers = {name: answer_of(system.answer, turns[name, repeat]) for name in items.names}
    if task != CODE or system.answer.pattern:
        return answers
    return {name: fenced_code(text) for name, text in answers.items()}


def write_submissions(folder: Path, task: str, system: System, items: Items, turns: Turns) -> tuple[Path, ...]:
    """The submissions of a run: a record for each item, in one file, or in one for each repeat."""
    paths = []
    for repeat in range(1, system.repeats + 1):
        path = folder / (f"submission-{repeat}.jsonl" if system.repeats > 1 else "submission.jsonl")
        answers = answers_of(task, system, items, turns, repeat)
        path.write_bytes(b"".join(canonical_line({"id": name, COLUMNS[task]: text}) for name, text in answers.items()))
        paths.append(path)
    return tuple(paths)


def score_table(
    task: str,
    system: System,
    turns: Turns,
    submissions: Sequence[Path],
    references: Sequence[Path],
    settings: Mapping[str, Any],
) -> tuple[str, str]:
    """A table for the task `scores`, one row a call, and the name of the metric that is its score."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(SCORE_COLUMNS)
    metric = ""
    for repeat, path in enumerate(submissions, start=1):
        metric, values = _item_scores(task, path, references, settings)
        for item, value in values.items():
            writer.writerow(_score_row(system, turns[item, repeat], value))
    return buffer.getvalue(), metric


def _item_scores(
    task: str, path: Path, references: Sequence[Path], settings: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The metric that counts, and its value on each item."""
    if task == CODE:
        return "passed", {name: int(tested.passed) for name, tested in tested_answers(path, references).items()}
    result = score(task, submission=path, reference=list(references), draws=1, **settings)
    metric = result.scores.primary
    return metric, {str(next(iter(row.values()))): row[metric] for row in result.units(metric)}


def _score_row(system: System, turn: Turn, value: Any) -> Iterator[Any]:
    """One call; where it failed there is no score, and the scorer of the table decides what that counts."""
    yield from (turn.item, system.name, turn.repeat, "" if value is None or turn.error else value)
    yield from ("" if cell is None else cell for cell in (turn.cost, turn.latency, turn.tokens))
    yield from (int(is_refusal(system.answer, turn)), int(bool(turn.error)))
