"""Transcripts for readers: the calls that a search finds, of one system or of several side by side (L-4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import InvalidInputError, SettingError
from basanite.formats.model_answers import Calls
from basanite.formats.records import Place, open_single, read_transcripts
from basanite.problems import Findings

STATES: Final = ("answered", "refused", "failed", "empty")
"""What may become of a call; `empty` is a text in which no answer is found."""
LONGEST: Final = 20_000
"""Characters of a prompt or text that are shown."""
MOST: Final = 200


@dataclass(frozen=True)
class CallSearch:
    """What is looked for: words that all occur, a state, single items, and which part of what is found."""

    words: str = ""
    state: str = ""
    items: tuple[str, ...] = ()
    after: int = 0
    limit: int = 50

    def check(self) -> None:
        """Refuse what cannot be looked for."""
        if self.state not in ("", *STATES) or self.after < 0 or not 1 <= self.limit <= MOST:
            raise SettingError(f"The state is one of {', '.join(STATES)}, and the limit 1 to {MOST}.")


def read_page_calls(path: Path) -> Calls:
    """The calls of transcripts; problems of the file are raised."""
    findings, place = Findings(limit=20), Place("submission", "L-4")
    file = open_single(path, place, findings)
    calls = None if file is None else read_transcripts(file.name, file.data, place, findings)
    if calls is None:
        raise InvalidInputError("transcripts", findings)
    if not calls.rows:
        findings.add(place.problem(path.name, None, "there is no call in it", "name a run that has begun"))
        raise InvalidInputError("transcripts", findings)
    return calls


def call_rows(calls: Calls) -> Iterator[dict[str, Any]]:
    """Each call as a reader sees it, in the order of the file."""
    for (item, repeat), (_, row) in calls.rows.items():
        answer = "" if row.get("error") else calls.answer(row)
        yield {
            "item": item,
            "repeat": repeat,
            "state": _state(calls, row, answer),
            "prompt": _cut_text(row.get("prompt")),
            "text": _cut_text(row.get("text")),
            "answer": _cut_text(answer),
            "error": _cut_text(row.get("error")),
            **{name: _number(row.get(name)) for name in ("cost", "latency", "tokens_in", "tokens_out")},
        }


def _state(calls: Calls, row: Mapping[str, Any], answer: str) -> str:
    if row.get("error"):
        return "failed"
    if calls.is_refusal(row):
        return "refused"
    return "answered" if answer else "empty"


def _cut_text(found: Any) -> str:
    text = found if isinstance(found, str) else ""
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _number(found: Any) -> float | int | None:
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def found_rows(rows: Sequence[Mapping[str, Any]], wanted: CallSearch) -> tuple[list[Mapping[str, Any]], int]:
    """The part of the rows that was asked for, and how many are found in all."""
    words = wanted.words.casefold().split()
    found = [row for row in rows if _matches(row, words, wanted)]
    return found[wanted.after : wanted.after + wanted.limit], len(found)


def _matches(row: Mapping[str, Any], words: Sequence[str], wanted: CallSearch) -> bool:
    if (wanted.state and row["state"] != wanted.state) or (wanted.items and row["item"] not in wanted.items):
        return False
    text = f"{row['item']}\n{row['prompt']}\n{row['text']}\n{row['error']}".casefold() if words else ""
    return all(word in text for word in words)


def page_object(path: Path, wanted: CallSearch) -> dict[str, Any]:
    """The calls that a search finds, with the system's name and how many there are."""
    wanted.check()
    calls = read_page_calls(path)
    rows = list(call_rows(calls))
    shown, found = found_rows(rows, wanted)
    return {"system": calls.system, "total": len(rows), "found": found, "calls": shown}


def side_by_side(systems: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """One row an item and repeat, with the call of each system that has one."""
    keys = dict.fromkeys((row["item"], row["repeat"]) for rows in systems.values() for row in rows)
    by_key = [{(row["item"], row["repeat"]): row for row in rows} for rows in systems.values()]
    prompts = [next((rows[key]["prompt"] for rows in by_key if key in rows), "") for key in keys]
    return [
        {"item": key[0], "repeat": key[1], "prompt": prompt, "calls": [rows.get(key) for rows in by_key]}
        for key, prompt in zip(keys, prompts, strict=True)
    ]
