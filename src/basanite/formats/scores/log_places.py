"""Where logs are found and what their systems are called: folders that programs write, and names that they choose.

Programs name logs by the time and the task. Such a name says nothing in a table of systems, so a log that still has it
is called after its model: inspect_ai writes the model into the log, lm-evaluation-harness names the folder after it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from basanite.errors import BasaniteError
from basanite.formats.bounded import read_bounded
from basanite.formats.kinds.scores import INSPECT_JSON
from basanite.formats.records import LARGEST
from basanite.formats.scores.lm_eval import RESULTS, SAMPLES, is_run_folder
from basanite.formats.scores.log_rows import parse_log
from basanite.formats.scores.zip_members import ZipError, ZipMembers
from basanite.formats.single_file import kind_of

TIMED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?([+-]\d\d-\d\d)?_.+\.(eval|json)")
"""What inspect_ai calls a log: time, task and a random id."""
START: Final = "_journal/start.json"
MODEL: Final = re.compile(rb'"model":\s*"([^"\\]+)"')
HEAD: Final = 4 << 20
"""Bytes of a log in JSON among which its model stands: the names of its samples come before it."""
NO_MODEL: Final = "none/none"
"""What inspect_ai writes for a run without a model."""
DEPTH: Final = 2
MOST_LOGS: Final = 1000


def logs_below(folder: Path) -> list[Path]:
    """The logs of inspect_ai and the runs of lm-evaluation-harness in a folder, or in folders of it."""
    if is_run_folder(folder):
        return [folder]
    found: list[Path] = []
    level = [folder]
    for _ in range(DEPTH):
        entries = sorted(entry for one in level for entry in one.iterdir())
        level = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
        found += [entry for entry in entries if _is_log(entry)]
        level = [entry for entry in level if entry not in found]
    return found[:MOST_LOGS]


def _is_log(path: Path) -> bool:
    if path.is_dir():
        return is_run_folder(path)
    return path.suffix == ".eval" or (path.suffix == ".json" and kind_of(path) is INSPECT_JSON)


def model_of_log(path: Path) -> str:
    """The model of a log that still has the name its program gave it; "" for any other file.

    >>> model_of_log(Path("runs/EleutherAI__pythia-160m/samples_arc_2026-01-02T03-04-05.678901.jsonl"))
    'EleutherAI__pythia-160m'
    >>> model_of_log(Path("Alpha.eval"))
    ''
    """
    if SAMPLES.fullmatch(path.name) or RESULTS.fullmatch(path.name):
        return path.absolute().parent.name
    if not TIMED.fullmatch(path.name) or not path.is_file():
        return ""
    try:
        name = _model_of_archive(path) if path.suffix == ".eval" else _model_of_text(path)
    except (ZipError, BasaniteError, ValueError, LookupError, TypeError, OSError):
        return ""  # what is wrong with the log is said where it is read
    return "" if name == NO_MODEL or not name.isprintable() else name


def _model_of_archive(path: Path) -> str:
    return str(parse_log(ZipMembers(read_bounded(path, LARGEST)).read(START))["eval"]["model"])


def _model_of_text(path: Path) -> str:
    with path.open("rb") as file:
        found = MODEL.search(file.read(HEAD))
    return found.group(1).decode() if found else ""
