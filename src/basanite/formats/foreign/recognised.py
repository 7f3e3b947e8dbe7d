"""What kind of file somebody has, by its beginning, and which command reads it: so that nobody need know (P-32)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from basanite.formats.bounded import OPENING

BEGINNING: Final = 1 << 16
_WMT = re.compile(r"<dataset[\s>]")
_TREC_EVAL = re.compile(r"[A-Za-z0-9][\w.,+-]*\s+\S+\s+[-\w.+]+")

Kind = tuple[str, Callable[[str, str], bool], str]
"""What it is, whether it is that (by ending and beginning), and the command that reads it."""


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines()[:20] if line.strip() and not line.startswith(";;")][:10]


def _of_fields(text: str, number: int, test: Callable[[list[str]], bool]) -> bool:
    rows = [line.split() for line in _lines(text)]
    return bool(rows) and all(len(row) == number and test(row) for row in rows)


KINDS: Final[tuple[Kind, ...]] = (
    ("a test set of WMT", lambda _, text: bool(_WMT.search(text)), "convert wmt {path} --out FOLDER"),
    (
        "a result of Basanite",
        lambda _, text: text.startswith("{") and ('"basanite-result/' in text or '"breakdowns"' in text),
        "compare --result {path} --result OTHER",
    ),
    (
        "scores of sacreBLEU",
        lambda _, text: text.lstrip()[:1] in "[{" and '"score"' in text and '"signature"' in text,
        "convert sacrebleu {path} --out RESULT.json",
    ),
    (
        "an export of Label Studio",
        lambda _, text: text.lstrip()[:1] == "[" and '"annotations"' in text and '"data"' in text,
        "annotation import {path} --from label-studio --config CONFIG --package PACKAGE --out RECORDS.ndjson",
    ),
    ("an STM file", lambda end, _: end == ".stm", "convert stm {path} --out REFERENCE.jsonl"),
    ("a CTM file", lambda end, _: end == ".ctm", "convert ctm {path} --reference FILE.stm --out SUBMISSION.jsonl"),
    (
        "a TREC run",
        lambda _, text: _of_fields(text, 6, lambda row: row[1] == "Q0"),
        "convert run {path} --documents LIST --top N --out SUBMISSION.tgz",
    ),
    (
        "TREC qrels",
        lambda _, text: _of_fields(text, 4, lambda row: row[3].lstrip("-").isdecimal()),
        "convert qrels {path} --documents LIST --out KEY",
    ),
    (
        "what trec_eval printed",
        lambda _, text: bool(_lines(text)) and all(_TREC_EVAL.fullmatch(line.strip()) for line in _lines(text)),
        "convert trec-eval {path} --out RESULT.json",
    ),
    (
        "an export of Appraise",
        lambda end, text: end == ".csv" and any(f",{kind}," in text for kind in ("TGT", "BAD", "CHK")),
        "judge systems {path}",
    ),
    ("a table of MQM", lambda _, text: text.startswith("system\tdoc\t"), "judge systems {path}"),
)


def recognised(path: Path) -> tuple[str, str] | None:
    """What a file or folder of another program is, and the command that reads it; None if that is not known."""
    if path.is_dir():
        command = f"annotation import {path} --from brat --config CONFIG --package PACKAGE --out RECORDS.ndjson"
        return ("a folder of brat", command) if any(path.glob("*.ann")) else None
    text = _beginning(path)
    found = next((kind for kind in KINDS if text and kind[1](path.suffix.lower(), text)), None)
    return None if found is None else (found[0], found[2].replace("{path}", str(path)))


def _beginning(path: Path) -> str:
    """The first text of a regular file; nothing of what is none."""
    try:
        if not path.is_file():
            return ""
        with open(os.open(path, OPENING), "rb") as file:
            data = file.read(BEGINNING)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8-sig", "replace")
