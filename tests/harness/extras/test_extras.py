"""Curves, layers and looks on a real small plan: nested shares, every layer, kept steps, and what cannot be had."""

import json

import numpy as np
import pytest
from tests.harness.plans import DIGITS, HEAD, HERE, written

from basanite.errors import SettingError
from basanite.harness.analysis.run_analysis import Options, analyse
from basanite.harness.evaluation import ready
from basanite.harness.extras import Asked, extras
from basanite.harness.report.report import harness_report
from basanite.harness.running import Watcher, run_plan

FEW = Options(draws=120)
TEAMS = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.digits]
preprocessor = "{HERE}:SCALED"
learner = {{ module = "basanite.harness.modules.msda:MSDA", parameters = {{ units = 30, noise = 0.2 }} }}
linear = "{HERE}:MANY"
[[teams]]
letter = "b"
name = "Beta"
[teams.systems.digits]
preprocessor = "{HERE}:SCALED"
learner = {{ module = "{HERE}:COMPONENTS", parameters = {{ units = 8 }} }}
linear = "{HERE}:MANY"
"""
ASKED = Asked((0.0, 0.05, 1.0), (0.2, 1.0), layers=True, measures=True, invariance=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extras")
    evaluation = ready(written(folder, HEAD + DIGITS.replace("n = 300\nfolds = 3", "n = 500\nfolds = 5") + TEAMS))
    result = run_plan(evaluation, folder / "result")
    return evaluation, result, extras(evaluation, result, ASKED, options=FEW)


@pytest.fixture(scope="module")
def digits(made):
    return made[2]["digits"]


def test_a_learning_curve_goes_from_random_weights_to_all_rows_on_one_test_set(made, digits):
    _, result, _ = made
    points = digits["unlabelled_curves"]["a"]
    assert [point["share"] for point in points] == [0.0, 0.05, 1.0]
    assert [point["rows"] for point in points] == [0, round(0.05 * 1258), 1258]
    mean = analyse(result, FEW).tasks["digits"].runs["6a"].estimate.value
    assert points[-1]["value"] == pytest.approx(mean)
    assert all(point["low"] <= point["value"] <= point["high"] for point in points)
    assert points[0]["value"] != points[1]["value"] != points[2]["value"]


def test_a_learner_that_cannot_be_had_untrained_leaves_a_gap_with_its_reason(digits):
    first = digits["unlabelled_curves"]["b"][0]
    assert first["value"] is None
    assert first["note"].endswith("has no parameter `trained` that leaves its weights random")


def test_the_second_curve_varies_labels_and_more_of_them_help(digits):
    few, every = digits["labelled_curves"]["a"]
    assert (few["rows"], every["rows"]) == (20, 100)
    assert every["value"] > few["value"]
    assert few["gain_of_all"]["low"] <= few["gain_of_all"]["gain"] == pytest.approx(every["value"] - few["value"])


def test_layers_are_scored_singly_and_together_with_paired_gains(made, digits):
    _, result, _ = made
    layers = digits["layers"]["a"]
    assert [entry["layer"] for entry in layers] == [1, 2, 3]
    runs = analyse(result, FEW).tasks["digits"].runs
    assert layers[0]["single"]["value"] == pytest.approx(runs["5a"].estimate.value)  # the one-layer mode is layer 1
    assert layers[2]["single"]["value"] == pytest.approx(runs["6a"].estimate.value)
    assert layers[0]["single"] == layers[0]["cumulative"]
    gap = layers[1]["single"]["value"] - layers[0]["single"]["value"]
    assert layers[1]["gain_single"]["value"] == pytest.approx(gap)
    assert layers[1]["gain_single"]["low"] < gap < layers[1]["gain_single"]["high"]
    first = runs["5a"].estimate.value - runs["4a"].estimate.value
    assert layers[0]["gain_single"]["value"] == pytest.approx(first)


def test_every_layer_tells_how_much_it_holds_and_its_measures(digits):
    for team, units in (("a", 30), ("b", 8)):
        for entry in digits["layers"][team]:
            held = entry["quantity"]["shared"]
            assert held["dimensions"] == units
            assert held["active"] + held["dead"] == units
            assert 1 <= held["effective_rank"] <= units
            assert np.isfinite(entry["measures"]["shared"]["values"]["gap"])


def test_learning_is_shown_against_random_weights_and_a_layer_that_did_not_learn_is_named(made, digits):
    _, result, found = made
    for entry, look in zip(digits["layers"]["a"], digits["learners"]["a"]["layers"], strict=True):
        gain = entry["gain_of_training"]
        assert entry["learned"] is (gain["low"] > 0)
        assert look["weights_changed"] > 0
        assert 0 < look["codes_changed"] <= 1
    from dataclasses import replace

    report = harness_report(result, replace(analyse(result, FEW), extras=found))
    section = next(section for section in report.sections if section.title == "Learning: digits")
    said = next(figure for figure in section.figures if figure.title == "Layers that did not learn").paragraphs
    unlearned = [entry["layer"] for entry in digits["layers"]["a"] if not entry["learned"]]
    for layer in unlearned:
        assert any(line.startswith(f"Alpha, layer {layer}: no gain") for line in said)
    assert any(line.startswith("Beta, layer 1: not known") for line in said)


def test_invariance_to_shifts_is_told_for_every_layer(digits):
    told = digits["learners"]["a"]
    assert told["transformation"] == "pictures of 8 by 8 shifted by one and two pixels"
    assert all(entry["invariance"] > 0 for entry in told["layers"])
    assert all(entry["invariance_random"] is None for entry in digits["learners"]["b"]["layers"])


def test_curves_and_layers_are_computed_once_and_the_same_again(made):
    evaluation, result, found = made
    ran = []
    watcher = Watcher(begun=ran.append)
    again = extras(evaluation, result, ASKED, options=FEW, watcher=watcher)
    assert all(step.name.startswith("learn digits/shared b") for step in ran)  # only what failed is tried again
    assert json.dumps(again, sort_keys=True) == json.dumps(found, sort_keys=True)


def test_another_plan_is_refused(made, tmp_path):
    _, result, _ = made
    other = ready(written(tmp_path, HEAD.replace("seed = 7", "seed = 8") + DIGITS + TEAMS))
    with pytest.raises(SettingError, match="another plan"):
        extras(other, result, ASKED, options=FEW)


def test_nothing_is_asked_for_unless_the_plan_or_somebody_does():
    assert not Asked.of({}).anything
    assert Asked.of({"curves": [0.0, 1.0]}).curves == (0.0, 1.0)
    assert Asked.of({}, curves=True).labelled
    assert Asked.of({"measures": True}).layers
