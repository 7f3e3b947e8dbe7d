"""What kind of file somebody has, by its beginning, and which command reads it: so that nobody need know (P-32)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from basanite.formats import file_kinds
from basanite.formats.file_kinds import Beginning
from basanite.formats.single_file import beginning_of

_TREC_EVAL = re.compile(r"[A-Za-z0-9][\w.,+-]*\s+\S+\s+[-\w.+]+")

_OWN = re.compile(r'"basanite-result/|"breakdowns"')

Kind = tuple[str, Callable[[Beginning], bool], str]
"""What it is, whether it is that, and the command that reads it."""


def _begins(start: Beginning, signs: str, *words: str) -> bool:
    return start.text.lstrip()[:1] in signs and all(f'"{word}"' in start.text for word in words)


KINDS: Final[tuple[Kind, ...]] = (
    ("a test set of WMT", file_kinds.WMT.test, "convert wmt {path} --out FOLDER"),
    (
        "a result of Basanite",
        lambda start: (
            start.text.startswith("{") and ('"basanite-result/' in start.text or '"breakdowns"' in start.text)
        ),
        "compare --result {path} --result OTHER",
    ),
    (
        "scores of sacreBLEU",
        lambda start: _begins(start, "[{", "score", "signature"),
        "convert sacrebleu {path} --out RESULT.json",
    ),
    (
        "an export of Label Studio",
        lambda start: _begins(start, "[", "annotations", "data"),
        "annotation import {path} --from label-studio --config CONFIG --package PACKAGE --out RECORDS.ndjson",
    ),
    ("a TREC run", file_kinds.RUN.test, "convert run {path} --documents LIST --top N --out SUBMISSION.tgz"),
    ("TREC qrels", file_kinds.QRELS.test, "convert qrels {path} --documents LIST --out KEY"),
    ("an STM file", file_kinds.STM.test, "convert stm {path} --out REFERENCE.jsonl"),
    ("a CTM file", file_kinds.CTM.test, "convert ctm {path} --reference FILE.stm --out SUBMISSION.jsonl"),
    (
        "what trec_eval printed",
        lambda start: bool(start.lines) and all(_TREC_EVAL.fullmatch(line.strip()) for line in start.lines[:10]),
        "convert trec-eval {path} --out RESULT.json",
    ),
    (
        "an export of Appraise",
        lambda start: start.ending == ".csv" and any(f",{kind}," in start.text for kind in ("TGT", "BAD", "CHK")),
        "judge systems {path}",
    ),
    (
        "a table of direct assessment",
        lambda start: start.text.startswith(("HITId WorkerId ", "HITId\tWorkerId\t")),
        "judge systems {path}",
    ),
    ("a table of MQM", lambda start: start.text.startswith("system\tdoc\t"), "judge systems {path}"),
)


def recognised(path: Path) -> tuple[str, str] | None:
    """What a file or folder of another program is, and the command that reads it; None if that is not known."""
    if path.is_dir():
        command = f"annotation import {path} --from brat --config CONFIG --package PACKAGE --out RECORDS.ndjson"
        return ("a folder of brat", command) if any(path.glob("*.ann")) else None
    start = beginning_of(path)
    found = next((kind for kind in KINDS if start.text and "\0" not in start.text and kind[1](start)), None)
    return None if found is None else (found[0], found[2].replace("{path}", str(path)))
