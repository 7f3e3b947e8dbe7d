"""Direct assessment as WMT publishes it: `ad-*-good-raw.csv` and `ad-*-good-stnd.csv`, fields between blanks (T-24).

The type of an item tells what was shown: the output of a system, the same output again (both count, as in the
organizers' own figures), or a reference, sound or made worse, that checks the judge. Documents have no name here:
the segments that were shown under one `rid` belong together.

Y. Graham and others, Can machine translation systems be evaluated by the crowd alone, Natural Language Engineering
23 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from basanite.problems import Findings, Problem, shortened
from basanite.work.segments import CONTROL, REAL, Segment

RULE = "T-24"
NEEDED = ("workerid", "input.src", "input.trg", "sys_id", "type", "sid", "score")
SHOWN, AGAIN, CHECKS = "SYSTEM", "REPEAT", ("REF", "BAD_REF")
RAW = (0.0, 100.0)
DEVIATIONS = (-30.0, 30.0)
"""No judge of fewer than 900 segments can have a score further from the mean."""
TYPICAL_DEVIATION = 5.0

Row = tuple[int, Mapping[str, str]]


def is_wmt_da(header: str) -> bool:
    """Whether a first line is that of a table of direct assessment."""
    return set(NEEDED) <= set(header.casefold().split())


def read_wmt_da(data: bytes, file: str) -> tuple[tuple[Segment, ...], tuple[Problem, ...]]:
    """The judgements of such a table; what cannot be read is reported by line."""
    findings = Findings()
    rows = _rows(data, file, findings)
    documents = _documents(rows)
    sound = [(line, row) for line, row in rows if _sound(line, row, file, findings)]
    segments = tuple(_segment(row, documents) for _, row in sound)
    _check_range(sound, standardised_already(segments, file), file, findings)
    return (segments if findings.valid else ()), tuple(findings)


def standardised_already(segments: Sequence[Segment], file: str) -> bool:
    """Whether scores are standard deviations: by the name of the file, or else as small numbers that are not whole.

    No single score decides, so that a mistyped one is a problem and not another scale.
    """
    for part, answer in (("-stnd", True), ("-raw", False)):
        if part in file.casefold():
            return answer
    sizes = [abs(each.score) for each in segments if each.score is not None]
    return bool(sizes) and median(sizes) <= TYPICAL_DEVIATION and not all(size.is_integer() for size in sizes)


def _check_range(rows: Sequence[Row], deviations: bool, file: str, findings: Findings) -> None:
    least, most = DEVIATIONS if deviations else RAW
    for line, row in rows:
        if not least <= float(row["score"]) <= most:
            what = "a number of standard deviations" if deviations else "points"
            fix = f"write {what} from {least:g} to {most:g}, and -raw (points) or -stnd into the name of the file"
            findings.add(_problem(file, line, f"the score is outside {least:g} to {most:g}", fix, row["score"]))


def _rows(data: bytes, file: str, findings: Findings) -> list[Row]:
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        findings.add(_problem(file, line, "invalid UTF-8", "save the file as UTF-8"))
        return []
    header = lines[0].casefold().split()
    rows: list[Row] = []
    if not is_wmt_da(lines[0]):
        findings.add(_problem(file, 1, "this is not a table of direct assessment", f"name columns {', '.join(NEEDED)}"))
        return []
    for line, text in enumerate(lines[1:], start=2):
        cells = text.split()
        if len(cells) == len(header):
            rows.append((line, dict(zip(header, cells, strict=True))))
        elif cells:
            findings.add(_problem(file, line, f"{len(cells)} fields, the header has {len(header)}", "correct it", text))
    return rows


def _problem(file: str, line: int | None, message: str, fix: str, found: str = "") -> Problem:
    return Problem(RULE, file, line, None, message, fix, shortened(found), where="judgements")


def _sound(line: int, row: Mapping[str, str], file: str, findings: Findings) -> bool:
    if row["type"] not in (SHOWN, AGAIN, *CHECKS):
        fix = f"write {SHOWN}, {AGAIN}, {' or '.join(CHECKS)}"
        findings.add(_problem(file, line, "the type of the item is unknown", fix, row["type"]))
    elif _number(row["score"]) is None:
        findings.add(
            _problem(file, line, "the score is not a number", "write points, or standard deviations", row["score"])
        )
    else:
        return True
    return False


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _documents(rows: Sequence[Row]) -> dict[tuple[str, str, str], str]:
    """The document of each segment of a language pair: what was ever shown under one `rid` is one document."""
    parent: dict[tuple[str, str, str], tuple[str, str, str]] = {}

    def root(key: tuple[str, str, str]) -> tuple[str, str, str]:
        while parent.setdefault(key, key) != key:
            parent[key] = key = parent[parent[key]]
        return key

    shown: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for _, row in rows:
        key = row["input.src"], row["input.trg"], row["sid"]
        first = shown.setdefault((*key[:2], row.get("rid", row["sid"])), key)
        parent[root(key)] = root(first)
    return {key: root(key)[2] for key in list(parent)}


def _segment(row: Mapping[str, str], documents: Mapping[tuple[str, str, str], str]) -> Segment:
    source, target, segment = row["input.src"], row["input.trg"], row["sid"]
    return Segment(
        row["sys_id"],
        documents[source, target, segment],
        segment,
        row["workerid"],
        float(row["score"]),
        kind=CONTROL if row["type"] in CHECKS else REAL,
        source_lang=source,
        target_lang=target,
        repeat=row["type"] == AGAIN,
    )
