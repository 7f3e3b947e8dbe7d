"""Appraise: the scores of direct assessment and error span annotation as that tool exports them, in and out (R-29).

A line has no header: judge, system, segment, TGT or BAD (a control item), source and target language, score, document,
True for the score of a whole document, then, where errors are marked, a list of spans as JSON, then the start and the
end in seconds. Tasks without documents leave those two columns out. Spans count characters, and `end_i` is the last one
of the span. A header that names the columns, as published next to such exports, is passed over.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from basanite.formats.foreign_files import Losses
from basanite.problems import Findings, Problem, shortened
from basanite.work.answers import Judged
from basanite.work.items import Item
from basanite.work.result_files import Made, plain, table
from basanite.work.scheme import Scheme
from basanite.work.segments import CONTROL, REAL, Segment, Span, domain_of, segments_of

RULE = "R-29"
WITHOUT_DOCUMENTS, WITHOUT_SPANS, WITH_SPANS = 9, 11, 12
WIDTHS = (WITHOUT_DOCUMENTS, WITHOUT_SPANS, WITH_SPANS)
MISSING = "missing"
LARGEST = 256 << 20
EXPORT = (
    f"export scores from Appraise: {WITHOUT_DOCUMENTS} columns, {WITHOUT_SPANS} with documents, or {WITH_SPANS} with "
    "error spans too"
)
KNOWN = (
    f"{EXPORT}; or give a table of WMT (DA or MQM) or of pairs; a table of ratings is for `basanite judge agreement`"
)
NOT_A_TABLE = (
    "this is not a table: a quotation mark is not closed or stands inside a cell, or a cell is far too long",
    "save it as CSV, with cells quoted as spreadsheets do",
)
CHECKED, REFERENCE = "CHK", "REF"
HEADS = ("username", "userid", "user_id", "judge", "annotator")
"""What the first column is called in a header."""


def appraise_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`appraise.csv`: all judgements of segments, as Appraise would have exported them."""
    made = write_appraise(segments_of(scheme, items, judged))
    yield Made("appraise.csv", made, "scores of segments in the form of Appraise, without a header")


def write_appraise(segments: Sequence[Segment]) -> bytes:
    """Segments as lines of Appraise; without spans where none were asked for."""
    return table((), [_row(each) for each in segments])


def _row(each: Segment) -> list[str]:
    langs = plain(each.source_lang), plain(each.target_lang)
    score = "" if each.score is None else f"{each.score:g}"
    spans = [] if each.errors is None else [json.dumps([_as_appraise(span) for span in each.errors])]
    head = [plain(each.judge), plain(each.system), plain(each.segment), each.kind, *langs]
    return [*head, score, plain(each.document), "False", *spans, f"{each.start:.3f}", f"{each.end:.3f}"]


def _as_appraise(span: Span) -> dict[str, Any]:
    if span.end <= span.start:
        return {"start_i": MISSING, "end_i": MISSING, "severity": span.severity, "error_type": span.category or None}
    return {
        "start_i": span.start,
        "end_i": span.end - 1,
        "severity": span.severity,
        "error_type": span.category or None,
    }


def read_appraise(data: bytes, file: str) -> tuple[tuple[Segment, ...], tuple[Problem, ...]]:
    """The segments of an export; scores of whole documents are left out, and reported. Faults are reported by line."""
    findings, losses = Findings(), Losses(file)
    text = _text(data, file, findings)
    segments = []
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in filter(None, rows):
            first = rows.line_num == 1
            if first and len(cells) not in WIDTHS:
                message = f"{len(cells)} columns, as no table of judged segments has"
                findings.add(_problem(file, 1, message, KNOWN, cells))
                break
            if first and cells[0].strip().casefold() in HEADS:
                continue
            found = _segment(cells, rows.line_num, file, findings)
            _leave_behind(cells, losses)
            if found is not None:
                segments.append(found)
    except csv.Error:
        findings.add(_problem(file, rows.line_num, *NOT_A_TABLE))
    findings.extend(losses.problems())
    return (tuple(segments) if findings.valid else ()), tuple(findings)


def _leave_behind(cells: list[str], losses: Losses) -> None:
    """What an export says and segments have no place for is told (P-32)."""
    if len(cells) in WIDTHS:
        if len(cells) > WITHOUT_DOCUMENTS and cells[8].strip() == "True":
            losses.add("the score of a whole document; segments alone are scored", cells[7])
        elif cells[3] == CHECKED or (cells[3].startswith(CONTROL) and cells[3] != CONTROL):
            losses.add("what kind of check or control an item was", cells[3])


def _text(data: bytes, file: str, findings: Findings) -> str:
    if len(data) > LARGEST:
        findings.add(_problem(file, None, f"{len(data)} bytes; at most {LARGEST} are read", "is it the right file?"))
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        findings.add(_problem(file, line, "invalid UTF-8", "save the file as UTF-8"))
        return ""


def _problem(file: str, line: int | None, message: str, fix: str, found: Sequence[str] = ()) -> Problem:
    return Problem(RULE, file, line, None, message, fix, shortened(",".join(found)), where="judgements")


def _segment(cells: list[str], line: int, file: str, findings: Findings) -> Segment | None:
    if len(cells) not in WIDTHS:
        findings.add(_problem(file, line, f"{len(cells)} columns", EXPORT, cells))
        return None
    judge, system, segment, kind, source, target, score = cells[:7]
    document, whole = cells[7:9] if len(cells) > WITHOUT_DOCUMENTS else ("", "False")
    names = (judge, system, segment, *([document] if len(cells) > WITHOUT_DOCUMENTS else []))
    known = kind in (REAL, CHECKED, REFERENCE) or kind.startswith(CONTROL)
    kinds = f"write {REAL}, {CHECKED}, {REFERENCE} or {CONTROL}"
    faults = [
        *_faults(*names),
        *([("the fourth column is not a kind of item", kinds)] if not known else []),
        *_score_faults(score),
    ]
    times = [_number(cell) for cell in cells[-2:]]
    if None in times:
        faults.append(("start or end is not a time in seconds", "keep the last two columns as exported"))
    for message, fix in faults:
        findings.add(_problem(file, line, message, fix, cells))
    if faults or whole.strip() == "True":
        return None
    spans = _spans(cells[9]) if len(cells) == WITH_SPANS else ()
    if spans is None:
        findings.add(_broken_spans(file, line, cells, scored=bool(score.strip())))
    if spans is None and not score.strip():
        return None  # nothing is left to score: no spans are not the same as no errors
    start, end = (time or 0.0 for time in times)
    errors = (spans or ()) if len(cells) == WITH_SPANS else None
    checks = kind == REFERENCE or kind.startswith(CONTROL)
    return Segment(
        system,
        document,
        segment,
        judge,
        float(score) if score.strip() else None,
        errors,
        CONTROL if checks else REAL,
        source_lang=source,
        target_lang=target,
        start=start,
        end=end,
        domain=domain_of(document),
        repeat=kind == CHECKED,
    )


def _broken_spans(file: str, line: int, cells: list[str], *, scored: bool) -> Problem:
    """A warning: a broken list of spans costs its line the spans, not the table (T-24)."""
    rest = "its score counts" if scored else "there is no score either, so the line is left out"
    message, fix = f"the error spans cannot be read; {rest}", 'write [{"start_i": 0, "end_i": 4, "severity": "minor"}]'
    return replace(_problem(file, line, message, fix, [cells[9]]), severity="warn", rule="T-24")


Faults = list[tuple[str, str]]


def _faults(*names: str) -> Faults:
    return [] if all(name.strip() for name in names) else [("judge, system, segment or document is empty", "name them")]


def _score_faults(score: str) -> Faults:
    number = _number(score) if score.strip() else 0.0
    return (
        [] if number is not None and 0 <= number <= 100 else [("the score is not a number from 0 to 100", "correct it")]
    )


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _spans(cell: str) -> tuple[Span, ...] | None:
    """The spans of a cell; None if they cannot be read."""
    try:
        return tuple(_span(one) for one in json.loads(cell or "[]"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _span(raw: dict[str, Any]) -> Span:
    category = raw.get("error_type") or ""
    category = "/".join(map(str, category)) if isinstance(category, list) else str(category)
    if raw["start_i"] == MISSING:
        return Span(0, 0, str(raw["severity"]), category)
    start, last = raw["start_i"], raw["end_i"]
    if type(start) is not int or type(last) is not int or not 0 <= start <= last:
        raise ValueError("no span")
    return Span(start, last + 1, str(raw["severity"]), category)
