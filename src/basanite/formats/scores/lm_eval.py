"""Samples of lm-evaluation-harness: one `samples_*.jsonl`, or the folder of a run with its results.

A line has the scores of one document under one filter. The folder of a run has a file for each task, and
`results_*.json`, which says the versions of the tasks and the prompts' templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.scores.log_rows import LogAbout, LoggedTrial, parse_log, trials_of_log
from basanite.formats.scores.trials import Trials
from basanite.problems import Findings, shortened

SAMPLES: Final = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz)?")
RESULTS: Final = re.compile(r"results_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.json")
TEMPLATE: Final = ("description", "doc_to_text", "target_delimiter", "fewshot_delimiter", "num_fewshot")
"""What of a task's configuration makes the prompt."""
FIRST: Final = "first"
"""The name of the score that is the first one of each task."""
WRITE: Final = "write it again: lm_eval with --log_samples and --output_path"


def read_samples(path: Path, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of one file of samples."""
    read = _read_file(path, place, findings)
    if read is None:
        return None
    data, rows = read
    named = SAMPLES.fullmatch(path.name)
    facts = {"task": named.group("task")} if named else {}
    about = LogAbout(path.name, digest_of([(path.name, data)]), facts)
    return _trials_with_scores(list(_trials(rows, "")), about, place, findings, score)


def is_run_folder(path: Path) -> bool:
    """Whether a folder holds samples of lm-evaluation-harness."""
    return path.is_dir() and any(SAMPLES.fullmatch(one.name) for one in path.iterdir())


def read_run_folder(path: Path, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of all tasks of one run; items are called TASK/DOCUMENT where there are several tasks."""
    files = {file: found for file in sorted(path.iterdir()) if (found := SAMPLES.fullmatch(file.name))}
    tasks = [found.group("task") for found in files.values()]
    again = next((task for task in tasks if tasks.count(task) > 1), None)
    if again is not None:
        dates = ", ".join(found.group("date") for found in files.values() if found.group("task") == again)
        message = f"there are {tasks.count(again)} runs of {shortened(again)} in the folder: {shortened(dates)}"
        findings.add(
            place.problem(path.name, None, message, "leave one run of each task in it, or give one samples_*.jsonl")
        )
        return None
    rows: list[LoggedTrial] = []
    digests: list[tuple[str, bytes]] = []
    for file, found in files.items():
        read = _read_file(file, place, findings)
        if read is None:
            return None
        digests.append((file.name, read[0]))
        rows += _trials(read[1], found.group("task") if len(files) > 1 else "")
    facts = {"task": ", ".join(tasks)}
    for results in sorted(one for one in path.iterdir() if RESULTS.fullmatch(one.name)):
        date = results.name.removeprefix("results_").removesuffix(".json")
        of_run = [found.group("task") for found in files.values() if found.group("date") == date]
        whole = open_single(results, place, findings) if of_run else None
        if whole is not None:
            digests.append((results.name, whole.raw))
            for name, fact in _facts(whole.data, of_run):
                facts[name] = f"{facts[name]}, {fact}" if name in facts else fact
    notes = () if score else _common_score(rows)
    about = LogAbout(path.name, digest_of(digests), facts, headline=FIRST if notes else "", notes=notes)
    return _trials_with_scores(rows, about, place, findings, score)


def _trials_with_scores(
    rows: list[LoggedTrial], about: LogAbout, place: Place, findings: Findings, score: str
) -> Trials | None:
    """The trials of some documents; refused in one sentence where no document has a score of its own."""
    if rows and all(row.fault for row in rows):
        fix = "run tasks whose metrics are means over documents; text under a language model is what the task lm scores"
        findings.add(place.problem(about.file, rows[0].line, f"no document has a score: {rows[0].fault}", fix))
        return None
    return trials_of_log(rows, about, place, findings, score=score)


def _common_score(rows: Sequence[LoggedTrial]) -> tuple[str, ...]:
    """Where tasks have no score in common, each gives its first one; a note says which."""
    common = set(rows[0].scores) if rows else set()
    for row in rows:
        common &= set(row.scores)
    if common or not all(row.scores for row in rows):
        return ()
    chosen: dict[str, str] = {}
    for row in rows:
        first = chosen.setdefault(str(row.about.get("task")), next(iter(row.scores)))
        row.scores[FIRST] = row.scores.get(first)
    told = ", ".join(f"{name} of {task}" for task, name in chosen.items())
    return (f"tasks have no score in common, so the first score of each task counts: {told}",)


def _facts(data: bytes, tasks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The versions of the tasks and what makes their prompts, as results tell them."""
    try:
        results = parse_log(data)
        versions, configs = results.get("versions") or {}, results.get("configs") or {}
    except (ValueError, AttributeError):
        return
    yield "version", ", ".join(f"{task} {versions.get(task)}" for task in tasks)
    prompts = [f"{task} {name}: {configs.get(task, {}).get(name)}" for task in tasks for name in TEMPLATE]
    yield "prompt", "\n".join(prompts)


def _read_file(
    path: Path, place: Place, findings: Findings
) -> tuple[bytes, list[tuple[int, Mapping[str, Any]]]] | None:
    file = open_single(path, place, findings)
    if file is None:
        return None
    rows: list[tuple[int, Mapping[str, Any]]] = []
    lines = file.data.split(b"\n")
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            try:
                found = parse_log(raw)
            except ValueError:
                found = None
            if not isinstance(found, dict) or "doc_id" not in found:
                last = number == len(lines)
                what = "the last line of the file is truncated" if last else "this is not a line of samples"
                findings.add(place.problem(path.name, number, what, WRITE, raw[:80]))
            else:
                rows.append((number, found))
    return file.raw, rows


def _trials(rows: Sequence[tuple[int, Mapping[str, Any]]], task: str) -> Iterator[LoggedTrial]:
    """One trial for each document; the filters of one document are scores of their own, METRIC,FILTER."""
    filters = {str(row.get("filter", "none")) for _, row in rows}
    seen: dict[str, LoggedTrial] = {}
    repeats: dict[tuple[str, str], int] = {}
    for line, row in rows:
        name, kind = f"{task}/{row['doc_id']}" if task else str(row["doc_id"]), str(row.get("filter", "none"))
        again = repeats[name, kind] = repeats.get((name, kind), 0) + 1
        scores = dict(_scores(row, f",{kind}" if len(filters) > 1 else ""))
        key = f"{name}\0{again}"
        if key in seen:
            seen[key].scores.update(scores)
            continue
        about = {"task": task} if task else {}
        asked = str(row.get("prompt_hash") or row.get("arguments") or "")
        seen[key] = LoggedTrial(name, scores, again, about=about, asked=asked, fault=_fault(row, scores), line=line)
    yield from seen.values()


def _fault(row: Mapping[str, Any], scores: Mapping[str, Any]) -> str:
    """Why a line has no score: some metrics, such as perplexity, have a value of the whole set alone."""
    named = row.get("metrics")
    if scores or not isinstance(named, list) or not named:
        return ""
    return f"{shortened(', '.join(map(str, named)))} has a value of the whole set alone"


def _scores(row: Mapping[str, Any], ending: str) -> Iterator[tuple[str, Any]]:
    """The metrics of a line that are numbers of its own."""
    named = row.get("metrics")
    names = named if isinstance(named, list) else [name for name, cell in row.items() if isinstance(cell, float)]
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float):
            yield f"{name}{ending}", value
