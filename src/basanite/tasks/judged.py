"""Answers that a judge graded and people checked: values corrected by prediction-powered inference (L-6).

The reference is a calibration file, which `basanite judge calibrate` writes: what the judge said of each answer of each
system, what people said of those that were drawn, and the license of the judge. A submission holds the answers; each is
looked up by its digest, so that judgments never pass to another text.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.analysis.clusters import COLUMN as CLUSTER
from basanite.analysis.clusters import clusters_of
from basanite.formats.items import (
    ContentError,
    Items,
    lacks_columns,
    number_of,
    read_structured_items,
    text_of,
)
from basanite.formats.records import Place, Records, read_records
from basanite.kernel import SHARE
from basanite.metrics.calibration import (
    COLUMNS,
    CORRECTED,
    FOLDS,
    JUDGE_ALONE,
    METRICS,
    PEOPLE_ALONE,
    Calibrated,
    HumanPart,
    JudgedItems,
    Reals,
    calibrated,
    people_alone,
    rows,
    why_too_few,
)
from basanite.problems import Findings, shortened
from basanite.tasks import AnswerFormat, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener

RULE: Final = "L-6"
FORMAT: Final = "basanite-calibration/1"
ANSWER: Final = "text_sha256"
USED: Final = ("id", ANSWER, "judge", "people", "drawn", "stratum", "system")
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
LICENSED: Final = "judge "
"""How the sentence on a license begins."""
WHAT: Final = "write it by a calibration of the judge"
TEXTS: Final = ("text", "answer", "prediction")
"""What a submission may call an answer."""


@dataclass(frozen=True)
class Graded:
    """What is known of one answer."""

    judge: float
    people: float
    drawn: bool
    stratum: str


@dataclass
class GradedItem:
    """One item: what is known of each answer to it, by the answer's digest, and the license of the judge."""

    line: int
    license: Mapping[str, Any]
    answers: dict[str, Graded] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)


def answer_digest(text: str) -> str:
    """The digest by which an answer is looked up; blanks around it do not count.

    >>> answer_digest(" yes\\n") == answer_digest("yes")
    True
    """
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """A calibration: the license of the judge first, then a record for each answer."""
    records = read_records(paths[0], REFERENCE, findings)
    if records is None or lacks_columns(records, ("id", ANSWER, "judge"), REFERENCE, findings):
        return None
    terms, start = _license(records, findings)
    found: dict[str, GradedItem] = {}
    for row, line in list(enumerate(records.lines))[start:]:
        fields = records.fields(row)
        try:
            name = fields.get("id")
            if not isinstance(name, str) or not name:
                raise ContentError("the item has no id", WHAT)
            item = found.setdefault(name, GradedItem(line, terms))
            digest = fields.get(ANSWER)
            if not isinstance(digest, str) or digest in item.answers:
                raise ContentError(f"the answer to {name!r} has no digest, or stands here again", WHAT)
            item.answers[digest] = _grade_of(fields)
            known = {column: str(cell) for column, cell in fields.items() if column not in USED and cell is not None}
            item.others = known | item.others
        except ContentError as error:
            findings.add(REFERENCE.problem(records.file, line, str(error), error.fix, error.found))
    extra = sorted({column for item in found.values() for column in item.others})
    columns = {name: tuple(item.others.get(name, "") for item in found.values()) for name in extra}
    lines = [item.line for item in found.values()]
    return Items(records.file, tuple(found), tuple(found.values()), lines, records.digest, columns)


def _license(records: Records, findings: Findings) -> tuple[Mapping[str, Any], int]:
    """The license in the first record, and the row after it."""
    first = records.fields(0) if len(records) else {}
    terms = first.get("license")
    if first.get("format") == FORMAT and isinstance(terms, dict):
        return terms, 1
    message = "there is no license of the judge in the first record"
    findings.add(REFERENCE.problem(records.file, 1, message, WHAT, first.get("format", "")))
    return {}, 0


def _grade_of(fields: Mapping[str, Any]) -> Graded:
    judge = math.nan if fields.get("judge") in (None, "") else _share(fields, "judge")
    people = math.nan if fields.get("people") in (None, "") else _share(fields, "people")
    drawn = str(fields.get("drawn", "")).lower() in ("true", "1")
    if not math.isnan(people) and not drawn:
        raise ContentError("people judged what was not drawn", "correct values by the items of the plan alone")
    return Graded(judge, people, drawn, str(fields.get("stratum") or ""))


def _share(fields: Mapping[str, Any], name: str) -> float:
    value = number_of(fields, name)
    if not 0 <= value <= 1:
        raise ContentError(f"{name} lies outside 0 to 1", WHAT, value)
    return value


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The answers of a system."""
    return read_structured_items(path, _text, SUBMISSION, findings, used=TEXTS)


def _text(fields: Mapping[str, Any]) -> str:
    return text_of(fields, next((name for name in TEXTS if name in fields), "text"))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """The corrected value beside the judge's own and that of people alone; undefined where judgments are missing."""
    answers = zip(pairs.references, pairs.answers, strict=True)
    found = [item.answers.get(answer_digest(text)) for item, text in answers]
    terms = pairs.references[0].license if pairs.references else {}
    judge, people = answer_values(found)
    part = human_part(pairs.units, found, pairs.columns.get(CLUSTER, ()))
    why = why_undefined(found, judge, part)
    notes = [license_sentence(terms), *([f"no corrected value: {why}"] if why else [])]
    invalid = sum(one is not None and math.isnan(one.judge) for one in found)
    notes += [f"items to which the judge has no valid answer: {invalid}"] if invalid else []
    none = np.full(len(found), math.nan)
    block, parts = JudgedItems(pairs.units, none, judge, none), {"labels": float(part.labelled.sum())}
    if not why:
        corrected, alone = corrected_values(judge, people, part)
        block = replace(block, corrected=corrected.items, people=alone.items)
        parts["factor"] = corrected.factor
    made = _signature(terms)
    return Counted(
        METRICS,
        dict.fromkeys((metric.name for metric in METRICS), pairs.table(COLUMNS, rows(block))),
        notes=tuple(notes),
        parts={CORRECTED.name: parts},
        signatures={CORRECTED.name: f"ppi++|folds:{FOLDS}|{made}", JUDGE_ALONE.name: made, PEOPLE_ALONE.name: "sample"},
    )


def answer_values(found: Sequence[Graded | None]) -> tuple[Reals, Reals]:
    """What the judge and people said of each answer, nan where they said nothing."""
    both = [(math.nan, math.nan) if one is None else (one.judge, one.people) for one in found]
    judge, people = np.array(both, np.float64).reshape(-1, 2).T
    return judge, people


def human_part(units: Sequence[str], found: Sequence[Graded | None], clusters: Sequence[str] = ()) -> HumanPart:
    """Which of these items people judged, and how they were drawn."""
    labelled = np.array([one is not None and not math.isnan(one.people) for one in found], np.bool_)
    strata = np.unique([one.stratum if one else "" for one in found], return_inverse=True)[1]
    cluster = clusters_of(clusters) if any(clusters) else np.arange(len(units))
    digests = [hashlib.sha256(name.encode("utf-8", "replace")).hexdigest() for name in units]
    dice = np.array([int(digest[:12], 16) / 2.0**48 for digest in digests])
    return HumanPart(labelled, strata.astype(np.int64), cluster, dice)


def corrected_values(judge: Reals, people: Reals, part: HumanPart) -> tuple[Calibrated, Calibrated]:
    """The corrected value, and that of people alone; where the judge has no answer, its mean stands for one.

    Any number may stand there: people correct it like all others.
    """
    guess = np.where(np.isnan(judge), np.nanmean(judge), judge)
    return calibrated(guess, people, part, SHARE), people_alone(people, part, SHARE)


def why_undefined(found: Sequence[Graded | None], judge: Reals, part: HumanPart) -> str:
    """Why there is no corrected value: what is missing, and how much of it; empty where there is one."""
    missing = sum(one is None for one in found)
    if missing:
        return f"the judge has not seen {missing} of {len(found)} answers"
    if np.isnan(judge).all():
        return "the judge has no valid answer"
    waiting = sum(one is not None and one.drawn and math.isnan(one.people) for one in found)
    if waiting:
        return f"people have not judged {waiting} of the items drawn for them"
    return why_too_few(part)


def license_sentence(terms: Mapping[str, Any]) -> str:
    """The license of a judge in one line, as boards and reports show it (L-7).

    >>> license_sentence({"model": "m-1", "prompt": "ab" * 32, "rubric": "cd" * 32, "made": "2026-01-01"})
    'judge m-1, prompt abababababab, rubric cdcdcdcdcdcd, licensed 2026-01-01'
    """
    told = [LICENSED + (_text_of_term(terms, "model") or "without a name")]
    told += [f"{name} {_text_of_term(terms, name)[:12]}" for name in ("prompt", "rubric") if _text_of_term(terms, name)]
    agreement = terms.get("agreement")
    if isinstance(agreement, Mapping) and isinstance(agreement.get("value"), int | float):
        ends = [agreement.get(name) for name in ("low", "high")]
        known = all(isinstance(end, int | float) for end in ends)
        interval = f" (95% CI {ends[0]:.2f} to {ends[1]:.2f})" if known else ""
        told.append(f"agreement with people {agreement['value']:.2f}{interval}")
    told += [f"licensed {_text_of_term(terms, 'made')}"] if _text_of_term(terms, "made") else []
    told += [f"expires {_text_of_term(terms, 'expires')}"] if _text_of_term(terms, "expires") else []
    return ", ".join(told)


def licenses_in(notes: Iterable[Any]) -> list[str]:
    """The sentences on licenses among the notes of a result."""
    return [note for note in notes if isinstance(note, str) and note.startswith(LICENSED)]


def _text_of_term(terms: Mapping[str, Any], name: str) -> str:
    found = terms.get(name)
    return shortened(found, 80) if isinstance(found, str) else ""


def _signature(terms: Mapping[str, Any]) -> str:
    return "|".join(f"{name}:{_text_of_term(terms, name)[:12]}" for name in ("model", "prompt", "rubric"))


SPEC = ItemSpec(
    name="judged",
    unit="item",
    rule=RULE,
    primary=CORRECTED.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
)
TASK = Task(
    name="judged",
    summary="Answers graded by a judge, usually a model, and corrected by a sample that people judged",
    citation=CORRECTED.citation,
    unit="item",
    primary=CORRECTED.name,
    metrics=METRICS,
    open=opener(SPEC),
    answers=AnswerFormat(
        "The answer to every item of the data, a JSON object per line with `id` and `text`.",
        example='{"id": "q000", "text": "107"}\n{"id": "q001", "text": "7914"}\n',
    ),
)
