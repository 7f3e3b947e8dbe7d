"""Results of promptfoo and DeepEval, and samples in the schema of Every Eval Ever."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from basanite.formats.records import Place, digest_of
from basanite.formats.scores.log_rows import LogAbout, LoggedTrial, parse_log, trials_of_log
from basanite.formats.scores.trials import Trials
from basanite.formats.single_file import SingleFile
from basanite.problems import Findings

Rows = Iterator[LoggedTrial]
NAME_LENGTH: Final = 80
SHOWN: Final = 2000
MILLISECONDS: Final = 1000
CASES: Final = ("testCases", "conversationalTestCases", "test_cases", "test_results")
TOKENS: Final = ("inputTokenCount", "outputTokenCount")
ERROR: Final = 2
"""What promptfoo writes as the reason of a failure that is an error and no failed assertion."""


def read_json_log(
    file: SingleFile, trials: Callable[[bytes], Rows], place: Place, findings: Findings, score: str
) -> Trials | None:
    """The trials of a log of JSON, as `trials` finds them."""
    about = LogAbout(file.name, digest_of([(file.name, file.raw)]))
    try:
        rows = list(trials(file.data))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        message = f"the log is truncated or damaged: {error}" if isinstance(error, ValueError) else "the log is damaged"
        findings.add(place.problem(file.name, getattr(error, "lineno", None), message, "write it again"))
        return None
    return trials_of_log(rows, about, place, findings, score=score)


def promptfoo_trials(data: bytes) -> Rows:
    """The cells of promptfoo: one for each provider, prompt and test; the same test again is a repeat."""
    return _cells(parse_log(data)["results"]["results"])


def promptfoo_line_trials(data: bytes) -> Rows:
    """The same, where promptfoo wrote a cell a line."""
    rows = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                rows.append(parse_log(line))
            except ValueError:
                raise ValueError(f"line {number} is no JSON") from None
    return _cells(rows)


def _cells(results: Sequence[Mapping[str, Any]]) -> Rows:
    prompts = {name: f"prompt {at}" for at, name in enumerate(dict.fromkeys(map(_prompt, results)), start=1)}
    prompts |= {name: name for name in prompts if 0 < len(name) <= NAME_LENGTH and name.isprintable()}
    seen: Counter[tuple[str, str]] = Counter()
    for one in results:
        provider = one.get("provider")
        who = str(_part(one, "provider").get("label") or _part(one, "provider").get("id") or provider or "")
        system = f"{who}: {prompts[_prompt(one)]}" if len(prompts) > 1 else who
        test = _part(one, "testCase")
        item = _name(test.get("description") or one.get("description"), one.get("vars") or test.get("vars") or {})
        seen[system, item] += 1
        failed = one.get("failureReason") == ERROR
        error = one.get("error") if failed else None
        scores = {} if failed else {"score": one.get("score", one.get("success")), "success": one.get("success")}
        named = {} if failed else _part(one, "namedScores")
        usage = _part(one, "tokenUsage") or _part(_part(one, "response"), "tokenUsage")
        latency = one.get("latencyMs")
        yield LoggedTrial(
            item,
            {**{name: value for name, value in scores.items() if value is not None}, **named},
            seen[system, item],
            system,
            {
                "cost": one.get("cost"),
                "latency": latency / MILLISECONDS if isinstance(latency, int | float) else None,
                "tokens": usage.get("total"),
            },
            _part(test, "metadata"),
            fault=f"error: {str(error)[:SHOWN]}" if failed else "",
        )


def _prompt(result: Mapping[str, Any]) -> str:
    """What tells the prompt of a cell from others: its label; `promptIdx` numbers the cells of a row, not prompts."""
    prompt = _part(result, "prompt")
    return str(prompt.get("label") or prompt.get("raw") or "")


def _name(description: Any, variables: Any) -> str:
    """A name of a test that is the same in every run: what it is called, or its variables."""
    text = json.dumps(variables, sort_keys=True, ensure_ascii=False)
    if description:
        return str(description)[:NAME_LENGTH]
    return text if len(text) <= NAME_LENGTH else f"{text[:60]}… {sha256(text.encode()).hexdigest()[:12]}"


def deepeval_trials(data: bytes) -> Rows:
    """The test cases of DeepEval, single and of conversations; several of one name are repeats."""
    log = parse_log(data)
    run = _part(log, "testRunData") or log
    cases = [
        one
        for name in ("testCases", "conversationalTestCases", "test_cases", "test_results")
        for one in run.get(name) or ()
    ]
    seen: Counter[str] = Counter()
    for at, one in enumerate(cases):
        item = str(one.get("name") or f"test case {at}")
        seen[item] += 1
        metrics = one.get("metricsData") or one.get("metrics_data") or []
        scores = {str(metric["name"]): metric.get("score") for metric in metrics if metric.get("score") is not None}
        faults = [str(metric["error"])[:SHOWN] for metric in metrics if metric.get("error")]
        tokens = [
            one[name] for name in ("inputTokenCount", "outputTokenCount") if isinstance(one.get(name), int | float)
        ]
        yield LoggedTrial(
            item,
            scores,
            seen[item],
            measures={
                "cost": one.get("tokenCost"),
                "latency": one.get("completionTime"),
                "tokens": sum(tokens) if tokens else None,
            },
            about=_part(one, "metadata"),
            asked=str(one.get("input") or one.get("scenario") or "")[:SHOWN],
            fault=f"error: {faults[0]}" if faults else "",
        )


def read_every_eval(file: SingleFile, place: Place, findings: Findings, score: str) -> Trials | None:
    """The samples of Every Eval Ever, one JSON object per line."""
    records: list[tuple[int, Mapping[str, Any]]] = []
    lines = file.data.split(b"\n")
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            try:
                found = parse_log(raw)
                _ = found["sample_id"], found["evaluation"]
                records.append((number, found))
            except (ValueError, KeyError, TypeError):
                what = "the last line of the file is truncated" if number == len(lines) else "this is not a sample"
                findings.add(place.problem(file.name, number, what, "write the file again", raw[:80]))
    rows = list(_every_eval_trials(records))
    names = dict.fromkeys(str(one.get("evaluation_name", "")) for _, one in records)
    about = LogAbout(file.name, digest_of([(file.name, file.raw)]), {"task": ", ".join(names)} if rows else {})
    return trials_of_log(rows, about, place, findings, score=score)


def _every_eval_trials(records: Sequence[tuple[int, Mapping[str, Any]]]) -> Rows:
    several = len({one.get("evaluation_name") for _, one in records}) > 1
    seen: Counter[tuple[str, str]] = Counter()
    for line, one in records:
        task, system = str(one.get("evaluation_name", "")), str(one.get("model_id", ""))
        item = f"{task}/{one['sample_id']}" if several else str(one["sample_id"])
        seen[system, item] += 1
        evaluation, latency = _part(one, "evaluation"), _part(one, "performance").get("latency_ms")
        scores = {name: evaluation[name] for name in ("score", "is_correct") if evaluation.get(name) is not None}
        error = one.get("error")
        yield LoggedTrial(
            item,
            {} if error and "score" not in scores else scores,
            seen[system, item],
            system,
            {
                "latency": latency / MILLISECONDS if isinstance(latency, int | float) else None,
                "tokens": _part(one, "token_usage").get("total_tokens"),
            },
            {**({"task": task} if several else {}), **_part(one, "metadata")},
            str(_part(one, "input").get("raw", ""))[:SHOWN],
            f"error: {str(error)[:SHOWN]}" if error else "",
            line,
        )


def _part(found: Any, name: str) -> Mapping[str, Any]:
    part = found.get(name) if isinstance(found, dict) else None
    return part if isinstance(part, dict) else {}
