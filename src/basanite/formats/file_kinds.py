"""What a file is, told from its first bytes and records; its ending is only a hint (D-3, D-4).

A kind is found only where the content leaves no doubt. What no kind recognizes is left to the reader, which knows
whether it takes plain text or tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

BEGINNING: Final = 1 << 16
"""Bytes of a file that are looked at."""
RECORDS: Final = 50
"""Lines that are looked at; all of them must agree."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TRN = re.compile(r"[^(].*\(([^\s()]+)\)|\(([^\s()]+)\)")
_IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[A-Za-z_-])[\w.:/@+-]*\w|\w+_\w+")
_JSON_LIST = re.compile(r"\[\s*[\[{\"]")
_RTTM = ("SPEAKER", "LEXEME", "SPKR-INFO", "SEGMENT", "NON-LEX", "NON-SPEECH", "NOSCORE", "NO_RT_METADATA", "FILLER")
_TREC_EVAL = re.compile(r"(?:runid|num_q|num_ret|num_rel|map|gm_map|Rprec|bpref|recip_rank|P_\d+|ndcg\w*)\s+\S+\s+\S+")
_SRILM = re.compile(r"file .*: \d+ sentences, \d+ words, \d+ OOVs|\tp\( .* \)\s+= \[\w+\] \S+ \[ \S+ \]", re.MULTILINE)


@dataclass(frozen=True)
class Beginning:
    """The start of a file as text."""

    text: str
    ending: str = ""
    """In lower case with its dot; "" where the name has none."""
    whole: bool = True
    """Whether the file has no more than this."""

    @property
    def lines(self) -> list[str]:
        """The first lines that hold something, without comments of NIST's tools; a line that is cut off is no line."""
        found = self.text.splitlines()
        if not self.whole and len(found) > 1:
            found.pop()
        return [line for line in found if line.strip() and not line.lstrip().startswith(";;")][:RECORDS]

    @property
    def rows(self) -> list[list[str]]:
        """The fields of these lines, as white space separates them."""
        return [line.split() for line in self.lines]


@dataclass(frozen=True)
class Kind:
    """One kind of file: its name in a sentence, how it is told, and what reads it."""

    name: str
    test: Callable[[Beginning], bool]
    endings: tuple[str, ...] = ()
    fix: str = ""
    """What to do with it where something else is wanted."""
    hint: str = ""
    """What to type; only commands say it (D-8)."""


def _is_json_lines(start: Beginning) -> bool:
    """One object a line: the first can be read, or is cut off here, or is broken and another one follows it."""
    first, _, rest = start.text.lstrip().partition("\n")
    if not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        cut_off = not rest and not start.whole
        return cut_off or rest.lstrip().startswith("{") or start.ending in (".jsonl", ".ndjson")


def _is_json(start: Beginning) -> bool:
    text = start.text.lstrip()
    return bool(_JSON_LIST.match(text)) or (text.startswith("{") and text[1:].lstrip()[:1] in ('"', "}"))


def _is_coco(start: Beginning) -> bool:
    text = start.text.lstrip()
    return bool(_JSON_LIST.match(text) and '"image_id"' in text) or (text.startswith("{") and '"annotations"' in text)


def _is_wmt(start: Beginning) -> bool:
    return bool(re.search(r"<dataset[\s>]|<(?:srcset|refset|tstset|mteval)[\s>]", start.text))


def _is_xml(start: Beginning) -> bool:
    return bool(re.match(r"<(?:\?xml|!doctype|html|[a-z]+>)", start.text.lstrip(), re.IGNORECASE))


def _is_conllu(start: Beginning) -> bool:
    rows = [line.split("\t") for line in start.lines if not line.startswith("#")]
    return bool(rows) and all(len(row) == 10 and re.fullmatch(r"\d+([-.]\d+)?", row[0]) for row in rows)


def _is_rttm(start: Beginning) -> bool:
    rows = start.rows
    return bool(rows) and all(row[0] in _RTTM and len(row) in (8, 9, 10) for row in rows)


def _all_rows(start: Beginning, test: Callable[[Sequence[str]], bool]) -> bool:
    return bool(start.rows) and all(map(test, start.rows))


def _is_time(cell: str) -> bool:
    return cell == "*" or bool(_NUMBER.fullmatch(cell))


def _is_span(start: str, end: str) -> bool:
    return bool(_NUMBER.fullmatch(start) and _NUMBER.fullmatch(end)) and 0 <= float(start) <= float(end)


def _is_stm(start: Beginning) -> bool:
    """Two times after three names; where a speaker's name is a number too, only the ending tells it from a CTM file."""
    timed = _all_rows(start, lambda row: len(row) >= 5 and _is_span(row[3], row[4]))
    return timed and (start.ending == ".stm" or not _has_ctm_rows(start))


def _is_ctm(start: Beginning) -> bool:
    return _has_ctm_rows(start)


def _has_ctm_rows(start: Beginning) -> bool:
    return _all_rows(start, lambda row: 5 <= len(row) <= 8 and all(map(_is_time, row[2:4])))


def _is_trn(start: Beginning) -> bool:
    """Every line ends in an id of its own in parentheses."""
    found = [_TRN.fullmatch(line.strip()) for line in start.lines]
    ids = [one[1] or one[2] for one in found if one is not None]
    enough = len(ids) > 1 or (bool(ids) and start.ending == ".trn")
    return enough and len(ids) == len(found) and len(set(ids)) == len(ids)


def _is_kaldi(start: Beginning) -> bool:
    """Every line begins with a name of its own, such as no sentence begins with."""
    firsts = [row[0] for row in start.rows]
    return len(firsts) > 1 and len(set(firsts)) == len(firsts) and all(map(_IDENTIFIER.fullmatch, firsts))


def _is_run(start: Beginning) -> bool:
    return _all_rows(start, lambda row: len(row) == 6 and row[1] == "Q0")


def _is_qrels(start: Beginning) -> bool:
    return _all_rows(start, lambda row: len(row) == 4 and all(re.fullmatch(r"-?\d+", row[at]) for at in (1, 3)))


def _is_trec_eval(start: Beginning) -> bool:
    return bool(start.lines) and all(_TREC_EVAL.fullmatch(line.strip()) for line in start.lines)


def _is_language_model(start: Beginning) -> bool:
    return start.text.lstrip().startswith("\\data\\") or bool(_SRILM.search(start.text))


ID_TEXT: Final = 'write one JSON object a line: {"id": "utt1", "text": "the cat sat"}'
LOG_PROBABILITIES: Final = (
    'the task lm reads log-probabilities: write one JSON object a line: {"id": "1", "logprobs": [-1.5, -0.2]}'
)
JSON_LINES: Final = Kind("JSON lines", _is_json_lines, (".jsonl", ".ndjson"))
JSON: Final = Kind(
    "one JSON value",
    _is_json,
    (".json",),
    'write one object a line, like {"id": "1", …}',
    "`jq -c .[]` makes lines of a list",
)
COCO: Final = Kind("COCO captions", _is_coco, (".json",), "the task captions reads them")
STM: Final = Kind("an STM file", _is_stm, (".stm",), "the task speech reads it as a reference")
CTM: Final = Kind("a CTM file", _is_ctm, (".ctm",), "the task speech reads it as a submission, beside an STM file")
RUN: Final = Kind("a TREC run", _is_run, (".run",), "the task ranking reads it as a submission")
QRELS: Final = Kind("TREC qrels", _is_qrels, (".qrels",), "the task ranking reads them as a reference")
WMT: Final = Kind(
    "a test set of WMT in XML",
    _is_wmt,
    (),
    "write references and systems as JSON lines, or one segment a line",
    hint="`basanite convert wmt` makes both",
)
TREC_EVAL: Final = Kind(
    "what trec_eval printed",
    _is_trec_eval,
    (),
    "give the run itself",
    hint="`basanite convert trec-eval` makes a result of it",
)
PARQUET: Final = Kind("Parquet", lambda start: False, (".parquet", ".pq"))
TABLE: Final = Kind("a table", lambda start: False, (".csv", ".tsv", ".tab"))
PLAIN: Final = Kind("plain text", lambda start: False, (".txt",))

TEXTS: Final = (
    COCO,
    JSON_LINES,
    JSON,
    WMT,
    Kind("XML", _is_xml, (".xml",), "write the texts as JSON lines, or one a line"),
    Kind("CoNLL-U", _is_conllu, (".conllu",), "no task reads dependencies; the task parsing reads bracketed trees"),
    Kind("RTTM", _is_rttm, (".rttm",), f"no task reads it; for words, {ID_TEXT}, or give STM and CTM files"),
    RUN,
    QRELS,
    TREC_EVAL,
    STM,
    CTM,
    Kind("TRN (an id in parentheses ends each line)", _is_trn, (".trn",), f"{ID_TEXT}, or give STM and CTM files"),
    Kind("a Kaldi text file (an id begins each line)", _is_kaldi, (), ID_TEXT),
    Kind("a language model or what one printed", _is_language_model, (".arpa",), LOG_PROBABILITIES),
)
"""Kinds of text in the order in which they are tried: the more exact first."""


def text_kind(start: Beginning) -> Kind | None:
    """The kind of a text that leaves no doubt; None for plain text, tables and whatever else."""
    return next((kind for kind in TEXTS if kind.test(start)), None)


def ending_kind(ending: str) -> Kind | None:
    """The kind that an ending promises."""
    return next((kind for kind in (*TEXTS, PARQUET, TABLE, PLAIN) if ending in kind.endings), None)


def has_header(start: Beginning, name: str) -> bool:
    """Whether a text is a table whose header line names this column, with as many cells in the next line.

    >>> has_header(Beginning("id,text\\n1,hello\\n"), "id"), has_header(Beginning("id, please\\nhello\\n"), "id")
    (True, False)
    """
    sign = "\t" if "\t" in start.text.partition("\n")[0] else ","
    rows = [line.split(sign) for line in start.lines[:2]]
    names = [cell.strip().strip('"') for cell in rows[0]] if rows else []
    return name in names and len(names) > 1 and all(len(row) >= len(names) for row in rows[1:])


def other_ending(kind: Kind, ending: str) -> bool:
    """Whether a file's ending promises another kind than its content is."""
    return ending_kind(ending) is not None and ending not in kind.endings


UTF_16: Final = "text in UTF-16"
MAGIC: Final = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"(\xb5/\xfd": "Zstandard",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "HDF5",
    b"%PDF": "PDF",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
}


def magic_name(data: bytes) -> str:
    """What a file is by its first bytes; "" where they say nothing."""
    return next((name for magic, name in MAGIC.items() if data.startswith(magic)), "")


def is_binary(start: Beginning) -> bool:
    """Whether most lines hold what no text does: bytes that are 0 or no UTF-8."""
    lines = start.text.split("\n")
    strange = sum("\0" in line or "\ufffd" in line for line in lines)
    return "\0" in start.text and 2 * strange > len(lines)
