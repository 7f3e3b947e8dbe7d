"""Kinds of questions about pictures and texts, and of answers to them."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.kinds.general import JSON_LIST, begins_with_json, json_length
from basanite.formats.kinds.kind import Beginning, Kind, matches

_SQUAD_NAMES = (("paragraphs", "qas"), ("question", "answers", "answer_start"))
"""Names in files of articles, and in those of single questions that programs make of them."""
_BY_ID = re.compile(r'\{\s*"[0-9a-f]{24,40}"\s*:\s*"')


def _is_vqa_results(start: Beginning) -> bool:
    text = start.text.lstrip()
    return bool(JSON_LIST.match(text)) and '"question_id"' in text and '"answer"' in text


VQA: Final = Kind(
    "annotations of VQA",
    lambda start: begins_with_json(start, "{", "annotations", "question_id", "answers"),
    (".json",),
    "the task questions reads them as a reference",
    commands=("score questions {path} RESULTS.json",),
    sign="a JSON object with `annotations`, `question_id` and `answers`",
    record="question",
    count=json_length("annotations"),
)
VQA_QUESTIONS: Final = Kind(
    "questions of VQA",
    lambda start: begins_with_json(start, "{", "questions", "question_id", "question"),
    (".json",),
    "the task questions reads them beside the annotations, which hold the answers",
    hint="`--reference ANNOTATIONS.json --reference` this file",
    commands=("score questions --reference ANNOTATIONS.json --reference {path} --submission RESULTS.json",),
    sign="a JSON object with `questions`, `question_id` and `question`",
    record="question",
    count=json_length("questions"),
)
VQA_RESULTS: Final = Kind(
    "results of VQA",
    _is_vqa_results,
    (".json",),
    "the task questions reads them as a submission",
    commands=("score questions ANNOTATIONS.json {path}",),
    sign="a JSON list with the names `question_id` and `answer`",
    record="answer",
    count=json_length(),
)
SQUAD: Final = Kind(
    "a data set of SQuAD",
    lambda start: any(begins_with_json(start, "{", "data", *names) for names in _SQUAD_NAMES),
    (".json",),
    "the task questions reads it as a reference",
    commands=("score questions {path} PREDICTIONS.json",),
    sign="a JSON object with `data`, and `paragraphs` and `qas` or `question`, `answers` and `answer_start`",
    record="question",
    count=matches(r'"question"\s*:'),
)
SQUAD_ANSWERS: Final = Kind(
    "predictions for SQuAD",
    lambda start: bool(_BY_ID.match(start.text.lstrip())),
    (".json",),
    "the task questions reads them as a submission",
    commands=("score questions DEV.json {path}",),
    sign="a JSON object of texts whose names are ids of 24 or more hexadecimal digits",
    record="answer",
    count=json_length(),
)
