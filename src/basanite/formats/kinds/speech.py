"""Kinds of speech: transcripts with times, by id, and what is no transcript."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.kinds.kind import NUMBER, Beginning, Kind, every_row, matches

_TRN = re.compile(r".*\(([^\s()]+)\)")
_ID_SIGN = re.compile(r"[\d_-]")
_MOST = 0.9
"""The share of lines with an id from which on the others are lines of the same kind with a fault."""
_IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[A-Za-z_-])[\w.:/@+-]*\w|\w+_\w+")
_RTTM = ("SPEAKER", "LEXEME", "SPKR-INFO", "SEGMENT", "NON-LEX", "NON-SPEECH", "NOSCORE", "NO_RT_METADATA", "FILLER")

_SUBTITLES = re.compile(r"\s*(?:WEBVTT\b|\d+\s*\n\s*(?:\d+:)?\d\d:\d\d[.,]\d{3}\s+-->\s)")

_has_ctm_rows = every_row(
    lambda row: 5 <= len(row) <= 8 and all(cell == "*" or NUMBER.fullmatch(cell) for cell in row[2:4])
)
_has_stm_rows = every_row(
    lambda row: len(row) >= 5 and all(map(NUMBER.fullmatch, row[3:5])) and 0 <= float(row[3]) <= float(row[4])
)


def _is_stm(start: Beginning) -> bool:
    """Two times after three names; where a speaker's name is a number too, only the ending tells it from a CTM file."""
    return _has_stm_rows(start) and (start.ending == ".stm" or not _has_ctm_rows(start))


def _is_trn(start: Beginning) -> bool:
    """Lines end in an id of their own in parentheses; where all are such as no word is, a faulty line hides nothing."""
    found = [_TRN.fullmatch(line.strip()) for line in start.lines]
    ids = [one[1] for one in found if one is not None]
    if start.ending == ".trn":
        return 2 * len(ids) >= max(len(found), 1)
    if len(ids) < 2:
        return False
    whole = len(ids) == len(found) and len(set(ids)) == len(ids)
    return whole or (len(ids) >= _MOST * len(found) and all(map(_ID_SIGN.search, ids)))


def _is_kaldi(start: Beginning) -> bool:
    """Lines begin with a name of their own, such as no sentence begins with."""
    firsts = [row[0] for row in start.rows]
    fitting = [name for name in firsts if _IDENTIFIER.fullmatch(name)]
    return len(firsts) > 1 and min(len(fitting), len(set(fitting))) >= _MOST * len(firsts)


ID_TEXT: Final = 'write one JSON object per line: {"id": "utt1", "text": "the cat sat"}'
STM: Final = Kind(
    "an STM file",
    _is_stm,
    (".stm",),
    "the task speech reads it as a reference",
    commands=("score speech {path} HYP.ctm", "convert stm {path} --out REFERENCE.jsonl"),
    sign="the fourth and fifth field of each line are two times in order",
    record="segment",
    fields=("recording", "channel", "speaker", "start", "end", "labels and words"),
)
CTM: Final = Kind(
    "a CTM file",
    _has_ctm_rows,
    (".ctm",),
    "the task speech reads it as a submission, beside an STM file",
    commands=(
        "score speech REF.stm {path}",
        "convert ctm {path} --reference FILE.stm --out SUBMISSION.jsonl",
    ),
    sign="the third and fourth of five to eight fields are a time and a duration",
    record="word",
    fields=("recording", "channel", "start", "duration", "word", "confidence"),
)
RTTM: Final = Kind(
    "RTTM",
    every_row(lambda row: row[0] in _RTTM and len(row) in (8, 9, 10)),
    (".rttm",),
    f"no task reads it; for words, {ID_TEXT}, or give STM and CTM files",
    sign="each line begins with `SPEAKER`, `LEXEME` or another type of RTTM and has eight to ten fields",
    record="event",
    fields=("type", "recording", "channel", "start", "duration", "orthography", "subtype", "speaker", "confidence"),
)
SUBTITLES: Final = Kind(
    "subtitles (SubRip or WebVTT)",
    lambda start: bool(_SUBTITLES.match(start.text)),
    (".srt", ".vtt"),
    f"no task reads them; for words, {ID_TEXT}, or give STM and CTM files",
    sign="the text begins with `WEBVTT`, or with a number and a line with `-->` between two times",
    record="subtitle",
    count=matches(r"^(?:\d+:)?\d\d:\d\d[.,]\d{3}\s+-->\s"),
)
TEXT_GRID: Final = Kind(
    "a TextGrid of Praat",
    lambda start: start.text.startswith('File type = "ooTextFile') and "TextGrid" in start.text,
    (".textgrid",),
    f"no task reads it; for words, {ID_TEXT}, or give STM and CTM files",
    sign='a line `File type = "ooTextFile"`, and the word `TextGrid`',
    record="line",
)


def _is_glm(start: Beginning) -> bool:
    """Rules alone, with a header or in brackets: a text of arrows would have neither."""
    lines = [line for line in start.lines if not line.startswith("#")]
    marked = any(line[0] in "*[" for line in lines)
    return marked and "=>" in start.text and all("=>" in line or line[0] == "*" for line in lines)


GLM: Final = Kind(
    "a mapping of words (GLM)",
    _is_glm,
    (".glm",),
    "the task speech follows it as its setting `mapping`",
    commands=("score speech REF HYP --set mapping={path}",),
    sign="each line holds `=>`, in brackets or below a header that begins with `*`",
    record="rule",
    count=matches(r"^(?![;#*]).*=>"),
)
TRN: Final = Kind(
    "TRN (an id in parentheses ends each line)",
    _is_trn,
    (".trn",),
    "the task speech reads it, as a reference and as a submission",
    commands=("score speech {path} HYP.trn", "score speech REF.trn {path}"),
    sign="each line ends in an id of its own in parentheses",
    record="utterance",
)
KALDI: Final = Kind(
    "a Kaldi text file (an id begins each line)",
    _is_kaldi,
    (),
    "the task speech reads it, as a reference and as a submission",
    commands=("score speech {path} HYP", "score speech REF {path}"),
    sign="each line begins with an id of its own that holds a digit or underscore",
    record="utterance",
)
