"""Questions and answers from whatever file holds them: VQA's, SQuAD's, or a table of one question a record (T-20).

A record has an `id`, and `answers` or one `answer`. It is about options where it has `choices`, or where all answers of
the table are single letters or small numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from basanite.formats.file_kinds import has_header
from basanite.formats.items import ContentError, Items, read_structured_items
from basanite.formats.kinds.general import JSON, JSON_LINES
from basanite.formats.kinds.questions import SQUAD, SQUAD_ANSWERS, VQA, VQA_QUESTIONS, VQA_RESULTS
from basanite.formats.kinds.scores import TRANSCRIPTS
from basanite.formats.questions.question import (
    ANSWER_FIX,
    CHOICE,
    SECOND_SQUAD,
    VQA_RULE,
    Options,
    Question,
    answer_fault,
)
from basanite.formats.questions.squad_files import read_articles, read_predictions
from basanite.formats.questions.vqa_files import QUESTION_ID, add_texts, read_annotations, read_results
from basanite.formats.records import Place
from basanite.formats.single_file import beginning_of, kind_of
from basanite.problems import Findings

GIVEN: Final = ("prediction_text", "prediction", "answer", "text")
"""What records call the answer of a system; the first that is there counts: an `answer` beside it is the right one."""
ACCEPTED: Final = ("answers", "answer", "answerKey", "label")
"""What records call the answers that are right."""
OFFERED: Final = ("choices", "options")
DESCRIPTIONS: Final = ("question", "context", "passage", *"ABCDE")
"""Further columns that describe one question and no group of them."""
_OWN_ID: Final = re.compile(rf'"(?:id|{QUESTION_ID})"\s*:')
_LABEL: Final = re.compile(r"[A-Za-z]|\d{1,2}")


def read_questions(paths: Sequence[Path], place: Place, findings: Findings) -> Items | None:
    """The questions of a reference, in whose second file VQA says what they ask."""
    first, *more = sorted(paths, key=lambda path: kind_of(path) is VQA_QUESTIONS) if len(paths) == 2 else paths
    kind = kind_of(first)
    if more and (kind is not VQA or len(more) > 1 or kind_of(more[0]) is not VQA_QUESTIONS):
        message, fix = "a further reference that is not a file of VQA's questions", "give one reference"
        findings.add(place.problem(more[0].name, None, message, fix))
        return None
    if kind is VQA:
        items = read_annotations(first, place, findings)
        return add_texts(items, more[0], place, findings) if more and items is not None else items
    return read_articles(first, place, findings) if kind is SQUAD else _read_records(first, place, findings)


def read_answers(path: Path, place: Place, findings: Findings) -> Items | None:
    """The answers of a system by the id of the question."""
    kind = kind_of(path)
    if kind is TRANSCRIPTS:
        return read_structured_items(path, _given_answer, place, findings, used=GIVEN)
    if kind is VQA_RESULTS:
        return read_results(path, place, findings)
    if kind is SQUAD_ANSWERS or (kind in (JSON, JSON_LINES) and _is_one_object(path)):
        return read_predictions(path, place, findings)
    return read_structured_items(path, _given_answer, place, findings, id_name=_id_name(path), used=("answer", *GIVEN))


def _is_one_object(path: Path) -> bool:
    """Whether a text is one object of answers by id: records have an id of their own."""
    text = beginning_of(path).text.lstrip()
    return text.startswith("{") and not _OWN_ID.search(text)


def _id_name(path: Path) -> str:
    """What a table calls its ids."""
    start = beginning_of(path)
    own = has_header(start, "id") or '"id"' in start.text
    return "id" if own or not (has_header(start, QUESTION_ID) or f'"{QUESTION_ID}"' in start.text) else QUESTION_ID


def _given_answer(fields: Mapping[str, Any]) -> str:
    name = next((name for name in GIVEN if name in fields), "")
    found = fields.get(name)
    answer = "" if name and found is None else _plain(found)
    if fault := answer_fault(answer):
        raise ContentError(fault.replace("its", "the"), ANSWER_FIX, "" if found is None else found)
    return str(answer)


def _read_records(path: Path, place: Place, findings: Findings) -> Items | None:
    """A table of questions; whether they are about options is told by all of them together."""
    used = (*ACCEPTED, *OFFERED, *DESCRIPTIONS)
    items = read_structured_items(path, _question, place, findings, id_name=_id_name(path), used=used)
    if items is None:
        return None
    alone = all(len(one.accepted) == 1 and _LABEL.fullmatch(one.accepted[0]) for one in items.content)
    if not items.content or not (alone or any(one.options for one in items.content)):
        return items
    return replace(items, content=tuple(replace(one, rule=CHOICE) for one in items.content))


def _question(fields: Mapping[str, Any]) -> Question:
    """What a record says; SQuAD's answers may be an object of lists, VQA's a list of objects."""
    name, *more = [name for name in ACCEPTED if fields.get(name) is not None] or [""]
    if more:  # some data sets call the options `answers`
        message, fix = f"{name!r} and {more[0]!r} both say what is right", "keep one; call options `choices`"
        raise ContentError(message, fix, fields[more[0]])
    found: Any = fields.get(name, "")
    if isinstance(found, dict):
        found = found.get("text")
    listed = _as_list(found)
    answers = [_plain(one.get("answer", one.get("text")) if isinstance(one, dict) else one) for one in listed]
    if not name or any(answer_fault(one) for one in answers) or (not answers and name != "answers"):
        raise ContentError("there are no answers", 'write "answers": ["…", "…"] or "answer": "…"', found or "")
    text = fields.get("question")
    by_people = any(isinstance(one, dict) and "answer" in one for one in listed)
    rule = VQA_RULE if by_people else SECOND_SQUAD
    return Question(tuple(answers), rule, _options(fields), text if isinstance(text, str) else "")


def _as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def _plain(found: Any) -> Any:
    """A whole number as its digits: labels and short answers are often written so."""
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else found


def _options(fields: Mapping[str, Any]) -> Options | None:
    """What a record offers: a list of texts, or texts and labels in an object."""
    found: Any = next((fields[name] for name in OFFERED if fields.get(name) is not None), None)
    if found is None:
        return None
    texts: Any = found.get("text") if isinstance(found, dict) else found
    letters = [chr(ord("a") + at) for at in range(len(texts) if isinstance(texts, list) else 0)]
    labels: Any = found.get("label", letters) if isinstance(found, dict) else letters
    if not _are_texts(texts) or not _are_texts(labels) or len(texts) != len(labels) or not 0 < len(texts) <= 26:
        raise ContentError("choices are not a list of 1 to 26 texts", 'write "choices": ["…", "…"]', found)
    return Options(*(tuple(" ".join(str(one).lower().split()) for one in side) for side in (labels, texts)))


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(_plain(one), str) for one in found)
