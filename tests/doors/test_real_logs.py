"""Logs that inspect_ai, lm-evaluation-harness, promptfoo and DeepEval wrote give the means that they state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import here

from basanite.formats.scores.log_rows import parse_log
from basanite.formats.scores.zip_members import ZipMembers

LOGS = Path(__file__).parent / "logs"


def scored(path, *settings):
    words = [word for one in settings for word in ("--set", one)]
    return here("score", path, *words, "--json").data


@pytest.mark.req("Y-6")
@pytest.mark.parametrize(("name", "epochs"), [("match", 2), ("length", 2)])
def test_the_mean_of_an_inspect_log_is_the_one_in_its_header(name, epochs):
    path = LOGS / "inspect_ai-0.3.285.eval"
    header = parse_log(ZipMembers(path.read_bytes()).read("header.json"))
    metrics = next(one["metrics"] for one in header["results"]["scores"] if one["name"] == name)
    found = scored(path, f"score={name}")
    assert found["values"]["mean"]["value"] == pytest.approx(metrics.get("accuracy", metrics.get("mean"))["value"])
    assert found["values"]["mean"]["units"] == header["eval"]["dataset"]["samples"]
    assert f"12 items with {epochs} repeats each; repeats are nested in items and are not units" in found["notes"]


@pytest.mark.req("Y-6")
def test_the_means_of_a_run_of_lm_eval_are_those_in_its_results():
    folder = LOGS / "lm_eval-0.4.13"
    results = json.loads(next(folder.glob("results_*")).read_text())["results"]
    by_task = scored(folder)["breakdowns"]["task"]
    assert by_task["tinygen"]["mean"]["value"] == pytest.approx(results["tinygen"]["exact_match,strict"])
    assert by_task["tinymc"]["mean"]["value"] == pytest.approx(results["tinymc"]["acc,none"])
    one = next(folder.glob("samples_tinymc_*"))
    norm = scored(one, "score=acc_norm")["values"]["mean"]
    assert (norm["value"], norm["units"]) == (pytest.approx(results["tinymc"]["acc_norm,none"]), 12)


@pytest.mark.req("Y-6")
def test_the_systems_of_promptfoo_have_the_scores_of_its_summary():
    path = LOGS / "promptfoo-0.121.20.json"
    stated = {
        f"{one['provider']}: {one['label']}": one["metrics"]
        for one in json.loads(path.read_text())["results"]["prompts"]
    }
    found = here("compare", path, "--json").data
    assert set(found["systems"]) == set(stated)
    for system, values in found["values"].items():
        tests = values["mean"]["units"]
        assert values["mean"]["value"] * tests == pytest.approx(stated[system]["score"])
        assert values["cost"]["value"] * tests == pytest.approx(stated[system]["cost"])


@pytest.mark.req("Y-6")
def test_a_run_of_deepeval_has_the_means_of_its_metrics():
    path = LOGS / "deepeval-4.3.1.json"
    for metric in json.loads(path.read_text())["metricsScores"]:
        found = scored(path, f"score={metric['metric']}")["values"]["mean"]
        assert found["value"] == pytest.approx(sum(metric["scores"]) / len(metric["scores"]))
        assert found["units"] == len(metric["scores"])
