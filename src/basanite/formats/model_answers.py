"""Transcripts of `basanite run` as records: what the system's rule finds in the last call of each item (L-3).

A line `format` says how answers are read; where the rule was changed, a later one counts. The last call of an item and
repeat counts, since an item is asked again after an error. Lines end with a check of their bytes, so that a line that
was edited by hand is refused instead of scored.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from basanite.problems import shortened

FORMAT: Final = "basanite-transcripts/1"
CHECK: Final = b',"check":"'
DIGITS: Final = 12
EDITED: Final = "the line was edited after it was written"
EDITED_FIX: Final = "restore the file from a copy, or remove the line and ask its item again"
SEVERAL_FIX: Final = "give the submission of one repeat, or score all repeats with the task scores"
_FENCED: Final = re.compile(r"^```[^\n`]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def sealed_line(line: bytes) -> bytes:
    """A line of an object with a check of its bytes at the end.

    >>> is_edited(sealed_line(b'{"item":"a"}\\n')), is_edited(sealed_line(b'{"item":"a"}\\n').replace(b'"a"', b'"b"'))
    (False, True)
    """
    start = line.rstrip()[:-1]
    return start + CHECK + _digest(start) + b'"}\n'


def is_edited(line: bytes) -> bool:
    """Whether the check of a line is that of other bytes; a line without a check is not known to be edited."""
    start, sign, end = line.rpartition(CHECK)
    return bool(sign) and _digest(start) != end.rstrip().removesuffix(b'"}')


def _digest(start: bytes) -> bytes:
    return hashlib.sha256(start).hexdigest()[:DIGITS].encode()


@dataclass(frozen=True)
class AnswerPatterns:
    """How an answer and a refusal are told in what a model wrote."""

    answer: re.Pattern[str] | None = None
    refusal: re.Pattern[str] | None = None

    def answer_in(self, text: str) -> str:
        """The first group of the last match, or the whole text where there is no pattern."""
        if self.answer is None:
            return text.strip()
        found = list(self.answer.finditer(text))
        return (found[-1][1 if found[-1].lastindex else 0] or "").strip() if found else ""

    def is_refusal(self, text: str) -> bool:
        """Whether a text refuses to answer."""
        return self.refusal is not None and self.refusal.search(text) is not None


def patterns_of(header: Mapping[str, Any]) -> AnswerPatterns:
    """The patterns of a line `format`; a `ValueError` for what is no pattern."""
    rule = header.get("answer", {})
    texts = [rule.get(name, "") if isinstance(rule, dict) else None for name in ("pattern", "refusal")]
    if not all(isinstance(text, str) and len(text) <= 500 for text in texts):
        raise ValueError("its patterns are no texts")
    try:
        return AnswerPatterns(*(re.compile(text) if text else None for text in texts if text is not None))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"its pattern cannot be read: {error}") from error


def fenced_code(text: str) -> str:
    """The last block of code between fences, or the whole text where there is none.

    >>> fenced_code("Here:\\n```python\\nx = 1\\n```\\nDone.")
    'x = 1\\n'
    """
    found = _FENCED.findall(text)
    return found[-1] if found else text


@dataclass(frozen=True)
class Calls:
    """The calls of a transcript by item and repeat, each with the number of its line, and how answers are read."""

    system: str
    patterns: AnswerPatterns
    rows: Mapping[tuple[str, int], tuple[int, Mapping[str, Any]]]

    @property
    def repeats(self) -> int:
        """The most repeats of an item."""
        return max((repeat for _, repeat in self.rows), default=0)

    def answer(self, row: Mapping[str, Any]) -> str:
        """The answer of a call."""
        return self.patterns.answer_in(row.get("text") or "")

    def is_refusal(self, row: Mapping[str, Any]) -> bool:
        """Whether the endpoint or the pattern of refusals says that there is no answer."""
        return row.get("refused") is True or self.patterns.is_refusal(row.get("text") or "")


def read_calls(rows: Sequence[tuple[int, Mapping[str, Any]]]) -> Calls:
    """The calls among the objects of a transcript, which stand on these lines; a `ValueError` for none of ours."""
    patterns, system = AnswerPatterns(), ""
    calls: dict[tuple[str, int], tuple[int, Mapping[str, Any]]] = {}
    for number, row in rows:
        if (form := row.get("format")) is not None:
            if form != FORMAT:
                raise ValueError(f"line {number}: this is not {FORMAT}")
            patterns = patterns_of(row)
            about = row.get("system")
            system = str(about.get("name", "")) if isinstance(about, dict) else system
            continue
        item, repeat = row.get("item"), row.get("repeat")
        if not isinstance(item, str) or type(repeat) is not int or repeat < 1 or not isinstance(row.get("text"), str):
            raise ValueError(f"line {number}: this line is no call of a model run")
        calls[item, repeat] = number, row
    return Calls(system, patterns, calls)


def answer_columns(calls: Calls) -> tuple[list[int], dict[str, list[Any]]]:
    """Lines and columns of the answers, under the names that tasks of texts and labels use."""
    answered = {key: found for key, found in calls.rows.items() if not found[1].get("error")}
    texts = [calls.answer(row) for _, row in answered.values()]
    columns: dict[str, list[Any]] = {"id": [item for item, _ in answered], "text": texts, "label": list(texts)}
    return [number for number, _ in answered.values()], columns


def score_columns(calls: Calls) -> tuple[list[int], dict[str, list[Any]]]:
    """Lines and columns of all calls for the task of scores: 1 for an answer, 0 for a refusal or an error."""
    rows = [row for _, row in calls.rows.values()]
    failed = [bool(row.get("error")) for row in rows]
    refused = [calls.is_refusal(row) for row in rows]
    columns: dict[str, list[Any]] = {
        "item": [item for item, _ in calls.rows],
        "system": [calls.system or "system"] * len(rows),
        "repeat": [repeat for _, repeat in calls.rows],
        "score": [int(not (bad or no)) for bad, no in zip(failed, refused, strict=True)],
        "cost": [row.get("cost") for row in rows],
        "latency": [row.get("latency") for row in rows],
        "tokens": [_tokens(row) for row in rows],
        "refusal": list(map(int, refused)),
        "error": list(map(int, failed)),
    }
    return [number for number, _ in calls.rows.values()], columns


def _tokens(row: Mapping[str, Any]) -> Any:
    sent, answered = row.get("tokens_in"), row.get("tokens_out")
    return sent + answered if type(sent) is int and type(answered) is int else None


def answer_faults(calls: Calls) -> Iterator[tuple[int | None, str, str, str]]:
    """Why transcripts are no submission of one answer for each item: line, message, fix and what was found."""
    if calls.repeats > 1:
        yield None, f"there are {calls.repeats} repeats of an item, and a submission has one answer", SEVERAL_FIX, ""
        return
    for (item, _), (number, row) in calls.rows.items():
        if row.get("error"):
            message = f"item {shortened(item)!r} has no answer: {shortened(str(row['error']))}"
            yield number, message, "run the same command again, which asks for it, or accept errors in the run", item


def parsed_header(text: str) -> Mapping[str, Any] | None:
    """The first line of a text, if it says that transcripts follow."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{") or FORMAT not in first:
        return None
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None
