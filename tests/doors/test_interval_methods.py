"""Every interval has the method of its metric beside it: in Python, in JSON, in a table on a terminal, in a report."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import EXAMPLE, forked

import basanite
from basanite import registry
from basanite.server.pages.values import values_of

EXAMPLES = EXAMPLE.parent
INPUTS = {
    "clir": {"reference": "key", "submission": "Alpha.tgz"},
    "e2e": {"reference": "key", "submission": "Alpha.tgz", "judgements": "Alpha.judgements.tsv"},
    "domainid": {"reference": "key", "submission": "Alpha.tgz"},
    "classification": {"reference": "key.csv", "submission": "Alpha.csv"},
    "labels": {"reference": "reference.csv", "submission": "alpha.csv"},
    "ratings": {"reference": "reference.csv", "submission": "alpha.csv"},
    "ranking": {"reference": "qrels.txt", "submission": "alpha.run"},
    "readability": {"reference": "panels.csv", "submission": "machine.csv"},
    "relevance": {"reference": "reference.csv", "submission": "alpha.csv"},
    "judged": {"reference": "calibration.jsonl", "submission": "wordy.jsonl"},
    "representation": {"reference": "labels.csv", "submission": "alpha.npz"},
    "speech": {"reference": "reference.stm", "submission": "Alpha.ctm"},
    "translation": {"reference": "reference.jsonl", "submission": "Alpha.jsonl"},
    "parsing": {"reference": "treebank.trees", "submission": "Alpha.trees"},
    "dependencies": {"reference": "treebank.conllu", "submission": "Alpha.conllu"},
    "tagging": {"reference": "gold.iob", "submission": "Alpha.iob"},
    "coreference": {"reference": "gold.conll", "submission": "Alpha.conll"},
    "captions": {"reference": "captions.json", "submission": "Alpha.json"},
    "summaries": {"reference": "reference.jsonl", "submission": "Alpha.jsonl"},
    "questions": {"reference": "annotations.json", "submission": "Alpha.json"},
}


def declared():
    """The methods that metrics of each name declare; a name may belong to several families."""
    found = {}
    metrics = [registry.load("metrics", name) for name in registry.names("metrics")]
    for metric in (*metrics, *registry.load("tasks", "representation").metrics):
        found.setdefault(metric.name, set()).add(metric.interval)
    return found


def command(*words):
    """`basanite score clir` on the example."""
    inputs = ("--reference", EXAMPLE / "key", "--submission", EXAMPLE / "Alpha.tgz")
    return forked("score", "clir", *inputs, *words, cwd=EXAMPLE)


@pytest.mark.req("S-25")
@pytest.mark.parametrize("task", list(INPUTS))
def test_each_interval_has_the_method_that_its_metric_declares(task):
    files = {role: EXAMPLES / task / name for role, name in INPUTS[task].items()}
    found, own = basanite.score(task, **files), declared()
    levels = [values for levels in found.breakdowns.values() for values in levels.values()]
    shown = [pair for values in (found.values, *levels) for pair in values.items()]
    assert any(value.low is not None for _, value in shown)
    for name, value in shown:
        assert (value.method == "") == (value.low is None), name
        assert value.method in own[name] | {"", "exact"}, name


@pytest.mark.req("S-25")
def test_the_method_stands_beside_the_interval_in_json_and_in_the_table():
    found = json.loads(command("--json").stdout)
    assert found["settings"]["interval"] == "metric"
    assert found["values"]["aqwv"]["method"] == "studentized"
    assert found["values"]["pfa"]["method"] == "exact"
    assert "method" not in found["values"]["auc"]
    text = command().stdout
    head = next(line for line in text.splitlines() if "Low" in line and "High" in line)
    assert head.split() == ["Metric", "Value", "Low", "High", "Method", "Units", "Remarks"]
    assert next(line for line in text.splitlines() if line.startswith(" Best threshold")).split()[5] == "percentile"


@pytest.mark.req("S-25")
def test_a_metric_that_needs_more_units_says_so_and_has_no_interval():
    auc = json.loads(command("--json").stdout)["values"]["auc"]
    assert (auc["low"], auc["high"]) == (None, None)
    assert "too few for an interval (this metric needs 50)" in auc["flags"]


@pytest.mark.req("S-25")
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_one_method_can_be_asked_for_in_the_place_of_all(method):
    found = json.loads(command("--json", "--set", f"interval={method}").stdout)
    methods = {value.get("method") for value in found["values"].values()}
    assert method in methods
    assert methods <= {method, "percentile", None}


@pytest.mark.req("S-25")
def test_a_report_names_the_method(tmp_path):
    page = tmp_path / "alpha.html"
    assert command("--report", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "studentized" in text
    assert "each metric by the method of its own definition" in text


def test_the_page_of_a_run_says_it_below_the_name_of_the_metric():
    shown = {one.name: one.note for one in values_of(json.loads(command("--json").stdout)).all}
    assert shown["AQWV"] == "studentized interval"
    assert shown["MQWV"].startswith("studentized interval; optimistic")
    assert "interval, " not in shown["AUC"]
