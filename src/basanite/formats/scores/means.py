"""Published means: tables of systems and their scores without items, and results of lm-evaluation-harness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from basanite.formats.items import lacks_columns
from basanite.formats.kinds.scores import EVERY_EVAL_RESULTS, LM_EVAL_RESULTS
from basanite.formats.records import Place, Records, open_single, read_records
from basanite.formats.scores.log_rows import parse_log
from basanite.formats.scores.plain_tables import NAMES, cell_text, number_of_cell
from basanite.formats.single_file import kind_of
from basanite.problems import Findings

TABLE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "task": ("task", "benchmark", "dataset"),
    "items": ("items", "n", "samples", "num_samples"),
    "score": ("score", "mean", "accuracy", "value"),
}


class Mean(NamedTuple):
    """The mean of one system on one task, and over how many items, if that is said."""

    system: str
    task: str
    value: float
    items: int | None


def holds_means(path: Path) -> bool:
    """Whether a file has means of systems and no scores of items."""
    if path.is_dir():
        return False
    kind = kind_of(path)
    if kind in (LM_EVAL_RESULTS, EVERY_EVAL_RESULTS):
        return True
    records = read_records(path, Place("submission", "Y-7"), Findings(), id_name="system")
    return (
        records is not None
        and bool(_name(records, NAMES["system"]))
        and not any(_name(records, (name,)) for name in NAMES["item"])
    )


def read_means(path: Path, system: str, place: Place, findings: Findings) -> list[Mean]:
    """The means of a file; `system` is what the one system of a file of results is called."""
    kind = kind_of(path)
    if kind in (LM_EVAL_RESULTS, EVERY_EVAL_RESULTS):
        of_results = _results if kind is LM_EVAL_RESULTS else _every_eval
        return list(_means_in_json(path, partial(of_results, system=system), place, findings))
    records = read_records(path, place, findings, id_name="system")
    return [] if records is None else list(_table(records, place, findings))


def _name(records: Records, names: tuple[str, ...]) -> str:
    known = {name.strip().lower(): name for name in records.columns}
    return next((known[name] for name in names if name in known), "")


def _table(records: Records, place: Place, findings: Findings) -> Iterator[Mean]:
    system, task = _name(records, NAMES["system"]), _name(records, TABLE_NAMES["task"])
    score, items = _name(records, TABLE_NAMES["score"]), _name(records, TABLE_NAMES["items"])
    if lacks_columns(records, (system or "system", score or "score"), place, findings):
        return
    for row, line in enumerate(records.lines):
        value = number_of_cell(records.columns[score][row])
        count = number_of_cell(records.columns[items][row]) if items else math.nan
        name = cell_text(records.columns[system][row])
        if value is None or not math.isfinite(value) or not name:
            message, fix = "the system or its score is missing or not a number", "write a name and a number like 0.25"
            findings.add(place.problem(records.file, line, message, fix, records.columns[score][row]))
        elif count is None or (not math.isnan(count) and not (count >= 1 and float(count).is_integer())):
            message, fix = "the number of items is not a whole number", "write how many items the mean is over"
            findings.add(place.problem(records.file, line, message, fix, records.columns[items][row]))
        else:
            known = None if math.isnan(count) else int(count)
            yield Mean(name, cell_text(records.columns[task][row]) if task else "", value, known)


def _means_in_json(
    path: Path, means: Callable[[Any], Iterator[Mean]], place: Place, findings: Findings
) -> Iterator[Mean]:
    """The means of a file of results in JSON, as `means` finds them."""
    file = open_single(path, place, findings)
    if file is None:
        return
    try:
        yield from list(means(parse_log(file.data)))
    except (ValueError, AttributeError, KeyError, TypeError):
        message, fix = "the results are truncated or damaged", "write them again"
        findings.add(place.problem(path.name, None, message, fix))


def _results(found: Any, *, system: str) -> Iterator[Mean]:
    """Each task's first metric."""
    results, samples = found["results"], found.get("n-samples") or {}
    for task, values in results.items():
        value = _first_metric(values)
        if value is not None:
            count = _part(samples, task).get("effective") or _part(results, task).get("sample_len")
            yield Mean(system, str(task), value, count if isinstance(count, int) and count > 0 else None)


def _every_eval(found: Any, *, system: str) -> Iterator[Mean]:
    """Each evaluation of the model that the file names."""
    name = found["model_info"].get("name") or system
    for one in found["evaluation_results"]:
        details = one["score_details"]
        count = _part(details, "uncertainty").get("num_samples")
        known = count if isinstance(count, int) and count > 0 else None
        yield Mean(str(name), str(one["evaluation_name"]), float(details["score"]), known)


def _part(found: Any, name: str) -> Mapping[str, Any]:
    part = found.get(name) if isinstance(found, dict) else None
    return part if isinstance(part, dict) else {}


def _first_metric(values: Any) -> float | None:
    for name, value in values.items() if isinstance(values, dict) else ():
        if "," in name and "stderr" not in name and isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None
