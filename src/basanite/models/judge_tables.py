"""Tables of answers to a judging scheme, by people or a model, as numbers by system and item (L-6)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import InvalidInputError, SettingError
from basanite.formats.records import Place, Records, read_records
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.work.answers import AnswerError, _answer
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

TABLE: Final = Place("judgements", "L-6")
ANSWER: Final = "text_sha256"
OWN: Final = (
    "item", "role", "judge", "group", "round", "position", "seconds", "flags", "question", "answer", "id", "system",
    "comment", "stratum", "probability", ANSWER, "query", "domain", "document", "context", "text", "left", "right",
)  # fmt: skip
"""Columns that are kept elsewhere, and texts: what is sealed stays out of a calibration (L-9)."""
Key = tuple[str, str]
"""The system and the item; the system is empty where there is one alone."""


@dataclass
class Said:
    """What judges said of one answer."""

    values: list[float] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean of all judges."""
        return sum(self.values) / len(self.values)


def judged_question(scheme: Scheme, name: str, value: str) -> Question:
    """The question whose answers are corrected: the one named, or the one that the scheme combines."""
    named = [question for question in scheme.questions if question.id == name]
    if name and not named:
        raise SettingError(f"The scheme has no question {name!r}. {suggestion(name, [q.id for q in scheme.questions])}")
    question = named[0] if named else scheme.combined_question
    if question is None or question.widget not in ("choice", "stars", "scale", "slider"):
        raise SettingError("Only a question with a choice or a number can be corrected: name one with --question.")
    options = [option.value for option in question.options]
    if value and value not in options:
        raise SettingError(f"{value!r} is no answer to {question.id!r}. {suggestion(value, options)}")
    if question.widget == "choice" and len(options) > 2 and not value:
        raise SettingError(f"{question.id!r} has {len(options)} answers: name the one that counts 1 with --value.")
    return question


def as_number(question: Question, answer: Any, value: str) -> float:
    """An answer from 0 to 1: where it lies on the scale, or whether it is the one that counts.

    >>> as_number(Question("score", "slider", lo=0.0, hi=100.0), 25, "")
    0.25
    """
    if question.numeric:
        return (float(answer) - question.lo) / (question.hi - question.lo)
    return float(answer == (value or question.options[0].value))


def read_answers_table(path: Path, question: Question, value: str) -> dict[Key, Said]:
    """The answers of real items in a table: `answers.csv` of a panel or a model, or a table of a crowd batch."""
    findings = Findings(limit=20)
    records = read_records(path, TABLE, findings, headers=("item",))
    if records is None or not findings.valid:
        raise InvalidInputError("judge", findings)
    long = "question" in records.columns and "answer" in records.columns
    column = "answer" if long else question.id
    for name in ("id" if "id" in records.columns else "item", column):
        if name not in records.columns:
            fix = f"there are: {', '.join(records.columns)}"
            findings.add(TABLE.problem(records.file, 1, f"there is no column {name!r}", fix, name))
            raise InvalidInputError("judge", findings)
    found: dict[Key, Said] = defaultdict(Said)
    for line, fields in _rows(records, question.id if long else ""):
        try:
            raw = fields.get(column)
            answer = _answer(question, None, raw)
        except AnswerError as error:
            findings.add(TABLE.problem(records.file, line, str(error), error.fix, error.found))
            continue
        _add(found[_key(fields)], fields, answer, as_number(question, answer, value))
    if not findings.valid:
        raise InvalidInputError("judge", findings)
    return dict(found)


def _rows(records: Records, question: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        if question in ("", fields.get("question")) and fields.get("role", "real") in ("real", None):
            yield line, fields


def _key(fields: Mapping[str, Any]) -> Key:
    return str(fields.get("system") or ""), str(fields.get("id") or fields.get("item") or "")


def _add(said: Said, fields: Mapping[str, Any], answer: Any, number: float) -> None:
    said.values.append(number)
    said.words.append(str(answer))
    said.facts |= {name: str(cell) for name, cell in fields.items() if name not in OWN and cell is not None}
    if fields.get(ANSWER):
        said.facts[ANSWER] = str(fields[ANSWER])


def majority(words: Sequence[str]) -> str:
    """The answer that most gave; empty where two are even.

    >>> majority(["yes", "no", "yes"]), majority(["yes", "no"])
    ('yes', '')
    """
    counts = sorted(((words.count(word), word) for word in set(words)), reverse=True)
    return "" if len(counts) > 1 and counts[0][0] == counts[1][0] else counts[0][1]


def share_scale(question: Question) -> float:
    """How much of the scale 1 is: differences from 0 to 1 in the question's own units."""
    return question.hi - question.lo if question.numeric else math.nan
