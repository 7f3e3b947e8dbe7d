"""Kinds of logs that programs write which run language models and agents."""

from __future__ import annotations

import json
from typing import Final

from basanite.formats.kinds.general import begins_with_json
from basanite.formats.kinds.kind import Beginning, Kind, matches
from basanite.formats.model_answers import parsed_header

FIX: Final = "the task scores reads it"
COMMANDS: Final = ("score scores {path}", "compare scores {path} OTHER")


TRANSCRIPTS: Final = Kind(
    "transcripts of a language model",
    lambda start: parsed_header(start.text) is not None,
    (".jsonl",),
    "the tasks of texts, labels and questions read it, and the task scores",
    commands=("score scores {path}", "score questions REFERENCE {path}", "transcripts {path}"),
    sign="a first line with the format `basanite-transcripts/1`",
    record="call",
    count=matches(r'"request":"'),
)


def _is_eval(start: Beginning) -> bool:
    return any(name == "header.json" or name.startswith("_journal/") for name in start.members)


INSPECT_JSON: Final = Kind(
    "a log of inspect_ai",
    lambda start: begins_with_json(start, "{", "eval", "task_id", "run_id"),
    (".json",),
    FIX,
    commands=COMMANDS,
    sign="a JSON object with the names `eval`, `task_id` and `run_id`",
)
INSPECT_EVAL: Final = Kind(
    "an archive of inspect_ai",
    _is_eval,
    (".eval",),
    FIX,
    commands=COMMANDS,
    sign="a zip archive with `header.json` or a folder `_journal`",
    record="file",
)
LM_EVAL: Final = Kind(
    "samples of lm-evaluation-harness",
    lambda start: (
        (begins_with_json(start, "{", "doc_id", "doc") and '"filtered_resps"' in start.text)
        or (start.text.startswith('{"doc_id": ') and '"arguments"' in start.text)
    ),
    (".jsonl",),
    FIX,
    commands=COMMANDS,
    sign="JSON lines with the names `doc_id`, `doc`, and `filtered_resps` or `arguments`",
    record="trial",
)
LM_EVAL_RUN: Final = Kind(
    "a run of lm-evaluation-harness",
    lambda start: any(name.rpartition("/")[2].startswith("samples_") for name in start.members),
    (),
    FIX,
    commands=COMMANDS,
    sign="a folder with files called `samples_*.jsonl`",
    record="file",
)
INSPECT_LOGS: Final = Kind(
    "a folder of logs of inspect_ai",
    lambda start: any(name.endswith(".eval") for name in start.members),
    (),
    FIX,
    commands=COMMANDS,
    sign="a folder with files called `*.eval`",
    record="file",
)
LM_EVAL_RESULTS: Final = Kind(
    "results of lm-evaluation-harness, which have means and no scores of items",
    lambda start: (
        begins_with_json(start, "{", "results")
        and any(f'"{name}"' in start.text for name in ("group_subtasks", "lm_eval_version", "n-shot"))
    ),
    (".json",),
    "give the samples_*.jsonl that lm_eval writes with --log_samples, or the folder of the run",
    commands=("audit {path}",),
    sign="a JSON object with the names `results` and `group_subtasks`, `n-shot` or `lm_eval_version`",
)


def _is_cell_line(start: Beginning) -> bool:
    """Whether the first line is one cell of promptfoo: the file of a whole run has these names further inside."""
    if not begins_with_json(start, "{", "promptIdx", "vars"):
        return False
    try:
        first = json.loads(start.text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"promptIdx", "vars"} <= first.keys()


PROMPTFOO_LINES: Final = Kind(
    "results of promptfoo, one per line",
    _is_cell_line,
    (".jsonl",),
    FIX,
    commands=COMMANDS,
    sign="JSON lines with the names `promptIdx` and `vars`",
    record="trial",
)
PROMPTFOO: Final = Kind(
    "results of promptfoo",
    lambda start: begins_with_json(start, "{", "results", "namedScores"),
    (".json",),
    FIX,
    commands=COMMANDS,
    sign="a JSON object with the names `results` and `namedScores`",
)
DEEPEVAL: Final = Kind(
    "a test run of DeepEval",
    lambda start: any(
        begins_with_json(start, "{", *names)
        for names in (("testCases", "metricsData"), ("conversationalTestCases", "metricsData"), ("metrics_data",))
    ),
    (".json",),
    FIX,
    commands=COMMANDS,
    sign="a JSON object with the names `testCases` and `metricsData`",
)
EVERY_EVAL: Final = Kind(
    "samples of Every Eval Ever",
    lambda start: begins_with_json(start, "{", "evaluation_name", "sample_id", "evaluation"),
    (".jsonl",),
    FIX,
    commands=COMMANDS,
    sign="JSON lines with the names `evaluation_name`, `sample_id` and `evaluation`",
    record="trial",
)
EVERY_EVAL_RESULTS: Final = Kind(
    "results of Every Eval Ever, which have means and no scores of items",
    lambda start: begins_with_json(start, "{", "schema_version", "model_info", "evaluation_results"),
    (".json",),
    "give the samples (JSON lines) that belong to it",
    commands=("audit {path}",),
    sign="a JSON object with the names `schema_version`, `model_info` and `evaluation_results`",
)
