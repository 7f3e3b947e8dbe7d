"""Logs of inspect_ai: `.eval` archives and `.json` files.

An archive has a header, a summary of every sample, and the samples themselves with all their messages. Scores, errors,
times and tokens are in the summaries, so the samples are read only where there are no summaries, as in the log of a run
that was killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from basanite.formats.bounded import read_bounded
from basanite.formats.records import LARGEST, Place, digest_of
from basanite.formats.scores.log_rows import LogAbout, LoggedTrial, parse_log, trials_of_log
from basanite.formats.scores.trials import Trials
from basanite.formats.scores.zip_members import ZipError, ZipMembers
from basanite.formats.single_file import SingleFile
from basanite.problems import Findings

HEADER, START, SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
JOURNAL: Final = re.compile(r"_journal/summaries/(\d+)\.json")
SAMPLE: Final = re.compile(r"samples/.+\.json")
PROMPTS: Final = ("template", "prompt", "message", "instruction", "suffix", "prefix")
"""Parts of the names of a solver's parameters that hold what a model is told."""
CUT: Final = "copy the log again, or repair it: inspect log recover LOG"
SHOWN: Final = 2000


def read_eval(path: Path, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of a `.eval` archive."""
    raw = read_bounded(path, LARGEST)
    archive = ZipMembers(raw)
    try:
        header, samples, notes = _archive_parts(archive)
    except (ZipError, ValueError, KeyError) as error:
        findings.add(place.problem(path.name, None, f"the log of inspect_ai cannot be read: {error}", CUT))
        return None
    about = LogAbout(path.name, digest_of([(path.name, raw)]), notes=notes)
    return _trials(header, samples, about, place, findings, score)


def read_inspect_json(file: SingleFile, place: Place, findings: Findings, score: str) -> Trials | None:
    """The trials of a log in one JSON text."""
    try:
        log = parse_log(file.data)
        samples = _list_of_samples(log.get("samples") or [])
    except (ValueError, AttributeError) as error:
        findings.add(
            place.problem(file.name, getattr(error, "lineno", None), f"the log is truncated or damaged: {error}", CUT)
        )
        return None
    return _trials(log, samples, LogAbout(file.name, digest_of([(file.name, file.raw)])), place, findings, score)


def _archive_parts(archive: ZipMembers) -> tuple[Mapping[str, Any], list[Mapping[str, Any]], tuple[str, ...]]:
    """The header, what is known of each sample, and what must be said of where it comes from."""
    names = archive.directory
    header = parse_log(archive.read(HEADER if HEADER in names else START))
    if SUMMARIES in names:
        summaries = _list_of_samples(parse_log(archive.read(SUMMARIES)))
        return header, _with_invalidations(archive, summaries) if header.get("invalidated") else summaries, ()
    journal = sorted((int(found.group(1)), name) for name in names if (found := JOURNAL.fullmatch(name)))
    summaries = [one for _, name in journal for one in _list_of_samples(parse_log(archive.read(name)))]
    known = {(str(one.get("id")), str(one.get("epoch", 1))) for one in summaries}
    stored = [name for name in names if SAMPLE.fullmatch(name)]
    if len(stored) > len(known):  # samples that no summary tells of yet
        samples = (parse_log(archive.read(name)) for name in stored)
        summaries += [one for one in samples if (str(one.get("id")), str(one.get("epoch", 1))) not in known]
    return header, summaries, ("read from the journal of the log, for it has no summaries",)


def _with_invalidations(archive: ZipMembers, summaries: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The summaries, with what people declared invalid: only the samples themselves tell which these are."""
    samples = [parse_log(archive.read(name)) for name in archive.directory if SAMPLE.fullmatch(name)]
    invalid = {(one.get("id"), one.get("epoch", 1)): one.get("invalidation") for one in _list_of_samples(samples)}
    return [{**one, "invalidation": invalid.get((one.get("id"), one.get("epoch", 1)))} for one in summaries]


def _list_of_samples(found: Any) -> list[Mapping[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("its samples are not a list of objects")
    return found


def _trials(
    log: Mapping[str, Any],
    samples: Sequence[Mapping[str, Any]],
    about: LogAbout,
    place: Place,
    findings: Findings,
    score: str,
) -> Trials | None:
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        findings.add(place.problem(about.file, None, "the log of inspect_ai has no part 'eval'", CUT))
        return None
    spec, plan = log["eval"], log.get("plan")
    rows = [_trial(one, at) for at, one in enumerate(samples, start=1)]
    config = _part(spec, "config")
    epochs = config.get("epochs")
    told = replace(
        about,
        facts=dict(_facts(spec, plan if isinstance(plan, dict) else {})),
        expected=epochs if isinstance(epochs, int) and not isinstance(epochs, bool) else None,
        unfinished=_cause_of_end(log),
        headline=_headline(log, rows),
    )
    trials = trials_of_log(rows, told, place, findings, score=score)
    if trials is None:
        return None
    wanted = _part(spec, "dataset").get("sample_ids")
    there = set(trials.items)
    absent = [str(name) for name in wanted if str(name) not in there] if isinstance(wanted, list) else []
    return replace(trials, absent=tuple(dict.fromkeys(absent)))


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}


def _trial(sample: Mapping[str, Any], number: int) -> LoggedTrial:
    usage = [one for one in _part(sample, "model_usage").values() if isinstance(one, dict)]
    error = sample.get("error")
    fault = error.get("message", "error") if isinstance(error, dict) else error
    if invalid := sample.get("invalidation"):
        fault = f"somebody declared it invalid: {_part(sample, 'invalidation').get('reason') or 'no reason is given'}"
    scores = {} if invalid else dict(_scores(sample.get("scores")))
    return LoggedTrial(
        str(sample.get("id", number)),
        scores,
        sample.get("epoch", 1),
        measures={
            "latency": sample.get("total_time"),
            "tokens": _sum(usage, "total_tokens"),
            "cost": _sum(usage, "total_cost"),
        },
        about=_part(sample, "metadata"),
        asked=_question_text(sample.get("input")),
        fault=_fault_words(fault, error=not invalid) if fault else "" if scores else "the log has none for it",
    )


def _fault_words(fault: object, *, error: bool) -> str:
    return f"{'error: ' * error}{str(fault)[:SHOWN]}"


def _sum(usage: Sequence[Mapping[str, Any]], name: str) -> float | None:
    numbers = [float(one[name]) for one in usage if isinstance(one.get(name), int | float)]
    return sum(numbers) if numbers else None


def _scores(found: Any) -> Iterator[tuple[str, Any]]:
    """The scores of a sample by name; the parts of one that is an object or a list under NAME/PART."""
    for name, score in found.items() if isinstance(found, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
        if parts is None:
            yield name, value
        else:
            yield from ((f"{name}/{part}", one) for part, one in parts)


def _question_text(found: Any) -> str:
    """What a sample asked: its text, or the texts of its messages."""
    if isinstance(found, str):
        return found[:SHOWN]
    messages = found if isinstance(found, list) else []
    texts = [str(one.get("content", "")) for one in messages if isinstance(one, dict)]
    return "\n".join(texts)[:SHOWN]


def _facts(spec: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What must be the same for two runs to be compared."""
    yield "task", str(spec.get("task_registry_name") or spec.get("task") or "")
    yield "version", str(spec.get("task_version", 0))
    prompts = [
        f"{step.get('solver')} {name}: {text}"
        for step in _list_of_samples(plan.get("steps") or [])
        if isinstance(step, dict)
        for name, text in sorted(_part(step, "params").items())
        if isinstance(text, str) and any(part in name for part in PROMPTS)
    ]
    yield "prompt", "\n".join(prompts)


def _cause_of_end(log: Mapping[str, Any]) -> str:
    status = log.get("status", "started")
    if status == "success":
        return ""
    error = log.get("error")
    words = f": {str(error['message'])[:SHOWN]}" if isinstance(error, dict) and "message" in error else ""
    return f"its status is {status!r}{words}"


def _headline(log: Mapping[str, Any], rows: Sequence[LoggedTrial]) -> str:
    """The score that the log puts first, or that of the first scorer."""
    headline = _part(_part(log, "results"), "headline").get("score")
    names = {name for row in rows for name in row.scores}
    scorers = _part(log, "eval").get("scorers")
    first = next((str(one.get("name")) for one in scorers or () if isinstance(one, dict)), "")
    return str(headline) if headline in names else first
