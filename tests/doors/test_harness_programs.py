"""A team's program in any language in a plan: what comes of it, and how a slow or shallow one ends (H-12)."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from tests.cli.running import HARNESS
from tests.doors.harness_results import HEAD, average_precision, run_plan
from tests.harness.plans import write_csv

from basanite.sandbox.runner import capability

PLAN = """
[tasks.clips]
data = { reader = "table", path = "clips.csv" }
targets = ["Eat"]
metric = "map11"
n = 30
folds = 2
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.clips]
preprocessor = { folder = "alpha", program = ["./system.sh", "preprocessor"] }
learner = { folder = "alpha", program = ["./system.sh", "learner"], parameters = { gain = 0.5 } }
linear = { folder = "alpha", program = ["./system.sh", "linear"] }
[limits]
step_seconds = 60
"""


def table():
    dice = np.random.default_rng(1)
    label = np.arange(60) % 3 == 0
    return (dice.normal(size=(60, 4)) + label[:, None]).round(3), label.astype(float)


@pytest.fixture
def folder(tmp_path):
    """A plan's folder with the system of the examples, which is written in shell and awk."""
    if not capability().possible:
        pytest.skip(f"no box can be made here: {capability().reason}")
    shutil.copytree(HARNESS / "foreign" / "alpha", tmp_path / "alpha")
    rows, label = table()
    names = ("w", "x", "y", "z")
    write_csv(
        tmp_path / "clips.csv",
        [
            {**dict(zip(names, map(str, row), strict=True)), "Eat": str(int(eat))}
            for row, eat in zip(rows.tolist(), label, strict=True)
        ],
    )
    return tmp_path


@pytest.mark.req("H-12")
def test_a_program_in_shell_and_awk_is_preprocessor_learner_and_classifier(folder):
    result = run_plan(folder, HEAD + PLAN, "--only", "4a,6a")
    rows, label = table()
    seen, test = result.seen("clips"), result.split("clips")["test"]
    low, high = rows[seen].min(axis=0), rows[seen].max(axis=0)
    scaled = ((rows - low) / (high - low)).clip(0, 1)
    codes = scaled
    for _ in range(3):
        standard = (codes - codes[seen].mean(axis=0)) / codes[seen].std(axis=0)
        mixed = standard + np.roll(standard, -1, axis=1) * np.where(np.arange(4) % 2, -1, 1)
        codes = np.tanh(0.25 * mixed)
    for run, features in (("4a", scaled), ("6a", codes)):
        for at, fold in enumerate(result.folds("clips")):
            rest, best = np.setdiff1d(seen, fold), None
            for shrink in (0.01, 1):
                part, marks = features[fold], label[fold]
                means = part[marks == 1].mean(axis=0) - part[marks == 0].mean(axis=0)
                scores = features @ (means / (part.var(axis=0) + shrink))
                value = average_precision(label[rest], scores[rest].round(9))
                if best is None or value > best[0]:
                    best = (value, shrink, scores[test])
            assert result.chosen(run, "Eat")[at] == {"shrink": best[1]}
            assert np.allclose(result.predictions("clips", run, "Eat")[at], best[2], atol=1e-8)
    assert result.manifest["modules"]["program:alpha:./system.sh learner"]["declares"] == {"sampling": "none"}
    assert list((result.path / "logs").iterdir())


@pytest.mark.few(1)
@pytest.mark.req("H-12", case="bad")
@pytest.mark.parametrize(
    ("old", "new", "limits", "words"),
    [
        (
            "learner-fit) learn 3 ;;",
            "learner-fit) echo half; sleep 30 ;;",
            "training_seconds = 1\n",
            "time limit of 1 s",
        ),
        ("learner-fit) learn 3 ;;", "learner-fit) learn 2 ;;", "", "2 layers where 3 are needed"),
        ("learner-fit) learn 3 ;;", "learner-fit) exit 3 ;;", "", "exit code 3"),
    ],
    ids=["slow", "shallow", "broken"],
)
def test_a_program_that_is_too_slow_or_too_shallow_fails_its_runs_and_no_others(folder, old, new, limits, words):
    script = folder / "alpha" / "system.sh"
    script.write_text(script.read_text("utf-8").replace(old, new), encoding="utf-8")
    result = run_plan(folder, HEAD + PLAN + limits, "--only", "4a,6a", code=1)
    assert result.states == {"4a": "done", "6a": "failed"}
    assert words in result.reasons["6a"]
    if "sleep" in new:
        assert any(b"half" in path.read_bytes() for path in (result.path / "logs").iterdir())


@pytest.mark.req("H-12")
def test_a_python_module_of_a_teams_own_runs_by_its_name(tmp_path, monkeypatch):
    shutil.copytree(HARNESS / "foreign", tmp_path / "plans")
    monkeypatch.syspath_prepend(tmp_path / "plans" / "beta")
    text = (tmp_path / "plans" / "beta.toml").read_text("utf-8")
    result = run_plan(tmp_path / "plans", text, "--only", "4b,6b")
    assert result.states == {"4b": "done", "6b": "done"}
    assert any(name.startswith("team_beta:") for name in result.manifest["modules"])
