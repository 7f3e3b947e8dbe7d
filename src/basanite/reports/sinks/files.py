"""Results as files of others: Every Eval Ever, and both ways in which the Hugging Face hub shows evaluation results."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import yaml

from basanite import __version__
from basanite.canonical import dumps, ten_digits
from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.kernel import Metric
from basanite.registry import load
from basanite.reports.metric_names import display_name
from basanite.reports.result_files import Result
from basanite.reports.sinks.sink import Sink, defined_values

SCHEMA: Final = "0.3.0"
"""The version of the schema of Every Eval Ever."""
CARD_BYTES: Final = 4 << 20
FRONT: Final = re.compile(r"\A---\r?\n(.*?)^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)
DEPLOYMENTS: Final = ("unknown", "self_deployed", "externally_managed")
AVAILABILITIES: Final = ("unknown", "open_weights", "closed_weights")
RELATIONS: Final = ("other", "first_party", "third_party", "collaborative")


def every_eval(result: Result, given: Mapping[str, str]) -> str:
    """One file for the model, with every value and its interval."""
    relation = _choice(given, "relationship", RELATIONS)
    details = {
        "deployment_type": _choice(given, "deployment", DEPLOYMENTS),
        "model_availability": _choice(given, "availability", AVAILABILITIES),
    }
    model, now = given.get("model", result.system), str(int(time.time()))
    data = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{result.task}/{model}/{now}",
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": given["organization"],
            "evaluator_relationship": relation,
        },
        "eval_library": {"name": "basanite", "version": __version__},
        "model_info": {"name": result.system, "id": model, "additional_details": details},
        "evaluation_results": [
            _evaluation(result, name, value, more, given) for name, value, more in defined_values(result)
        ],
    }
    return _write(Path(given.get("out", f"{result.system}.every-eval.json")), dumps(data))


def _choice(given: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One of a few words; the first if none is given."""
    word = given.get(name, words[0])
    if word not in words:
        raise SettingError(f"{name}={word!r} cannot be used: choose one of {', '.join(words)}.")
    return word


def _evaluation(
    result: Result, name: str, value: float, more: Mapping[str, Any], given: Mapping[str, str]
) -> dict[str, Any]:
    dataset = given.get("dataset", result.task)
    source: dict[str, Any] = {"dataset_name": dataset, "source_type": "other"}
    if "hub" in given:
        source = {"dataset_name": dataset, "source_type": "hf_dataset", "hf_repo": given["hub"]}
    metric = _metric(result.task, name)
    low, high = metric.ends if metric is not None and not metric.parameters else (None, None)
    config: dict[str, Any] = {
        "evaluation_description": metric.summary if metric is not None else name,
        "lower_is_better": metric is not None and metric.best == "low",
    }
    if low is not None and high is not None and abs(low) != float("inf") and abs(high) != float("inf"):
        config |= {"score_type": "continuous", "min_score": low, "max_score": high}
    uncertainty: dict[str, Any] = {"num_samples": more["units"]}
    if more["low"] is not None and more["high"] is not None:
        ends = {"lower": ten_digits(more["low"]), "upper": ten_digits(more["high"])}
        uncertainty["confidence_interval"] = {**ends, "confidence_level": result.level, "method": more["method"]}
    return {
        "evaluation_name": f"{dataset} {display_name(name, result.task)}",
        "source_data": source,
        "metric_config": config,
        "score_details": {"score": ten_digits(value), "uncertainty": uncertainty},
    }


def _metric(task: str, name: str) -> Metric | None:
    """The metric of a value, where the task is known here."""
    try:
        found = load("tasks", task).metric(name)
    except Exception:  # noqa: BLE001 - a result of another program, or of a plug-in that is not here
        return None
    return found if isinstance(found, Metric) else None


def eval_results(result: Result, given: Mapping[str, str]) -> str:
    """The primary value as an entry of `.eval_results/`, which the hub shows on the page of the model."""
    name, value, more = next(defined_values(result), ("", None, {}))
    if value is None:
        raise SettingError(f"{result.system} has no value that could be published.")
    entry: dict[str, Any] = {
        "dataset": {"id": given["dataset"], "task_id": given.get("task_id", "default")},
        "value": ten_digits(value),
        "notes": _interval_words(display_name(name, result.task), more, result.level),
    }
    if "revision" in given:
        entry["dataset"]["revision"] = given["revision"]
    if "source" in given:
        entry["source"] = {"url": given["source"], "name": f"Basanite {__version__}"}
    path = Path(given.get("out", f".eval_results/{result.task}.yaml"))
    path.parent.mkdir(parents=True, exist_ok=True)
    return _write(path, yaml.safe_dump([entry], sort_keys=False, allow_unicode=True))


def _interval_words(metric: str, more: Mapping[str, Any], level: float) -> str:
    if more["low"] is None or more["high"] is None:
        return f"{metric}, {more['units']} units"
    return f"{metric}, {100 * level:g}% CI {more['low']:.4f} to {more['high']:.4f}, {more['units']} units"


def model_index(result: Result, given: Mapping[str, str]) -> str:
    """The values in the metadata of a model card; what else the card says stays as it is."""
    path = Path(given.get("card", "README.md"))
    text = read_bounded(path, CARD_BYTES).decode("utf-8", "replace") if path.exists() else ""
    match = FRONT.match(text)
    try:
        metadata = yaml.safe_load(match.group(1)) if match else {}
    except yaml.YAMLError as error:
        raise UnreadableError(f"The metadata of {path} is not YAML. Correct it first.") from error
    if not isinstance(metadata, dict | None):
        raise UnreadableError(f"The metadata of {path} is not a mapping. Correct it first.")
    metadata = metadata or {}
    dataset = {"type": given["dataset"], "name": given.get("dataset_name", given["dataset"])}
    found = {
        "task": {"type": given.get("task_type", result.task)},
        "dataset": dataset,
        "metrics": [
            {"type": name, "name": display_name(name, result.task), "value": ten_digits(value)}
            for name, value, _ in defined_values(result)
        ],
        **({"source": {"name": f"Basanite {__version__}", "url": given["source"]}} if "source" in given else {}),
    }
    index = metadata.get("model-index")
    model = index[0] if isinstance(index, list) and index and isinstance(index[0], dict) else {}
    others = [one for one in model.get("results") or [] if isinstance(one, dict) and not _same(one, found)]
    entry = {**model, "name": model.get("name", given.get("model", result.system)), "results": [*others, found]}
    metadata["model-index"] = [entry, *(index[1:] if isinstance(index, list) else [])]
    front = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)
    return _write(path, f"---\n{front}---\n" + (text[match.end() :] if match else text))


def _same(one: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether these are the results of the same task and data set, which the new ones replace."""
    return all(one.get(part) == found[part] for part in ("task", "dataset"))


def _write(path: Path, text: str) -> str:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{sha256(text.encode()).hexdigest()[:8]}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error
    return f"Written to {path}"


def _sink(
    name: str,
    summary: str,
    send: Callable[[Result, Mapping[str, str]], str],
    settings: Mapping[str, str],
    required: tuple[str, ...],
) -> Sink:
    return Sink(name, summary, send, settings, required)


EVERY_EVAL: Final = _sink(
    "every-eval-ever",
    "A file in the schema of Every Eval Ever, with every value and its interval",
    every_eval,
    {
        "organization": "Who ran the evaluation.",
        "relationship": f"Who that is to the model: {', '.join(RELATIONS)}. [other]",
        "model": "The id of the model, like lab/model. [the system]",
        "deployment": f"Where the model ran: {', '.join(DEPLOYMENTS)}. [unknown]",
        "availability": f"Whether its weights are open: {', '.join(AVAILABILITIES)}. [unknown]",
        "dataset": "The name of the data set. [the task]",
        "hub": "The data set on the Hugging Face hub, if it is there.",
        "out": "The file to write. [SYSTEM.every-eval.json]",
    },
    ("organization",),
)
EVAL_RESULTS: Final = _sink(
    "hf-eval-results",
    "The primary value as an entry of .eval_results/ in a model repository of the Hugging Face hub",
    eval_results,
    {
        "dataset": "The data set of the benchmark on the hub, like lab/benchmark.",
        "task_id": "The task inside the benchmark. [default]",
        "revision": "The commit of the data set.",
        "source": "An address where the evaluation can be seen.",
        "out": "The file to write. [.eval_results/TASK.yaml]",
    },
    ("dataset",),
)
MODEL_INDEX: Final = _sink(
    "hf-model-index",
    "The values in the model-index of a model card of the Hugging Face hub",
    model_index,
    {
        "dataset": "The data set on the hub, or its name.",
        "dataset_name": "What the data set is called. [the same]",
        "task_type": "The task as the hub names it, like text-generation. [the task]",
        "model": "The name of the model, where the card has none. [the system]",
        "source": "An address where the evaluation can be seen.",
        "card": "The model card. [README.md]",
    },
    ("dataset",),
)
