"""MQM: a line for each error, its span between <v> and </v>, as such annotations are published (R-29)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from basanite.metrics.judgement.error_spans import MQM_WEIGHTS
from basanite.problems import Findings, Problem, shortened
from basanite.work.answers import Judged
from basanite.work.items import Item
from basanite.work.result_files import Made, lines
from basanite.work.scheme import Scheme
from basanite.work.segments import REAL, Segment, Span, domain_of, segments_of

RULE = "R-29"
HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NEEDED = ("system", "doc", "seg_id", "rater", "target", "category", "severity")
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "docsegid": "doc_id",
        "globalsegid": "seg_id",
        "lp": "language_pair",
        "langs": "language_pair",
        "language pair": "language_pair",
        "langpair": "language_pair",
        "src_lang": "source_lang",
        "tgt_lang": "target_lang",
        "trg_lang": "target_lang",
    }
)
"""What tables of later years and other tools call their columns."""
NO_ERROR = "No-error"
NON_TRANSLATION = "non-translation"
"""Such an error costs the most there is, whatever its severity."""
BEGIN, END = "<v>", "</v>"
LARGEST = 256 << 20
_LEVEL = str.maketrans("\t\r\n\v\f", "     ")


def mqm_files(scheme: Scheme, items: Sequence[Item], judged: Judged) -> Iterator[Made]:
    """`mqm.tsv`: every marked error; a segment without one has a line that says so."""
    segments = [each for each in segments_of(scheme, items, judged) if each.kind == REAL]
    yield Made("mqm.tsv", write_mqm(segments), "marked errors; the span is between <v> and </v>")


def write_mqm(segments: Sequence[Segment]) -> bytes:
    """Segments as a TSV file with a header."""
    return lines([HEADER, *(row for each in segments for row in _rows(each))])


def _rows(each: Segment) -> Iterator[list[str]]:
    ids = [_level(text) for text in (each.system, each.document, each.segment, each.segment, each.judge, each.source)]
    text = _level(each.target)
    for span in each.errors or ():
        marked = text[: span.start] + BEGIN + text[span.start : span.end] + END + text[span.end :]
        yield [*ids, marked, span.category or "Other", span.severity]
    if not each.errors:
        yield [*ids, text, NO_ERROR, NO_ERROR.lower()]


def _level(text: str) -> str:
    """A text whose lines and fields nothing breaks; no character moves."""
    return text.translate(_LEVEL)


def read_mqm(data: bytes, file: str) -> tuple[tuple[Segment, ...], tuple[Problem, ...]]:
    """The segments of such a file, their errors gathered; all that is wrong is reported by line."""
    findings = Findings()
    gathered: dict[tuple[object, ...], tuple[Segment, list[Span]]] = {}
    for line, row in _lines(data, file, findings):
        target, span = _without_marks(row, line, file, findings)
        each = _without_errors(row, target)
        gathered.setdefault((each.pair, each.place, each.system, each.judge), (each, []))[1].extend(
            [span] if span else []
        )
    segments = tuple(replace(each, errors=tuple(spans)) for each, spans in gathered.values())
    return (segments if findings.valid else ()), tuple(findings)


def _without_errors(row: Mapping[str, str], target: str) -> Segment:
    source_lang, _, target_lang = row.get("language_pair", "").partition("-")
    return Segment(
        row["system"],
        row["doc"],
        row["seg_id"],
        row["rater"],
        source=row.get("source", ""),
        target=target,
        source_lang=row.get("source_lang", source_lang),
        target_lang=row.get("target_lang", target_lang),
        domain=row.get("domain") or domain_of(row["doc"]),
    )


def _problem(file: str, line: int | None, message: str, fix: str, found: str = "") -> Problem:
    return Problem(RULE, file, line, None, message, fix, shortened(found), where="judgements")


def _lines(data: bytes, file: str, findings: Findings) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows that have all columns, with their lines."""
    if len(data) > LARGEST:
        findings.add(_problem(file, None, f"{len(data)} bytes; at most {LARGEST} are read", "is it the right file?"))
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        findings.add(_problem(file, None, "invalid UTF-8", "save the file as UTF-8"))
        return
    rows = (line.rstrip("\n").split("\t") for line in io.StringIO(text, newline=None))
    header = [column_name(cell) for cell in next(rows, [])]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        fix = f"write a header with {', '.join(HEADER)}"
        findings.add(_problem(file, 1, f"there is no column {', '.join(missing)}", fix, " ".join(header)))
        return
    for line, cells in enumerate(rows, start=2):
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        elif cells != [""]:
            findings.add(_problem(file, line, f"{len(cells)} cells, the header has {len(header)}", "correct the line"))


def column_name(cell: str) -> str:
    """A column's name as we call it, whichever of the usual names it has.

    >>> [column_name(cell) for cell in ("globalSegId", "lp", "Rater ")]
    ['seg_id', 'language_pair', 'rater']
    """
    name = cell.strip().casefold()
    return ALIASES.get(name, name)


def _without_marks(row: Mapping[str, str], line: int, file: str, findings: Findings) -> tuple[str, Span | None]:
    """The target without marks, and the span between them; a line without an error has none."""
    target, severity, category = row["target"], row["severity"].strip(), row["category"].strip()
    plain = target.replace(BEGIN, "").replace(END, "")
    if severity.casefold() == NO_ERROR.casefold() or category.casefold() == NO_ERROR.casefold():
        return plain, None
    start, end = target.find(BEGIN), target.find(END) - len(BEGIN)
    marks = target.count(BEGIN), target.count(END)
    if marks not in ((0, 0), (1, 1)) or (any(marks) and end < start):  # the error counts all the same (T-24)
        fix = f"write one {BEGIN} before the span and one {END} behind it"
        message = "the marks of this error do not fit together: it counts, but not where it is"
        findings.add(replace(_problem(file, line, message, fix, target), severity="warn", rule="T-24"))
        start, end = 0, len(plain)
    if not severity:
        findings.add(_problem(file, line, "an error has no severity", "write Minor or Major"))
    elif severity.casefold() not in MQM_WEIGHTS and NON_TRANSLATION not in category.casefold():
        known = ", ".join(name.capitalize() for name in MQM_WEIGHTS)
        findings.add(_problem(file, line, "an error has an unknown severity", f"write one of {known}", severity))
    whole = (start, end) if any(marks) else (0, len(plain))
    return plain, Span(*whole, severity.casefold(), category)
