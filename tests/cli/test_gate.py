"""`basanite gate` passes only if the loss is shown to be below the margin, and says why it does not (Y-8, S-2)."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy import stats
from tests.cli.running import ROOT, here

EXAMPLE = ROOT / "examples" / "scores"
CLASSES = ROOT / "examples" / "classification"


def write(path, scores):
    rows = "".join(f"q{at},{score}\n" for at, score in enumerate(scores))
    path.write_text("item,score\n" + rows)
    return path


def gate(folder, before, after, *words, code=None):
    """The metrics of a gate on these scores of items."""
    files = ("--baseline", write(folder / "main.csv", before), "--now", write(folder / "branch.csv", after))
    ended = here("gate", "scores", *files, *words, "--json")
    found = ended.data
    assert ended.code == (0 if found["passed"] else 4), ended.stderr
    assert code is None or ended.code == code
    return found["metrics"][0]


@pytest.mark.req("Y-8")
def test_the_bounds_are_the_one_sided_ones_of_the_paired_differences(tmp_path):
    rng = np.random.default_rng(1)
    before, after = np.round(rng.random((2, 400)), 3)
    found = gate(tmp_path, before, after, "--no-worse-than", "0.05")
    gaps = before - after
    wanted = stats.ttest_1samp(gaps, 0).confidence_interval(0.90)  # two sides of 5% each
    assert found["loss"] == pytest.approx(gaps.mean())
    assert (found["low"], found["high"]) == (pytest.approx(wanted.low, abs=2e-3), pytest.approx(wanted.high, abs=2e-3))
    lower_is_better = gate(tmp_path, before, after, "--no-worse-than", "0.05", "--set", "better=low")
    assert lower_is_better["loss"] == pytest.approx(-found["loss"])
    assert lower_is_better["high"] == pytest.approx(-found["low"])


@pytest.mark.req("Y-8")
def test_a_gate_passes_if_and_only_if_the_upper_bound_is_below_the_margin(tmp_path):
    rng = np.random.default_rng(2)
    before, after = rng.integers(0, 2, (2, 200))
    high = gate(tmp_path, before, after, "--no-worse-than", "0.5", code=0)["high"]
    assert gate(tmp_path, before, after, "--no-worse-than", f"{high + 1e-6}", code=0)["verdict"] == "passed"
    close = gate(tmp_path, before, after, "--no-worse-than", f"{high - 1e-6}", code=4)
    assert close["verdict"] == "undecided"  # not a significant loss, and still not passed
    assert close["low"] < 0 < close["high"]
    assert close["units_needed"] > 200
    assert gate(tmp_path, before, before, "--no-worse-than", "0.01", code=0)["high"] == 0


@pytest.mark.req("Y-8")
def test_a_loss_that_is_shown_is_called_worse_and_one_below_the_margin_passes(tmp_path):
    before = np.ones(300)
    after = np.where(np.arange(300) % 10 == 0, 0, 1)
    shown = gate(tmp_path, before, after, "--no-worse-than", "0.01", code=4)
    assert (shown["verdict"], shown["low"] > 0.01) == ("worse", True)
    small = gate(tmp_path, before, after, "--no-worse-than", "0.2", code=0)
    assert (small["verdict"], small["low"] > 0) == ("passed", True)
    few = gate(tmp_path, before[:10], after[:10], "--no-worse-than", "0.5", code=4)
    assert (few["verdict"], few["high"]) == ("undecided", None)
    assert "too few for an interval" in few["note"]


@pytest.mark.slow
@pytest.mark.req("Y-8")
def test_a_true_loss_of_the_margin_passes_in_at_most_one_case_of_twenty(tmp_path):
    """Of 300 campaigns with a true loss of exactly the margin, at most as many pass as 5% allow."""
    rng, passes = np.random.default_rng(3), 0
    for _ in range(300):
        before = rng.random(120) < 0.7
        after = before & (rng.random(120) < 0.6 / 0.7)
        words = ("--no-worse-than", "0.1", "--draws", "50")
        passes += gate(tmp_path, before.astype(int), after.astype(int), *words)["verdict"] == "passed"
    assert passes <= stats.binom(300, 0.05).ppf(0.999)


@pytest.mark.req("Y-8")
def test_every_metric_with_a_margin_must_pass_and_the_summaries_say_so(tmp_path):
    words = ("gate", "scores", "--baseline", "Beta.csv", "--now", "New=Alpha.csv", "--no-worse-than", "0.01")
    more = ("--no-worse-than", "cost=0.0002", "--junit", tmp_path / "gate.xml", "--markdown", tmp_path / "gate.md")
    alone, both = here(*words, cwd=EXAMPLE), here(*words, *more, cwd=EXAMPLE)
    assert (alone.code, both.code) == (0, 4)
    assert "Passed: Mean score was 0.5550 and is 0.7900" in alone.stdout
    suite = ET.parse(tmp_path / "gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = {case.get("name").split()[0]: case.find("failure") for case in suite.findall("testcase")}
    assert cases["mean"] is None
    assert cases["cost"].get("type") == "worse"
    summary = (tmp_path / "gate.md").read_text()
    assert summary.startswith("## New against Beta: worse\n")
    assert "| Cost | 0.0024 | 0.0036 |" in summary


@pytest.mark.req("Y-8")
@pytest.mark.parametrize(("now", "code"), [("bad.csv", 1), ("nothing.csv", 2)])
def test_without_a_verdict_no_summary_of_an_earlier_run_remains(tmp_path, now, code):
    write(tmp_path / "main.csv", [0, 1] * 40)
    write(tmp_path / "bad.csv", [7])
    words = (
        "gate",
        "scores",
        "--baseline",
        "main.csv",
        "--no-worse-than",
        "0.1",
        "--junit",
        "j.xml",
        "--markdown",
        "m.md",
    )
    assert here(*words, "--now", "again=main.csv", cwd=tmp_path).code == 0
    assert "passed" in (tmp_path / "m.md").read_text()
    assert here(*words, "--now", now, cwd=tmp_path).code == code
    suite = ET.parse(tmp_path / "j.xml").getroot()[0]
    assert (suite.get("errors"), suite[0][0].tag) == ("1", "error")
    assert "no verdict" in (tmp_path / "m.md").read_text()
    over = here(*words[:-4], "--junit", "main.csv", "--now", now, cwd=tmp_path)
    assert (over.code, "is an input of this run" in over.stderr) == (2, True)


@pytest.mark.req("Y-8")
def test_any_task_has_a_gate(tmp_path):
    words = ("gate", "classification", "--reference", "key.csv", "--baseline", "Beta.csv", "--now", "Alpha.csv")
    ended = here(*words, "--no-worse-than", "accuracy=0.3", "--json", cwd=CLASSES)
    assert ended.data["task"] == "classification"
    assert ended.code == (0 if ended.data["metrics"][0]["high"] < 0.3 else 4)
    assert math.isfinite(ended.data["metrics"][0]["high"])


@pytest.mark.req("Y-8")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--no-worse-than", "-1"), 2, "write a number of 0 or more"),
        (("--no-worse-than", "nan"), 2, "write a number of 0 or more"),
        (("--no-worse-than", "0.1", "--no-worse-than", "mean=0.2"), 2, "given twice"),
        (("--no-worse-than", "width=0.1"), 2, "has no metric 'width'"),
        (("--no-worse-than", "0.1", "--now", "items.csv"), 1, "there is no column 'score'"),
        (("--no-worse-than", "0.1", "--now", "nothing.csv"), 2, "No such file"),
        ((), 2, "--no-worse-than"),
    ],
)
def test_misuse_and_bad_files_are_no_verdict(words, code, message):
    ended = here("gate", "scores", "--baseline", "Beta.csv", "--now", "Alpha.csv", *words, cwd=EXAMPLE)
    assert ended.code == code
    assert message in ended.stderr


@pytest.mark.req("Y-8")
def test_names_in_summaries_cannot_act(tmp_path):
    write(tmp_path / "a.csv", [1, 0] * 20)
    name = '<b>&"|x\x1b[31m'
    words = ("--baseline", f"{name}=a.csv", "--now", "b=a.csv", "--no-worse-than", "0.1", "--junit", "j.xml")
    ended = here("gate", "scores", *words, "--markdown", "m.md", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "\x1b" not in ET.parse(tmp_path / "j.xml").getroot()[0].get("name")
    assert "<b>" not in (tmp_path / "m.md").read_text()
