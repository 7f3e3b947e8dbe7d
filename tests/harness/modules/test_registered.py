"""Every registered module: its schema, its form, and that it holds what its role promises."""

import sys
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from PIL import Image

from basanite import registry
from basanite.errors import MissingExtraError
from basanite.harness.modules.catalogue import FITS, mismatch
from basanite.harness.modules.interfaces import Module
from basanite.harness.steps.store import Sequences

NAMES = registry.names("modules")
OURS = [name for name in NAMES if registry.load("modules", name).make.__module__.startswith("basanite.harness.")]
DEEP = ("sda", "isa")
"""They need PyTorch, which is an extra."""
QUICK = {
    "sda": {"units": 8, "epochs": 1, "device": "cpu"},
    "isa": {"components": 16, "steps": 5, "sample": 200, "device": "cpu"},
    "hog3d": {"words": 5, "sample": 200, "starts": 1},
}
"""Parameters of those whose defaults are made for large data."""
CLIPS = [np.random.default_rng(seed).integers(0, 255, (31 + seed, 30, 40)).astype(np.uint8) for seed in (0, 1)]


def test_all_roles_are_there():
    assert {registry.load("modules", name).role for name in NAMES} == {
        "features", "preprocessor", "strong", "linear", "learner",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_is(name):
    module = registry.load("modules", name)
    assert isinstance(module, Module)
    assert module.name == name
    assert module.summary
    assert not module.summary.endswith(".")
    assert module.needs in FITS
    Draft202012Validator.check_schema(dict(module.schema))
    assert module.schema.get("additionalProperties") is False
    assert module.code
    assert all(Path(file).is_file() for file in module.code)


@pytest.mark.parametrize("name", OURS)
def test_defaults_in_the_schema_are_those_of_the_code(name):
    module = registry.load("modules", name)
    stated = {key: entry["default"] for key, entry in module.schema["properties"].items() if "default" in entry}
    plain, written = module.make({}, 0), module.make(stated, 0)
    assert {key: plainly(value) for key, value in vars(plain).items()} == {
        key: plainly(value) for key, value in vars(written).items()
    }


def plainly(value):
    """A setting as text, whether it is a classifier inside another one, a list or a number."""
    return str(vars(value)) if type(value).__module__.startswith("basanite.harness.modules") else str(value)


@pytest.mark.parametrize("name", OURS)
def test_a_module_does_what_its_role_promises(name, counts, food, tmp_path, monkeypatch):
    if name in DEEP:
        pytest.importorskip("torch")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module = registry.load("modules", name)
    made = module.make(QUICK.get(name, {}), 0)
    if module.role in ("features", "preprocessor"):
        items = items_for(module, tmp_path)
        made.fit(items)
        assert made.transform(items).shape[0] == 2
        assert isinstance(made.transform(items), Sequences) is (module.gives in ("sequence", "histograms"))
    elif module.role == "learner":
        made.fit(counts[:50])
        assert made.layers == len(made.states()) >= 3
        assert made.transform(counts[:5], 1).shape[0] == made.transform(counts[:5]).shape[0] == 5
        assert made.shallow().layers == 1
    else:
        target = food if module.scale == "rating" else (food >= 5).astype(float)
        train, test = (rows_for(module, rows) for rows in (counts[:60], counts[60:75]))
        made.fit(train, target[:60], made.grid()[0])
        scores = made.score(test)
        assert scores.shape == (15,)
        assert np.isfinite(scores).all()


def items_for(module, folder):
    """Two items of the kind that a module of this name takes."""
    if "video" in module.make.__module__:
        return CLIPS
    if "images" in module.make.__module__:
        for name in "ab":
            Image.fromarray(CLIPS[0][0]).save(folder / f"{name}.png")
        return [folder / "a.png", folder / "b.png"]
    return ["a good soup", "a bad soup here"] if "words" in module.name + module.summary else np.ones((2, 3))


def rows_for(module, rows):
    """Rows, or for those that ask for windows one window of each."""
    return Sequences(rows, np.arange(rows.shape[0] + 1)) if module.needs == "sequence" else rows


@pytest.mark.parametrize("name", DEEP)
def test_without_pytorch_a_deep_learner_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"basanite\[torch\]\""):
        registry.load("modules", name).make({}, 0).fit(np.ones((4, 8)))


def test_topics_need_counts_and_dense_codes_do_not_fit():
    lda, msda, shares = (registry.load("modules", name) for name in ("lda-ridge", "msda", "word-shares"))
    assert mismatch(lda, registry.load("modules", "bow").gives) == ""
    assert mismatch(lda, msda.gives) == "lda-ridge needs counts and gets dense"
    assert mismatch(lda, shares.gives) == "lda-ridge needs counts and gets nonneg"
    assert mismatch(msda, shares.gives) == ""


@pytest.mark.parametrize("name", [name for name in OURS if registry.load("modules", name).role in ("strong", "linear")])
def test_no_classifier_calls_its_scores_probabilities_unless_they_are(name):
    assert registry.load("modules", name).scale in ("margin", "rating")
