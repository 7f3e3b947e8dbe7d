"""Both deep systems on reviews: all conditions and layers; layers that are looked at; and a training that is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from basanite import registry  # noqa: E402
from basanite.harness.analysis.run_analysis import Options, analyse  # noqa: E402
from basanite.harness.evaluation import ready  # noqa: E402
from basanite.harness.extras import Asked, extras  # noqa: E402
from basanite.harness.foreign.exchange import layer_faults  # noqa: E402
from basanite.harness.modules.autoencoder import SDA  # noqa: E402
from basanite.harness.running import run_plan  # noqa: E402
from basanite.harness.steps.layout import ModuleError  # noqa: E402
from basanite.harness.steps.training import learn_codes  # noqa: E402

pytestmark = pytest.mark.timeout(300)  # the first test waits for the whole run

ROOT = Path(__file__).parents[3]
FEW = Options(draws=120)
SMALLER = {
    "rows = 6000": "rows = 260",
    "n = 2000": "n = 60",
    "folds = 5": "folds = 2",
    "size = 1000": "size = 80",
    "topics = [10, 20]": "topics = [4], rounds = 5",
    "units = 300": "units = 12, epochs = 2",
    "components = 200, steps = 100, sample = 2000": "components = 16, steps = 10, sample = 200",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviews")
    text = (ROOT / "examples" / "harness" / "reviews-deep.toml").read_text()
    for old, new in SMALLER.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        evaluation = ready(folder / "plan.toml")
        result = run_plan(evaluation, folder / "result")
        asked = Asked((0.0, 1.0), (), layers=True, measures=False, invariance=True)
        return result, extras(evaluation, result, asked, options=FEW)["reviews"]


def test_both_deep_systems_run_on_reviews_and_what_cannot_be_says_why(made):
    result, _ = made
    states = {run.run: (run.state, run.reason) for run in result.status()}
    assert states.pop("3b") == ("not applicable", "lda-ridge needs counts and gets nonneg")
    assert {state for state, _ in states.values()} == {"done"}
    assert len(states) == 11


@pytest.mark.parametrize(("team", "units"), [("a", [12, 12, 12]), ("b", [8, 4, 2])])
def test_layers_of_both_are_counted_scored_and_held_against_random_weights(made, team, units):
    result, found = made
    layers = found["layers"][team]
    assert [entry["quantity"]["shared"]["dimensions"] for entry in layers] == units
    for entry, look in zip(layers, found["learners"][team]["layers"], strict=True):
        assert entry["learned"] is (entry["gain_of_training"]["low"] > 0)
        assert look["weights_changed"] > 0
    nothing, every = found["unlabelled_curves"][team]
    assert nothing["rows"] == 0
    assert every["value"] == pytest.approx(analyse(result, FEW).tasks["reviews"].runs[f"6{team}"].estimate.value)


def test_units_are_tried_with_words_left_out_and_swapped_for_synonyms(made):
    told = made[1]["learners"]["a"]
    assert "words left out" in told["transformation"]
    assert "swapped for synonyms" in told["transformation"]


@pytest.mark.parametrize("name", ["msda", "sda", "isa"])
def test_our_own_systems_have_three_layers_of_one_kind(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = np.abs(np.random.default_rng(0).normal(size=(60, 20)))
    learner = registry.load("modules", name).make({}, 0)
    learner.fit(rows)
    assert learner.layers == 3
    assert layer_faults(learner, rows) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [("TWO_LAYERS", "it has 2 layers where 3 are needed"), ("TWO_KINDS", "layer 3 has centres where layer 1 has")],
)
def test_a_learner_with_too_few_layers_or_of_two_kinds_is_refused_with_the_count(name, message):
    rows = np.random.default_rng(1).normal(size=(40, 15))
    told = {"module": f"tests.harness.modules.two_layers:{name}", "parameters": {}, "seed": 0, "mode": "deep"}
    with pytest.raises(ModuleError, match=message):
        learn_codes({"features": rows}, **told, layers=[0], seen=30)


KILLED = """
from basanite.harness.modules.autoencoder import SDA
from tests.harness.modules.test_reviews import LONG, some_rows

SDA.make(LONG, 1).fit(some_rows())
"""
LONG = {"units": 12, "epochs": 20, "batch": 8, "noise": 0.3, "device": "cpu"}


def some_rows():
    """Rows to learn from."""
    return np.abs(np.random.default_rng(2).normal(size=(60, 20)))


@pytest.mark.slow
@pytest.mark.req("H-19")
def test_a_training_that_is_killed_goes_on_from_its_checkpoint_and_ends_in_the_same_codes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "alone"))
    alone = SDA.make(LONG, 1)
    alone.fit(some_rows())
    place = tmp_path / "killed" / "basanite" / "checkpoints"
    program = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "killed")},
    )
    try:
        end = time.monotonic() + 200
        while not list(place.glob("[!.]*.npz")):
            assert time.monotonic() < end
            time.sleep(0.001)
    finally:
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "killed"))
    again = SDA.make(LONG, 1)
    again.fit(some_rows())
    assert np.array_equal(again.transform(some_rows()), alone.transform(some_rows()))
    assert not list(place.glob("[!.]*.npz"))  # it is forgotten when the training is done
