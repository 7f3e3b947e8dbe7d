"""Results to services: MLflow, Weights & Biases, and OpenTelemetry by its conventions for generative AI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from basanite import __version__
from basanite.errors import SettingError
from basanite.extras import required_module
from basanite.reports.result_files import Result
from basanite.reports.sinks.sink import Sink, defined_values

STRANGE: Final = re.compile(r"[^\w\-. :/]")
"""What names of metrics of MLflow must not hold."""
MODES: Final = ("online", "offline")


def to_mlflow(result: Result, given: Mapping[str, str]) -> str:
    """One run for the system in an experiment, with values and interval ends as metrics."""
    mlflow = required_module("mlflow")
    name = given["experiment"]
    try:
        client = mlflow.MlflowClient(tracking_uri=given.get("uri"))
        found = client.get_experiment_by_name(name)
        experiment = client.create_experiment(name) if found is None else found.experiment_id
        tags = {"basanite.version": __version__, **{f"basanite.digest.{of}": one for of, one in result.digests.items()}}
        run = client.create_run(experiment, tags=tags, run_name=given.get("name", result.system)).info
        about = {"task": result.task, "primary": result.primary, "signature": result.signature}
        client.log_batch(
            run.run_id,
            [
                mlflow.entities.Metric(STRANGE.sub("_", key), number, run.start_time, 0)
                for key, number in _flat_values(result)
            ],
            [mlflow.entities.Param(key, text) for key, text in about.items()],
        )
        client.set_terminated(run.run_id)
    except mlflow.exceptions.MlflowException as error:
        told = " ".join(str(error).split())
        raise SettingError(f"MLflow does not take the result. Check uri and experiment. It says: {told}") from error
    except ModuleNotFoundError as error:  # the small client knows servers and folders, and no databases
        raise SettingError(f"MLflow needs {error.name} for this address: pip install mlflow.") from error
    return f"Sent to MLflow, experiment {name} ({client.tracking_uri}), run {run.run_id}"


def _flat_values(result: Result) -> Iterator[tuple[str, float]]:
    """Every value, with the ends of its interval and its units beside it under `NAME.low`, `.high` and `.units`."""
    for name, value, more in defined_values(result):
        yield name, value
        yield from ((f"{name}.{part}", more[part]) for part in ("low", "high", "units") if more[part] is not None)


def to_wandb(result: Result, given: Mapping[str, str]) -> str:
    """One run for the system, with values and interval ends as its summary."""
    wandb = required_module("wandb")
    mode = given.get("mode", "online")
    if mode not in MODES:
        raise SettingError(f"mode={mode!r} cannot be used: choose one of {', '.join(MODES)}.")
    config = {
        "task": result.task,
        "primary": result.primary,
        "signature": result.signature,
        "digests": dict(result.digests),
        "basanite": __version__,
    }
    run = wandb.init(
        project=given["project"],
        entity=given.get("entity"),
        name=given.get("name", result.system),
        dir=given.get("folder"),
        config=config,
        mode=mode,
        job_type="evaluation",
        settings=wandb.Settings(silent=True),
    )
    for name, value, more in defined_values(result):
        ends = {f"{name}/{end}": more[end] for end in ("low", "high") if more[end] is not None}
        run.summary.update({name: value, f"{name}/units": more["units"], **ends})
    run.finish()
    wandb.teardown()  # waits until the process that writes has written everything
    return f"Sent to Weights & Biases, project {given['project']} ({mode})"


def to_opentelemetry(result: Result, given: Mapping[str, str]) -> str:
    """One span for the result, with an event `gen_ai.evaluation.result` for each value."""
    trace = required_module("opentelemetry.sdk.trace")
    export = required_module("opentelemetry.sdk.trace.export")
    resources = required_module("opentelemetry.sdk.resources")
    name = given.get("service", "basanite")
    provider = trace.TracerProvider(resource=resources.Resource.create({"service.name": name}))
    if "file" not in given:
        otlp = required_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        where = {"endpoint": given["endpoint"]} if "endpoint" in given else {}
        return _export_spans(
            provider, export, otlp.OTLPSpanExporter(**where), result, given.get("endpoint", "its endpoint")
        )
    try:
        with Path(given["file"]).open("a", encoding="utf-8") as file:
            return _export_spans(provider, export, export.ConsoleSpanExporter(out=file), result, given["file"])
    except OSError as error:
        raise SettingError(f"{given['file']} cannot be written: {error.strerror}. Choose another place.") from error


def _export_spans(provider: Any, export: Any, exporter: Any, result: Result, where: str) -> str:
    watched = _Watched(exporter)
    provider.add_span_processor(export.SimpleSpanProcessor(watched))
    tracer = provider.get_tracer("basanite", __version__)
    about = {"basanite.task": result.task, "basanite.primary": result.primary, "basanite.signature": result.signature}
    with tracer.start_as_current_span(f"evaluation {result.system}", attributes=about) as span:
        for name, value, more in defined_values(result):
            attributes = {
                "gen_ai.evaluation.name": name,
                "gen_ai.evaluation.score.value": value,
                "basanite.units": more["units"],
                "basanite.level": result.level,
            }
            ends = {f"basanite.{end}": more[end] for end in ("low", "high") if more[end] is not None}
            span.add_event("gen_ai.evaluation.result", {**attributes, **ends})
    provider.shutdown()
    if watched.failed:
        raise SettingError(f"OpenTelemetry could not be reached at {where}. Check the address, or set file=PATH.")
    return f"Sent to OpenTelemetry: {where}"


class _Watched:
    """An exporter that remembers whether something could not be sent."""

    def __init__(self, exporter: Any) -> None:
        self.exporter, self.failed = exporter, False

    def export(self, spans: Any) -> Any:
        """Send spans on."""
        outcome = self.exporter.export(spans)
        self.failed = self.failed or outcome.name != "SUCCESS"
        return outcome

    def shutdown(self) -> None:
        """End the exporter."""
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Whether everything was sent."""
        return bool(self.exporter.force_flush(timeout_millis))


MLFLOW: Final = Sink(
    "mlflow",
    "A run of MLflow, with values and intervals as its metrics",
    to_mlflow,
    {
        "experiment": "The experiment; a new one is made.",
        "uri": "The tracking server, as http://localhost:5000. [MLFLOW_TRACKING_URI]",
        "name": "The name of the run. [the system]",
    },
    ("experiment",),
)
WANDB: Final = Sink(
    "wandb",
    "A run of Weights & Biases, with values and intervals as its summary",
    to_wandb,
    {
        "project": "The project.",
        "entity": "The team or user.",
        "name": "The name of the run. [the system]",
        "mode": "online or offline. [online]",
        "folder": "Where files of the run are kept.",
    },
    ("project",),
)
OPENTELEMETRY: Final = Sink(
    "opentelemetry",
    "A span of OpenTelemetry with an event gen_ai.evaluation.result for each value",
    to_opentelemetry,
    {
        "endpoint": "The address for traces, like http://localhost:4318/v1/traces. [OTEL_EXPORTER_OTLP_ENDPOINT]",
        "file": "In place of an address: a file that spans are added to.",
        "service": "The name of the service. [basanite]",
    },
)
