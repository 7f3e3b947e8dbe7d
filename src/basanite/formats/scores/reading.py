"""Which reader a file of scores takes, by its content (D-3)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from basanite.formats.kinds.scores import (
    DEEPEVAL,
    EVERY_EVAL,
    EVERY_EVAL_RESULTS,
    INSPECT_EVAL,
    INSPECT_JSON,
    LM_EVAL,
    LM_EVAL_RESULTS,
    PROMPTFOO,
    PROMPTFOO_LINES,
    TRANSCRIPTS,
)
from basanite.formats.records import Place, open_single, transcript_records
from basanite.formats.scores.inspect_logs import read_eval, read_inspect_json
from basanite.formats.scores.lm_eval import read_run_folder, read_samples
from basanite.formats.scores.log_places import logs_below
from basanite.formats.scores.other_logs import (
    deepeval_trials,
    promptfoo_line_trials,
    promptfoo_trials,
    read_every_eval,
    read_json_log,
)
from basanite.formats.scores.parquet_tables import MAGIC, read_parquet_trials
from basanite.formats.scores.plain_tables import read_plain_table, trials_of_records
from basanite.formats.scores.trials import NAMED, Trials
from basanite.formats.single_file import ZIP, archive_kind, kind_of
from basanite.formats.system_names import system_names
from basanite.problems import Findings

IN_JSON: Final = {PROMPTFOO: promptfoo_trials, PROMPTFOO_LINES: promptfoo_line_trials, DEEPEVAL: deepeval_trials}
"""Who finds the trials of a log that is read whole."""
MEANS: Final = (LM_EVAL_RESULTS, EVERY_EVAL_RESULTS)
"""Files that hold means of systems and no scores of items."""


def read_trials(path: Path, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of a table or log; None with a problem where it cannot be read.

    `score` names the score that counts, where there are several: a column, a scorer, or a metric.
    """
    try:
        return _read(path, place, findings, score)
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError):
        # Logs are deep: that each part of one is what its program writes is not asked at every step.
        message, fix = "this is not as the program writes its logs", "give the log as it was written"
        findings.add(place.problem(path.name, None, message, fix))
        return None


def _read(path: Path, place: Place, findings: Findings, score: str) -> Trials | None:
    if path.is_dir():
        return _read_folder(path, place, findings, score)
    zipped = archive_kind(path) if _begins_with(path, ZIP) else None
    if zipped is INSPECT_EVAL or (zipped is None and path.suffix == ".eval"):
        return read_eval(path, place, findings, score=score)
    if _begins_with(path, MAGIC):
        whole = open_single(path, place, findings)
        trials = None if whole is None else read_parquet_trials(whole, score=score)
        return trials or read_plain_table(path, place, findings, score=score)
    kind = kind_of(path)
    if kind is LM_EVAL:
        return read_samples(path, place, findings, score=score)
    if kind is TRANSCRIPTS:
        records = transcript_records(path, place, findings)
        return None if records is None else trials_of_records(records, place, findings, score=score)
    if kind in MEANS:
        findings.add(place.problem(path.name, None, f"these are {kind.name}", kind.fix))
        return None
    if kind not in (INSPECT_JSON, *IN_JSON, EVERY_EVAL):
        return read_plain_table(path, place, findings, score=score)
    file = open_single(path, place, findings)
    if file is None:
        return None
    if kind is EVERY_EVAL:
        return read_every_eval(file, place, findings, score)
    if kind is INSPECT_JSON:
        return read_inspect_json(file, place, findings, score)
    return read_json_log(file, IN_JSON[kind], place, findings, score)


def _read_folder(path: Path, place: Place, findings: Findings, score: str) -> Trials | None:
    """The trials of the one log in a folder."""
    logs = logs_below(path)
    if logs == [path]:
        return read_run_folder(path, place, findings, score=score)
    if len(logs) == 1:
        return _read(logs[0], place, findings, score)
    if logs:
        shown = ", ".join(str(log.relative_to(path)) for log in logs[:NAMED]) + (" …" if len(logs) > NAMED else "")
        message, fix = f"there are {len(logs)} logs in the folder: {shown}", "give one of them, or compare them"
    else:
        message = "the folder holds no log of inspect_ai and no samples_*.jsonl of lm_eval"
        fix = "give a file, or the folder of a run"
    findings.add(place.problem(path.name, None, message, fix))
    return None


def logs_of_systems(path: Path) -> dict[str, Path]:
    """The logs in a folder that holds several, by the names of their systems; none for anything else."""
    logs = logs_below(path) if path.is_dir() else []
    return dict(zip(system_names(logs), logs, strict=True)) if len(logs) > 1 else {}


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:  # the reader says what is wrong with it
        return False
