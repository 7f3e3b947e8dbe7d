"""The video task from files to report: six conditions, both deep systems, curve, layers, invariance and pictures."""

import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("torch")

from basanite.figures import Image, Table
from basanite.harness.analysis.run_analysis import Options, analyse
from basanite.harness.evaluation import ready
from basanite.harness.extras import Asked, extras
from basanite.harness.report.report import harness_report
from basanite.harness.running import run_plan
from basanite.harness.video.data import Look, write_clips

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # the first test waits for the whole run

FEW = Options(draws=120)
TINY = Look(frames=(31, 34), widths=(60, 80), shapes=(0.09, 0.1))
ASKED = Asked((0.0, 1.0), (), layers=True, measures=False, invariance=True)
PLAN = """
format = "basanite-plan/1"
name = "video-tiny"
title = "Tiny clips"
seed = 5

[tasks.video]
data = { reader = "video", path = "clips" }
targets = ["Run", "StandUp"]
metric = "map11"
n = 17
folds = 2
margin = 0.05
features = { module = "hog3d", parameters = { preset = "tool-hollywood2", words = 20, sample = 1000, starts = 1 } }
strong = { module = "svm", parameters = { C = [1.0, 100.0] } }

[[teams]]
letter = "a"
name = "Alpha"

[teams.systems.video]
preprocessor = { module = "contrast-halves", parameters = { frames = 6, rows = 4, columns = 10 } }
learner = { module = "sda", parameters = { units = 20, epochs = 4, noise = 0.3, batch = 16, device = "cpu" } }
linear = "windowed-linear-svm"

[[teams]]
letter = "b"
name = "Beta"

[teams.systems.video]
preprocessor = { module = "contrast", parameters = { frames = 6, rows = 6, columns = 12 } }
linear = "windowed-svc-linear"

[teams.systems.video.learner]
module = "isa"
parameters = { components = 16, steps = 20, sample = 500, shape = [6, 6, 12], patch = [3, 4, 4], device = "cpu" }
"""


class Made(NamedTuple):
    """What was made of the plan."""

    result: Any
    data: Any
    runs: Any
    found: Any
    figures: list[Any]

    def figure(self, title):
        """The figure of a title."""
        return next(one for one in self.figures if one.title == title)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("video")
    os.environ["XDG_CACHE_HOME"], before = str(folder / "cache"), os.environ.get("XDG_CACHE_HOME")
    try:
        write_clips(folder / "clips", clips=36, seed=3, look=TINY)
        (folder / "plan.toml").write_text(PLAN)
        evaluation = ready(folder / "plan.toml")
        result = run_plan(evaluation, folder / "result")
        found = extras(evaluation, result, ASKED, options=FEW)
        analysis = analyse(result, FEW)
        yield Made(
            result,
            evaluation.data["video"],
            analysis.tasks["video"].runs,
            found["video"],
            [
                one
                for section in harness_report(result, replace(analysis, extras=found)).sections
                for one in section.figures
            ],
        )
    finally:
        os.environ.pop("XDG_CACHE_HOME") if before is None else os.environ.__setitem__("XDG_CACHE_HOME", before)


def test_all_six_conditions_run_on_clips_and_one_that_cannot_be_says_why(made):
    status = {run.run: run for run in made.result.status()}
    assert set(made.runs) == {"1", "2a", "2b", "3a", "4a", "4b", "5a", "5b", "6a", "6b"}
    assert (status["3b"].state, status["3b"].reason) == ("not applicable", "svm needs nonneg and gets sequence")
    assert all(0 <= run.estimate.value <= 1 for run in made.runs.values())


def test_the_split_is_the_published_one_and_counts_stand_beside_the_published(made):
    train, test = made.data.fixed
    assert (len(train), len(test)) == (17, 19)
    assert made.data.counts["published"]["test_clips"] == 884
    assert made.data.counts["test_clips"] == 19


@pytest.mark.parametrize("team", ["a", "b"])
def test_the_learning_curve_goes_from_random_weights_to_all_clips(made, team):
    nothing, every = made.found["unlabelled_curves"][team]
    assert (nothing["rows"], every["rows"]) == (0, 17)
    assert every["value"] == pytest.approx(made.runs[f"6{team}"].estimate.value)
    assert 0 <= nothing["value"] <= 1
    assert nothing.get("note") is None


@pytest.mark.parametrize(("team", "units"), [("a", [20, 20, 20]), ("b", [16, 8, 8])])
def test_every_layer_of_both_systems_tells_what_it_holds_and_how_it_scores(made, team, units):
    layers = made.found["layers"][team]
    assert [entry["quantity"]["shared"]["dimensions"] for entry in layers] == units
    for entry, width in zip(layers, units, strict=True):
        held = entry["quantity"]["shared"]
        assert held["active"] + held["dead"] == width
        assert 1 <= held["effective_rank"] <= width
        assert 0 <= entry["single"]["value"] <= 1
    assert layers[0]["single"] == layers[0]["cumulative"]


@pytest.mark.parametrize("team", ["a", "b"])
def test_training_moves_layers_and_one_without_a_gain_is_named(made, team):
    trained = made.found["learners"][team]["layers"]
    moved = [entry["weights_changed"] > 1e-3 and 0 < entry["codes_changed"] <= 1 for entry in trained]
    assert any(moved)
    scored = made.found["layers"][team]
    assert all(moves or not entry["learned"] for moves, entry in zip(moved, scored, strict=True)), "named, if it stays"
    named = [entry["layer"] for entry in made.found["layers"][team] if not entry["learned"]]
    name = {"a": "Alpha", "b": "Beta"}[team]
    said = made.figure("Layers that did not learn").paragraphs
    assert named
    for layer in named:
        reasons = [line.partition(": ")[2] for line in said if line.startswith(f"{name}, layer {layer}: ")]
        assert reasons[0].startswith("no gain" if moved[layer - 1] else "its weights did not change")


def test_invariance_to_shifts_turns_and_speeds_is_told_for_trained_and_random_weights(made):
    table = made.figure("Invariance of units")
    assert isinstance(table, Table)
    assert "shifted by 6 and 12 pixels, turned by 4 and 8 degrees, slowed" in table.note
    assert [row[:2] for row in table.rows] == [(team, layer) for team in ("Alpha", "Beta") for layer in (1, 2, 3)]
    assert all(np.isfinite([float(value) for value in row[2:]]).all() for row in table.rows)


def test_the_report_shows_frames_and_filters(made):
    pictures = [one for one in made.figures if isinstance(one, Image) and one.title != "The six conditions"]
    assert [picture.title for picture in pictures] == [
        "Frames of a clip, and contrast normalised",
        "Alpha: Filters of the first layer, each as its frames",
        "Beta: Filters of the first layer, each as its frames",
    ]
    assert all(picture.content[:4] == b"\x89PNG" for picture in pictures)


def test_that_patches_are_drawn_inside_a_learner_is_declared(made):
    assert (
        "drawn inside the learner from whole windows" in made.result.manifest["modules"]["isa"]["declares"]["patches"]
    )
