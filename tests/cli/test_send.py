"""Results go to formats and services of others by name, and arrive with their intervals (Y-9)."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
import yaml
from tests.cli.running import ROOT, here

EXAMPLE = ROOT / "examples" / "scores"
CLIENTS = "`make test-all` installs the clients"


@pytest.fixture
def result(tmp_path):
    """A result in a folder of its own, with what it holds."""
    ended = here("score", "scores", EXAMPLE / "Alpha.csv", "--json")
    (tmp_path / "Alpha.json").write_text(ended.stdout)
    return tmp_path, ended.data["values"]


def send(folder, sink, *settings, code=0):
    words = [word for one in settings for word in ("--set", one)]
    ended = here("send", "Alpha.json", "--to", sink, *words, cwd=folder)
    assert ended.code == code, ended.stderr
    return ended.stderr


@pytest.mark.req("Y-9")
def test_every_sink_is_listed_with_its_settings():
    listed = here("send").stdout
    for name in ("every-eval-ever", "hf-eval-results", "hf-model-index", "mlflow", "wandb", "opentelemetry"):
        assert f"\n{name}: " in f"\n{listed}"
    assert "  project: The project. (required)" in listed


@pytest.mark.req("Y-6")
def test_a_file_of_every_eval_ever_has_every_value_with_its_interval(result):
    folder, values = result
    send(folder, "every-eval-ever", "organization=Us", "model=lab/alpha", "dataset=sums")
    found = json.loads((folder / "Alpha.every-eval.json").read_text())
    # What the schema 0.3.0 of Every Eval Ever requires, and nothing else at the top.
    assert found.keys() == {
        *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library"),
        *("model_info", "evaluation_results"),
    }
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    assert found["model_info"] == {"name": "Alpha", "id": "lab/alpha", "additional_details": unknown}
    assert len(found["evaluation_results"]) == len(values)
    for one in found["evaluation_results"]:
        assert one.keys() == {"evaluation_name", "source_data", "metric_config", "score_details"}
        assert one["source_data"] == {"dataset_name": "sums", "source_type": "other"}
    first, cost = (
        next(e for e in found["evaluation_results"] if name in e["evaluation_name"]) for name in ("Mean", "Cost")
    )
    assert first["metric_config"]["max_score"] == 1
    assert cost["metric_config"]["lower_is_better"]
    assert "score_type" not in cost["metric_config"]  # it has no upper end, which the schema wants of continuous scores
    bounds = first["score_details"]["uncertainty"]["confidence_interval"]
    assert (bounds["lower"], bounds["upper"]) == (values["mean"]["low"], values["mean"]["high"])
    assert "cannot be used" in send(folder, "every-eval-ever", "organization=Us", "relationship=friend", code=2)


@pytest.mark.req("Y-6")
def test_the_hub_gets_an_entry_of_evaluation_results(result):
    folder, values = result
    send(folder, "hf-eval-results", "dataset=lab/sums", "task_id=hard", "source=https://example.org/log")
    (entry,) = yaml.safe_load((folder / ".eval_results" / "scores.yaml").read_text())
    assert entry["dataset"] == {"id": "lab/sums", "task_id": "hard"}
    assert entry["value"] == values["mean"]["value"]
    assert "95% CI 0.6977 to 0.8598, 40 units" in entry["notes"]


@pytest.mark.req("Y-9")
def test_a_model_card_gets_its_model_index_and_keeps_the_rest(result):
    folder, values = result
    old = "{task: {type: x}, dataset: {type: y, name: y}, metrics: [{type: acc, value: 1}]}"
    card = f"---\nlicense: mit\nmodel-index:\n- name: Old\n  results: [{old}]\n---\n# A model\n\n---\nText.\n"
    (folder / "README.md").write_text(card)
    for _ in range(2):  # the same result again replaces itself
        send(folder, "hf-model-index", "dataset=lab/sums", "task_type=question-answering")
    text = (folder / "README.md").read_text()
    front, _, rest = text.removeprefix("---\n").partition("---\n")
    metadata = yaml.safe_load(front)
    assert rest == "# A model\n\n---\nText.\n"
    assert metadata["license"] == "mit"
    (model,) = metadata["model-index"]
    assert model["name"] == "Old"
    assert [one["task"]["type"] for one in model["results"]] == ["x", "question-answering"]
    found = {one["type"]: one["value"] for one in model["results"][1]["metrics"]}
    assert found == {name: one["value"] for name, one in values.items()}
    (folder / "README.md").write_text("---\n- a\n---\n")
    assert "not a mapping" in send(folder, "hf-model-index", "dataset=x", code=2)


@pytest.mark.req("Y-9")
@pytest.mark.parametrize(
    ("sink", "settings", "message"),
    [
        ("mlflow", ("uri=file:x",), "mlflow needs the setting 'experiment'"),
        ("wandb", (), "wandb needs the setting 'project'"),
        ("wandb", ("projct=x",), "Did you mean 'project'?"),
        ("nothing", (), "No sink is called 'nothing'"),
        ("hf-model-index", ("dataset=x", "card=Alpha.json"), "is an input"),
        ("every-eval-ever", ("organization=x", "out=nowhere/x.json"), "cannot be written"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_words(result, sink, settings, message):
    assert message in send(result[0], sink, *settings, code=2)


@pytest.mark.slow
@pytest.mark.req("Y-9")
def test_the_real_client_of_the_hub_reads_what_was_written(result):
    hub = pytest.importorskip("huggingface_hub", reason=CLIENTS)
    folder, values = result
    send(folder, "hf-model-index", "dataset=lab/sums")
    results = hub.ModelCard.load(folder / "README.md").data.eval_results
    assert {one.metric_type: one.metric_value for one in results} == {n: one["value"] for n, one in values.items()}
    send(folder, "hf-eval-results", "dataset=lab/sums")
    entries = hub.parse_eval_result_entries(yaml.safe_load((folder / ".eval_results/scores.yaml").read_text()))
    assert entries[0].value == values["mean"]["value"]


@pytest.mark.slow
@pytest.mark.req("Y-9")
def test_the_real_client_of_mlflow_keeps_runs_in_a_folder(result, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason=CLIENTS)
    folder, values = result
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    where = (folder / "runs").as_uri()
    for name in ("first", "again"):
        assert "experiment sums" in send(folder, "mlflow", "experiment=sums", f"uri={where}", f"name={name}")
    client = mlflow.MlflowClient(tracking_uri=where)
    runs = client.search_runs([client.get_experiment_by_name("sums").experiment_id])
    assert {one.info.run_name for one in runs} == {"first", "again"}
    for one in runs:
        kept = one.data.metrics
        assert {name: kept[name] for name in values} == {name: value["value"] for name, value in values.items()}
        assert [kept[f"mean.{part}"] for part in ("low", "high", "units")] == [
            values["mean"][part] for part in ("low", "high", "units")
        ]
        assert one.data.params["task"] == "scores"
        assert one.data.params["signature"].startswith("basanite:")
        assert one.data.tags["basanite.digest.submission"].startswith("sha256:")
        assert one.info.status == "FINISHED"
    told = send(folder, "mlflow", "experiment=sums", "uri=strange://x", code=2)
    assert "MLflow does not take the result. Check uri and experiment." in told


@pytest.mark.slow
@pytest.mark.req("Y-9")
def test_the_real_client_of_weights_and_biases_keeps_a_run_offline(result, monkeypatch):
    pytest.importorskip("wandb", reason=CLIENTS)
    folder, values = result
    monkeypatch.setenv("WANDB_MODE", "offline")
    words = send(folder, "wandb", "project=sums", "mode=offline", f"folder={folder}")
    assert "project sums (offline)" in words
    (log,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    content = log.read_bytes()
    assert b"pass_hat_5" in content
    assert str(values["mean"]["value"]).encode() in content


@pytest.mark.slow
@pytest.mark.req("Y-9")
def test_the_real_sdk_of_opentelemetry_writes_an_event_for_each_value(result):
    pytest.importorskip("opentelemetry.sdk", reason=CLIENTS)
    folder, values = result
    send(folder, "opentelemetry", "file=spans.json")
    span = json.loads((folder / "spans.json").read_text())
    assert span["name"] == "evaluation Alpha"
    found = [SimpleNamespace(**event) for event in span["events"]]
    assert {event.name for event in found} == {"gen_ai.evaluation.result"}
    scores = {
        event.attributes["gen_ai.evaluation.name"]: event.attributes["gen_ai.evaluation.score.value"] for event in found
    }
    assert scores == {name: one["value"] for name, one in values.items()}
    assert all(math.isfinite(event.attributes["basanite.low"]) for event in found)
