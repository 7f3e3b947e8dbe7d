"""Files of VQA: annotations with the answers of ten people, questions in a file of their own, and a list of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from basanite.formats.items import ID_LENGTH, Items
from basanite.formats.json_document import JsonDocument, id_text, read_json
from basanite.formats.questions.question import ANSWER_FIX, LONGEST, VQA_RULE, Question, answer_fault, items_of
from basanite.formats.records import Place, joined_digest
from basanite.problems import Findings

QUESTION_ID: Final = "question_id"
FACTORS: Final = ("question_type", "answer_type")
FEWEST_PEOPLE: Final = 4


@dataclass(frozen=True)
class _Entry:
    """An object of a list that names its question."""

    name: str
    fields: Mapping[str, Any]
    line: int | None


def read_annotations(path: Path, place: Place, findings: Findings) -> Items | None:
    """The answers of people; the image of a question is its cluster, its two types are factors."""
    document = read_json(path, place, findings, like="VQA")
    listed = None if document is None else _list_in(document, "annotations", findings)
    if document is None or listed is None:
        return None
    kept: list[tuple[_Entry, tuple[str, ...]]] = []
    for entry in _entries(listed, document, findings):
        people = _people(entry.fields)
        if people:
            kept.append((entry, people))
        else:
            fix = f'write "answers": [{{"answer": "…", "answer_id": 1}}, …], each of at most {LONGEST} characters'
            findings.add(document.problem(entry.line, f"question {entry.name!r} has no list of answers", fix))
    _warn_of_few(kept, document, findings)
    columns = {"image": tuple(id_text(entry.fields.get("image_id"), ID_LENGTH) or "" for entry, _ in kept)}
    columns |= {name: tuple(_text(entry.fields.get(name)) for entry, _ in kept) for name in FACTORS}
    content = [Question(people, VQA_RULE) for _, people in kept]
    ids, lines = [entry.name for entry, _ in kept], [entry.line for entry, _ in kept]
    return items_of(document, ids, lines, content, columns=columns)


def add_texts(items: Items, path: Path, place: Place, findings: Findings) -> Items | None:
    """The same questions with what they ask, from VQA's file of questions."""
    document = read_json(path, place, findings, like="VQA")
    listed = None if document is None else _list_in(document, "questions", findings)
    if document is None or listed is None:
        return None
    texts = {entry.name: _text(entry.fields.get("question")) for entry in _entries(listed, document, findings)}
    missing = [name for name in items.ids if name not in texts]
    if missing:
        message = f"{len(missing)} of the {len(items.ids)} annotated questions are not in it, such as {missing[0]!r}"
        findings.add(document.problem(None, message, "give the questions of the same data set", missing[0]))
        return None
    content = tuple(replace(one, text=texts[name]) for name, one in zip(items.ids, items.content, strict=True))
    return replace(items, content=content, digest=joined_digest([items.digest, document.digest]))


def read_results(path: Path, place: Place, findings: Findings) -> Items | None:
    """The answers of a system: one text for each question."""
    document = read_json(path, place, findings, like="VQA")
    if document is None:
        return None
    if not isinstance(document.value, list):
        fix = 'write [{"question_id": 1, "answer": "…"}, …]'
        findings.add(document.problem(None, "this is not a list of results", fix))
        return None
    refused: list[str | None] = []
    kept: list[_Entry] = []
    for entry in _entries(document.value, document, findings, refused):
        answer = entry.fields.get("answer")
        fault = answer_fault(answer)
        if fault:
            findings.add(document.problem(entry.line, f"question {entry.name!r}: {fault}", ANSWER_FIX, answer or ""))
            refused.append(entry.name)
        else:
            kept.append(entry)
    answers = [entry.fields["answer"] for entry in kept]
    items = items_of(document, [entry.name for entry in kept], [entry.line for entry in kept], answers)
    return replace(items, refused=frozenset(filter(None, refused)), lost=refused.count(None))


def _list_in(document: JsonDocument, name: str, findings: Findings) -> list[Any] | None:
    """The list of this name that the file holds; None with a problem where it does not."""
    listed = document.value.get(name) if isinstance(document.value, dict) else None
    if isinstance(listed, list):
        return listed
    fix = f'write {{"{name}": [{{"question_id": 1, …}}, …]}}, as VQA does'
    findings.add(document.problem(None, f"there is no list of {name}", fix))
    return None


def _entries(
    listed: Sequence[Any], document: JsonDocument, findings: Findings, refused: list[str | None] | None = None
) -> Iterator[_Entry]:
    """The objects of a list that name a question of their own; others are reported, the nameless in `refused` too."""
    lost = [] if refused is None else refused
    seen = set[str]()
    lines = document.lines(QUESTION_ID, len(listed))
    for number, (entry, line) in enumerate(zip(listed, lines, strict=True), start=1):
        name = id_text(entry.get(QUESTION_ID), ID_LENGTH) if isinstance(entry, dict) else None
        if name is None:
            fix = f'write {{"{QUESTION_ID}": 1, …}}, with a whole number or a text of 1 to {ID_LENGTH} characters'
            findings.add(document.problem(line, f"entry {number} has no {QUESTION_ID}", fix, entry))
            lost.append(None)
        elif name in seen:
            findings.add(document.problem(line, f"question {name!r} appears twice", "keep one entry for each", name))
        else:
            seen.add(name)
            yield _Entry(name, entry, line)


def _people(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers of people; none where they cannot be read."""
    listed = fields.get("answers")
    if not isinstance(listed, list):
        return ()
    texts: list[Any] = [one.get("answer") if isinstance(one, dict) else one for one in listed]
    return () if any(answer_fault(text) for text in texts) else tuple(texts)


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def _warn_of_few(kept: Sequence[tuple[_Entry, tuple[str, ...]]], document: JsonDocument, findings: Findings) -> None:
    """Say where an answer cannot be fully right, since three other people have to agree with each."""
    few = [entry.name for entry, people in kept if len(people) < FEWEST_PEOPLE]
    if few:
        message = f"{len(few)} of {len(kept)} questions have fewer than {FEWEST_PEOPLE} answers, such as {few[0]!r}"
        fix = "give ten answers to each: no answer is fully right unless three other people agree"
        findings.add(document.problem(None, message, fix, few[0], severity="warn"))
